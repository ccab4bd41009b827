"""A process that answers a line at a time.

Internals: the reply is larger than any that a solver or a search gives.
"""

from __future__ import annotations

import asyncio
import sys

import pytest
from peirce.tools.line_process import LineProcess, ProcessDied

SCRIPT = "import sys\nfor line in sys.stdin: print('1' * int(line), flush=True)"


def test_a_reply_that_is_too_large_ends_like_a_process_that_died() -> None:
    async def ask(digits: int) -> object:
        process = LineProcess("none")
        process.command = (sys.executable, "-c", SCRIPT)
        try:
            return await process.ask(digits)
        finally:
            await process.close()

    assert asyncio.run(ask(3)) == 111
    with pytest.raises(ProcessDied):
        asyncio.run(ask(2**24 + 1))


@pytest.mark.parametrize(
    "reply", ["NaN", "[1e999]", '{"a": 1, "a": 2}', "[" * 100_000, "", "no JSON", "\x00"]
)
def test_a_reply_without_one_meaning_ends_like_a_process_that_died(reply: str) -> None:
    async def ask() -> object:
        process = LineProcess("none")
        process.command = (sys.executable, "-c", f"input(); print({reply!r})")
        try:
            return await process.ask(1)
        finally:
            await process.close()

    with pytest.raises(ProcessDied):
        asyncio.run(ask())
