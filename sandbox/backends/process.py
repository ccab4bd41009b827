"""The sandbox backend `process`, which runs hypotheses in child processes; it is the default.

The child processes are zygotes, which fork a process for every hypothesis. On Linux, a forked
process gives up every right that the kernel allows it to give up (jail.py). On other systems only
the required isolation layers are active; `layers` reports which.
"""

from __future__ import annotations

import asyncio
import compileall
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

from ...records import Limits, SandboxUnavailable
from ..supervisor.pool import ROOM_MB, PooledSandbox
from ..supervisor.zygote import Link

# --- Control groups: a common limit on memory and processes of a zygote and all that it starts.
#
# Versions 1 and 2 of the kernel's interface are supported where this process may write to them: in
# practice for root, and in containers with a group of their own. Elsewhere rlimits bound each
# process alone. A group is named peirce-PID-N after the process that made it, so that remains of a
# crash can be recognised.

ROOT = Path("/sys/fs/cgroup")
PROCESSES = 64  # maximum processes of a zygote: its stages, and one child of each
CONTROLLERS = ("memory", "pids")
_NAME = re.compile(r"peirce-(\d+)-\d+")


class ControlGroup:
    """A Linux control group that limits the memory and the number of processes of a zygote.

    Args:
        folders: The folder of the group for each controller. In version 2 of control groups, all
            controllers share one folder.
    """

    def __init__(self, folders: dict[str, Path]) -> None:
        self.folders = folders

    @classmethod
    def create(cls) -> ControlGroup | None:
        """Create a control group, or return None if this process may not create one."""
        for folder in find_leftovers():
            with contextlib.suppress(OSError):
                folder.rmdir()
        name = f"peirce-{os.getpid()}-{int.from_bytes(os.urandom(4))}"
        group = cls({})
        try:
            for controller, parent in find_own_folders().items():
                folder = parent / name
                folder.mkdir(exist_ok=True)
                group.folders[controller] = folder
            if set(group.folders) != set(CONTROLLERS):
                return None
            (group.folders["pids"] / "pids.max").write_text(str(PROCESSES))
        except OSError:
            group.remove()
            return None
        return group

    def limit_memory(self, size_bytes: int) -> None:
        """Limit the memory of all processes in the group together to `size_bytes`."""
        folder = self.folders["memory"]
        with contextlib.suppress(OSError):  # If this fails, the previous limit stays.
            if (folder / "memory.max").exists():
                (folder / "memory.max").write_text(str(size_bytes))
                swap = folder / "memory.swap.max"
                if swap.exists():
                    swap.write_text("0")
            else:
                (folder / "memory.limit_in_bytes").write_text(str(size_bytes))

    def add(self, pid: int) -> None:
        """Move a process into the group.

        Raises:
            OSError: The kernel refuses to move the process.
        """
        for folder in set(self.folders.values()):
            (folder / "cgroup.procs").write_text(str(pid))

    def kill(self) -> None:
        """Kill every process in the group."""
        for folder in set(self.folders.values()):
            with contextlib.suppress(OSError):
                (folder / "cgroup.kill").write_text("1")
                continue
            with contextlib.suppress(OSError, ProcessLookupError):
                for _ in range(100):
                    pids = (folder / "cgroup.procs").read_text().split()
                    if not pids:
                        break
                    for pid in pids:
                        os.kill(int(pid), signal.SIGKILL)

    def remove(self) -> bool:
        """Remove the group if it is empty, and return whether it is gone."""
        gone = True
        for folder in set(self.folders.values()):
            try:
                folder.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                gone = False
        return gone

    async def end(self) -> None:
        """Kill the remaining processes and remove the group."""
        self.kill()
        for _ in range(100):
            if self.remove():
                return
            await asyncio.sleep(0.005)


def find_own_folders() -> dict[str, Path]:
    """Return, for each controller, the folder in which this process may create control groups."""
    found: dict[str, Path] = {}
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        number, names, path = line.split(":", 2)
        if number == "0":
            base = ROOT / path.lstrip("/")
            with contextlib.suppress(OSError):
                active = (base / "cgroup.subtree_control").read_text().split()
                found.update({name: base for name in CONTROLLERS if name in active})
        for name in set(names.split(",")) & set(CONTROLLERS):
            found[name] = ROOT / name / path.lstrip("/")
    return found


def find_leftovers() -> list[Path]:
    """Return the folders of control groups whose creating process has ended."""
    found = []
    for parent in set(find_own_folders().values()):
        for folder in sorted(parent.glob("peirce-*-*")):
            match = _NAME.fullmatch(folder.name)
            if match and not os.path.exists(f"/proc/{match[1]}"):
                found.append(folder)
    return found


HARNESS = Path(__file__).parents[1] / "inside" / "harness.py"
# -I would ignore the hash seed; -s -S -P with our own environment isolates as well.
COMMAND: list[str] = [sys.executable, "-s", "-S", "-P", "-B", "-X", "utf8", str(HARNESS)]
ENVIRONMENT = {"PYTHONHASHSEED": "0"}


@cache
def compile_harness() -> None:
    """Write bytecode of the files that a zygote loads, where it is missing: zygotes write no files."""
    if not sys.dont_write_bytecode:
        compileall.compile_dir(HARNESS.parent, maxlevels=0, quiet=2)


class ZygoteProcess:
    """A `Zygote` that runs as a child process, in a control group where this is possible."""

    def __init__(self, process: subprocess.Popen[bytes], group: ControlGroup | None) -> None:
        self.process, self.group = process, group

    async def raise_memory_limit(self, memory_mb: int) -> None:
        """Raise the memory limit of the control group to fit a hypothesis with `memory_mb` MiB."""
        if self.group is not None:
            self.group.limit_memory((memory_mb + ROOM_MB) * 2**20)

    async def kill(self) -> None:
        """Kill the process and remove its control group."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)  # Stages and children die with it.
        self.process.wait()
        if self.group is not None:
            await self.group.end()

    async def wait_or_kill(self) -> None:
        """Wait up to a second for the process to exit, then kill it.

        The control group of the process is removed.
        """
        for _ in range(200):
            if self.process.poll() is not None:
                break
            await asyncio.sleep(0.005)
        await self.kill()


async def start_zygote() -> Link:
    """Start a zygote process and return the connection to it.

    Raises:
        SandboxUnavailable: Python cannot be started.
    """
    ours, theirs = socket.socketpair()
    group = ControlGroup.create()
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
    try:
        await zygote.raise_memory_limit(Limits().memory_mb)
        reader, writer = await asyncio.open_connection(sock=ours, limit=2**20)
    except BaseException:  # the run that needs it was cancelled
        ours.close()
        await zygote.kill()
        raise
    return Link(reader, writer, zygote, {"cgroup": group is not None})


class ProcessSandbox(PooledSandbox):
    """A sandbox (`records.Sandbox`) that uses several zygote processes.

    Args:
        workers: Largest number of zygotes; None for one zygote per usable core.
    """

    def __init__(self, workers: int | None = None) -> None:
        compile_harness()
        super().__init__(start_zygote, workers)


async def open_backend(workers: int | None, strict: bool) -> ProcessSandbox:
    """Start a sandbox of local processes.

    Raises:
        SandboxUnavailable: The processes cannot be started, or an isolation layer is missing.
    """
    sandbox = ProcessSandbox(workers)
    await sandbox.start(strict)
    return sandbox
