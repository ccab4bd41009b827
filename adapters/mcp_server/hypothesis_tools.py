"""The tools that test single hypotheses and apply them, without a session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Annotated, Any, TypeVar

from mcp.types import ToolAnnotations
from pydantic import Field

from ... import Execution, check, execute, run_in_thread
from ...records.errors import UsageError
from .progress import finish_cancelled
from .results import CheckedRows
from .run_settings import AccessRules
from .session_tools import READS, Data, Label, Settings, Task, ToolEntry

T = TypeVar("T")
MAX_ANSWERS = 10_000  # hypotheses in one call of `check`
MAX_INPUTS = 10_000  # inputs in one call of `execute`
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
        own = {"data": data, "label": label, "judge_model": judge_model, **(settings or {})}
        options = self._rules.check_settings(own)
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
        """Run a Python function on inputs in a sandbox without files, network or processes, under
        limits of time and memory.
        """
        if len(inputs) > MAX_INPUTS:
            raise UsageError(
                f"inputs has {len(inputs):,} values; at most {MAX_INPUTS:,} can be run"
            )
        options = self._rules.sandbox_settings()
        options.pop("workers", None)
        return await self._limited(lambda: execute(source, inputs, **options))

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
