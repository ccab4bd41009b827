"""Worker processes of the embedded search: JSON text goes in and comes out, nothing else.

Each worker is an executor of one spawned process, so a problem always meets the same memo. Workers
ignore SIGINT (the parent drains), run numpy on one thread, and are replaced when they die.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, Any

from ...records import InputSet, Unavailable

if TYPE_CHECKING:
    from .list_functions import Engine

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_engine: Engine | None = None  # of this process, where it is a worker


def answer(request: str) -> str:
    """Runs in a worker."""
    global _engine
    if _engine is None:
        from .list_functions import Engine

        threading.Thread(target=_leave_with_parent, daemon=True).start()
        _engine = Engine()
    return json.dumps(_engine.propose(json.loads(request)))


def _leave_with_parent() -> None:
    """A killed parent sends no word: without this its workers would wait for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _quiet_start() -> Iterator[None]:
    """A process started in here has one numpy thread and SIGINT blocked from its first moment."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class Worker:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.executor: ProcessPoolExecutor | None = None
        self.sent: set[str] = set()

    async def ask(self, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        async with self.lock:
            try:
                return await self._ask(request, space)
            except BrokenProcessPool:
                await self.close()
            try:
                return await self._ask(request, space)
            except BrokenProcessPool as broken:
                await self.close()
                raise Unavailable("The search worker died twice on one request.") from broken

    async def _ask(self, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        known = space.digest in self.sent
        reply = await self._send(request | {"inputs": None if known else space.inputs})
        if reply.get("need") == "inputs":
            reply = await self._send(request | {"inputs": space.inputs})
        self.sent.add(space.digest)
        return reply

    async def _send(self, request: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(request)
        future: Future[str]
        if self.executor is None:
            self.executor = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            with _quiet_start():
                future = self.executor.submit(answer, text)
        else:
            future = self.executor.submit(answer, text)
        done: str = await asyncio.wrap_future(future)
        reply: dict[str, Any] = json.loads(done)
        return reply

    async def close(self) -> None:
        executor, self.executor = self.executor, None
        self.sent.clear()
        if executor is not None:
            await asyncio.to_thread(executor.shutdown, True, cancel_futures=True)


class Pool:
    """Workers by the hash of a problem's key."""

    def __init__(self, workers: int) -> None:
        self.workers = [Worker() for _ in range(workers)]

    async def ask(self, key: str, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        return await self.workers[int(key[:8], 16) % len(self.workers)].ask(request, space)

    async def close(self) -> None:
        await asyncio.gather(*(worker.close() for worker in self.workers))
