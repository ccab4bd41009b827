"""The backend `process`: zygotes as child processes of this one, the default everywhere.

On Linux a child gives up what the kernel lets a program give up (jail.py); elsewhere only the
required layers hold, and `layers` says so.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from ...records import Limits, SandboxUnavailable
from ..supervisor.cgroups import Group
from ..supervisor.pool import ROOM_MB, PooledSandbox
from ..supervisor.zygote import Link

HARNESS = Path(__file__).parents[1] / "inside" / "harness.py"
# -I would ignore the hash seed; -s -S -P with an environment of ours isolates as much.
COMMAND: list[str] = [sys.executable, "-s", "-S", "-P", "-B", "-X", "utf8", str(HARNESS)]
ENVIRONMENT = {"PYTHONHASHSEED": "0"}


class ZygoteProcess:
    """pool.Zygote as a child of this process, with a control group where one can be had."""

    def __init__(self, process: subprocess.Popen[bytes], group: Group | None) -> None:
        self.process, self.group = process, group

    async def allow(self, memory_mb: int) -> None:
        if self.group is not None:
            self.group.limit_memory((memory_mb + ROOM_MB) * 2**20)

    async def kill(self) -> None:
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)  # stages and children die with it
        self.process.wait()
        if self.group is not None:
            await self.group.end()

    async def end(self) -> None:
        for _ in range(200):
            if self.process.poll() is not None:
                break
            await asyncio.sleep(0.005)
        await self.kill()


async def start_zygote() -> Link:
    """Raises SandboxUnavailable where no Python can be started."""
    ours, theirs = socket.socketpair()
    group = Group.make()
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
        if group is not None:
            group.remove()
        raise SandboxUnavailable(
            f"the sandbox cannot start {sys.executable!r}: {error.strerror}"
        ) from error
    finally:
        theirs.close()
    zygote = ZygoteProcess(process, group)
    if group is not None:
        try:
            group.add(process.pid)
        except OSError:
            group.remove()
            zygote.group = group = None
    await zygote.allow(Limits().memory_mb)
    reader, writer = await asyncio.open_connection(sock=ours, limit=2**20)
    return Link(reader, writer, zygote, {"cgroup": group is not None})


class ProcessSandbox(PooledSandbox):
    """records.Sandbox over `workers` zygotes (default: one for each usable core)."""

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(start_zygote, workers)


async def open_backend(workers: int | None, strict: bool) -> ProcessSandbox:
    sandbox = ProcessSandbox(workers)
    await sandbox.start(strict)
    return sandbox
