"""Fifty thousand batches, one in twenty hostile: none is lost or answered twice, memory stays flat.

Run by `make soak`; PEIRCE_SOAK_BATCHES sets another number. Prints the parent's memory as it goes.
"""

from __future__ import annotations

import asyncio
import os
import resource
from pathlib import Path

import pytest
from peirce.records import Batch, InputSet, Limits, Sandbox, SandboxUnavailable
from peirce.sandbox import backend_names, open_sandbox

BATCHES = int(os.environ.get("PEIRCE_SOAK_BATCHES", "50000"))
LIMITS = Limits(cpu_s=2, input_cpu_s=1, wall_s=60, memory_mb=128, loop_steps=10_000)
TEN = InputSet("ten", tuple([n] for n in range(10)))
HUNDRED = InputSet("many", tuple(list(range(n % 90)) for n in range(2_000)))  # beyond inline size

HOSTILE: list[tuple[str, str]] = [
    ("import os\ndef f(x):\n    os._exit(0)", "crashed"),
    ("import os\ndef f(x):\n    os.abort()", "crashed"),
    ("import os\ndef f(x):\n    os.write(3, b'PEI1' + bytes(12))\n    os._exit(0)", "protocol"),
    ("def f(x):\n    return [0] * 10**12", "ok"),
    ("def f(x):\n    while True:\n        pass", "ok"),
    ("def f(x):\n    return f(x)", "ok"),
    ("import os\ndef f(x):\n    while True:\n        os.fork()", "ok"),
    ("def f(x):\n    print('x' * 10**6)\n    raise SystemExit", "ok"),
    ("def f(x):\n    open('a' * 9, 'w').write('x' * 10**5)\n    return x", "ok"),
    ("def f(", "syntax"),
]


def memory_mb(pid: int | str = "self") -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


async def opened_and_closed(backend: str) -> None:
    await (await open_sandbox(backend, workers=1)).close()


@pytest.mark.soak
@pytest.mark.parametrize("backend", backend_names())
def test_fifty_thousand_batches_are_each_answered_once_and_memory_stays_flat(backend: str) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("memory is read from /proc")

    async def one(sandbox: Sandbox, number: int) -> tuple[int, Batch]:
        if number % 20 == 7:
            source, _ = HOSTILE[number // 20 % len(HOSTILE)]
            return number, await sandbox.run(source, "f", TEN.digest, "codes", LIMITS)
        if number % 20 == 8:
            source = f"def f(x):\n    return [len(x), {number}]"
            return number, await sandbox.run(source, "f", HUNDRED.digest, "values", LIMITS)
        source = f"def f(x):\n    return [x[0], {number}]"
        return number, await sandbox.run(source, "f", TEN.digest, "values", LIMITS)

    def check(number: int, batch: Batch) -> None:
        if number % 20 == 7:
            assert batch.verdict == HOSTILE[number // 20 % len(HOSTILE)][1], (number, batch)
            return
        lengths = [len(x) for x in HUNDRED.inputs] if number % 20 == 8 else range(10)
        assert batch.values == tuple({"value": [n, number]} for n in lengths), number

    async def session() -> list[float]:
        sandbox = await open_sandbox(backend, workers=2)
        answered = 0
        figures = []
        try:
            await sandbox.put(TEN)
            await sandbox.put(HUNDRED)
            for start in range(0, BATCHES, 500):
                wave = range(start, min(start + 500, BATCHES))
                for number, batch in await asyncio.gather(*(one(sandbox, n) for n in wave)):
                    check(number, batch)  # each batch has values of its own
                    answered += 1
                figures.append(memory_mb())
                if len(figures) % 10 == 0:
                    print(f"{backend}: {answered:,} batches, parent {figures[-1]:.1f} MB")
        finally:
            await sandbox.close()
        assert answered == BATCHES
        return figures

    try:
        asyncio.run(opened_and_closed(backend))
    except SandboxUnavailable as error:
        if backend == "process":
            raise
        pytest.skip(f"NO {backend.upper()} BACKEND HERE: {error}")
    figures = asyncio.run(session())
    warm = figures[len(figures) // 5]
    print(f"{backend}: parent {warm:.1f} MB when warm, {figures[-1]:.1f} MB at the end,"
          f" peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.1f} MB")  # fmt: skip
    assert figures[-1] < warm + 10
