"""A pool of processes that answer lines of JSON, as the service of the embedded search.

A request with a key always goes to the same process, chosen by the hash of the key, so that it
finds its cached state there. A request without a key goes to the process with the fewest requests. A process that dies is replaced. It is started as a separate program, not as a
spawned copy of the user's script, which would need a guard around its main part.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ...records import InputSet, Unavailable
from ..line_process import LineProcess, ProcessDied

REPLY_BYTES = 1 << 28  # the preference pairs of a large pool of answers take this much


class LineWorker:
    """A process that answers one request at a time and is restarted if it dies."""

    def __init__(self, module: str) -> None:
        self.lock = asyncio.Lock()
        self.open_requests = 0
        self.process = LineProcess(module, REPLY_BYTES)
        self.sent: set[str] = set()

    async def ask(self, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        """Send a request to the process and return its reply.

        Raises:
            Unavailable: The process died twice on this request.
        """
        self.open_requests += 1
        try:
            async with self.lock:
                return await self._ask_until_answered(request, space)
        finally:
            self.open_requests -= 1

    async def _ask_until_answered(self, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        for _ in range(2):
            try:
                return await self._ask(request, space)
            except ProcessDied:
                await self.close()
            except asyncio.CancelledError:
                # Otherwise the next request would receive the reply to this request.
                await self.close()
                raise
        raise Unavailable("A worker process died twice on one request.")

    async def _ask(self, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        known = space.digest in self.sent
        reply = await self.process.ask(request | {"inputs": None if known else space.inputs})
        if reply.get("need") == "inputs":
            reply = await self.process.ask(request | {"inputs": space.inputs})
        self.sent.add(space.digest)
        found: dict[str, Any] = reply
        return found

    async def close(self) -> None:
        """Stop the process. The next request starts a new process."""
        self.sent.clear()
        await self.process.close()


class LinePool:
    """A `records.JsonService` with a fixed number of processes.

    Args:
        module: The full name of the module that the processes run.
        workers: The number of processes, each of which is started by its first request.
    """

    def __init__(self, module: str, workers: int) -> None:
        self.workers = [LineWorker(module) for _ in range(workers)]

    async def ask(self, key: str, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        """Send a request to the process of this key, a hexadecimal hash, and return its reply.

        With the key "", the process with the fewest open requests is used.
        """
        worker = self._find_worker(key)
        return await worker.ask(request, space)

    def is_idle(self, key: str) -> bool:
        """Return whether the process of this key has no open request."""
        return not self._find_worker(key).open_requests

    def _find_worker(self, key: str) -> LineWorker:
        if key:
            return self.workers[int(key[:8], 16) % len(self.workers)]
        return min(self.workers, key=lambda one: one.open_requests)

    async def close(self) -> None:
        """Stop all processes."""
        await asyncio.gather(*(worker.close() for worker in self.workers))
