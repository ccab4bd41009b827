"""What one driver can do: the second part of `bench/cluster.py`.

The driver of a session runs the graphs, calls the models and writes the journal. Measured are its CPU
time for a step, and how many steps a second it reaches if its workers sleep instead of computing, so
that it is the driver that limits them. The store's writer is also measured alone: the changes that a
session submits to it are recorded, and submitted again to an empty store as fast as it takes them.

A step here is one of `abduce` with the embedded search: two requests to the search, one run by the
model's tool and three runs by the judge, on a sample space of 14,101 lists. With a language model, it is
1.6 model calls on average, of which 0.6 end with a run by the tool (`bench/endpoint`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from endpoint import served
from peirce.agents import open_model
from peirce.graphs.runtime.runner import run_session
from peirce.records import Observation, OracleSettings, Problem, Proposer, Workers
from peirce.store import Store
from peirce.store.writer import Change
from peirce.tasks.programs.list_functions import generate, sample_space
from peirce.tools.execute import EXECUTE
from peirce.tools.workers.local import LocalWorkers
from process_times import CpuTimes, read_cpu_times
from sleeping_oracle import SleepingWorkers
from table import Row

ASLEEP_S = 1.0
MANY = 100  # with more sleepers, a problem has one step


@dataclass
class Watch:
    """Listens to the events of a session, until its last problem has ended.

    Attributes:
        wall_s: From the start of the session.
        loop_s: CPU seconds of the thread that runs the event loop.
        driver_s: CPU seconds of this process.
        calls: The number of calls, by kind.
    """

    steps: int = 0
    wall_s: float = 0.0
    loop_s: float = 0.0
    driver_s: float = 0.0
    calls: dict[str, int] = field(default_factory=dict)
    digest: str = ""
    cpu: CpuTimes = field(default_factory=CpuTimes)

    def start(self) -> None:
        self._began = time.perf_counter(), time.thread_time(), time.process_time()

    def __call__(self, event: Any) -> None:
        if event["type"] == "call":
            self.calls[event["kind"]] = self.calls.get(event["kind"], 0) + 1
        self.steps += event["type"] == "step"
        if event["type"] == "problem_ended":
            now = time.perf_counter(), time.thread_time(), time.process_time()
            self.wall_s, self.loop_s, self.driver_s = (
                a - b for a, b in zip(now, self._began, strict=True)
            )

    @property
    def steps_a_second(self) -> float:
        return self.steps / self.wall_s

    @property
    def driver_ms(self) -> float:
        """CPU milliseconds of the driver for a step."""
        return 1e3 * self.driver_s / self.steps

    @property
    def loop_ms(self) -> float:
        """CPU milliseconds of the event loop's thread for a step."""
        return 1e3 * self.loop_s / self.steps


async def watch_session(
    folder: Path,
    proposer: Proposer,
    workers: Workers,
    problems: Sequence[Problem],
    steps: int,
    concurrency: int,
    keep: list[Change] | None = None,
    processes: int | None = None,
) -> Watch:
    """Run a session of `abduce`, and return its figures.

    Args:
        folder: Where its store is written.
        proposer: The model.
        workers: Where the oracle is opened.
        problems: Its problems.
        steps: The number of steps of each problem.
        concurrency: How many problems run at the same time.
        keep: Receives the changes that are written to the store.
        processes: The processes of the sandbox on each node.
    """
    watch = Watch()
    oracle = await workers.open_oracle(EXECUTE, OracleSettings(workers=processes))
    settings = {"task": "list_functions", "method": "abduce", "model": "m", "seed": 0,
                "max_answers": steps, "model_settings": proposer.settings()}  # fmt: skip
    pairs = [(problem, sample_space(0)) for problem in problems]
    number = len(list(folder.iterdir()))
    try:
        with Store.open(folder / f"{number}.duckdb", write=True) as store:
            session = store.create_session(settings, pairs)
            if keep is not None:
                record_changes(store, keep)
            before = read_cpu_times()
            watch.start()
            await run_session(
                store, session, proposer=proposer, oracle=oracle, concurrency=concurrency,
                on_event=watch,
            )  # fmt: skip
            watch.cpu = read_cpu_times() - before
            watch.digest = store.digest(session)
    finally:
        await oracle.close()
    return watch


# --- Search and sandbox on workers that compute -----------------------------------------------------


