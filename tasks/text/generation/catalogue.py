"""What a generator is: named data sets, each a pure function of (name, seed, noise).

A set's name is its folder in the published layout (`admission/level_2/depth_2`). Its tags are what
`--level` chooses by: `--level depth`, `--level 3,plain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from ....records import UsageError
from ...io.messages import nearest
from ..problems import Rows
from .planted import Noise


class Generator(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    def sets(self, seed: int) -> Mapping[str, frozenset[str]]:
        """The names of its data sets with their tags, easy ones first."""
        ...

    def more(self, seed: int) -> Iterator[str]:
        """Names of further sets, without end or none: for `--problems N` above those that are named."""
        ...

    def made(self, name: str, seed: int, noise: Noise = "exact") -> Rows:
        """The data set of a name."""
        ...


def named(
    generator: Generator, count: int | None, seed: int, level: str | None = None
) -> list[str]:
    """The names of the sets: all, those that have every tag of `level`, the first `count` of them.
    Raises UsageError for a tag that no set has, or where none has all of them."""
    there = generator.sets(seed)
    wanted = [one.strip() for one in (level or "").split(",") if one.strip()]
    tags = sorted(set().union(*there.values()))
    for one in wanted:
        if one not in tags:
            raise UsageError(
                f"--level {level}: {generator.name} has no {one!r}{nearest(one, tags)}"
            )
    found = [name for name, told in there.items() if told.issuperset(wanted)]
    if not found:
        raise UsageError(f"--level {level}: no set of {generator.name} has all of these")
    if count is None:
        return found
    if count > len(found) and not wanted:
        others = generator.more(seed)
        found += [name for _, name in zip(range(count - len(found)), others, strict=False)]
    return found[:count]
