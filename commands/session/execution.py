"""Execute a session: open the store, the models and the sandbox, run the problems, and close
everything.

After the first Ctrl-C, a SIGTERM or a closed terminal, the steps that are running finish and are
saved. A second Ctrl-C stops at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ...config import MAX_CONCURRENCY, ClusterConfig, RunConfig, SandboxConfig
from ...records import (
    Interrupted,
    Json,
    OracleSettings,
    Proposer,
    Repairer,
    UsageError,
    UsesWorkers,
    Workers,
)
from ...store import Store
from .finding_results import Findings
from .planning import OnEvent as OnEvent
from .planning import (
    default_concurrency,
    get_repairer,
    opening_settings,
    runs_in_process,
    waits_for_batches,
    worker_options,
)
from .settings import describe_spending, display_settings


@dataclass(frozen=True)
class OpenedSettings:
    """Settings that the opened models, sandbox and solver report about themselves.

    Args:
        model: settings of the proposer.
        repairer: settings of the repairer; None without a repairer.
        players: settings of the models of all other roles, by role.
        layers: the isolation layers of the sandbox, each with whether it is active.
        concurrency: number of problems that run at the same time.
    """

    model: Json
    repairer: Json
    players: Mapping[str, Json]
    layers: Mapping[str, bool]
    concurrency: int


BeginSession: TypeAlias = Callable[[Store, OpenedSettings], str]


async def execute_session(
    path: Path,
    begin: BeginSession,
    family: str,
    config: RunConfig,
    players: Mapping[str, Json],
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
    retry_failed: bool = False,
) -> tuple[str, Findings | None]:
    """Run the problems of a new or existing session.

    Args:
        path: path of the store.
        begin: called with the open store; creates or finds the session, and returns its id.
        family: name of the task's family.
        config: the configuration of the run.
        players: {role: [model, its options]} for the roles that have a model of their own.
        on_event: called with each event of the run.
        callbacks: LangChain callbacks.
        retry_failed: whether to run failed problems again.

    Returns:
        The session's id, and its findings. They are None if the session's own oracle is not used
        for them: it runs on a cluster, or the session failed, perhaps because of this oracle.
    """
    from ...agents import open_model
    from ...graphs.runtime.budget import Budget
    from ...graphs.runtime.queries import read_settings
    from ...graphs.runtime.runner import run_session
    from ...tasks import load_family as family_named
    from ...tools.workers import open_workers
    from ..findings import find_findings
    from ..oracles import open_oracles_on

    emit = _showing(on_event) if on_event else (lambda event: None)
    model, repair = config.model.model, get_repairer(config.method)
    async with AsyncExitStack() as stack:
        workers = await open_workers(config.cluster.cluster, config.cluster.workers)
        stack.push_async_callback(workers.close)

        async def opened(spec: str, options: Mapping[str, Json]) -> Proposer:
            found = await open_model(spec, options)
            stack.push_async_callback(found.close)
            if isinstance(found, UsesWorkers):
                found.use_workers(workers)
            return found

        if isinstance(model, str):
            proposer = await opened(model, opening_settings(config.model, config.cluster))
        else:
            proposer = model
        model_settings = read_settings(proposer)
        repairer: Any = repair
        if isinstance(repair, str):
            repairer = await opened(repair, worker_options(config.cluster))
            if not isinstance(repairer, Repairer):
                raise UsageError(f"repair is {repair!r}: this model cannot repair hypotheses")
        repairer_settings = None if repairer is None else read_settings(repairer)
        others: dict[str, Proposer] = {}
        for name, (spec, options) in players.items():
            searches = spec.partition(":")[0] == "search"
            more = worker_options(config.cluster) if searches else {}
            others[name] = await opened(spec, {**options, **more})
        told_by = {name: read_settings(one) for name, one in others.items()}
        tools = await stack.enter_async_context(
            open_oracles_on(
                workers, family_named(family), oracle_settings(config.sandbox, config.cluster)
            )
        )
        # The store is opened last, so that a session that cannot run leaves no empty store behind.
        # A signal that arrives while it is opened already stops the session in order.
        with handle_interrupts(emit) as stopping:
            store = stack.enter_context(closing(Store.open(path, write=True)))
            cores = sum(node["cores"] for node in workers.describe_nodes())
            waiting = (one for one in told_by.values() if waits_for_batches(one))
            concurrency = config.cluster.concurrency or max(
                default_concurrency(next(waiting, model_settings)), min(MAX_CONCURRENCY, cores)
            )
            told = OpenedSettings(
                model_settings, repairer_settings, told_by, tools.layers, concurrency
            )
            session = begin(store, told)
            record = store.session(session)
            before = record.get("seconds") or 0.0
            limits = describe_spending(config)
            # Already now, in case that this process is killed.
            store.update_session(
                session, status="running", spending=limits, **_nodes(record, workers)
            )
            used = store.model_usage(session)
            start = time.monotonic()
            outcome = await run_session(
                store, session, proposer=proposer, oracle=tools.oracle,
                repairer=repairer, players=others, stopping=stopping,
                concurrency=concurrency, on_event=emit, callbacks=callbacks,
                retry_failed=retry_failed, budget=Budget.from_settings(limits, used),
                max_failures=config.budget.max_failures, cache=config.store.cache,
                fast=runs_in_process(model_settings),
            )  # fmt: skip
        seconds = round(before + time.monotonic() - start, 3)
        store.update_session(
            session, status=outcome["status"], seconds=seconds, cause=outcome["cause"],
            **_nodes(record, workers),
        )  # fmt: skip
        found = None
        if config.cluster.cluster == "local" and outcome["status"] != "failed":
            found = await find_findings(store, session, store.problems(session), opened=tools)
        return session, found


def _nodes(record: Mapping[str, Json], workers: Workers) -> dict[str, Json]:
    """Return what a session records of the nodes of a cluster, also of those of earlier runs of it."""
    earlier = {node["name"]: node for node in record.get("nodes") or ()}
    nodes = earlier | {node["name"]: node for node in workers.describe_nodes()}
    return {"nodes": [nodes[name] for name in sorted(nodes)]} if nodes else {}


def oracle_settings(sandbox: SandboxConfig, cluster: ClusterConfig) -> OracleSettings:
    """Return the settings with which the session's sandbox or solver is opened."""
    return OracleSettings(sandbox.sandbox, cluster.workers, sandbox.strict_sandbox, sandbox.solver)


