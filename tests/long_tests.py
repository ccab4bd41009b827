"""The long tests that `make test` leaves out: reads long_tests.txt and marks them `soak`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("long_tests.txt")


@dataclass
class LongTests:
    """What long_tests.txt says.

    Attributes:
        every: By id of a test without its case: the first case and each N-th after it stay.
        soak: By id of a test that is left out: the test that keeps its claim.
    """

    every: Mapping[str, int] = field(default_factory=dict)
    soak: Mapping[str, str] = field(default_factory=dict)


def read_long_tests(file: Path = FILE) -> LongTests:
    """Return what a file says.

    Raises:
        ValueError: A line has neither form, or names a test again.
    """
    every: dict[str, int] = {}
    soak: dict[str, str] = {}
    for line in file.read_text("utf-8").splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "every":
            number, _, name = rest.partition(" ")
            if name in every or int(number) < 2:
                raise ValueError(line)
            every[name] = int(number)
        elif kind == "soak":
            name, _, kept = rest.partition(" | ")
            if name in soak or not kept:
                raise ValueError(line)
            soak[name] = kept
        elif line and not line.startswith("#"):
            raise ValueError(line)
    return LongTests(every, soak)


def mark_long_tests(items: Sequence[pytest.Item], long: LongTests) -> None:
    """Mark the long tests `soak`. A case that is marked already does not count as a case."""
    seen: Counter[str] = Counter()
    for item in items:
        name = item.nodeid.partition("[")[0]
        if item.nodeid in long.soak or name in long.soak:
            item.add_marker("soak")
        elif name in long.every and item.get_closest_marker("soak") is None:
            if seen[name] % long.every[name]:
                item.add_marker("soak")
            seen[name] += 1
