"""The gate that each new call of a session passes: it limits the model requests in flight, and holds
all calls while the session is paused.

Calls whose outcome is recorded do not come here (`Case.record_once`). The limit and the pause may
change while calls wait.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ...records import Unavailable


class SessionStopped(Unavailable):
    """Raised for a call that was held by a pause when the session was stopped.

    The call was not made. `resume` makes it.
    """


class CallGate:
    """The gate of the calls of one session.

    `limit` and `is_paused` may be set in any thread. `wake` must then be called in the event loop
    of the session, so that waiting calls see the change.

    Args:
        limit: The number of model requests that may be in flight at the same time. Calls of tools
            are not limited.
        stopping: The event that stops the session. When it is set, the calls that a pause holds
            raise SessionStopped. Other calls pass, because the steps that run are finished.
    """

    def __init__(self, limit: int, stopping: asyncio.Event | None = None) -> None:
        self.limit = limit
        self.is_paused = False
        self.requests = 0  # model requests in flight
        self.tool_calls = 0  # calls of tools in flight
        self._stopping = stopping or asyncio.Event()
        self._for_turns: deque[asyncio.Future[None]] = deque()
        self._for_tools: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def passing(self, is_request: bool) -> AsyncIterator[None]:
        """Wait until a call may be made, and count it as in flight inside the `async with` block.

        Args:
            is_request: Whether the call is a request to a model, which takes one of `limit` turns.

        Raises:
            SessionStopped: The session was stopped while it was paused.
        """
        await self._enter(is_request)
        try:
            yield
        finally:
            self._leave(is_request)

    def wake(self) -> None:
        """Let waiting calls pass as far as the limit and the pause allow it.

        If the session is stopped while it is paused, the waiting calls raise SessionStopped.
        """
        if self.is_paused:
            if self._stopping.is_set():
                for waiter in (*self._for_turns, *self._for_tools):
                    if not waiter.done():
                        waiter.set_exception(SessionStopped("The session was stopped in a pause."))
                self._for_turns.clear()
                self._for_tools.clear()
            return
        for is_request, waiting in ((True, self._for_turns), (False, self._for_tools)):
            while waiting and self._is_open(is_request):
                waiter = waiting.popleft()
                if not waiter.done():
                    self._count(is_request, 1)  # on behalf of the call, so that no other overtakes
                    waiter.set_result(None)

    async def _enter(self, is_request: bool) -> None:
        if self.is_paused and self._stopping.is_set():
            raise SessionStopped("The session was stopped in a pause.")
        waiting = self._for_turns if is_request else self._for_tools
        if not waiting and self._is_open(is_request):
            self._count(is_request, 1)
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled() and waiter.exception() is None:
                self._leave(is_request)  # it got its turn at the same moment
            raise

    def _leave(self, is_request: bool) -> None:
        self._count(is_request, -1)
        self.wake()

    def _is_open(self, is_request: bool) -> bool:
        return not self.is_paused and (not is_request or self.requests < self.limit)

    def _count(self, is_request: bool, change: int) -> None:
        if is_request:
            self.requests += change
        else:
            self.tool_calls += change
