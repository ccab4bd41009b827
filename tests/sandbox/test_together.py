"""Runs of one function that share a child give what each gives alone, and share it only where a call
leaves nothing behind."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from peirce.records import Batch, InputSet, Limits
from peirce.sandbox import open_sandbox

SHOWN = InputSet("shown", ([3, 1, 2], [], [5]))
HIDDEN = InputSet("hidden", ([9, 9], [1, 0]))
SPACE = InputSet("S", tuple([n, n % 7, n % 3] for n in range(900)))
GRIDS = InputSet("grids", tuple([[n % 10, 1], [2, n % 4]] for n in range(40)))
ASKED = ((SHOWN, "values"), (HIDDEN, "values"), (SPACE, "codes"), (GRIDS, "codes"))
SHARING = [
    "def f(x):\n    return x[1:]",
    "def f(x):\n    return [10 // v for v in x]",  # undefined on some inputs, otherwise on others
    "TABLE = (1, 2)\ndef f(x):\n    return x[TABLE[0]]",
    "def f(x):\n    return 1.5 if not x else {'a': tuple(x)}",
    "def f(x):\n    n = 0\n    while n < len(x):\n        n += 1\n    return n",
    "def f(x):\n    return lambda: x",
    "def f(x, n=0):\n    try:\n        return f(x, n + 1)\n    except RecursionError:\n        return n",
]
ALONE = [
    "count = []\ndef f(x):\n    count.append(1)\n    return len(count)",
    "def f(x):\n    while len(x) == 3:\n        pass\n    return x",  # meets a limit
    "def f(x):\n    return x +",
    "def g(x):\n    return x",
    "def f(x):\n    return [0] * 10**9 if x == [5] else x",
]


def same(one: Batch, other: Batch) -> bool:
    arrays = (one.codes == other.codes).all() and (one.reasons == other.reasons).all()
    rest = [replace(b, codes=one.codes, reasons=one.reasons, cpu_s=0.0) for b in (one, other)]
    return bool(arrays) and rest[0] == rest[1]


@pytest.mark.parametrize("source", SHARING + ALONE)
def test_what_is_asked_at_one_moment_is_what_each_gives_alone(source: str) -> None:
    async def session() -> None:
        sandbox: Any = await open_sandbox(workers=2)
        runs = []
        exchange = sandbox._exchange

        async def counted(link: Any, job: Any, again: Any) -> Any:
            runs.append(job)
            return await exchange(link, job, again)

        sandbox._exchange = counted
        limits = replace(Limits(), loop_steps=1_000)
        try:
            places = [(await sandbox.put(one), keep) for one, keep in ASKED]
            work = [(source, "f", digest, keep, limits) for digest, keep in places]
            together = await asyncio.gather(*(sandbox.run(*one) for one in work))
            shared = len(runs) == 1
            alone = [await sandbox.run(*one) for one in work]
        finally:
            await sandbox.close()
        assert all(map(same, together, alone))
        assert shared == (source in SHARING)

    asyncio.run(session())


def test_who_may_look_around_finds_no_other_set_in_its_process() -> None:
    source = (
        "import sys\ndef f(x):\n    found, frame = '', sys._getframe()\n    while frame:\n"
        "        for value in list(frame.f_locals.values()):\n            found += repr(value)[:9999]\n"
        "        frame = frame.f_back\n"
        "    return ['SHOWN-' + 'SET' in found, 'HIDDEN-' + 'SET' in found]\n"
    )
    shown = InputSet("shown", ("SHOWN-SET", "SHOWN-SET too"))
    hidden = InputSet("hidden", ("HIDDEN-SET",))

    runs = []

    async def session() -> list[Batch]:
        sandbox: Any = await open_sandbox(workers=1)
        exchange = sandbox._exchange

        async def counted(link: Any, job: Any, again: Any) -> Any:
            runs.append(job)
            return await exchange(link, job, again)

        sandbox._exchange = counted
        try:
            digests = [await sandbox.put(one) for one in (shown, hidden)]
            return await asyncio.gather(*(sandbox.run(source, "f", one, "values", Limits()) for one in digests))  # fmt: skip
        finally:
            await sandbox.close()

    first, second = asyncio.run(session())
    assert (first.verdict, second.verdict) == ("ok", "ok"), (first, second)
    assert [one["value"] for one in first.values] == [[True, False]] * 2
    assert [one["value"] for one in second.values] == [[False, True]]
    assert len(runs) == 4  # each set twice: had the first run seen more than its repetition, six


def test_who_gives_up_takes_nobody_with_him() -> None:
    async def session() -> list[Any]:
        sandbox: Any = await open_sandbox(workers=1)
        try:
            digests = [await sandbox.put(one) for one, _ in ASKED]
            work = [asyncio.create_task(sandbox.run(SHARING[0], "f", one, "codes", Limits())) for one in digests]  # fmt: skip
            await asyncio.sleep(0)
            work[0].cancel()
            return await asyncio.gather(*work, return_exceptions=True)
        finally:
            await sandbox.close()

    first, *others = asyncio.run(session())
    assert isinstance(first, asyncio.CancelledError)
    assert [batch.verdict for batch in others] == ["ok"] * 3
