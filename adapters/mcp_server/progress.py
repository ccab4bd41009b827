"""Tell the client how far a session is, and let a cancelled session be stored before its tool ends."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

import anyio
from mcp.server.mcpserver import Context

T = TypeVar("T")
INTERVAL_S = 0.5  # shortest time between two notifications


class SessionReporter:
    """A listener for the events of a session that sends notifications of progress.

    The events arrive in the thread of the session. At most one notification is sent each
    `INTERVAL_S`, and a client that does not take them holds nothing up: while one notification is
    under way, no other is sent.

    The progress is the number of finished problems, plus a share below 1 that grows with each step,
    because the protocol wants every notification to be larger than the last one.

    Args:
        context: the context of the tool's call.
    """

    def __init__(self, context: Context[Any, Any]) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._sent_at = float("-inf")
        self._pending: Future[None] | None = None
        self._total = self._ended = self._steps = self._steps_of_open = 0
        self._verdicts: Counter[str] = Counter()
        self.session = ""

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Take note of one event, and notify the client if it is time to."""
        kind = event["type"]
        if kind == "session":
            self.session = str(event["session"])
            self._total, self._ended = event["problems"], event["problems"] - event["open"]
        elif kind == "step":
            self._steps += 1
            self._steps_of_open += 1
            self._verdicts.update(event["verdicts"])
        elif kind == "problem_ended":
            self._ended += 1
            self._steps_of_open = 0
        else:
            return
        now = time.monotonic()
        busy = self._pending is not None and not self._pending.done()
        if kind != "session" and (busy or now - self._sent_at < INTERVAL_S):
            return
        self._sent_at = now
        self._pending = asyncio.run_coroutine_threadsafe(self._send(), self._loop)

    async def _send(self) -> None:
        share = 1 - 1 / (1 + self._steps_of_open)
        # A client that has gone closes its stream; the session goes on without it.
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._context.report_progress(self._ended + share, self._total, self._describe())

    def _describe(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self._verdicts.items()))
        told = f": {counts}" if counts else ""
        return (
            f"session {self.session}: {self._ended} of {self._total} problems finished,"
            f" {self._steps} steps{told}"
        )


async def finish_cancelled(work: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine; if the caller is cancelled, cancel it and wait until it has closed everything.

    The SDK cancels a tool again and again until it has ended. In a task of its own, the work is
    cancelled once, and can store the session as interrupted.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            while not task.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # the cancellation is raised instead
        raise
