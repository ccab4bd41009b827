"""Run a session in a process of its own, for a server whose event loop nothing may block.

    python -P -m peirce.adapters.langgraph_platform.session_process

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
    process = await asyncio.to_thread(_start_process, request)

    def pass_on(event: dict[str, Json]) -> None:
        loop.call_soon_threadsafe(receive, event)

    ending = loop.run_in_executor(None, _read_lines, process, pass_on)
    try:
        return await asyncio.shield(ending)
    except asyncio.CancelledError:
        stopping = loop.run_in_executor(None, _stop, process)
        both = asyncio.gather(ending, stopping)
        while not both.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([both])
        raise


def _start_process(request: SessionRequest) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(encode_request(request))
    process.stdin.flush()
    return process


def _read_lines(process: subprocess.Popen[bytes], receive: Receive) -> dict[str, Json]:
    """Pass the events of a process on until it ends, and return its outcome."""
    outcome: dict[str, Json] | None = None
    assert process.stdout is not None
    for line in process.stdout:
        message = json.loads(line)
        if "event" in message:
            receive(message["event"])
        else:
            outcome = message["outcome"]
    code = process.wait()
    if process.stdin is not None:
        process.stdin.close()
    if outcome is not None:
        return outcome
    return describe_error(
        f"the process of the session ended with the exit code {code}; run the thread again to"
        " continue the session"
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the standard input of a process, which stops its session, and wait for its end."""
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
    try:
        process.wait(STOPPING_S)
    except subprocess.TimeoutExpired:
        process.kill()


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
