"""Work that the zygote does once, so that a child, which does it anew in its own copy, is faster.

A child starts as a copy of its stage. The kernel copies a page of memory when the child first writes
to it, and CPython writes to most pages that it reads, because it counts references there. These
copies take about half of the time of a short run. Therefore:

- `warm_up` runs trusted example sources in the zygote. CPython then has specialised bytecode and
  filled caches of attributes, which children no longer write.
- `Footprint` finds the pages that a run writes, by a run of the examples in a separate process. A
  child that waits for its request lets the kernel copy all these pages in one system call.

Neither depends on a hypothesis, so every zygote with the same files has the same memory at the same
addresses. This file uses only the standard library.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import struct
import sys
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from . import frames, trial
else:  # loaded by harness.py
    import frames
    import trial

ENTRY = struct.Struct("@PN")  # one `struct iovec`: address and size
LIST_BYTES = 1024 * ENTRY.size
MOST_BYTES = 8 * 2**20  # that a child copies of one piece of work, as waiting children keep them
MOST_PAGES = 2**14  # Larger mappings hold no part of the interpreter.
# The system call process_madvise with the same number on all architectures, its descriptor for the
# calling process, and its advice to copy pages. A child must not learn its process id, which counts.
PROCESS_MADVISE, THIS_PROCESS, POPULATE_WRITE = 440, -10_000, 23
ROUNDS = 8  # More make no run faster, and each takes 3 ms of every start.
LIMITS = {"loop_steps": 100, "batch_loop_steps": 1_000, "input_cpu_s": 1.0, "value_bytes": 1_000,
          "output_bytes": 10_000}  # fmt: skip
INPUTS = b'[[1, 2, 3], [4, 5], [], "ab", [[1, 2], [3]]]'
EXAMPLES = (
    "def f(x):\n    return x[::-1]",
    """
import math
from collections import Counter
def count(x):
    n = 0
    while n < len(x) and n < 3:
        n += 1
    return n
def f(x):
    if not x or len(x) < 2 and x[0] == 3:
        return {"none": None, "half": 0.5}
    times = Counter(x)
    kept = [a + 1 for a in x if a % 2 == 0]
    for place, value in enumerate(x):
        kept.append(value * place - 1)
    return sorted(set(kept), key=lambda v: (-times[v], v))[:9] + [count(x), math.floor(2.5), max(x)]
""",
    "def f(x):\n    seen = []\n    for v in x:\n        if v not in seen:\n            seen.append(v)\n"
    "    return tuple(seen)",
)


def warm_up() -> None:
    """Run the examples several times, then empty the caches that a hypothesis could notice."""
    for _ in range(ROUNDS):
        run_examples()
    for clear in trial.library_caches():
        clear()
    random.seed(0)


def run_examples() -> None:
    """Run each example as a child does, except for its limits and its messages."""
    for source in EXAMPLES:
        for keep in ("codes", "values"):
            run_example(source, keep)


def run_first() -> None:
    """Run the first example, which needs what nearly every hypothesis needs."""
    run_example(EXAMPLES[0], "codes")


def run_example(source: str, keep: str) -> None:
    """Run an example; `keep` is "codes" or "values"."""
    tried = trial.Trial(source, "f", keep, LIMITS)
    tried.parse()
    function = tried.compile()
    assert callable(function)
    tried.run(function, trial.Inputs(INPUTS))
    frames.frame(*tried.encode_result())


class Footprint:
    """The pages that a run writes, for `copy_pages` in later children.

    The list and its length lie outside of Python's memory, so that they cannot move later objects:
    all zygotes must have the same objects at the same addresses.
    """

    def __init__(self) -> None:
        self._call: Any = None
        if sys.platform.startswith("linux"):
            self._call = ctypes.CDLL(None).syscall
            # Private: children must not share memory with each other.
            self._list = mmap.mmap(-1, LIST_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANON)
            self._address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(self._list)))
            self._used = ctypes.c_size_t(0)  # entries of the list

    def add(self, work: Callable[[], None]) -> None:
        """Do `work` in a forked process, and add the pages that it wrote, up to a limit."""
        if self._call is None:
            return
        used = self._used.value
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                entries, left = bytearray(), MOST_BYTES
                for address, size in find_written(work)[: LIST_BYTES // ENTRY.size - used]:
                    if size <= left:
                        left -= size
                        entries += ENTRY.pack(address, size)
                frames.write_all(theirs, bytes(entries))
            finally:
                os._exit(0)
        os.close(theirs)
        place = used * ENTRY.size
        with memoryview(self._list) as view:
            while count := os.readv(ours, [view[place:]]):  # A pipe may hold less than the list.
                place += count
        os.waitpid(pid, 0)
        self._used.value = place // ENTRY.size
        os.close(ours)

    def copy_pages(self) -> None:
        """Let the kernel copy all pages of the list, if it can (Linux 6.15 and later)."""
        if self._call is not None:
            self._call(PROCESS_MADVISE, THIS_PROCESS, self._address, self._used, POPULATE_WRITE, 0)


def find_written(work: Callable[[], None]) -> list[tuple[int, int]]:
    """Return the address and size of each range of pages that `work` writes in a new process.

    The process is forked here and does little else, so the list has few other pages. The list is
    empty if the kernel does not tell.
    """
    page, entry_bytes = mmap.PAGESIZE, 8
    spans: list[tuple[int, int]] = []  # the first page and the number of pages
    try:
        with open("/proc/self/maps") as file:
            for line in file:
                span, rights, *_ = line.split()
                start, end = (int(part, 16) // page for part in span.split("-"))
                if rights == "rw-p" and end - start < MOST_PAGES:
                    spans.append((start, end - start))
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                work()
                pagemap = os.open("/proc/self/pagemap", os.O_RDONLY)
                for start, count in spans:
                    os.write(theirs, os.pread(pagemap, count * entry_bytes, start * entry_bytes))
            finally:
                os._exit(0)
        os.close(theirs)
        found: list[tuple[int, int]] = []
        for start, count in spans:
            entries = array("Q", frames.read_exactly(ours, count * entry_bytes))
            for place, entry in enumerate(entries, start):
                if not (entry >> 63 and entry >> 56 & 1):  # present, and mapped only there
                    continue
                if found and sum(found[-1]) == place:
                    found[-1] = found[-1][0], found[-1][1] + 1
                else:
                    found.append((place, 1))
        os.waitpid(pid, 0)
    except (OSError, ValueError, frames.Closed):
        return []
    return [(start * page, count * page) for start, count in found]
