"""What Ray adds to a call of work: the first part of `bench/cluster.py`.

The same work runs through the `Workers` of this machine and of a Ray cluster of one node, which has as
many cores as the local pool has processes. There are two kinds of work: requests to a service, as those
of the embedded search, and runs of a program in the sandbox on an input set. Calls are made in two ways:

alone: the next call is made when the last one has returned, in turns between the two, so that a change
in the load of the machine meets both. The ratio is that of the median wall times.

two for each core: as a session with `--concurrency` of twice the cores makes them. The ratio is that of
the wall times of blocks of calls, in turns.

The figures of a call without work show what the added time is made of.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from peirce.records import InputSet, Limits, OracleSettings, Workers, parse_strictly
from peirce.tasks.programs.list_functions import sample_space
from peirce.tools.execute import EXECUTE
from peirce.tools.workers.outcomes import decode_outcome, encode_outcome
from process_times import PARTS, CpuTimes, read_cpu_times
from sleeping_oracle import draw_batch
from table import Row

Call = Callable[[], Awaitable[Any]]
AIM = 1.1  # of issue 28: less than 10% for work of 50 ms and more
AIM_FROM_MS = 50
POOLS = ("local", "ray")
KINDS = {"service": "request to a service", "sandbox": "run in the sandbox"}
CALL_PARTS = ("driver", "node", "workers")  # Ray's own processes work without calls, too
PART_CALLS = 200
FIT_CALLS = 20
BLOCK_MS = 300  # of work, in a block for each core
NO_INPUTS = InputSet("none", ())
# As large as a request of the search: eight pairs, the facts and the texts of some earlier answers.
SHOWN = [[[n, n + 1, n + 2, n + 3, n + 4], [n, n + 1, n + 2]] for n in range(8)]
PADDING = {"shown": SHOWN, "earlier": ["def f(x):\n    return [v + 1 for v in x[:3]]"] * 10}


@dataclass
class Timed:
    """Times of one kind of work, by pool.

    Attributes:
        alone_s: Wall times of calls alone.
        blocks_s: Wall times of blocks, divided by their calls.
        cpu: CPU times of all blocks, of which each has `count` calls.
    """

    kind: str
    cpu_ms: float
    count: int
    alone_s: dict[str, list[float]] = field(default_factory=lambda: {pool: [] for pool in POOLS})
    blocks_s: dict[str, list[float]] = field(default_factory=lambda: {pool: [] for pool in POOLS})
    cpu: dict[str, CpuTimes] = field(default_factory=lambda: {pool: CpuTimes() for pool in POOLS})

    @property
    def label(self) -> str:
        """What is done in a call."""
        work = "no work" if self.cpu_ms == 0 else f"{self.cpu_ms:g} ms of work"
        return f"{KINDS[self.kind]}, {work}"

    def cpu_ms_a_call(self, pool: str) -> dict[str, float]:
        """Return the CPU milliseconds that a call in a block took, by part."""
        calls = self.count * len(self.blocks_s[pool])
        return {part: 1e3 * getattr(self.cpu[pool], part) / calls for part in PARTS}


# --- Work -------------------------------------------------------------------------------------------


async def open_service_calls(
    stack: AsyncExitStack, workers: Workers, processes: int, work_ms: Sequence[float]
) -> dict[float, Call]:
    """Return, for each amount of work, a function that makes one request."""
    service = workers.open_service("busy_process", processes)
    stack.push_async_callback(service.close)

    def make(cpu_ms: float) -> Call:
        return lambda: service.ask("", {"cpu_ms": cpu_ms, **PADDING}, NO_INPUTS)

    calls = {cpu_ms: make(cpu_ms) for cpu_ms in (0, *work_ms)}
    await asyncio.gather(*(calls[0]() for _ in range(4 * processes)))  # starts all processes
    return calls


@dataclass(frozen=True)
class Program:
    """A program and its inputs, which take a known time in the sandbox."""

    source: str
    inputs: InputSet


def write_program(loops: int) -> str:
    return f"def f(x):\n    t = 0\n    for i in range({loops}):\n        t += i\n    return [t, *x]"


async def find_programs(processes: int, work_ms: Sequence[float]) -> dict[float, Program]:
    """Return programs that take about so many milliseconds of CPU in the sandbox of this machine.

    From 50 ms on, they run on a whole sample space of 14,101 lists, else on its first 1,000.
    """
    oracle = await EXECUTE.open(OracleSettings(workers=processes))
    apply = oracle.with_limits(Limits())
    space = sample_space(0)
    few = InputSet("the first 1,000 lists", space.inputs[:1_000])

    async def cpu_ms(loops: int, inputs: InputSet) -> float:
        await apply(write_program(loops), "f", inputs, "codes")
        before = read_cpu_times()
        for _ in range(FIT_CALLS):  # the system counts in steps of 10 ms
            await apply(write_program(loops), "f", inputs, "codes")
        return 1e3 * (read_cpu_times() - before).workers / FIT_CALLS

    async def fit(inputs: InputSet, wanted_ms: float) -> Program:
        high = round(4e6 / len(inputs.inputs))
        base_ms, high_ms = await cpu_ms(0, inputs), await cpu_ms(high, inputs)
        loops = high * (wanted_ms - base_ms) / (high_ms - base_ms)
        return Program(write_program(max(0, round(loops))), inputs)

    try:
        return {ms: await fit(space if ms >= AIM_FROM_MS else few, ms) for ms in work_ms}
    finally:
        await oracle.close()


async def open_sandbox_calls(
    stack: AsyncExitStack, workers: Workers, processes: int, programs: dict[float, Program]
) -> dict[float, Call]:
    """Return, for each amount of work, a function that runs its program once."""
    oracle = await workers.open_oracle(EXECUTE, OracleSettings(workers=processes))
    stack.push_async_callback(oracle.close)
    apply = oracle.with_limits(Limits())

    def make(program: Program) -> Call:
        return lambda: apply(program.source, "f", program.inputs, "codes")

    calls = {cpu_ms: make(program) for cpu_ms, program in programs.items()}
    for call in calls.values():  # sends the inputs to all processes
        await asyncio.gather(*(call() for _ in range(4 * processes)))
    return calls


# --- Measuring --------------------------------------------------------------------------------------


async def time_alone(timed: Timed, calls: dict[str, Call], count: int) -> None:
    """Time calls one after the other, in turns between the pools."""
    for turn in range(count):
        for pool in POOLS if turn % 2 else reversed(POOLS):
            start = time.perf_counter()
            await calls[pool]()
            timed.alone_s[pool].append(time.perf_counter() - start)


async def time_blocks(timed: Timed, calls: dict[str, Call], together: int, backwards: bool) -> None:
    """Time one block of calls on each pool, with `together` open calls."""

    async def make_some(call: Call, numbers: Iterator[int]) -> None:
        for _ in numbers:
            await call()

    for pool in reversed(POOLS) if backwards else POOLS:
        numbers = iter(range(timed.count))
        before, start = read_cpu_times(), time.perf_counter()
        driver = time.process_time()
        await asyncio.gather(*(make_some(calls[pool], numbers) for _ in range(together)))
        driver, wall = time.process_time() - driver, time.perf_counter() - start
        timed.blocks_s[pool].append(wall / timed.count)
        timed.cpu[pool] += replace(read_cpu_times() - before, driver=driver)


async def measure_overhead(
    local: Workers, cluster: Workers, processes: int, work_ms: Sequence[float], rounds: int
) -> list[Row]:
    """Measure both kinds of work on both pools, and print and return the figures."""
    programs = await find_programs(processes, work_ms)
    opened: dict[tuple[str, str], dict[float, Call]] = {}
    async with AsyncExitStack() as stack:
        for pool, workers in zip(POOLS, (local, cluster), strict=True):
            opened["service", pool] = await open_service_calls(stack, workers, processes, work_ms)
            opened["sandbox", pool] = await open_sandbox_calls(stack, workers, processes, programs)
        found = [
            Timed(kind, cpu_ms, processes * max(3, round(BLOCK_MS / max(cpu_ms, 5))))
            for kind in KINDS
            for cpu_ms in opened[kind, "local"]
        ]
        for turn in range(rounds):
            for timed in found:
                calls = {pool: opened[timed.kind, pool][timed.cpu_ms] for pool in POOLS}
                await time_alone(timed, calls, timed.count // processes)
                await time_blocks(timed, calls, 2 * processes, turn % 2 == 1)
    return [*show_ratios(found), *await measure_parts()]


def show_ratios(found: Sequence[Timed]) -> list[Row]:
    """Print and return the times of a call, and the CPU time of the driver for it."""
    rows = []
    print(f"{'ms a call, medians':60s} {'local':>8s} {'ray':>8s} {'added':>8s}   ratio")
    for timed in found:
        for how, times in (("alone", timed.alone_s), ("two for each core", timed.blocks_s)):
            local, ray = (1e3 * statistics.median(times[pool]) for pool in POOLS)
            label = f"{timed.label}, {how}"
            print(f"{label:60s} {local:8.2f} {ray:8.2f} {ray - local:8.2f}   {ray / local:.3f}")
            limit = AIM if timed.cpu_ms >= AIM_FROM_MS else None
            rows.append(Row(label, ray, "ms", reference=local, compared_with="the local pool",
                            limit=limit, limit_of="ratio"))  # fmt: skip
    print(f"\n{'CPU ms a call, two for each core':50s}" + "".join(f"{part:>10s}" for part in PARTS))
    for timed in found:
        for pool in POOLS:
            spent = timed.cpu_ms_a_call(pool)
            figures = "".join(f"{ms:10.2f}" for ms in spent.values())
            print(f"{f'{timed.label}, {pool}':50s}{figures}")
        local, ray = (timed.cpu_ms_a_call(pool) for pool in POOLS)
        for what, parts in (("the driver", ("driver",)), ("driver, node and workers", CALL_PARTS)):
            rows.append(Row(f"{timed.label}, CPU of {what}", sum(ray[part] for part in parts), "ms",
                            reference=sum(local[part] for part in parts),
                            compared_with="the local pool"))  # fmt: skip
    return rows


async def measure_parts() -> list[Row]:
    """Measure what a call by Ray consists of: the round trip of an empty call, and serialisation."""
    import ray

    class Echo:
        async def reply(self, request: Any, size: int) -> bytes:
            return b"x" * size

    echo = ray.remote(Echo).options(num_cpus=0).remote()
    request = {"cpu_ms": 0, **PADDING}
    text = json.dumps(request).encode()
    space = sample_space(0)
    batch = draw_batch("", "f", space, "codes")
    outcome = EXECUTE.outcome(batch, "", "f", space, "codes")
    data = encode_outcome(outcome)

    async def round_trip_s(size: int) -> float:
        times = []
        for _ in range(PART_CALLS):
            start = time.perf_counter()
            await echo.reply.remote(request, size)
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    def seconds(work: Callable[[], object]) -> float:
        times = []
        for _ in range(PART_CALLS):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    await round_trip_s(1)  # starts the actor
    parts = {
        f"empty call of Ray, reply of {len(text):,} bytes": await round_trip_s(len(text)),
        f"empty call of Ray, reply of {len(data):,} bytes": await round_trip_s(len(data)),
        "pickling the request of a service": seconds(lambda: pickle.dumps(request, protocol=5)),
        "writing and reading its reply": seconds(
            lambda: parse_strictly(json.dumps(request).encode())
        ),
        "writing and reading a result of the sandbox": seconds(
            lambda: decode_outcome(encode_outcome(outcome))
        ),
    }
    ray.kill(echo)
    print()
    for label, part_s in parts.items():
        print(f"{label:60s} {1e3 * part_s:8.3f} ms")
    return [Row(label, 1e3 * part_s, "ms") for label, part_s in parts.items()]