async def measure_steps(
    folder: Path, local: Workers, cluster: Workers, processes: int, problems: int, rounds: int
) -> list[Row]:
    """Measure the driver's CPU time for a step with the embedded search, on both kinds of workers."""
    pools = {"local": local, "ray": cluster}
    found: dict[str, list[Watch]] = {pool: [] for pool in pools}
    models = {}
    try:
        for pool, workers in pools.items():
            models[pool] = model = await open_model("search", {"workers": processes})
            model.use_workers(workers)  # type: ignore[attr-defined]
            await watch_session(folder, model, workers, generate(1, rounds), 1, 1, None, processes)
        for turn in range(rounds):
            drawn = generate(problems, turn)
            for pool in list(pools)[:: -1 if turn % 2 else 1]:
                found[pool].append(
                    await watch_session(
                        folder, models[pool], pools[pool], drawn, 3, 2 * processes, None, processes
                    )
                )
            assert found["local"][-1].digest == found["ray"][-1].digest
    finally:
        for model in models.values():
            await model.close()
    heads = ("driver", "its loop", "node", "workers")
    print(f"\n{'CPU ms a step, embedded search':40s}" + "".join(f"{head:>15s}" for head in heads))
    spent = {}
    for pool, watched in found.items():
        steps = sum(one.steps for one in watched)
        cpu = sum((one.cpu for one in watched), CpuTimes())
        driver, loop = (sum(getattr(one, s) for one in watched) for s in ("driver_s", "loop_s"))
        spent[pool] = [1e3 * one / steps for one in (driver, loop, cpu.node, cpu.workers)]
        print(f"{pool:40s}" + "".join(f"{ms:15.2f}" for ms in spent[pool]))
    return [
        Row("CPU of the driver for a step, search and sandbox on the cluster", spent["ray"][0], "ms",
            reference=spent["local"][0], compared_with="on this machine"),
        Row("CPU of the workers for such a step", spent["ray"][3], "ms",
            reference=spent["local"][3], compared_with="on this machine"),
    ]  # fmt: skip


# --- Workers and models that sleep ------------------------------------------------------------------


def write_problems(count: int) -> list[Problem]:
    """Return problems whose outputs equal their inputs, as the sleeping oracle answers."""
    return [
        Problem(str(n), "list_functions", "programs", tuple(Observation([n, i], [n, i]) for i in range(8)))
        for n in range(count)
    ]  # fmt: skip


def show_head(what: str) -> None:
    heads = ("steps/s", "at most", "reached", "driver", "its loop", "CPU ms a step", "of its loop")
    print(f"\n{what:40s}" + "".join(f"{head:>15s}" for head in heads))


def show_watch(label: str, watch: Watch, most: float) -> None:
    """Print the steps a second, the most that the sleepers allow, the part of it that was reached, the
    use of a core by the driver and by its event loop, and the driver's CPU time for a step.
    """
    figures = [f"{watch.steps_a_second:.1f}", f"{most:.1f}", f"{watch.steps_a_second / most:.0%}",
               f"{watch.driver_s / watch.wall_s:.0%}", f"{watch.loop_s / watch.wall_s:.0%}",
               f"{watch.driver_ms:.1f}", f"{watch.loop_ms:.1f}"]  # fmt: skip
    print(f"{label:40s}" + "".join(f"{figure:>15s}" for figure in figures), flush=True)


@dataclass
class Recorded:
    """What a session submitted to the writer of its store: its changes, and how many steps it had."""

    changes: list[Change] = field(default_factory=list)
    steps: int = 0


async def measure_sleeping_workers(
    folder: Path, cluster: Workers, sleepers: Sequence[int]
) -> tuple[list[Row], Recorded]:
    """Measure the steps a second of a driver whose workers sleep a second in each call.

    They sleep on the cluster, where each call goes through Ray; the most of them also in this process,
    which shows what Ray adds. The changes of a session that is not the largest are recorded.
    """
    show_head(f"workers that sleep {ASLEEP_S:g} s")
    rows: list[Row] = []
    recorded = Recorded()

    async def watch_sleepers(inner: Workers, count: int, keep: list[Change] | None = None) -> Watch:
        workers = await SleepingWorkers.open(inner, ASLEEP_S)
        model = await open_model("search", {})
        model.use_workers(workers)  # type: ignore[attr-defined]
        steps = 1 if count > MANY else 2
        try:
            return await watch_session(
                folder, model, workers, write_problems(count), steps, count, keep
            )
        finally:
            await model.close()
            await workers.close()

    # Some calls of a step are made together, so one problem alone shows how long a step must take.
    alone = await watch_sleepers(LocalWorkers(), 1)
    here = await watch_sleepers(LocalWorkers(), sleepers[-1])
    show_watch(f"{sleepers[-1]:,} in this process", here, sleepers[-1] * alone.steps_a_second)
    for count in sleepers:
        keep = recorded.changes if count == sleepers[-min(2, len(sleepers))] else None
        watch = await watch_sleepers(cluster, count, keep)
        if keep is not None:
            recorded.steps = watch.steps
        most = count * alone.steps_a_second
        show_watch(f"{count:,} on the cluster", watch, most)
        label = f"{count:,} sleeping workers"
        rows += [
            Row(f"steps a second, {label}", watch.steps_a_second, "/s", "higher",
                reference=most, compared_with="with a driver that takes no time"),
            Row(f"use of a core by the driver, {label}", 100 * watch.driver_s / watch.wall_s, "%"),
            Row(f"worker calls a second, {label}", sum(watch.calls.values()) / watch.wall_s, "/s",
                "higher"),
            Row(f"CPU of the driver's event loop for a step, {label}", watch.loop_ms, "ms"),
            Row(f"CPU of the driver for a step, {label}", watch.driver_ms, "ms",
                reference=here.driver_ms if count == sleepers[-1] else None,
                compared_with="without Ray"),
        ]  # fmt: skip
    return rows, recorded


