"""A control group for a zygote and all that it starts: a bound on memory and processes together.

Version 1 and 2 of the kernel's interface, where this process may write to it: in practice for root
and in containers that were given a group of their own. Elsewhere rlimits bound each process alone.
A group is named peirce-PID-N after the process that made it, so that what a crash left is known.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PROCESSES = 64  # of a zygote: its stages, and one child
CONTROLLERS = ("memory", "pids")
_NAME = re.compile(r"peirce-(\d+)-\d+")


class Group:
    """Folders of one group: one in version 2, one for each controller in version 1."""

    def __init__(self, folders: dict[str, Path]) -> None:
        self.folders = folders

    @classmethod
    def make(cls) -> Group | None:
        """A new group, or None where none can be had."""
        for folder in left_over():
            with contextlib.suppress(OSError):
                folder.rmdir()
        name = f"peirce-{os.getpid()}-{int.from_bytes(os.urandom(4))}"
        group = cls({})
        try:
            for controller, parent in own_folders().items():
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
        folder = self.folders["memory"]
        with contextlib.suppress(OSError):  # at worst the limit of before stays
            if (folder / "memory.max").exists():
                (folder / "memory.max").write_text(str(size_bytes))
                swap = folder / "memory.swap.max"
                if swap.exists():
                    swap.write_text("0")
            else:
                (folder / "memory.limit_in_bytes").write_text(str(size_bytes))

    def add(self, pid: int) -> None:
        """Raises OSError."""
        for folder in set(self.folders.values()):
            (folder / "cgroup.procs").write_text(str(pid))

    def kill(self) -> None:
        """Every process in it."""
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
        """Kills what is left in it and removes it."""
        self.kill()
        for _ in range(100):
            if self.remove():
                return
            await asyncio.sleep(0.005)


def own_folders() -> dict[str, Path]:
    """Where this process may look for room for a group: controller to folder."""
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


def left_over() -> list[Path]:
    """Folders of groups whose maker is gone, each with nothing in it once it was removed."""
    found = []
    for parent in set(own_folders().values()):
        for folder in sorted(parent.glob("peirce-*-*")):
            match = _NAME.fullmatch(folder.name)
            if match and not os.path.exists(f"/proc/{match[1]}"):
                found.append(folder)
    return found
