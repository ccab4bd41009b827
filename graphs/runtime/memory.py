"""Run a method's graph without a store: in a notebook, in a test, or inside a larger graph.

    graph = peirce.graphs.methods.abduce.METHOD.graph
    case = make_case(problem, proposer, sandbox)
    await graph.ainvoke(START_STATE, {"callbacks": [tracer]}, context=case)
    case.ledger.steps      # the recorded steps

The journal and the ledger are kept in memory only. runner.py runs sessions in a store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Literal

from ...config import TextSettings
from ...records import (
    CallKey,
    CallKind,
    Digest,
    InputSet,
    Json,
    LabelsRows,
    OpenOracle,
    Outcome,
    Problem,
    Proposer,
    Repairer,
    StepRecord,
    UsageError,
    digest_of,
)
from ...tasks import load_task, problem_family
from .case import Case, SessionSettings
from .queries import read_settings


class MemoryJournal:
    """A journal that keeps the outcomes of calls in memory.

    Attributes:
        outcomes: Every outcome by the key of its call, in the order of recording.
    """

    def __init__(self) -> None:
        self.outcomes: dict[CallKey, Outcome] = {}
        self._requests: dict[CallKey, Json] = {}

    async def record_once(
        self,
        key: CallKey,
        kind: CallKind,
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        """Return the outcome of a call, or make the call if its outcome is not in memory."""
        if key not in self.outcomes:
            self.outcomes[key] = await make()
            self._requests[key] = request
        return self.outcomes[key]

    def find_entry(self, key: CallKey) -> tuple[Digest, Outcome] | None:
        """Return the digest of the request and the outcome of a call; None without a record."""
        found = self.outcomes.get(key)
        return None if found is None else (digest_of(self._requests.get(key)), found)


class MemoryLedger:
    """A ledger that keeps the finished steps in memory.

    Attributes:
        steps: The finished steps.
        ended: (status, cause) of the end of the problem; None before the end.
    """

    def __init__(self) -> None:
        self.steps: list[StepRecord] = []
        self.ended: tuple[str, str] | None = None

    async def record_step(self, record: StepRecord) -> None:
        """Keep a finished step in memory."""
        self.steps.append(record)

    async def record_end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None:
        """Keep in memory whether the problem ended as "done" or "failed", and the cause."""
        self.ended = (status, cause)


def make_case(
    problem: Problem,
    proposer: Proposer | None,
    oracle: OpenOracle | None = None,
    *,
    repairer: Repairer | None = None,
    space: InputSet | None = None,
    settings: SessionSettings | None = None,
    session: str = "alone",
    **case_fields: Any,
) -> Case:
    """Return the context for one run of a method's graph on a problem.

    Args:
        problem: The problem.
        proposer: The model that proposes hypotheses; None if the method calls no model.
        oracle: The opened sandbox or solver that applies hypotheses. For a family with the
            attribute `oracle_kind`, `await family.oracle_kind.open(OracleSettings())` opens it.
        repairer: The repairer for the method `refine`. The setting `repair` must name it.
        space: The sample space S, on which hypotheses are compared; None for the default of the
            task.
        settings: The settings of the run. `settings.method` is an object of the class
            `METHOD.settings`. For labelled text, `settings.text` is a `config.TextSettings`.
        session: The name of the session in journal keys and traces.
        case_fields: Other fields of `Case`, for example emit, budget, or others (the models of
            other roles).

    Raises:
        UsageError: The problem shows no observation, or a setting is invalid.
    """
    course = settings or SessionSettings()
    if not problem.shown and proposer is not None and not problem.public.get("banks"):
        raise UsageError(
            f"problem {problem.id!r} shows no observation: there is nothing to explain"
        )
    tau = None if course.text is None else course.text.tau
    kind = problem_family(problem, strict_contract=course.method.strict_contract, tau=tau)
    if course.text is None and isinstance(kind, LabelsRows):
        course = replace(course, text=TextSettings())
    form = course.method.answer_format
    if form is not None and form not in kind.answer_formats:
        raise UsageError(
            f"answer_format is {form!r}: it must be one of {', '.join(kind.answer_formats)}"
        )
    return Case(
        session=session,
        problem=problem,
        space=load_task(problem.task).space(problem, course.seed) if space is None else space,
        family=kind,
        settings=course,
        model=None if proposer is None else read_settings(proposer),
        repairer_model={} if repairer is None else read_settings(repairer),
        repairer=repairer,
        journal=case_fields.pop("journal", None) or MemoryJournal(),
        ledger=case_fields.pop("ledger", None) or MemoryLedger(),
        proposer=proposer,
        oracle=None if oracle is None else oracle.with_limits(course.limits),
        **case_fields,
    )
