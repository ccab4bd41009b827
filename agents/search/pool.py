"""Worker processes of the embedded search: lines of JSON go in and come out, nothing else.

A problem always goes to the same worker, by the hash of its key, and so meets the same memo. A
worker runs numpy on one thread and is replaced when it dies. It is a program of its own, not a
spawned copy of the user's script, which would then need a guard around its main part.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from typing import Any

from ...records import InputSet, Unavailable

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_COMMAND = (sys.executable, "-P", "-m", "peirce.agents.search.worker")
_REPLY_BYTES = 1 << 24


class WorkerDied(Exception):
    """The worker's pipe ended before its reply."""


class Worker:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.process: asyncio.subprocess.Process | None = None
        self.sent: set[str] = set()

    async def ask(self, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        async with self.lock:
            for _ in range(2):
                try:
                    return await self._ask(request, space)
                except WorkerDied:
                    await self.close()
                except asyncio.CancelledError:
                    await self.close()  # its reply must not be taken for the next one's
                    raise
            raise Unavailable("The search worker died twice on one request.")

    async def _ask(self, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        known = space.digest in self.sent
        reply = await self._send(request | {"inputs": None if known else space.inputs})
        if reply.get("need") == "inputs":
            reply = await self._send(request | {"inputs": space.inputs})
        self.sent.add(space.digest)
        return reply

    async def _send(self, request: dict[str, Any]) -> dict[str, Any]:
        process = self.process or await self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise WorkerDied from error
        if not line.endswith(b"\n"):
            raise WorkerDied
        reply: dict[str, Any] = json.loads(line)
        return reply

    async def _start(self) -> asyncio.subprocess.Process:
        # A session of its own keeps the terminal's Ctrl-C away from its first moment on.
        self.process = await asyncio.create_subprocess_exec(
            *_COMMAND,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(_THREADS, "1")},
            limit=_REPLY_BYTES,
            start_new_session=True,
        )
        return self.process

    async def close(self) -> None:
        process, self.process = self.process, None
        self.sent.clear()
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()


class Pool:
    """Workers by the hash of a problem's key."""

    def __init__(self, workers: int) -> None:
        self.workers = [Worker() for _ in range(workers)]

    async def ask(self, key: str, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        return await self.workers[int(key[:8], 16) % len(self.workers)].ask(request, space)

    async def close(self) -> None:
        await asyncio.gather(*(worker.close() for worker in self.workers))