async def measure_sleeping_model(folder: Path, concurrencies: Sequence[int]) -> list[Row]:
    """Measure the model calls a second of a driver whose model answers after a second, by real HTTP.

    The oracle answers at once in this process, so it adds next to nothing.
    """
    show_head(f"model that answers after {ASLEEP_S:g} s")
    rows: list[Row] = []
    with served(ASLEEP_S, ASLEEP_S) as url:

        async def watch_model(problems: int, count: int) -> Watch:
            model = await open_model(url, {})
            workers = await SleepingWorkers.open(LocalWorkers(), 0.0)
            try:
                drawn = write_problems(problems)
                return await watch_session(folder, model, workers, drawn, 1, count)
            finally:
                await workers.close()
                await model.close()

        await watch_model(1, 1)  # imports the client
        for count in concurrencies:
            # A problem has one or two calls: at the end of a session, some places are empty.
            watch = await watch_model(count * (1 if count > MANY else 5), count)
            calls = watch.calls["model"]
            show_watch(f"concurrency {count:,}", watch, count * watch.steps / (calls * ASLEEP_S))
            label = f"concurrency {count:,}"
            rows += [
                Row(f"model calls a second, {label}", calls / watch.wall_s, "/s", "higher",
                    reference=count / ASLEEP_S, compared_with="with a driver that takes no time"),
                Row(f"use of a core by the driver, model, {label}",
                    100 * watch.driver_s / watch.wall_s, "%"),
                Row(f"CPU of the driver for a step, model, {label}", watch.driver_ms, "ms"),
                Row(f"CPU of the driver's event loop for a step, model, {label}", watch.loop_ms, "ms"),
            ]  # fmt: skip
    return rows


# --- The store's writer -----------------------------------------------------------------------------


def record_changes(store: Store, changes: list[Change]) -> None:
    """Note the changes that are submitted to a store's writer from now on."""
    writer = store._writer
    assert writer is not None
    submit = writer.submit

    def submit_noted(change: Change) -> Future[None]:
        changes.append(change)
        return submit(change)

    writer.submit = submit_noted  # type: ignore[method-assign]


def measure_writer(folder: Path, recorded: Recorded, waiting: Sequence[int]) -> list[Row]:
    """Measure how many changes a second the writer of a store takes alone.

    Args:
        folder: Where the stores are written.
        recorded: What is written: calls with their arrays, and the records of steps.
        waiting: For each measurement, how many changes wait at the same time, as one does for each
            running problem.
    """
    changes, steps = recorded.changes, recorded.steps
    print(f"\n{'writer of the store alone':40s}{'steps/s':>15s}{'changes/s':>15s}{'commits/s':>15s}{'its thread':>15s}")  # fmt: skip
    rows = []
    for count in waiting:
        with Store.open(folder / f"writer-{count}.duckdb", write=True) as store:
            commits = count_commits(store)
            open_changes: deque[Future[None]] = deque()
            start, spent = time.perf_counter(), time.process_time() - time.thread_time()
            for change in changes:
                if len(open_changes) == count:
                    open_changes.popleft().result()
                assert store._writer is not None
                open_changes.append(store._writer.submit(change))
            for one in open_changes:
                one.result()
            wall = time.perf_counter() - start
            cpu = time.process_time() - time.thread_time() - spent
        label = f"{count:,} changes waiting"
        figures = [f"{steps / wall:.0f}", f"{len(changes) / wall:.0f}", f"{commits[0] / wall:.0f}",
                   f"{cpu / wall:.0%}"]  # fmt: skip
        print(f"{label:40s}" + "".join(f"{figure:>15s}" for figure in figures), flush=True)
        rows += [
            Row(f"commits a second of the writer alone, {label}", commits[0] / wall, "/s", "higher"),
            Row(f"steps a second of the writer alone, {label}", steps / wall, "/s", "higher"),
        ]  # fmt: skip
    return rows


def count_commits(store: Store) -> list[int]:
    """Return a list whose only element counts the commits of a store's writer from now on."""
    writer = store._writer
    assert writer is not None
    commit, count = writer._commit, [0]

    def commit_counted(group: Any) -> None:
        count[0] += 1
        commit(group)

    writer._commit = commit_counted  # type: ignore[method-assign]
    return count
