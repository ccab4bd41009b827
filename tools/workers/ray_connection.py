"""The connection of this process to a Ray cluster, and the errors by which Ray says that it is lost."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from ...records import PeirceError, Unavailable
from .node import SANDBOX

ANSWER_S = 60.0  # for the cluster to answer
NO_CLUSTER = "Could not find any running Ray instance"


def lost_errors() -> tuple[type[BaseException], ...]:
    """Return the exceptions by which Ray says that an actor or its node died."""
    from ray import exceptions

    return (
        exceptions.RayActorError,
        exceptions.ActorUnschedulableError,
        exceptions.NodeDiedError,
        exceptions.ObjectLostError,
        exceptions.OutOfMemoryError,
        exceptions.WorkerCrashedError,
    )


def failure_of_start(error: BaseException) -> str | None:
    """Return why an actor could not be created on its node; None if it died for another reason.

    Ray reports an error of its first import or of its constructor as the death of the actor.
    """
    text = str(error)
    return last_line(text) if "error raised in its creation task" in text else None


def last_line(text: str) -> str:
    """Return the last line of the text of an error from a node, which follows its traceback."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "unknown error"


async def connect(address: str) -> None:
    """Connect this process to a cluster.

    Args:
        address: The value of `--cluster`.

    Raises:
        Unavailable: The cluster cannot be reached.
    """
    connected: Future[None] = Future()
    threading.Thread(target=_connect_for_good, args=(address, connected), daemon=True).start()
    try:
        await asyncio.wait_for(asyncio.wrap_future(connected), ANSWER_S)
    except TimeoutError:
        raise Unavailable(
            f"The Ray cluster at {address!r} does not answer within {ANSWER_S:g} s; if Ray does not run"
            " any more on this machine, `ray stop` removes its traces."
        ) from None


def _connect_for_good(address: str, connected: Future[None]) -> None:
    """Connect, and never return: Linux ends a Ray that this process started when the thread ends
    that started it.
    """
    try:
        _connect(address)
    except PeirceError as error:
        connected.set_exception(error)
        return
    connected.set_result(None)
    threading.Event().wait()


def _print_on_stderr() -> None:
    """Let Ray print its own messages, such as that a node died, on stderr.

    stdout belongs to the results of a command, and Ray has no setting for this.
    """
    from ray._private import worker

    with suppress(AttributeError):
        write = worker.print_worker_logs
        worker.print_worker_logs = lambda data, file, *rest: write(data, sys.stderr, *rest)


def _connect(address: str) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        return
    _print_on_stderr()
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address != "ray":
            ray.init(address, **quiet)
            return
        try:
            ray.init("auto", **quiet)
            return
        except ConnectionError as error:
            # A cluster that runs and cannot be reached must not be replaced by another in silence.
            if "RAY_ADDRESS" in os.environ or NO_CLUSTER not in str(error):
                raise
        ray.init("local", resources={SANDBOX: 1}, include_dashboard=False, **quiet)
    except (ConnectionError, RuntimeError, TimeoutError) as error:
        first = str(error).strip().split("\n")[0]
        place = os.environ.get("RAY_ADDRESS", address) if address == "ray" else address
        raise Unavailable(f"The Ray cluster at {place!r} cannot be reached: {first}") from error
