"""Run a session in a process of its own, for a server whose event loop nothing may block.

    python -P -m peirce.adapters.studio.session_process

`langgraph dev` watches every event loop of its process, also those of other threads, and refuses
blocking calls on them. A session has its own loop, on which it may block. In a process of its own it
is not watched, and it cannot take the server down.

The process reads one line from its standard input: the request. It writes one JSON object a line:
{"event": …} for each event, and at the end {"outcome": …}. It stops the session when its standard
input ends, so a session never outlives its server. What is printed otherwise goes to standard error.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from ...records import Json
from .thread_folders import ThreadFolder
from .thread_session import SessionRequest, describe_error, run_request

STOPPING_S = 30.0  # A session that is told to stop has this long to close what it opened.
Receive = Callable[[dict[str, Json]], None]


# --- In the server.


async def run_in_process(request: SessionRequest, receive: Receive) -> dict[str, Json]:
    """Run the session of a request in a process of its own.

    If the awaiting task is cancelled, the session stops, and the task ends when the process has
    ended. The store then has no writer, and the next run can resume the session.

    Args:
        request: The request.
        receive: Function that receives each event, on the loop of the caller.

    Returns:
        The keys of `schemas.Outcome`. If the process ends without an outcome, for example because
        the machine has too little memory, the status is "error".
    """
    loop = asyncio.get_running_loop()

    def pass_on(event: dict[str, Json]) -> None:
        loop.call_soon_threadsafe(receive, event)

    process = _SessionProcess(request, pass_on)
    # Threads of its own: those that all tasks of the server share are few.
    threads = ThreadPoolExecutor(2, thread_name_prefix="peirce session")
    ending = loop.run_in_executor(threads, process.run)
    try:
        return await asyncio.shield(ending)
    except asyncio.CancelledError:
        both = asyncio.gather(ending, loop.run_in_executor(threads, process.stop))
        while not both.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([both])
        raise
    finally:
        threads.shutdown(wait=False)


class _SessionProcess:
    """The process of one session, as the server sees it. Its methods block."""

    def __init__(self, request: SessionRequest, receive: Receive) -> None:
        self._request, self._receive = request, receive
        self._lock = threading.Lock()
        self._stopped = False
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> dict[str, Json]:
        """Start the process, pass its events on until it ends, and return its outcome."""
        with self._lock:
            if self._stopped:
                return describe_error("the run was cancelled before its session began")
            self._process = process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError, ValueError):  # It has ended, or it is stopped already.
            process.stdin.write(encode_request(self._request))
            process.stdin.flush()
        outcome: dict[str, Json] | None = None
        for line in process.stdout:
            if not line.endswith(b"\n"):
                break  # It was killed while it wrote.
            message = json.loads(line)
            if "event" in message:
                self._receive(message["event"])
            else:
                outcome = message["outcome"]
        code = process.wait()
        self._close_input()
        if outcome is not None:
            return outcome
        return describe_error(
            f"the process of the session ended with the exit code {code}; run the thread again to"
            " continue the session"
        )

    def stop(self) -> None:
        """End the standard input of the process, which stops its session, and wait for its end."""
        with self._lock:
            self._stopped = True
        if self._process is None:
            return
        self._close_input()
        try:
            self._process.wait(STOPPING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _close_input(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()


# --- In the process of the session.


def encode_request(request: SessionRequest) -> bytes:
    """Return a request as one line of JSON."""
    fields = {
        "folder": str(request.folder.path),
        "arguments": dict(request.arguments),
        "changeable": dict(request.changeable),
    }
    return json.dumps(fields).encode() + b"\n"


def decode_request(line: bytes) -> SessionRequest:
    """Return the request that `encode_request` wrote."""
    fields = json.loads(line)
    folder = ThreadFolder(Path(fields["folder"]))
    return SessionRequest(folder, fields["arguments"], fields["changeable"])


async def _serve(request: SessionRequest, send: Callable[[Mapping[str, Json]], None]) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def stop_at_end_of_input() -> None:
        while os.read(0, 4096):  # Python could not exit while a buffered file waits.
            pass
        with suppress(RuntimeError):  # The loop is closed already.
            loop.call_soon_threadsafe(task.cancel)

    threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    outcome = await run_request(request, lambda event: send({"event": event}))
    send({"outcome": outcome})


def main() -> int:
    """Run the session that the standard input asks for. Return 130 if it was stopped."""
    # Libraries and models may print. Only messages go to the server.
    channel: IO[Any] = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def send(message: Mapping[str, Json]) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    try:
        asyncio.run(_serve(decode_request(sys.stdin.buffer.readline()), send))
    except (asyncio.CancelledError, KeyboardInterrupt, BrokenPipeError):
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
