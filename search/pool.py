"""Pool of worker processes for the embedded search.

A problem always goes to the same worker, which has the cached state of the problem. The hash of the
problem's key selects the worker. A worker that dies is replaced. A worker runs as a separate
program. A spawned copy of the user's script would need a guard around the main part of the script.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ..records import InputSet, Unavailable
from ..tools.line_process import LineProcess, ProcessDied

_MODULE = "peirce.search.worker"


class Worker:
    """A search process that answers one request at a time. A process that dies is started again."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.process = LineProcess(_MODULE)
        self.sent: set[str] = set()

    async def ask(self, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        """Send a request to the process and return its reply.

        Args:
            request: A request of `SearchService.propose` without the key "inputs".
            space: The sample space of the problem. The inputs of the space are sent only if the
                process does not have the inputs yet.

        Raises:
            Unavailable: If the process died twice on this request.
        """
        async with self.lock:
            for _ in range(2):
                try:
                    return await self._ask(request, space)
                except ProcessDied:
                    await self.close()
                except asyncio.CancelledError:
                    # Otherwise the next request would receive the reply to this one.
                    await self.close()
                    raise
            raise Unavailable("The search worker died twice on one request.")

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


class Pool:
    """A fixed number of worker processes. Each problem always goes to the same worker.

    Args:
        workers: Number of worker processes.
    """

    def __init__(self, workers: int) -> None:
        self.workers = [Worker() for _ in range(workers)]

    async def ask(self, key: str, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        """Send a request to the worker that is responsible for a problem, and return its reply.

        Args:
            key: Hexadecimal hash of the problem. Requests with equal keys go to the same worker.
            request: A request of `SearchService.propose` without the key "inputs".
            space: The sample space of the problem.
        """
        return await self.workers[int(key[:8], 16) % len(self.workers)].ask(request, space)

    async def close(self) -> None:
        """Stop all worker processes."""
        await asyncio.gather(*(worker.close() for worker in self.workers))
