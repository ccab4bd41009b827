"""How fast the sandbox is: `python bench/sandbox.py [THIRTY_HYPOTHESES_JSON]`.

Over the 14,101 lists of GEAR's sample space (the empty list, 100 singletons, 1,000 for each length 2
to 15, elements 0..99), in one run, and each time the best of a few rounds: calls per second of the 28
quick hypotheses naked (exec, list copy, call); as the copy, call and code loop of the sandbox in this
process (the same file of code, no limits on time); and in `process` with one and with two workers.
Then the latency of a first and of a warm batch of ten inputs, and the wall time of all thirty, the
endless and the cubic one among them. Not covered: the time to write down what comes back.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
from peirce.records import InputSet, Limits
from peirce.sandbox import open_sandbox
from peirce.sandbox.pool import usable_cores
from peirce.sandbox.trial import Inputs, Trial

DEFAULT = Path(__file__).resolve().parents[2] / "shared/data/gear/thirty_hypotheses.json"
SLOW = ("loops for ever", "slow: O(n^3)")  # how the descriptions of the other two begin
ROUNDS = 5


def lists(seed: int = 2025) -> list[list[int]]:
    rng = random.Random(seed)
    some = [[rng.randrange(100) for _ in range(n)] for n in range(2, 16) for _ in range(1000)]
    return [[], *([i] for i in range(100)), *some]


def naked(sources: list[str], inputs: list[list[int]]) -> None:
    for source in sources:
        namespace: dict[str, Callable[[list[int]], object]] = {}
        exec(source, namespace)
        function = namespace["f"]
        for x in inputs:
            try:
                value = function(x[:])
            except Exception:  # noqa: BLE001
                value = None
    del value


def loop(source: str, inputs: Inputs) -> np.ndarray:
    trial = Trial(source, "f", "codes", asdict(Limits()))
    function = trial.compile()
    assert callable(function)
    trial.run(function, inputs)
    _, body = trial.outcome()
    return np.frombuffer(body, "<i8", len(inputs), len(inputs))


def best(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


async def sandboxed(sources: list[str], space: InputSet, workers: int, rounds: int) -> tuple:
    sandbox = await open_sandbox("process", workers=workers)
    digest = await sandbox.put(space)

    async def one(source: str) -> tuple:
        batch = await sandbox.run(source, "f", digest, "codes", Limits())
        return batch.verdict, batch.codes, int((batch.reasons > 0).sum())

    try:
        await asyncio.gather(*(one(sources[0]) for _ in range(workers)))  # inputs are there
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            batches = await asyncio.gather(*map(one, sources))
            times.append(time.perf_counter() - start)
        return min(times), batches
    finally:
        await sandbox.close()


async def latency(inputs: list[list[int]]) -> tuple[float, float, float]:
    """Seconds: start of the sandbox with the first batch; that batch; the median warm batch."""
    began = time.perf_counter()
    sandbox = await open_sandbox("process", workers=1)
    ten = InputSet("ten", tuple(inputs))
    times = []
    try:
        for _ in range(101):
            start = time.perf_counter()
            digest = await sandbox.put(ten)
            await sandbox.run("def f(x):\n    return x[::-1]", "f", digest, "values", Limits())
            times.append(time.perf_counter() - start)
            if len(times) == 1:
                first = time.perf_counter() - began
    finally:
        await sandbox.close()
    return first, times[0], statistics.median(times[1:])


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    if not path.is_file():
        print(
            f"There is no file {path}: give the path of thirty_hypotheses.json. Nothing measured."
        )
        return
    hypotheses = json.loads(path.read_text())
    quick = [h["source"] for h in hypotheses if not h["description"].startswith(SLOW)]
    inputs = lists()
    space, parsed = InputSet("lists", tuple(inputs)), Inputs(json.dumps(inputs).encode())
    calls = len(quick) * len(inputs)
    print(f"{len(quick)} quick hypotheses, {len(inputs):,} lists, {usable_cores()} cores")

    looped = best(lambda: [loop(source, parsed) for source in quick])
    bare = best(lambda: naked(quick, inputs))

    def line(name: str, seconds: float) -> None:
        print(f"{name:42}{seconds:8.3f} s {calls / seconds / 1e6:7.3f} M calls/s"
              f"   {looped / seconds:5.2f} of the loop   {bare / seconds:5.2f} of naked")  # fmt: skip

    line("naked: exec, list copy, call", bare)
    line("one process: copy, call and code", looped)
    for workers in (1, 2):
        seconds, batches = asyncio.run(sandboxed(quick, space, workers, ROUNDS))
        line(f"process, {workers} worker{'s' * (workers > 1)}", seconds)
    agree = all(
        np.array_equal(codes, loop(source, parsed))
        for (_, codes, _), source in zip(batches, quick, strict=True)
    )
    print(f"codes of process and of the loop are equal: {agree}")
    first_all, first, warm = asyncio.run(latency(inputs[100:110]))
    print(f"ten inputs: first batch {first * 1e3:.1f} ms ({first_all * 1e3:.0f} ms with the start), "
          f"warm batch {warm * 1e3:.2f} ms")  # fmt: skip
    sources = [h["source"] for h in hypotheses]
    seconds, batches = asyncio.run(sandboxed(sources, space, 1, 1))
    print(
        f"all {len(sources)} with 1 worker: {seconds:.2f} s; undefined: "
        + ", ".join(
            f"{h['description']} {n:,}"
            for h, (_, _, n) in zip(hypotheses, batches, strict=True)
            if n
        )
    )


if __name__ == "__main__":
    main()
