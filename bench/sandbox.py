"""How fast the sandbox is: `python bench/sandbox.py [THIRTY_HYPOTHESES_JSON] [--rounds 5]
[--backends process docker] [--json FILE]`. The file is looked for in the folder that PEIRCE_SHARED
names, else in `shared` beside the repository.

Over the 14,101 lists of GEAR's sample space (the empty list, 100 singletons, 1,000 for each length 2
to 15, elements 0..99), in one run, and each time the best of a few rounds: calls per second of the 28
quick hypotheses naked (exec, list copy, call); as the copy, call and code loop of the sandbox in this
process (the same file of code, no limits on time); and in each backend that can be had here, with one
and with two workers. Then the latency of a first and of a warm batch of ten inputs, and the wall time
of all thirty, the endless and the cubic one among them. Not covered: the time to write down what
comes back.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
from peirce.records import Batch, InputSet, Limits, Sandbox, SandboxUnavailable
from peirce.sandbox import backend_names, open_sandbox
from peirce.sandbox.inside.trial import Inputs, Trial
from peirce.sandbox.supervisor.pool import usable_cores
from table import Row, add_json_option, write_rows, write_skipped

SHARED = Path(os.environ.get("PEIRCE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
DEFAULT = SHARED / "data/gear/thirty_hypotheses.json"
SLOW = ("loops for ever", "slow: O(n^3)")  # how the descriptions of the other two begin
NAKED = "naked: exec, list copy, call"
LOOP = "one process: copy, call and code"
LIMITS_OF_SHARE = {"1 worker": 0.85, "2 workers": 1.7}  # on two quiet cores


def lists(seed: int = 2025) -> list[list[int]]:
    rng = random.Random(seed)
    some = [[rng.randrange(100) for _ in range(n)] for n in range(2, 16) for _ in range(1000)]
    return [[], *([i] for i in range(100)), *some]


def naked(sources: list[str], inputs: list[list[int]]) -> int:
    """Calls without limits or codes; how many raised."""
    raised = 0
    for source in sources:
        namespace: dict[str, Callable[[list[int]], object]] = {}
        exec(source, namespace)
        function = namespace["f"]
        for x in inputs:
            try:
                function(x[:])
            except Exception:  # noqa: BLE001
                raised += 1
    return raised


def loop(source: str, inputs: Inputs) -> np.ndarray:
    """The codes of one hypothesis, by the sandbox's own loop in this process."""
    trial = Trial(source, "f", "codes", asdict(Limits()))
    function = trial.compile()
    assert callable(function)
    trial.run(function, inputs)
    _, body = trial.encode_result()
    return np.frombuffer(body, "<i8", len(inputs), len(inputs))


async def all_of(sandbox: Sandbox, sources: list[str], digest: str) -> list[Batch]:
    runs = (sandbox.run(source, "f", digest, "codes", Limits()) for source in sources)
    return await asyncio.gather(*runs)


async def present(wanted: list[str]) -> list[str]:
    """The backends of these that can be had here; the others are named with the reason."""
    found = []
    for name in wanted:
        try:
            await (await open_sandbox(name, workers=1)).close()
            found.append(name)
        except SandboxUnavailable as error:
            print(f"NOT MEASURED: {name}: {error}")
    return found


async def time_alternately(
    names: list[str], sources: list[str], inputs: list[list[int]], rounds: int
) -> tuple[dict[str, float], bool]:
    """Seconds of each way, the best of interleaved rounds, so that a noisy neighbour hits all; and
    whether the codes of all ways are equal."""
    space, parsed = InputSet("lists", tuple(inputs)), Inputs(json.dumps(inputs).encode())
    opened = {
        f"{name}, {workers} worker{'s' * (workers > 1)}": await open_sandbox(name, workers)
        for name in names
        for workers in (1, 2)
    }
    times: dict[str, list[float]] = defaultdict(list)
    agree = True
    try:
        for sandbox in opened.values():  # inputs are there before the clock starts
            await sandbox.put(space)
            await all_of(sandbox, sources[:2], space.digest)
        for _ in range(rounds):
            start = time.perf_counter()
            naked(sources, inputs)
            times[NAKED].append(time.perf_counter() - start)
            start = time.perf_counter()
            looped = [loop(source, parsed) for source in sources]
            times[LOOP].append(time.perf_counter() - start)
            for name, sandbox in opened.items():
                start = time.perf_counter()
                batches = await all_of(sandbox, sources, space.digest)
                times[name].append(time.perf_counter() - start)
                pairs = zip(batches, looped, strict=True)
                agree &= all(np.array_equal(batch.codes, codes) for batch, codes in pairs)
    finally:
        for sandbox in opened.values():
            await sandbox.close()
    return {name: min(seconds) for name, seconds in times.items()}, agree


