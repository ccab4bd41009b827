"""Runs the problems of a session side by side, and goes on with a session that was stopped.

Resume is the same call: each open problem's graph runs again from its start, the journal answers
until it ends, and then the models and tools do. LangGraph therefore needs no checkpointer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..agents import Refused
from ..agents.open_files import raise_limit
from ..records import (
    BudgetSpent,
    Execute,
    Json,
    Proposer,
    Repairer,
    Sandbox,
    SandboxUnavailable,
    Solve,
    Unavailable,
)
from ..store import ProblemRow, Store
from ..tasks import family_of
from ..tasks.text import of_split
from ..tools.execute import executor
from . import Method, method
from .asking import Role
from .budget import Budget
from .case import Case, Event, Settings
from .reading_bank import followed_by_reading
from .steps import START_STATE
from .text_settings import SPLITS

A_COMMIT = 4  # of the problems side by side one in so many is waited for, where answers come fast
MANY = 32  # problems side by side; of fewer each would wait longer than it saves


async def run_session(
    store: Store,
    session: str,
    *,
    proposer: Proposer | None,
    sandbox: Sandbox | None,
    solve: Solve | None = None,
    repairer: Repairer | None = None,
    players: Mapping[str, Proposer] | None = None,
    concurrency: int = 4,
    on_event: Callable[[Event], None] | None = None,
    callbacks: Sequence[Any] = (),
    stopping: asyncio.Event | None = None,
    retry_failed: bool = False,
    budget: Budget | None = None,
    max_failures: int | None = None,
    cache: bool = True,
    fast: bool = False,
) -> dict[str, Json]:
    """Runs what is open of `session` and returns {"status", "problems", "done", "failed", "cause"}.

    status: "done" (no problem is open; some may have failed, and `failed` maps each to its
    sentence), "failed" (every problem failed, or `max_failures` did in this run), "budget" (it is
    spent), "interrupted" (`stopping` was set). In the last three steps in flight were finished and
    saved, and what is open waits for `resume`; cause: why the session ended early. Raises
    SandboxUnavailable, and Refused where the model's endpoint will refuse every request: calls in
    flight were finished and saved then too, and the problems stay open for `resume`.

    fast: answers come at so high a rate (of a small model in this process) that what is written of
    several problems is better committed together, if later.
    """
    settings = store.session(session)["settings"]
    rows = store.problems(session)
    stopping = stopping or asyncio.Event()
    emit = on_event or (lambda event: None)
    todo = [
        row for row in rows if row.status == "open" or (retry_failed and row.status == "failed")
    ]
    store.set_session(session, status="running", digest=None)
    emit({"type": "session", "session": session, "settings": settings, "problems": len(rows),
          "open": len(todo), "layers": dict(sandbox.layers()) if sandbox else {},
          **_rows_of_texts(rows)})  # fmt: skip

    graph = graph_of(settings, rows)
    execute = executor_of(settings, sandbox)
    waiting: Iterator[ProblemRow] = iter(todo)
    spaces = Spaces(store)
    raise_limit(concurrency)
    turns = asyncio.Semaphore(max(1, concurrency))
    journal, ledger = store.journal(session), store.ledger(session)
    budget = budget or Budget()
    budget.closed = None
    answers = store.cache(session) if cache else None
    at_work = max(1, min(concurrency, len(todo)))  # workers that have not come to their end
    failures = 0
    early: list[tuple[str, str]] = []  # status and cause, of what first ended the session early

    def end_early(status: str, cause: str) -> None:
        early.append((status, cause))
        stopping.set()

    async def worker() -> None:
        nonlocal at_work
        try:
            await run_some()
        finally:
            at_work -= 1
            set_commits()

    def set_commits() -> None:
        many = fast and at_work >= MANY
        store.commit_together(at_work // A_COMMIT if many else 1)

    async def run_some() -> None:
        nonlocal failures
        for row in waiting:
            if stopping.is_set():
                return
            case = make_case(
                store, session, settings, row, spaces, proposer=proposer, repairer=repairer,
                players=players or {}, execute=execute, solve=solve, turns=turns,
                budget=budget, stopping=stopping, emit=emit, cache=answers,
                journal=journal, ledger=ledger,
            )  # fmt: skip
            try:
                failures += await _run_problem(graph, case, callbacks) == "failed"
            except Refused as error:
                budget.closed = budget.closed or error
                end_early("failed", str(error))
            except BudgetSpent as spent:
                end_early("budget", str(spent))
            if failures == max_failures and not early:
                end_early("failed", f"{failures} problems failed, as many as max_failures allows")

    set_commits()
    workers = [asyncio.create_task(worker()) for _ in range(at_work)]
    status, cause = "failed", ""
    try:
        await asyncio.gather(*workers)
        if budget.closed is not None:
            raise budget.closed
        ended = store.problems(session)
        failed = {row.problem.id: row.cause for row in ended if row.status == "failed"}
        if any(row.status == "open" for row in ended):
            status, cause = early[0] if early else ("interrupted", "")
        else:
            status = "failed" if failed and len(failed) == len(ended) else "done"
    except (asyncio.CancelledError, KeyboardInterrupt):
        status = "interrupted"
        raise
    finally:
        for task in workers:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*workers, return_exceptions=True)
        store.commit_together(1)
        store.set_session(session, status=status, digest=store.digest(session))
        emit({"type": "ended", "status": status})
    done = sum(row.status == "done" for row in ended)
    counts = {"problems": len(ended), "done": done, "failed": failed}
    return {"status": status, **counts, "cause": cause}


def _rows_of_texts(rows: Sequence[ProblemRow]) -> dict[str, Json]:
    """{"rows": how many are shown, and of each split, in all problems} of labelled text."""
    texts = [row.problem for row in rows if row.problem.family == "text"]
    if not texts:
        return {}
    counted = {"shown": sum(len(one.shown) for one in texts)}
    for split in SPLITS:
        counted[split] = sum(len(of_split(one, split)) for one in texts)
    return {"rows": counted}


async def _run_problem(graph: Any, case: Case, callbacks: Sequence[Any]) -> str:
    """One problem to its end, which is returned: done, failed, or open where it was stopped. An
    outage fails this problem alone and says why."""
    problem = case.problem.id
    case.emit({"type": "problem_started", "problem": problem})
    named = {"session": case.session, "problem": problem}
    config = {"callbacks": list(callbacks), "run_name": f"problem {problem}", "metadata": named}
    try:
        state = await graph.ainvoke(START_STATE, config=config, context=case)
    except (SandboxUnavailable, Refused):
        raise
    except Unavailable as outage:
        if case.stopping.is_set():
            return "open"  # it was not let finish: the problem stays open for `resume`
        await case.ledger.end(problem, "failed", str(outage))
        case.emit({"type": "problem_ended", "problem": problem, "status": "failed", "cause": str(outage)})  # fmt: skip
        return "failed"
    if state["stop"]:
        await case.ledger.end(problem, "done", state["stop"])
        case.emit({"type": "problem_ended", "problem": problem, "status": "done", "cause": state["stop"]})  # fmt: skip
    return "done" if state["stop"] else "open"


class Spaces:
    """Sample spaces by digest, each read once: most problems of a task share one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, Any] = {}

    def __getitem__(self, digest: str) -> Any:
        if digest not in self._known:
            self._known[digest] = self._store.space(digest)
        return self._known[digest]


