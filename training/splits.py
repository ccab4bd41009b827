"""Which problems train, which are for validation, which are held out (GEAR, section 6.1).

A group of problems (`group_of`) is as a whole in one split. Its place on the line from 0 to 1 is a
hash of the seed and its name: below `train` it trains, within the next `validation` it is for
validation, else held out. So a group is where it is whatever other groups there are: no session
that is added later, of any number of observations, model or method, moves it, and what one machine
held out no other trains on.

The price, and why it is paid: places by rank would give exactly half of the groups to training,
but a group could then move when another comes. By a hash the numbers are those of a draw, 50 ± 5 of
100 groups, and of few groups (texts: one a data set) a split may get none. `Counts.missing` says
so, and `fixed` puts groups by hand where they belong, or all of a published split.

Fractions are nested: more training takes groups from validation and the held-out ones and gives up
none of its own. A name counts without its task, so that one problem under two tasks (a published
set, and a file of one's own with the same ids) cannot be on two sides; where tasks number their
problems alike, problems of one number stand on one side. Not seen: one problem under two names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from ..records import LabelsRows, Problem, UsageError
from ..tasks import family

_PLACES = 2**64


class Split(StrEnum):
    TRAIN = "train"
    VALIDATION = "validation"
    HELD_OUT = "held-out"


def group_of(problem: Problem) -> str:
    """What must stay in one split: the problem's group, else its id; of a text its data set, of
    which `NAME#K` is a sample of rows."""
    if problem.group:
        return problem.group
    found = family(problem.family)
    return found.data_set(problem) if isinstance(found, LabelsRows) else problem.id


@dataclass(frozen=True)
class Fractions:
    """Of the groups, in each split. Raises `UsageError` where they are not within [0, 1] or do not
    sum to 1."""

    train: float = 0.5
    validation: float = 0.1
    held_out: float = 0.4

    def __post_init__(self) -> None:
        parts = (self.train, self.validation, self.held_out)
        if not all(0 <= part <= 1 for part in parts) or not abs(sum(parts) - 1) <= 1e-9:
            raise UsageError(
                f"fractions {', '.join(map(str, parts))}: train, validation and held-out are"
                " needed, each within 0 and 1, with the sum 1"
            )


@dataclass(frozen=True)
class Counts:
    """Groups in each split, and the splits that have none though their fraction is above 0."""

    groups: Mapping[Split, int]
    missing: tuple[Split, ...]


@dataclass(frozen=True)
class Splits:
    """A split for each group; a pure function of seed, fractions, `fixed` and the group's name.

    fixed: groups by name that stand in a split whatever their hash.
    """

    seed: int = 0
    fractions: Fractions = Fractions()
    fixed: Mapping[str, Split] = field(default_factory=dict)

    def of(self, problem: Problem) -> Split:
        return self.of_group(group_of(problem))

    def of_group(self, group: str) -> Split:
        if group in self.fixed:
            return Split(self.fixed[group])
        place = _place(group, self.seed)
        # Decimals as they are written: .5 and .1 end at .6, not at the sum of two floats.
        train, validation = (
            Fraction(str(part)) for part in (self.fractions.train, self.fractions.validation)
        )
        if place < train * _PLACES:
            return Split.TRAIN
        if place < (train + validation) * _PLACES:
            return Split.VALIDATION
        return Split.HELD_OUT if self.fractions.held_out else Split.VALIDATION

    def counts(self, groups: Iterable[str]) -> Counts:
        """Of these groups, each counted once."""
        found = dict.fromkeys(Split, 0)
        for group in set(groups):
            found[self.of_group(group)] += 1
        wanted = (self.fractions.train, self.fractions.validation, self.fractions.held_out)
        missing = [split for split, part in zip(Split, wanted, strict=True) if part]
        return Counts(found, tuple(split for split in missing if not found[split]))


def _place(group: str, seed: int) -> int:
    text = f"split of groups, seed {seed}: {group}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")
