"""The backend `process`: zygotes as plain child processes of this one.

Protects the parent from exits, endless loops, memory, floods of output and forged results; it is
as strong as its layers (`ProcessSandbox.layers`) where a hypothesis attacks the machine.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from ..records import SandboxUnavailable
from .pool import Link, PooledSandbox

HARNESS = Path(__file__).with_name("harness.py")
# -I would ignore the hash seed; -s -S -P with an environment of ours isolates as much.
COMMAND: list[str] = [sys.executable, "-s", "-S", "-P", "-B", "-X", "utf8", str(HARNESS)]
ENVIRONMENT = {"PYTHONHASHSEED": "0"}


class ProcessLink(Link):
    """A zygote at the other end of a socket pair."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        super().__init__(reader, writer)
        self.process = process

    def kill(self) -> None:
        """At once, with no chance to linger; its child dies with it or at its closed stream."""
        self.writer.transport.abort()
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    async def close(self) -> None:
        self.writer.close()  # the zygote ends its child and itself when its stream ends
        for _ in range(200):
            if self.process.poll() is not None:
                break
            await asyncio.sleep(0.005)
        self.kill()


async def start_zygote() -> ProcessLink:
    """Raises SandboxUnavailable where no Python can be started."""
    ours, theirs = socket.socketpair()
    try:
        process = subprocess.Popen(
            COMMAND,
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise SandboxUnavailable(
            f"the sandbox cannot start {sys.executable!r}: {error.strerror}"
        ) from error
    finally:
        theirs.close()
    reader, writer = await asyncio.open_connection(sock=ours, limit=2**20)
    return ProcessLink(process, reader, writer)


class ProcessSandbox(PooledSandbox):
    """records.Sandbox over `workers` zygotes (default: one for each usable core)."""

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(start_zygote, workers)


async def open_backend(workers: int | None, strict: bool) -> ProcessSandbox:
    sandbox = ProcessSandbox(workers)
    await sandbox.start(strict)
    return sandbox
