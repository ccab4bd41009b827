"""Run the problems of a session concurrently, and continue a session that was stopped.

A stopped session is resumed by the same function call. The graph of each open problem runs again
from its start. The journal supplies the results of recorded calls; later calls go to the models and
tools. Therefore, LangGraph needs no checkpointer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ...agents import EndpointRefused
from ...agents.endpoint.limits import raise_open_file_limit
from ...config import SPLITS
from ...records import (
    Apply,
    BudgetSpent,
    JoinsSession,
    Json,
    LabelsRows,
    OpenOracle,
    Proposer,
    Repairer,
    SandboxUnavailable,
    StoreError,
    Unavailable,
)
from ...store import ProblemRow, Store
from ...tasks import load_family, problem_family
from .. import find_method, get_method
from ..bank.reading import add_bank_reading
from .budget import Budget
from .case import Case, Event, SessionSettings
from .control import SessionControl
from .hints import Mailbox
from .queries import Role
from .secret_guard import find_secrets, guarded
from .steps import START_STATE

# With fast answers, a commit waits for the records of 1/A_COMMIT of the running problems.
COMMIT_DIVISOR = 4
MIN_BATCHING_WORKERS = 32  # with fewer workers, batching commits costs more time than it saves


async def run_session(
    store: Store,
    session: str,
    *,
    proposer: Proposer | None,
    oracle: OpenOracle | None,
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
    mailbox: Mailbox | None = None,
) -> dict[str, Json]:
    """Run the open problems of a session.

    Args:
        store: The store, open for writing.
        session: The id of the session.
        proposer: The model that proposes hypotheses.
        oracle: The opened sandbox or solver; None if the family needs none.
        repairer: The repairer of answers; None for no repair.
        players: The models of other roles, by the name of the role.
        concurrency: The number of problems that run at the same time.
        on_event: Function that is called with each event of the session.
        callbacks: LangChain callbacks.
        stopping: Set this event to stop the session after the steps in flight.
        retry_failed: Whether to run failed problems again.
        budget: The limits on tokens and dollars; None for no limit.
        max_failures: Stop when this many problems have failed in this run; None for no limit.
        cache: Whether to reuse answers of other sessions in the store.
        fast: Whether answers arrive at a high rate, as from a small model in this process. Then the
            results of several problems are committed together.
        mailbox: The hints of people; None to open those of the stored session.

    Returns:
        {"status", "problems", "done", "failed", "cause"}. "problems" and "done" are numbers of
        problems. "failed" maps each failed problem to its error. "status" is "done" (no problem is
        open), "failed" (every problem failed, or `max_failures` was reached), "budget" (the budget
        is spent) or "interrupted" (`stopping` was set). After an early end, the steps in flight
        have been finished and saved, open problems wait for `resume`, and "cause" says why the
        session ended.

    Raises:
        SandboxUnavailable: The sandbox cannot be used.
        EndpointRefused: The model's endpoint would refuse every request. Calls in flight have been
            finished and saved, and the problems stay open for `resume`.
    """
    settings = store.settings(session)
    rows = store.problems(session)
    stopping = stopping or asyncio.Event()
    listener = on_event or (lambda event: None)
    budget = budget or Budget()
    budget.closed = None

    def emit(event: Event) -> None:
        control.note_event(event)
        listener(event)

    models = (proposer, repairer, *(players or {}).values())
    secrets = find_secrets(models)
    mailbox = mailbox or Mailbox.open(store, session, secrets)
    control = SessionControl(
        store, session, concurrency=concurrency, budget=budget, stopping=stopping,
        mailbox=mailbox, secrets=secrets, emit=emit, on_concurrency=lambda: start_workers(),
    )  # fmt: skip
    gate = control.gate
    todo = [
        row for row in rows if row.status == "open" or (retry_failed and row.status == "failed")
    ]
    store.update_session(session, status="running", digest=None)
    store.set_controller(control.answer)
    emit({"type": "session", "session": session, "settings": settings, "problems": len(rows),
          "open": len(todo), "layers": dict(oracle.layers()) if oracle else {},
          **_rows_of_texts(rows)})  # fmt: skip

    plan = SessionPlan(store, session, settings)
    graph, apply = plan.select_graph(rows), plan.limit_oracle(oracle)
    waiting = deque(todo)
    raise_open_file_limit(concurrency)
    patient: Any
    for patient in models:
        if isinstance(patient, JoinsSession):
            patient.join_session(stopping, lambda said: emit({"type": "report", "text": said}))
    journal, ledger = guarded(store.journal(session), store.ledger(session), secrets)
    answers = store.answer_cache(session) if cache else None
    workers: set[asyncio.Task[None]] = set()  # those that are still running
    ended_workers: asyncio.Queue[asyncio.Task[None]] = asyncio.Queue()
    resting = 0  # workers whose problem waits for a person
    failures = 0
    failing = {row.problem.id for row in rows if row.status == "failed"}
    # status and cause of each reason to end early; the first one counts
    early: list[tuple[str, str]] = []

    def end_early(status: str, cause: str) -> None:
        early.append((status, cause))
        stopping.set()

    def start_workers() -> None:
        for _ in range(min(gate.limit - len(workers) + resting, len(waiting))):
            task = asyncio.create_task(run_some())
            workers.add(task)
            task.add_done_callback(leave)
        set_commits()

    def note_waiting(begins: bool) -> None:
        nonlocal resting
        resting += 1 if begins else -1
        if begins:  # another problem runs meanwhile
            start_workers()

    def leave(task: asyncio.Task[None]) -> None:
        workers.discard(task)
        ended_workers.put_nowait(task)
        set_commits()

    def set_commits() -> None:
        many = fast and len(workers) >= MIN_BATCHING_WORKERS
        store.set_commit_size(len(workers) // COMMIT_DIVISOR if many else 1)

    async def run_some() -> None:
        nonlocal failures
        while waiting and not stopping.is_set():
            if len(workers) - resting > gate.limit:  # the concurrency was lowered
                workers.discard(asyncio.current_task())  # so that only as many leave as have to
                return
            row = waiting.popleft()
            case = plan.make_case(
                row, players, proposer=proposer, repairer=repairer,
                oracle=apply, gate=gate,
                budget=budget, stopping=stopping, emit=emit, cache=answers, on_waiting=note_waiting,
                journal=journal, ledger=ledger, mailbox=mailbox,
            )  # fmt: skip
            try:
                ended_as = await _run_problem(graph, case, callbacks)
                if ended_as == "failed":
                    failures += 1
                    failing.add(row.problem.id)
                elif ended_as == "done":
                    failing.discard(row.problem.id)
            except EndpointRefused as error:
                budget.closed = budget.closed or error
                end_early("failed", str(error))
            except BudgetSpent as spent:
                end_early("budget", str(spent))
            if failures == max_failures and not early:
                end_early("failed", f"{failures} problems failed, as many as max_failures allows")

    async def wake_when_stopping() -> None:
        await stopping.wait()
        gate.wake()  # a pause ends with the session

    waking = asyncio.create_task(wake_when_stopping())
    status, cause = "failed", ""
    try:
        start_workers()
        while workers or not ended_workers.empty():
            (await ended_workers.get()).result()
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
        left = [*workers, waking]
        for task in left:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*left, return_exceptions=True)
        store.set_commit_size(1)
        store.update_session(session, status=status, digest=store.digest(session))
        store.set_controller(None)
        emit({"type": "ended", "status": status, "cause": cause, "failed": len(failing)})
    done = sum(row.status == "done" for row in ended)
    counts = {"problems": len(ended), "done": done, "failed": failed}
    return {"status": status, **counts, "cause": cause}


def _rows_of_texts(rows: Sequence[ProblemRow]) -> dict[str, Json]:
    """Return {"rows": numbers of shown, training and split rows} for labelled rows, else {}."""
    counted = dict.fromkeys(("shown", "training", *SPLITS), 0)
    labelled = False
    for problem in (row.problem for row in rows):
        kind = load_family(problem.family)
        if isinstance(kind, LabelsRows):
            labelled = True
            counted["shown"] += len(problem.shown)
            counted["training"] += problem.secret.get("training_rows", len(problem.shown))
            for split in SPLITS:
                counted[split] += len(kind.get_split(problem, split))
    return {"rows": counted} if labelled else {}


async def _run_problem(graph: Any, case: Case, callbacks: Sequence[Any]) -> str:
    """Run one problem and return its status: done, failed, or open where it was stopped.

    An outage fails this problem only and is recorded as its cause.
    """
    problem = case.problem.id
    case.emit({"type": "problem_started", "problem": problem})
    named = {"session": case.session, "problem": problem}
    config = {"callbacks": list(callbacks), "run_name": f"problem {problem}", "metadata": named}
    try:
        state = await graph.ainvoke(START_STATE, config=config, context=case)
    except (SandboxUnavailable, EndpointRefused):
        raise
    except Unavailable as outage:
        if case.stopping.is_set():
            return "open"  # it was interrupted, so it stays open for `resume`
        await case.ledger.record_end(problem, "failed", str(outage))
        case.emit({"type": "problem_ended", "problem": problem, "status": "failed", "cause": str(outage)})  # fmt: skip
        return "failed"
    if state["stop"]:
        await case.ledger.record_end(problem, "done", state["stop"])
        case.emit({"type": "problem_ended", "problem": problem, "status": "done", "cause": state["stop"]})  # fmt: skip
    return "done" if state["stop"] else "open"


class SpaceCache:
    """The sample spaces of a session, by digest.

    Each sample space is read from the store once, because most problems of a task share a sample
    space.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, Any] = {}

    def __getitem__(self, digest: str) -> Any:
        if digest not in self._known:
            self._known[digest] = self._store.input_set(digest)
        return self._known[digest]


