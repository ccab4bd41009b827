"""What the cheapest possible form of some work costs on this machine, for bench/profile_sessions.py.

Each figure is the CPU time, in milliseconds, of one unit of the work done by a bare loop, as the median
of several rounds. A session cannot be cheaper per unit without doing less work.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

ROUNDS = 7
LISTS = [[(n * 7 + k) % 100 for k in range(n % 11)] for n in range(14_101)]
FORKER = """
import ctypes, json, mmap, os, resource, select, signal, struct, sys, time
def spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
rounds = []
for _ in range(7):
    began = spent()
    for _ in range(50):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    rounds.append((spent() - began) / 50)
print(sorted(rounds)[3] * 1e3)
"""
IMPORTS = "import numpy, duckdb, pydantic, rich, typer, langgraph.graph"


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its ended children."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(who) for who in both]
    return sum(one.ru_utime + one.ru_stime for one in used)


def cpu_ms(work: Callable[[], object], times: int = 1, rounds: int = ROUNDS) -> float:
    """Return the CPU milliseconds of one unit of work, the median of several rounds."""
    found = []
    for _ in range(rounds):
        began = cpu_seconds()
        for _ in range(times):
            work()
        found.append((cpu_seconds() - began) / times)
    return statistics.median(found) * 1e3


def call_function() -> float:
    """Return the milliseconds of a short Python function on the 14,101 lists of the sample space."""

    def f(x: list[int]) -> list[int]:
        return [v + 1 for v in x if v % 2 == 0]

    return cpu_ms(lambda: [f(x) for x in LISTS])


def fork_process() -> float:
    """Return the milliseconds of forking a bare Python process that ends at once."""
    command = [sys.executable, "-s", "-S", "-P", "-B", "-c", FORKER]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def sync_file() -> float:
    """Return the milliseconds of appending 4 KiB to a file and waiting until they are on disk."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.open(os.path.join(folder, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

        def append() -> None:
            os.write(file, b"x" * 4096)
            os.fdatasync(file)

        try:
            return cpu_ms(append, times=50)
        finally:
            os.close(file)


def copy_json() -> float:
    """Return the milliseconds of writing and reading 1 MB of JSON, lists of small numbers."""
    text = json.dumps(LISTS)
    value = LISTS * max(1, round(1e6 / len(text)))
    size_mb = len(json.dumps(value)) / 1e6
    return cpu_ms(lambda: json.loads(json.dumps(value))) / size_mb


def send_line() -> float:
    """Return the milliseconds of one line to another process and back, through pipes."""
    echo = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"
    began = cpu_seconds()
    pipe = subprocess.PIPE
    times = 2_000
    with subprocess.Popen([sys.executable, "-S", "-c", echo], stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"1\n")
        process.stdin.flush()
        process.stdout.readline()
        for _ in range(times):
            process.stdin.write(b"x" * 200 + b"\n")
            process.stdin.flush()
            process.stdout.readline()
        process.stdin.close()
        process.wait()
    started = cpu_ms(lambda: subprocess.run([sys.executable, "-S", "-c", "pass"]), rounds=3)
    return ((cpu_seconds() - began) * 1e3 - 4 * started) / times


def import_libraries() -> float:
    """Return the milliseconds of starting Python and importing the libraries that a session needs."""
    return cpu_ms(lambda: subprocess.run([sys.executable, "-c", IMPORTS], check=True), rounds=3)


LIMITS: dict[str, Callable[[], float]] = {
    "a Python function on 14,101 lists": call_function,
    "fork, exit and wait of a bare Python process": fork_process,
    "4 KiB appended and synced": sync_file,
    "1 MB of JSON written and read": copy_json,
    "a line to another process and back": send_line,
    "start of Python with the libraries": import_libraries,
}


def measure_limits() -> dict[str, float]:
    """Return the CPU milliseconds of one unit of each kind of work."""
    return {name: measure() for name, measure in LIMITS.items()}
