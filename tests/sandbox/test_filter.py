"""The filter of system calls on both tables of numbers, of which a machine runs only its own.

Internals: the instructions are interpreted here, so that the filter of another machine is seen too.
"""

from __future__ import annotations

import struct

import pytest
from peirce.sandbox.inside.jail import ALLOWED, CLOCK_GETTIME, FUTEX, build_filter

TABLES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050001, 0x80000000


def verdict(words: list[bytes], audit: int, number: int, *arguments: int) -> int:
    """What the kernel would do with a call: classic BPF over `struct seccomp_data`."""
    data = struct.pack("<IIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    at, held = 0, 0
    while True:
        code, yes, no, value = struct.unpack("=HBBI", words[at])
        at += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            (held,) = struct.unpack_from("<I", data, value)
        elif code == 0x54:
            held &= value
        else:
            at += yes if (held == value if code == 0x15 else held >= value) else no


@pytest.mark.parametrize("machine", TABLES)
def test_a_child_may_compute_and_nothing_else(machine: str) -> None:
    column, audit = TABLES[machine]
    words = build_filter(column, audit)
    some = {numbers[column] for _, *numbers in ALLOWED}
    assert len(words) < 100 and len(some) == len(ALLOWED)
    limited = {FUTEX[column], CLOCK_GETTIME[column]}
    allowed = {n for n in range(1_000) if verdict(words, audit, n) == ALLOW}
    assert allowed - limited == some
    assert all(verdict(words, audit, n) == REFUSE for n in range(1_000) if n not in allowed)
    assert verdict(words, audit, 0x40000000 + 1) == REFUSE  # a call of x32
    assert verdict(words, TABLES["x86_64" if column else "aarch64"][1], 1) == KILL


@pytest.mark.parametrize("machine", TABLES)
def test_it_may_read_its_own_clocks_and_wake_but_not_wait(machine: str) -> None:
    column, audit = TABLES[machine]
    words = build_filter(column, audit)
    clocks = [verdict(words, audit, CLOCK_GETTIME[column], n) for n in range(12)]
    assert clocks == [ALLOW] * 4 + [REFUSE] * 8
    for pid in (0, 1, 2, 30_000):  # the clocks of a process or thread are negative numbers
        for kind in range(8):
            clock = ((~pid << 3) | kind) & (2**64 - 1)
            assert verdict(words, audit, CLOCK_GETTIME[column], clock) == REFUSE
    waiting = (0, 4, 5, 6, 9, 11)
    for private in (0, 128, 256, 384):
        assert verdict(words, audit, FUTEX[column], 0, 1 + private) == ALLOW
        assert {verdict(words, audit, FUTEX[column], 0, n + private) for n in waiting} == {REFUSE}


def test_calls_that_wait_or_count_are_on_no_table() -> None:
    names = {name for name, *_ in ALLOWED}
    assert not names & {
        *("membarrier", "sysinfo", "sched_yield", "getpid", "kill", "times", "getrusage", "fstat"),
        *("open", "openat", "newfstatat", "statx", "getdents64", "mincore", "uname", "prlimit64"),
    }
