"""Run coroutines on an event loop, in this thread or in another thread that can be cancelled.

In a notebook, an event loop is already running. A session then runs in another thread with its own
event loop, so that the notebook's loop stays responsive and its signal handlers are unchanged.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import Any, ParamSpec, TypeVar

from ...records import Interrupted, UsageError

T = TypeVar("T")
P = ParamSpec("P")


class Cancellation:
    """Cancels the coroutine that its method `run` awaits, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    def cancel(self) -> None:
        """Cancel the running coroutine. Coroutines that `run` receives later are cancelled at
        once.
        """
        with self._lock:
            self._cancelled = True
            if self._running is not None:
                loop, task = self._running
                loop.call_soon_threadsafe(task.cancel)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Await a coroutine that `cancel` can cancel, and return its result."""
        task = asyncio.ensure_future(work)
        with self._lock:
            if self._cancelled:
                task.cancel()
            self._running = asyncio.get_running_loop(), task
        try:
            return await task
        finally:
            with self._lock:
                self._running = None


_CANCELLATION: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


@contextlib.contextmanager
def loop_runner() -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """Yield a function that runs coroutines on one event loop, one after the other.

    The coroutines run in this thread. If an event loop is already running here, as in a notebook,
    they run in another thread, and an interrupt from the keyboard or the notebook cancels them.

    Raises:
        Interrupted: an interrupt cancelled a coroutine in the other thread.
    """
    runner = asyncio.Runner()
    if not _loop_is_running():
        outer = _CANCELLATION.get()
        with runner:
            yield runner.run if outer is None else partial(_run_under, runner, outer)
        return
    cancellation, context = Cancellation(), contextvars.copy_context()

    def run(work: Coroutine[Any, Any, Any]) -> Any:
        done = thread.submit(context.run, runner.run, cancellation.run(work))
        try:
            return done.result()
        except KeyboardInterrupt:
            cancellation.cancel()
            raise Interrupted("Stopped immediately. Steps in progress were not saved.") from None

    with ThreadPoolExecutor(1) as thread:
        try:
            yield run
        finally:
            thread.submit(runner.close).result()


def _run_under(
    runner: asyncio.Runner, cancellation: Cancellation, work: Coroutine[Any, Any, T]
) -> T:
    return runner.run(cancellation.run(work))


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to completion and return its result."""
    with loop_runner() as run:
        result: T = run(work)
        return result


async def run_in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in another thread, with the context variables of the caller, and return its
    result.

    If the awaiting task is cancelled, the coroutines that the function runs with `run_coroutine`
    are cancelled too. The task ends when the function has ended and closed what it opened.

    Args:
        function: the function, for example `peirce.check`.
        args: its arguments.
        kwargs: its keyword arguments.

    Raises:
        UsageError: `function` is not a function; otherwise what the function raises.
    """
    if not callable(function):
        raise UsageError(f"function is {function!r:.80}: it must be a function")
    cancellation, context = Cancellation(), contextvars.copy_context()
    context.run(_CANCELLATION.set, cancellation)
    thread = ThreadPoolExecutor(1)
    loop = asyncio.get_running_loop()
    done = loop.run_in_executor(thread, lambda: context.run(function, *args, **kwargs))
    thread.shutdown(wait=False)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        cancellation.cancel()
        while not done.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([done])
        if not done.cancelled():
            done.exception()  # The cancellation is raised instead.
        raise
