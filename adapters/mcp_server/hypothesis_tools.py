"""The tools that test single hypotheses and apply them, without a session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Annotated, Any, TypeVar

from mcp.types import ToolAnnotations
from pydantic import Field

from ... import (
    Execution,
    JudgedRows,
    PredictionFile,
    Proposals,
    Solved,
    check,
    execute,
    judge,
    predict,
    propose,
    run_in_thread,
    solve,
)
from ...records.errors import UsageError
from .progress import finish_cancelled
from .results import CheckedRows, Predicted
from .run_settings import AccessRules
from .session_tools import READS, Data, Label, Model, ProblemId, Settings, Task, ToolEntry

T = TypeVar("T")
MAX_ANSWERS = 10_000  # hypotheses in one call of `check`
MAX_INPUTS = 10_000  # inputs in one call of `execute`, and rows in one of `judge`
MAX_PREDICTIONS = 2_000  # in one answer; `out` writes any number to a file
CALLS = ToolAnnotations(read_only_hint=True, open_world_hint=True)
WRITES_FILE = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
PURE = ToolAnnotations(read_only_hint=True, open_world_hint=False, idempotent_hint=True)


class HypothesisTools:
    """The tools that test single hypotheses and apply them.

    Args:
        rules: what clients may use.
        turns: limits how many of these calls run at the same time; the others wait.
    """

    def __init__(self, rules: AccessRules, turns: asyncio.Semaphore) -> None:
        self._rules = rules
        self._turns = turns

    def list_tools(self) -> Iterator[ToolEntry]:
        """Yield each tool with the class of its result."""
        yield self.check, CheckedRows, READS
        yield self.execute, Execution, PURE
        yield self.solve, Solved, PURE
        yield self.judge, JudgedRows, CALLS
        yield self.propose, Proposals, CALLS
        yield self.predict, Predicted, WRITES_FILE

    async def check(
        self,
        task: Task,
        answers: Annotated[
            str | list[dict[str, Any]],
            Field(
                description='Hypotheses as objects {"problem": ID, "hypothesis": TEXT} or {"problem":'
                ' ID, "answer": TEXT}, or the path of a JSONL file of them. TEXT is the source of a'
                " function, a formula or a sentence."
            ),
        ],
        data: Data = None,
        evaluator: Annotated[
            str, Field(description="For rules about worlds: exact or released.")
        ] = "exact",
        split: Annotated[
            str | None, Field(description="For labelled text: hidden rows, val, ind or ood.")
        ] = None,
        judge_model: Annotated[
            str | None, Field(description="For labelled text: the model that labels texts.")
        ] = None,
        label: Label = None,
        settings: Settings = None,
    ) -> CheckedRows:
        """Judge your own hypotheses on the observations of the problems of a task: which ones each
        explains, of the shown and of the hidden observations. Only labelled text may need a model.
        """
        own = {"data": data, "label": label, "judge_model": judge_model}
        options = self._rules.merge_settings(own, settings)
        del options["store"]
        source = answers if isinstance(answers, list) else self._rules.root.find(answers, "answers")
        name = self._rules.check_task(task)

        def judge_all() -> CheckedRows:
            rows = list(
                islice(
                    check(name, source, evaluator=evaluator, split=split, **options),
                    MAX_ANSWERS + 1,
                )
            )
            if len(rows) > MAX_ANSWERS:
                raise UsageError(f"answers holds more than {MAX_ANSWERS:,} hypotheses")
            return CheckedRows(rows=rows)

        return await self._limited(judge_all)

    async def execute(
        self,
        source: Annotated[
            str, Field(description="Python source of a function of one argument, such as f(x).")
        ],
        inputs: Annotated[
            list[Any], Field(description="Arguments of the calls, as JSON values.", min_length=1)
        ],
    ) -> Execution:
        """Run a Python function on inputs in a sandbox, under limits of time and memory. It has no
        files, no network and no processes; `layers` says what holds it.
        """
        if len(inputs) > MAX_INPUTS:
            raise UsageError(
                f"inputs has {len(inputs):,} values; at most {MAX_INPUTS:,} can be run"
            )
        options = self._rules.sandbox_settings()
        options.pop("workers", None)
        return await self._limited(lambda: execute(source, inputs, **options))

    async def solve(
        self,
        rule: Annotated[str, Field(description='Rule as an S-expression, "(exists y (R x y))".')],
        worlds: Annotated[
            list[dict[str, Any]],
            Field(
                description='Worlds as {"domain": ["a", "b"], "true": {"P": ["a"], "R": [["a", "b"]]}},'
                ' optionally with "id" and "unknown". All other atoms are false.',
                min_length=1,
            ),
        ],
        theory: Annotated[
            str | dict[str, Any],
            Field(
                description='Name of a published theory (T1 to T7), or {"axioms": [...], "signature":'
                ' {"P": 1, "R": 2}, "allowed": ["P"]}.'
            ),
        ] = "T1",
        regime: Annotated[str, Field(description="full, partial or skeptical.")] = "full",
    ) -> Solved:
        """Judge exactly in which finite worlds a rule about exceptions is valid, and what it costs,
        with a direct computation or Z3.
        """
        return await self._limited(lambda: solve(rule, worlds, theory=theory, regime=regime))

    async def judge(
        self,
        sentence: Annotated[
            str,
            Field(
                description="Sentence such as \"If the text contains 'good', it is positive; otherwise"
                ' it is negative".'
            ),
        ],
        rows: Annotated[
            list[str | dict[str, Any]],
            Field(description="Texts, or rows as objects.", min_length=1, max_length=MAX_INPUTS),
        ],
        labels: Annotated[
            list[str] | None,
            Field(description="Possible labels; not needed if the rows have a column of labels."),
        ] = None,
        label: Label = None,
        model: Annotated[
            str | None,
            Field(description="Model for a sentence that is no exact rule; it is asked per row."),
        ] = None,
    ) -> JudgedRows:
        """Return the label that a sentence gives to each row. A sentence that is an exact rule needs no
        model; `reason` says why a sentence is none.
        """
        spec = None if model is None else self._rules.check_model(model)
        return await self._limited(
            lambda: judge(sentence, rows, labels=labels, label=label, model=spec)
        )

    async def propose(
        self,
        task: Task,
        data: Data = None,
        problem: ProblemId = None,
        earlier: Annotated[
            list[str] | None,
            Field(description="Known hypotheses, from which the new ones should differ."),
        ] = None,
        answers: Annotated[int, Field(description="Maximum number of answers.", ge=1, le=100)] = 1,
        model: Model = None,
        settings: Settings = None,
    ) -> Proposals:
        """Ask a model (the built-in search by default) for the next hypotheses about one problem, and
        judge them. Nothing is stored.
        """
        named = {"data": data, "model": model, "problem": None if problem is None else [problem]}
        options = self._rules.limit_budget(self._rules.merge_settings(named, settings))
        del options["store"]
        name = self._rules.check_task(task)
        return await self._limited(
            lambda: propose(name, earlier=earlier or (), answers=answers, **options)
        )

    async def predict(
        self,
        bank: Annotated[
            str, Field(description='Id of a session, "last", or a file that `peirce bank` wrote.')
        ],
        data: Annotated[
            str | list[dict[str, Any]],
            Field(description="Path of the new rows below the root, or rows as a list of objects."),
        ],
        problem: ProblemId = None,
        label: Label = None,
        judge_model: Annotated[
            str | None, Field(description="For labelled text: model for sentences that need one.")
        ] = None,
        out: Annotated[
            str | None,
            Field(description="Write a new .csv or .parquet file below the root instead."),
        ] = None,
        settings: Settings = None,
    ) -> Predicted:
        """Apply what a session found to new rows, and return one prediction for each."""
        options = self._rules.merge_settings({"judge_model": judge_model}, settings)
        source, rows = self._rules.check_bank(bank), self._rules.check_data(data)
        target = None if out is None else self._rules.root.find_target(out, "out")

        def apply() -> Predicted:
            more = {"problem": problem, "label": label, **options}
            if target is not None:
                written = predict(source, rows, out=target, **more)
                assert isinstance(written, PredictionFile)
                return Predicted(rows=[], file=written)
            found = list(islice(predict(source, rows, **more), MAX_PREDICTIONS + 1))
            if len(found) > MAX_PREDICTIONS:
                raise UsageError(
                    f"data has more than {MAX_PREDICTIONS:,} rows: give `out`, a file to write to"
                )
            return Predicted(rows=found, file=None)

        return await self._limited(apply)

    async def _limited(self, work: Callable[[], T]) -> T:
        """Return the result of a function that runs in a thread, within the time limit."""
        limit = self._rules.server.time_limit_s
        async with self._turns:
            try:
                async with asyncio.timeout(limit):
                    return await finish_cancelled(run_in_thread(work))
            except TimeoutError:
                raise UsageError(
                    f"stopped after {limit:g} seconds, the time limit of this server"
                ) from None
