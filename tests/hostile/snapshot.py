"""What there is on this machine that a hostile hypothesis could leave or change: a look at processes,
descriptors, files, sockets, scratch space and this process itself."""

from __future__ import annotations

import builtins
import contextlib
import json
import math
import os
import random
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import peirce.sandbox

HARNESS = Path(peirce.sandbox.__file__).parent / "inside" / "harness.py"  # in each command line
MARK = "peirce-hostile"  # in the name of everything that an attack may leave
SIGNALS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT, signal.SIGHUP, signal.SIGTERM, signal.SIGIO, signal.SIGURG)  # fmt: skip
FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/dev", "/etc", "/root")


@dataclass(frozen=True)
class Snapshot:
    """Everything that must be as it was: `processes` of the sandbox, `strays` elsewhere, open
    `descriptors` by process, marked `files` and `sockets`, room in `scratch`, the `parent`."""

    processes: frozenset[tuple[int, str]]
    strays: frozenset[tuple[int, str]]
    descriptors: Mapping[int, int]
    files: frozenset[str]
    sockets: frozenset[str]
    scratch: Mapping[int, int]
    parent: Mapping[str, Any]

    @classmethod
    def take(cls, roots: list[int], scene: Path) -> Snapshot:
        everyone = machine()
        mine = tree(everyone, [os.getpid(), *roots])
        family = tree(everyone, roots)
        beside = others(everyone)
        strays = {
            (pid, one.started)
            for pid, one in everyone.items()
            if pid not in mine | beside and (str(HARNESS) in one.command or MARK in one.command)
        }
        present = {pid for pid in family | mine if pid in everyone}
        waiting = waiting_children(everyone, family - set(roots))
        return cls(
            frozenset((pid, everyone[pid].started) for pid in present - waiting.keys())
            | frozenset((stage, f"child {number}") for stage, number in waiting.values()),
            frozenset(strays),
            {
                pid: n
                for pid in family | {os.getpid()}
                if (n := count_of(f"/proc/{pid}/fd")) is not None
            },
            frozenset(marked_files(sorted(family), scene)),
            frozenset(marked_sockets(sorted(family))),
            dict(rooms(sorted(family))),
            parent(),
        )

    def changes(self, after: Snapshot) -> list[str]:
        told = []
        if gone := self.processes - after.processes:
            told.append(f"processes ended: {sorted(gone)}")
        if more := after.processes - self.processes:
            told.append(
                f"processes left behind: {[(*one, command_of(one[0])) for one in sorted(more)]}"
            )
        if more := after.strays - self.strays:
            told.append(
                f"processes escaped: {[(*one, command_of(one[0])) for one in sorted(more)]}"
            )
        for pid, number in after.descriptors.items():
            if number != self.descriptors.get(pid, number):
                whose = "the parent" if pid == os.getpid() else f"{pid}"
                told.append(f"descriptors of {whose}: {self.descriptors[pid]}, now {number}")
        if more_names := after.files - self.files:
            told.append(f"files left behind: {sorted(more_names)[:5]}")
        if more_names := after.sockets - self.sockets:
            told.append(f"sockets left behind: {sorted(more_names)}")
        for pid, free in after.scratch.items():
            if free < self.scratch.get(pid, free):
                told.append(f"scratch of {pid} has {free} blocks free, before {self.scratch[pid]}")
        for name, value in after.parent.items():
            if value != self.parent[name]:
                told.append(f"the parent's {name} changed")
        return told


@dataclass(frozen=True)
class Running:
    parent: int
    started: str
    command: str


def machine() -> dict[int, Running]:
    """Every process there is, zombies too. Empty without a /proc."""
    found = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parts = (
                    Path("/proc", name, "stat")
                    .read_text(errors="replace")
                    .rpartition(")")[2]
                    .split()
                )
                found[int(name)] = Running(int(parts[1]), parts[19], command_of(int(name)))
    return found


def waiting_children(
    everyone: Mapping[int, Running], family: set[int]
) -> dict[int, tuple[int, int]]:
    """The children that wait for the next hypothesis, one below each stage: for each its stage, and
    its number there. Every run ends one and a new one follows, so a stage is known by how many it
    has, and a second one is what an attack left."""
    found, numbers = {}, dict.fromkeys(family, 0)
    parents = {one.parent for one in everyone.values()}
    for pid in sorted(family):
        stage = everyone[pid].parent if pid in everyone else 0
        if stage in family and pid not in parents and first_of_namespace(stage):
            numbers[stage] += 1
            found[pid] = stage, numbers[stage]
    return found


