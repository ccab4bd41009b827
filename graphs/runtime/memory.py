"""A method's graph by itself, without a store: for a notebook, a test, a larger graph of your own.

    graph = peirce.graphs.methods.abduce.METHOD.graph
    case = case_of(problem, proposer, sandbox)
    await graph.ainvoke(START_STATE, {"callbacks": [tracer]}, context=case)
    case.ledger.steps      # what it came to, step by step

Journal and ledger live in memory and are gone with it; `runner.py` is what keeps a session.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Literal

from ...config import TextSettings
from ...records import (
    CallKey,
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
)
from ...tasks import family_of, task
from .asking import checked_settings
from .case import Case, SessionSettings


class MemoryJournal:
    """`records.Journal`: every outcome by its key. outcomes: in the order in which they came."""

    def __init__(self) -> None:
        self.outcomes: dict[CallKey, Outcome] = {}

    async def once(
        self,
        key: CallKey,
        kind: Literal["model", "tool"],
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        if key not in self.outcomes:
            self.outcomes[key] = await make()
        return self.outcomes[key]


class MemoryLedger:
    """`records.Ledger`: the finished steps, and how the problem ended if the runner said so."""

    def __init__(self) -> None:
        self.steps: list[StepRecord] = []
        self.ended: tuple[str, str] | None = None

    async def step(self, record: StepRecord) -> None:
        self.steps.append(record)

    async def end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None:
        self.ended = (status, cause)


def case_of(
    problem: Problem,
    proposer: Proposer | None,
    oracle: OpenOracle | None = None,
    *,
    repairer: Repairer | None = None,
    space: InputSet | None = None,
    settings: SessionSettings | None = None,
    session: str = "alone",
    **rest: Any,
) -> Case:
    """The context for one run of a method's graph on `problem`, one case a run. oracle: what
    applies hypotheses, opened (`family(…).opens.open(OracleSettings())`). space: the sample
    space; None: the one of the problem's task. settings: those of a method are an object of
    `METHOD.settings`, of labelled text with `text`, a `config.TextSettings`. proposer: None where nobody is asked. others (of
    `Case`): who judges and reads literature, where it is not the proposer.
    repairer: of refine, which asks it where settings.repair names it. rest: other fields of `Case`
    (emit, budget, …).
    Raises UsageError for a problem that shows nothing, and for settings that cannot be."""
    course = settings or SessionSettings()
    if not problem.shown and proposer is not None and not problem.public.get("banks"):
        raise UsageError(
            f"problem {problem.id!r} shows no observation: there is nothing to explain"
        )
    tau = None if course.text is None else course.text.tau
    kind = family_of(problem, strict_contract=course.method.strict_contract, tau=tau)
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
        space=task(problem.task).space(problem, course.seed) if space is None else space,
        family=kind,
        settings=course,
        model=None if proposer is None else checked_settings(proposer),
        repairer_model={} if repairer is None else checked_settings(repairer),
        repairer=repairer,
        journal=rest.pop("journal", None) or MemoryJournal(),
        ledger=rest.pop("ledger", None) or MemoryLedger(),
        proposer=proposer,
        oracle=None if oracle is None else oracle.bound(course.limits),
        **rest,
    )
