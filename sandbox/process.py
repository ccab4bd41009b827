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


class ZygoteProcess:
    """pool.Zygote as a child of this process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    async def allow(self, memory_mb: int) -> None:
        pass  # rlimits alone

    async def kill(self) -> None:
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)  # its child dies with it
        self.process.wait()

    async def end(self) -> None:
        for _ in range(200):
            if self.process.poll() is not None:
                break
            await asyncio.sleep(0.005)
        await self.kill()


async def start_zygote() -> Link:
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
    return Link(reader, writer, ZygoteProcess(process))


class ProcessSandbox(PooledSandbox):
    """records.Sandbox over `workers` zygotes (default: one for each usable core)."""

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(start_zygote, workers)


async def open_backend(workers: int | None, strict: bool) -> ProcessSandbox:
    sandbox = ProcessSandbox(workers)
    await sandbox.start(strict)
    return sandbox