async def latency(name: str, inputs: list[list[int]]) -> tuple[float, float, float]:
    """Seconds: start of the sandbox with the first batch; that batch; the median warm batch."""
    began = time.perf_counter()
    sandbox = await open_sandbox(name, workers=1)
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


async def all_thirty(sources: list[str], inputs: list[list[int]]) -> tuple[float, list[int]]:
    """Seconds with one worker, and the undefined inputs of each hypothesis."""
    sandbox = await open_sandbox("process", workers=1)
    try:
        digest = await sandbox.put(InputSet("lists", tuple(inputs)))
        start = time.perf_counter()
        batches = await all_of(sandbox, sources, digest)
        return time.perf_counter() - start, [int((b.reasons > 0).sum()) for b in batches]
    finally:
        await sandbox.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path, nargs="?", metavar="THIRTY_HYPOTHESES_JSON")
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many")
    parser.add_argument("--backends", nargs="+", choices=sorted(backend_names()))
    add_json_option(parser)
    options = parser.parse_args()
    path = options.path or DEFAULT
    if not path.is_file():
        why = "no thirty_hypotheses.json here: give its path or set PEIRCE_SHARED"
        if options.path:
            sys.exit(f"There is no file {path}.")
        write_skipped(options.json, why)
        return
    hypotheses = json.loads(path.read_text())
    quick = [h["source"] for h in hypotheses if not h["description"].startswith(SLOW)]
    inputs = lists()
    calls = len(quick) * len(inputs)
    print(f"{len(quick)} quick hypotheses, {len(inputs):,} lists, {usable_cores()} cores")
    names = asyncio.run(present(options.backends or sorted(backend_names(), reverse=True)))
    seconds, agree = asyncio.run(time_alternately(names, quick, inputs, options.rounds))
    bare = min(seconds.values())
    for name, spent in seconds.items():
        print(
            f"{name:36}{spent:7.3f} s {calls / spent / 1e6:6.3f} M calls/s   "
            f"{seconds[LOOP] / spent:5.2f} of the loop   {bare / spent:5.2f} of naked"
        )
    print(f"codes of all ways are equal: {agree}")
    size = f"{len(quick)} quick hypotheses over {len(inputs):,} lists"
    rows = [
        Row(f"{size}, {name}", spent, "s", reference=seconds[NAKED], compared_with="naked calls")
        for name, spent in seconds.items()
        if name != NAKED
    ]
    rows += [
        Row(
            f"speed over {len(inputs):,} lists, {name}, as a share of the loop in one process",
            seconds[LOOP] / spent,
            "",
            "higher",
            limit=LIMITS_OF_SHARE[name.split(", ")[1]],
        )
        for name, spent in seconds.items()
        if name not in (NAKED, LOOP)
    ]
    for name in names:
        started, first, warm = asyncio.run(latency(name, inputs[100:110]))
        print(
            f"{name}, ten inputs: first batch {first * 1e3:.1f} ms ({started * 1e3:.0f} ms with "
            f"the start), warm batch {warm * 1e3:.2f} ms"
        )
        rows += [
            Row(f"start and first batch of ten inputs, {name}", started * 1e3, "ms"),
            Row(f"warm batch of ten inputs, {name}", warm * 1e3, "ms", limit=2.5),
        ]
    spent, undefined = asyncio.run(all_thirty([h["source"] for h in hypotheses], inputs))
    print(f"all {len(hypotheses)} with 1 worker, endless and cubic too: {spent:.2f} s; undefined:")
    for hypothesis, count in zip(hypotheses, undefined, strict=True):
        if count:
            print(f"  {count:6,}  {hypothesis['description']}")
    rows.append(Row("all thirty hypotheses, the endless and the cubic one too", spent, "s"))
    write_rows(options.json, rows, codes_agree=agree)
    if not agree:
        sys.exit("The ways do not give the same codes.")


if __name__ == "__main__":
    main()
