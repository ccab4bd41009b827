"""One sandbox for the tests of this room: starting one takes as long as a small session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from peirce.records import OpenOracle, OracleSettings
from peirce.tools.execute import EXECUTE

T = TypeVar("T")
_runner = asyncio.Runner()
_opened: list[OpenOracle] = []


def in_sandbox(work: Callable[[OpenOracle], Awaitable[T]]) -> T:
    """What `work(oracle)` returns, run in the event loop that its sandbox belongs to."""

    async def whole() -> T:
        if not _opened:
            _opened.append(await EXECUTE.open(OracleSettings(workers=1)))
        return await work(_opened[0])

    return _runner.run(whole())


def close() -> None:
    while _opened:
        _runner.run(_opened.pop().close())
    _runner.close()
