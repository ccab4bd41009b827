"""CPU times of this process and of the processes that it started, for `bench/cluster.py`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class CpuTimes:
    """CPU seconds by part.

    Attributes:
        driver: This process with all its threads.
        node: The actors of `tools/workers/ray_node.py`.
        ray: Ray's own processes.
        workers: All other descendants, which do the work.
    """

    driver: float = 0.0
    node: float = 0.0
    ray: float = 0.0
    workers: float = 0.0

    def __add__(self, other: CpuTimes) -> CpuTimes:
        return CpuTimes(*(getattr(self, part) + getattr(other, part) for part in PARTS))

    def __sub__(self, other: CpuTimes) -> CpuTimes:
        return CpuTimes(*(getattr(self, part) - getattr(other, part) for part in PARTS))


PARTS = tuple(one.name for one in fields(CpuTimes))


def read_cpu_times() -> CpuTimes:
    """Return the CPU times so far. Those of processes that have ended count if they were waited for.

    The system counts the times of other processes in hundredths of a second.
    """
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    titles: dict[int, str] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            numbers = (place / "stat").read_text().rpartition(")")[2].split()
            title = (place / "cmdline").read_bytes().decode(errors="replace")
        except OSError:  # it has ended
            continue
        pid = int(place.name)
        parents[pid], titles[pid] = int(numbers[1]), title
        seconds[pid] = sum(map(int, numbers[11:15])) / TICKS
    own = os.getpid()
    found = dict.fromkeys(PARTS, 0.0)
    for pid, title in titles.items():
        if own in _ancestors(pid, parents):
            found[_part(title)] += seconds[pid]
    return CpuTimes(**{**found, "driver": time.process_time()})


def _ancestors(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid := parents.get(pid, 0):
        yield pid


def _part(title: str) -> str:
    if "NodeWorker" in title:
        return "node"
    return "ray" if "ray::" in title or "/ray/" in title else "workers"