def _shaping(model_settings: Json) -> Json:
    """Return the settings of a model that affect its answers, without those of its endpoint."""
    model = dict(model_settings or {})
    return {key: value for key, value in model.items() if key not in ("endpoint", "transport")}


class SessionPlan:
    """Prepares a stored session to run: selects the graph and makes the context of each problem."""

    def __init__(self, store: Store, session: str, record: Json) -> None:
        self._store, self._session = store, session
        self._spaces = SpaceCache(store)
        self.settings = SessionSettings.from_record(record)
        self._model = _shaping(record["model_settings"])
        self._repairer_model = _shaping(record.get("repairer_settings"))
        self._roles = {name: _shaping(one) for name, one in (record.get("roles") or {}).items()}

    def limit_oracle(self, oracle: OpenOracle | None) -> Apply | None:
        """Return the function that applies hypotheses under the resource limits of this session.

        The result is None if `oracle` is None.
        """
        return None if oracle is None else oracle.with_limits(self.settings.limits)

    def select_graph(self, rows: Sequence[ProblemRow]) -> Any:
        """Return the graph of the session's method.

        For labelled text, nodes that predict labels with the bank are added after the method's own
        nodes, unless the setting `inference` is None.
        """
        name = self.settings.method.method
        chosen = find_method(name, rows[0].problem.family) if rows else get_method(name)
        text = self.settings.text
        if text is None or text.inference is None:
            return chosen.graph
        return add_bank_reading(chosen.graph)

    def make_case(
        self, row: ProblemRow, players: Mapping[str, Proposer] | None = None, **live: Any
    ) -> Case:
        """Return the context in which the graph works on one problem.

        Args:
            row: The stored problem.
            players: The models of other roles, by the name of the role.
            live: Other fields of `Case`: open resources (proposer, oracle, …), or a journal and a
                ledger to use instead of the store.
        """
        tau = None if self.settings.text is None else self.settings.text.tau
        strict = self.settings.method.strict_contract
        kind = problem_family(row.problem, strict_contract=strict, tau=tau)
        form = self.settings.method.answer_format
        if form is not None and form not in kind.answer_formats:
            raise StoreError(f"the store is damaged: a session has the answer format {form!r:.40}")
        others = {name: Role(one, (players or {}).get(name)) for name, one in self._roles.items()}
        if "ledger" not in live:
            live |= {
                "journal": self._store.journal(self._session),
                "ledger": self._store.ledger(self._session),
            }
        return Case(
            session=self._session,
            problem=row.problem,
            space=self._spaces[row.space],
            family=kind,
            settings=self.settings,
            model=self._model,
            repairer_model=self._repairer_model,
            others=others,
            **live,
        )
