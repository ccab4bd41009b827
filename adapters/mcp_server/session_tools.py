"""The tools that run sessions and read what they found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Annotated, Any, TypeAlias, TypeVar

from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations
from pydantic import Field

from ... import (
    Forecast,
    Result,
    Session,
    SessionStatus,
    adiscover,
    aresume,
    arun,
    load,
    plan,
    recognize,
    run_in_thread,
    start,
    start_resumed,
    tasks_help,
    tasks_list,
)
from ...records.errors import UsageError
from .progress import SessionReporter, finish_cancelled
from .results import DiscoverAnswer, FindingsPage, RunAnswer, TaskOverview
from .run_settings import AccessRules

AnySession = TypeVar("AnySession", bound=Session)
ToolEntry: TypeAlias = tuple[Callable[..., Awaitable[Result]], type[Result], ToolAnnotations]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
MAX_FINDINGS = 1_000  # in one answer of `findings`
MAX_BEST = 100  # findings in the outcome of a session

Task = Annotated[str, Field(description="Name of a task; the tool `tasks` lists them.")]
Data = Annotated[
    str | list[dict[str, Any]] | None,
    Field(
        description="Path of the data below the root, or rows as a list of objects; without it the"
        " task makes its own problems."
    ),
]
Model = Annotated[
    str | None,
    Field(
        description="Model string: search (the built-in search, free) or a model that the server"
        " was started with."
    ),
]
Method = Annotated[str | None, Field(description="Method, such as abduce (default) or refine.")]
ProblemCount = Annotated[int | None, Field(description="Number of problems.")]
ProblemIds = Annotated[list[str] | None, Field(description="Ids of the problems to work on.")]
Observations = Annotated[
    int | str | None,
    Field(description="Number of observations to show of each problem; the others are held out."),
]
MaxAnswers = Annotated[int | None, Field(description="Maximum number of answers per problem.")]
Seed = Annotated[int | None, Field(description="Seed of the session.")]
Label = Annotated[str | None, Field(description="For labelled text: the column of the labels.")]
Target = Annotated[str | None, Field(description="For laws: the column to explain.")]
BudgetTokens = Annotated[
    int | None, Field(description="Stop when the model has read and written this many tokens.")
]
Settings = Annotated[
    dict[str, Any] | None,
    Field(
        description="Further settings of `peirce run` by name, with underscores, such as"
        ' {"budget_expansions": 5000, "temperature": 0.7}.'
    ),
]
SessionId = Annotated[str, Field(description='Id of a session, a unique prefix of it, or "last".')]
Wait = Annotated[
    bool,
    Field(
        description="false: return at once, while the session runs in a process of its own, also"
        " after this server has ended. Use it for sessions of more than a minute."
    ),
]
ProblemId = Annotated[str | None, Field(description="Id of one problem.")]


class SessionTools:
    """The tools that run sessions and read what they found.

    Args:
        rules: what clients may use.
    """

    def __init__(self, rules: AccessRules) -> None:
        self._rules = rules

    def list_tools(self) -> Iterator[ToolEntry]:
        """Yield each tool with the class of its result."""
        yield self.tasks, TaskOverview, READS
        yield self.plan, Forecast, READS
        yield self.run, RunAnswer, WRITES
        yield self.discover, DiscoverAnswer, WRITES
        yield self.resume, RunAnswer, WRITES
        yield self.findings, FindingsPage, READS

    async def tasks(
        self, task: Annotated[str | None, Field(description="Name of one task.")] = None
    ) -> TaskOverview:
        """List the tasks; for one task, also say which data it takes, with examples and methods."""
        name = None if task is None else self._rules.check_task(task)

        def read() -> TaskOverview:
            help_ = None if name is None else tasks_help(name)
            return TaskOverview(tasks=tasks_list(), help=help_)

        return await run_in_thread(read)

    async def plan(
        self,
        task: Task,
        data: Data = None,
        model: Model = None,
        method: Method = None,
        problems: ProblemCount = None,
        problem: ProblemIds = None,
        observations: Observations = None,
        max_answers: MaxAnswers = None,
        seed: Seed = None,
        label: Label = None,
        target: Target = None,
        settings: Settings = None,
    ) -> Forecast:
        """Count the calls of models that `run` would make with the same arguments. Nothing is run,
        and nothing is spent.
        """
        named = {
            "data": data, "model": model, "method": method, "problems": problems,
            "problem": problem, "observations": observations, "max_answers": max_answers,
            "seed": seed, "label": label, "target": target,
        }  # fmt: skip
        options = self._rules.limit_budget(self._rules.merge_settings(named, settings))
        return await run_in_thread(plan, self._rules.check_task(task), **options)

    async def run(
        self,
        ctx: Context[Any, Any],
        task: Task,
        data: Data = None,
        model: Model = None,
        method: Method = None,
        problems: ProblemCount = None,
        problem: ProblemIds = None,
        observations: Observations = None,
        max_answers: MaxAnswers = None,
        seed: Seed = None,
        label: Label = None,
        target: Target = None,
        budget_tokens: BudgetTokens = None,
        settings: Settings = None,
        wait: Wait = True,
    ) -> RunAnswer:
        """Run a session that searches for hypotheses which explain the problems of a task, and return
        its outcome with the best findings. Progress is reported. A call that is cancelled leaves a
        session that `resume` continues.
        """
        named = {
            "data": data, "model": model, "method": method, "problems": problems,
            "problem": problem, "observations": observations, "max_answers": max_answers,
            "seed": seed, "label": label, "target": target, "budget_tokens": budget_tokens,
        }  # fmt: skip
        options = self._rules.limit_budget(self._rules.merge_settings(named, settings))
        name = self._rules.check_task(task)
        if not wait:
            return _started(await self._start(name, options))
        return _finished(
            await finish_cancelled(arun(name, on_event=SessionReporter(ctx), **options))
        )

    async def discover(
        self,
        ctx: Context[Any, Any],
        file: Annotated[
            str | list[dict[str, Any]],
            Field(
                description="Path of a CSV, TSV, JSON, JSONL or Parquet file below the root, or rows."
            ),
        ],
        target: Annotated[str | None, Field(description="Column to explain.")] = None,
        model: Model = None,
        max_answers: MaxAnswers = None,
        seed: Seed = None,
        budget_tokens: BudgetTokens = None,
        settings: Settings = None,
        wait: Wait = True,
    ) -> DiscoverAnswer:
        """Look at data, choose the task that fits them, and run a session as `run` does."""
        named = {
            "model": model, "max_answers": max_answers, "seed": seed,
            "budget_tokens": budget_tokens,
        }  # fmt: skip
        options = self._rules.limit_budget(self._rules.merge_settings(named, settings))
        source = self._rules.check_data(file)
        if not wait:
            return await self._start_reading(source, target, options)
        found = await finish_cancelled(
            adiscover(source, target, on_event=SessionReporter(ctx), **options)
        )
        return DiscoverAnswer(
            session=found.session, status=found.status, outcome=_shorten(found), state=None,
            kind=found.kind, why=found.why,
        )  # fmt: skip

    async def _start(self, task: str, options: dict[str, Any]) -> SessionStatus:
        """Start a session in a process of its own."""
        if not isinstance(options.get("data", ""), str):
            raise UsageError(
                "wait is false, so data must be the path of a file below the root: another process"
                " reads it"
            )
        return await finish_cancelled(run_in_thread(start, task, **options))

    async def _start_reading(
        self, file: Any, target: str | None, options: dict[str, Any]
    ) -> DiscoverAnswer:
        """Recognize data, and start the session that fits them."""
        found = await run_in_thread(recognize, file, target)
        if not found.command:
            raise UsageError(f"it is not clear what the data holds: {found.why}; {found.advice}")
        reading = found.readings[0]
        for name in ("data", "label", "target"):
            if name in options:
                raise UsageError(f"{name} cannot be set: discover takes the file and its target")
        state = await self._start(str(reading.task), {**options, **reading.options})
        return DiscoverAnswer(
            session=state.session, status=state.status, outcome=None, state=state,
            kind=reading.kind, why=reading.why,
        )  # fmt: skip

    async def resume(
        self,
        ctx: Context[Any, Any],
        session: SessionId = "last",
        retry_failed: Annotated[bool, Field(description="Also run failed problems again.")] = False,
        budget_tokens: BudgetTokens = None,
        settings: Settings = None,
        wait: Wait = True,
    ) -> RunAnswer:
        """Continue a session where it stopped, with its recorded settings. Calls that it made are not
        made again.
        """
        merged = self._rules.merge_settings({"budget_tokens": budget_tokens}, settings)
        options = self._rules.limit_budget(merged)
        await run_in_thread(self._check_models_of, session)
        if not wait:
            work = run_in_thread(start_resumed, session, retry_failed=retry_failed, **options)
            return _started(await finish_cancelled(work))
        return _finished(
            await finish_cancelled(
                aresume(
                    session, retry_failed=retry_failed, on_event=SessionReporter(ctx), **options
                )
            )
        )

    def _check_models_of(self, session: str) -> None:
        """Raise UsageError if a stored session uses a model that clients may not call."""
        recorded = load(session, store=self._rules.server.store).settings["operational"]
        specs = [recorded.get("model"), *(one[0] for one in recorded.get("players", {}).values())]
        for spec in specs:
            if isinstance(spec, str):
                self._rules.check_model(spec, "the session's model")

    async def findings(
        self,
        session: SessionId = "last",
        problem: ProblemId = None,
        limit: Annotated[int, Field(ge=1, le=MAX_FINDINGS)] = 20,
        offset: Annotated[int, Field(ge=0)] = 0,
    ) -> FindingsPage:
        """Return the hypotheses that a session found, best first, also while it runs. `shown` and
        `held_out` say on how many observations each is right.
        """

        def read() -> FindingsPage:
            trace = load(session, store=self._rules.server.store)
            found = trace.findings(problem)
            page = list(found[offset : offset + limit])
            return FindingsPage(
                session=trace.session, total=len(found), offset=offset, findings=page
            )

        return await run_in_thread(read)


def _shorten(session: AnySession) -> AnySession:
    """Return an outcome with at most `MAX_BEST` findings, so that it can be sent."""
    return replace(session, best=list(session.best)[:MAX_BEST])


def _finished(session: Session) -> RunAnswer:
    return RunAnswer(
        session=session.session, status=session.status, outcome=_shorten(session), state=None
    )


def _started(state: SessionStatus) -> RunAnswer:
    return RunAnswer(session=state.session, status=state.status, outcome=None, state=state)
