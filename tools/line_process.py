"""A program of ours that answers lines of JSON: one request a line in, one reply a line out.

For work that must not hold up the event loop and may have to be killed: the embedded search, Z3.
The program runs in a session of its own, which keeps the terminal's Ctrl-C away from its first
moment on, with NumPy on one thread; `serve` is its main loop.
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

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_REPLY_BYTES = 1 << 24


class ProcessDied(Exception):
    """The program's pipe ended before its reply."""


class LineProcess:
    """module: its name, run by this interpreter. It starts with the first request; one request at
    a time."""

    def __init__(self, module: str) -> None:
        self.command = (sys.executable, "-P", "-m", module)
        self.process: asyncio.subprocess.Process | None = None

    async def ask(self, request: Any, wall_s: float | None = None) -> Any:
        """The reply. Raises ProcessDied; TimeoutError after wall_s seconds. After either, or where
        it is cancelled, the program has to be closed: its late reply would be taken for the
        next."""
        process = self.process or await self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            await process.stdin.drain()
            line = await asyncio.wait_for(process.stdout.readline(), wall_s)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ProcessDied from error
        if not line.endswith(b"\n"):
            raise ProcessDied
        return json.loads(line)

    async def _start(self) -> asyncio.subprocess.Process:
        self.process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(_THREADS, "1")},
            limit=_REPLY_BYTES,
            start_new_session=True,
        )
        return self.process

    async def close(self) -> None:
        process, self.process = self.process, None
        if process is not None:  # its pipes are not read: a question may still wait for an answer
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def serve(answer: Callable[[Any], Any]) -> None:
    """The main loop of such a program. It ignores SIGINT (the parent drains) and leaves when its
    standard input ends, in the midst of its work too: so none outlives a parent that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines: SimpleQueue[str] = SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        print(json.dumps(answer(json.loads(lines.get()))), flush=True)