@contextlib.contextmanager
def default_progress(on_event: OnEvent | None) -> Iterator[OnEvent | None]:
    """Yield the function that receives the events of a session.

    This is `on_event` if it is set. Otherwise it is a progress display in a notebook, and None
    outside a notebook.
    """
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if on_event is not None or getattr(shell, "kernel", None) is None:
        yield on_event
        return
    from ...reports.screen.notebook import NotebookProgress

    with NotebookProgress() as progress:
        yield progress


def _showing(on_event: OnEvent) -> OnEvent:
    """Return a listener that passes events on with readable session settings."""

    def tell(event: Mapping[str, Json]) -> None:
        shown = {"settings": display_settings(event["settings"])} if "settings" in event else {}
        on_event({**event, **shown})

    return tell


@contextlib.contextmanager
def handle_interrupts(emit: OnEvent) -> Iterator[asyncio.Event]:
    """Yield an event that the first Ctrl-C or SIGTERM sets. A second signal cancels the task.

    SIGHUP sets the event too but never cancels, because a terminal that closes may send SIGHUP
    several times. Outside the main thread no signal handler is installed.

    Args:
        emit: called with {"type": "stopping"} after the first signal.

    Raises:
        Interrupted: a second signal cancelled the task.
    """
    stopping = asyncio.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopping
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if not stopping.is_set():
            stopping.set()
            emit({"type": "stopping"})

    def interrupt() -> None:
        if stopping.is_set():
            if task is not None:
                task.cancel()
            _leave()
        stop()

    signals = {signal.SIGINT: interrupt, signal.SIGTERM: interrupt}
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup ignores SIGHUP
        signals[signal.SIGHUP] = stop
    for number, react in signals.items():
        loop.add_signal_handler(number, react)
    try:
        yield stopping
    except asyncio.CancelledError:
        if not stopping.is_set():
            raise
        raise Interrupted("Stopped immediately. Steps in progress were not saved.") from None
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _leave(seconds: float = 3.0) -> None:
    """Terminate the search workers, and end this process after `seconds` even if closing hangs."""
    for child in multiprocessing.active_children():
        child.terminate()
    timer = threading.Timer(seconds, os._exit, [Interrupted.exit_code])
    timer.daemon = True
    timer.start()
