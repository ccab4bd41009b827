"""Apply functions of this package to many requests: in this process, on other processes of this
machine, or on the nodes of a Ray cluster (`records.Compute`).
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from ...records import Compute, InputSet, Json, JsonService, Unavailable, errors
from . import check_cluster, open_workers
from .function_process import load_function

T = TypeVar("T")
MODULE = "peirce.tools.workers.function_process"
MAX_OPEN_REQUESTS = 32  # further requests are taken when replies have been used
NO_INPUTS = InputSet("none", ())


def compute_here(function: str, requests: Iterable[Json]) -> Iterator[Json]:
    """Apply a function to requests in this process, one after the other (`records.Compute`)."""
    return map(load_function(function), requests)


@contextmanager
def open_compute(cluster: str = "local", workers: int | None = None) -> Iterator[Compute]:
    """Open the processes of a `Compute`, and stop them at the end of the `with` block.

    Args:
        cluster: The value of `--cluster`.
        workers: The number of processes of each machine. None means one process for each core of a
            node, but on this machine the work is done in this process, as with 1.

    Raises:
        UsageError: `cluster` is invalid, or Ray is not installed.
        Unavailable: The cluster cannot be reached.
    """
    check_cluster(cluster)
    if cluster == "local" and (workers or 1) == 1:
        yield compute_here
        return
    with _background_loop() as loop:

        def complete(work: Coroutine[Any, Any, T]) -> T:
            return asyncio.run_coroutine_threadsafe(work, loop).result()

        opened = complete(open_workers(cluster, workers))
        service = opened.open_service(MODULE, workers)
        try:
            yield partial(_compute_remotely, service, loop)
        finally:
            complete(service.close())
            complete(opened.close())


@contextmanager
def _background_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Run an event loop in a thread, so that requests proceed while the caller uses replies."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="computing", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def _compute_remotely(
    service: JsonService,
    loop: asyncio.AbstractEventLoop,
    function: str,
    requests: Iterable[Json],
) -> Iterator[Json]:
    waiting: deque[Future[dict[str, Any]]] = deque()
    try:
        for request in requests:
            work = service.ask("", {"function": function, "argument": request}, NO_INPUTS)
            waiting.append(asyncio.run_coroutine_threadsafe(work, loop))
            while waiting and (waiting[0].done() or len(waiting) >= MAX_OPEN_REQUESTS):
                yield _read_reply(waiting.popleft().result())
        while waiting:
            yield _read_reply(waiting.popleft().result())
    finally:
        for one in waiting:
            one.cancel()


def _read_reply(reply: dict[str, Any]) -> Json:
    """Return the result of a reply, or raise the error that the function raised."""
    if "refused" in reply:
        name, message = reply["refused"]
        raise getattr(errors, name, Unavailable)(message)
    return reply["result"]