def first_of_namespace(pid: int) -> bool:
    with contextlib.suppress(OSError, IndexError):
        status = Path(f"/proc/{pid}/status").read_text()
        return status.partition("NSpid:")[2].split("\n")[0].split()[-1] == "1"
    return False


def command_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
        return raw.replace(b"\0", b" ").decode(errors="replace").strip()
    return ""


def tree(everyone: Mapping[int, Running], roots: list[int]) -> set[int]:
    """The roots and all below them."""
    below: dict[int, list[int]] = {}
    for pid, one in everyone.items():
        below.setdefault(one.parent, []).append(pid)
    found, pending = set(), list(roots)
    while pending:
        pid = pending.pop()
        if pid not in found:
            found.add(pid)
            pending += below.get(pid, [])
    return found


def others(everyone: Mapping[int, Running]) -> set[int]:
    """What the tests in other processes of pytest-xdist run: all below the process that started this
    one. What escapes from a sandbox is below none of them, as its parent has ended."""
    return tree(everyone, [os.getppid()]) if "PYTEST_XDIST_WORKER" in os.environ else set()


def count_of(folder: str) -> int | None:
    with contextlib.suppress(OSError):
        return len(os.listdir(folder))
    return None


def marked_files(pids: list[int], scene: Path) -> Iterator[str]:
    """Names with the mark, here and where those processes see other file systems."""
    places = [*FOLDERS, os.getcwd(), str(Path.home()), tempfile.gettempdir(), str(scene)]
    for pid in pids:
        places += [f"/proc/{pid}/root{folder}" for folder in FOLDERS] + [f"/proc/{pid}/cwd"]
    for place in places:
        with contextlib.suppress(OSError):
            yield from (f"{place}/{name}" for name in os.listdir(place) if MARK in name)


def marked_sockets(pids: list[int]) -> Iterator[str]:
    for place in ("/proc/net/unix", *(f"/proc/{pid}/net/unix" for pid in pids)):
        with contextlib.suppress(OSError):
            lines = Path(place).read_text(errors="replace").splitlines()
            yield from (line.split()[-1] for line in lines if MARK in line)


def rooms(pids: list[int]) -> Iterator[tuple[int, int]]:
    """Free blocks of their scratch, which is a small file system of their own."""
    for pid in pids:
        for folder in ("/dev/shm", "/tmp"):
            with contextlib.suppress(OSError):
                about = os.statvfs(f"/proc/{pid}/root{folder}")
                if 0 < about.f_blocks * about.f_frsize <= 2**22:
                    yield pid, about.f_bfree


def parent() -> dict[str, Any]:
    """Of this process, whatever an attack might aim at."""
    return {
        "builtins": {name: id(value) for name, value in vars(builtins).items() if name != "_"},
        "json": {name: id(value) for name, value in vars(json).items()},
        "math": sorted(vars(math)),
        "random": id(random.random),
        "modules": sorted(name for name in sys.modules if "peirce_hostile" in name),
        "finders": [id(finder) for finder in sys.meta_path],
        "path": list(sys.path),
        "environment": dict(os.environ).keys(),
        "folder": os.getcwd(),
        "limits": [resource.getrlimit(n) for n in range(10)],
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "cores": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (),
        "handlers": [signal.getsignal(number) for number in SIGNALS],
        "recursion": sys.getrecursionlimit(),
        "hooks": [sys.excepthook, sys.displayhook, sys.gettrace(), sys.getprofile()],
    }


def roots_of(sandbox: Any) -> list[int]:
    """The zygotes' process ids, as this process sees them; none where they cannot be seen."""
    found = []
    for slot in getattr(sandbox, "_slots", ()):
        zygote = slot.link.zygote if slot.link else None
        if process := getattr(zygote, "process", None):
            found.append(process.pid)
        elif engine := getattr(zygote, "engine", None):
            found.append(engine.inspect_container(zygote.name)["State"]["Pid"])
    return [pid for pid in found if pid and os.path.exists(f"/proc/{pid}")]