def executor_of(settings: Json, sandbox: Sandbox | None) -> Execute | None:
    """The execute oracle of a session, one for all its problems."""
    return None if sandbox is None else executor(sandbox, Settings.from_json(settings).limits)


def graph_of(settings: Json, rows: Sequence[ProblemRow]) -> Any:
    """The method's graph; where the session says how a bank is read, followed by the reading."""
    family = rows[0].problem.family if rows else "programs"
    chosen: Method = method(settings["method"], family)
    text = Settings.from_json(settings).text
    if text is None or text.inference is None:
        return chosen.graph
    return followed_by_reading(chosen.graph)


def _shaping(model_settings: Json) -> Json:
    """What of a model's settings shapes its answers: where it is reached does not."""
    model = dict(model_settings or {})
    return {key: value for key, value in model.items() if key not in ("endpoint", "transport")}


def make_case(
    store: Store, session: str, settings: Json, row: ProblemRow, spaces: Spaces, **rest: Any
) -> Case:
    """A case as the session's record describes it. rest: what is live (proposer, execute, …) or
    stands in for the store (journal, ledger)."""
    course = Settings.from_json(settings)
    tau = None if course.text is None else course.text.tau
    family = family_of(row.problem, strict_contract=course.strict_contract, tau=tau)
    players = rest.pop("players", {})
    others = {
        name: Role(_shaping(told), players.get(name))
        for name, told in (settings.get("roles") or {}).items()
    }
    if "ledger" not in rest:
        rest |= {"journal": store.journal(session), "ledger": store.ledger(session)}
    return Case(
        session=session,
        problem=row.problem,
        space=spaces[row.space],
        family=family,
        settings=course,
        model=_shaping(settings["model_settings"]),
        repairer_model=_shaping(settings.get("repairer_settings")),
        others=others,
        **rest,
    )
