"""A child process that answers lines of JSON: each request is one line, and each reply is one line.

The child process does work that must not block the event loop and may have to be killed, such as
the embedded search and Z3. The child runs in a separate operating system session, so Ctrl-C in the
terminal does not reach it, and NumPy uses one thread in it. `serve` is the main loop of the child.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from ..records import parse_strictly

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_REPLY_BYTES = 1 << 24


class ProcessDied(Exception):
    """Raised when the child process ended before its reply, or its reply cannot be read."""


class LineProcess:
    """A module of this package that runs as a child process and answers requests.

    The first request starts the process. Only one request may be open at a time.

    Args:
        module: Name of the module. The current Python interpreter runs it with `-m`.
        reply_bytes: The largest size of a reply.
    """

    def __init__(self, module: str, reply_bytes: int = _REPLY_BYTES) -> None:
        self.command = (sys.executable, "-P", "-m", module)
        self.reply_bytes = reply_bytes
        self.process: asyncio.subprocess.Process | None = None

    async def ask(self, request: Any, wall_s: float | None = None) -> Any:
        """Send a request to the child process and return the reply.

        After an exception or a cancellation, call `close`. Otherwise a late reply would be mistaken
        for the reply to the next request.

        Args:
            request: The request, which must be serialisable as JSON.
            wall_s: The longest time to wait for the reply, in seconds; None to wait without a
                limit.

        Raises:
            ProcessDied: The process ended before it replied, or the reply is too large or is not
                JSON.
            TimeoutError: No reply came within `wall_s` seconds.
        """
        process = self.process or await self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            await process.stdin.drain()
            line = await asyncio.wait_for(process.stdout.readline(), wall_s)
            if not line.endswith(b"\n"):
                raise ProcessDied
            return parse_strictly(line)
        except (BrokenPipeError, ConnectionResetError, ValueError) as error:
            raise ProcessDied from error  # A ValueError: over `reply_bytes`, or no JSON.

    async def _start(self) -> asyncio.subprocess.Process:
        self.process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(_THREADS, "1")},
            limit=self.reply_bytes,
            start_new_session=True,
        )
        return self.process

    async def close(self) -> None:
        """Kill the child process if it is running, and wait until it has ended."""
        process, self.process = self.process, None
        if process is not None:  # Its pipes are left unread: a request may still await its reply.
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def serve(answer: Callable[[Any], Any]) -> None:
    """Run the main loop of a child process, which answers each line of standard input.

    The process ignores SIGINT, because the parent process lets running work finish. The process
    exits as soon as its standard input ends, even in the middle of a request, so that it does not
    outlive a killed parent.

    Args:
        answer: A function that takes the parsed JSON of a request and returns the JSON of the
            reply.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines: SimpleQueue[str] = SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        print(json.dumps(answer(json.loads(lines.get()))), flush=True)
