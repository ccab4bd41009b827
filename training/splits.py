"""Split problems into training, validation and held-out ones (GEAR, section 6.1).

A group of problems (`problem_group`) is always in one split. A hash of the seed and the group's name
places the group on a line from 0 to 1. Below `train` it is for training, within the next
`validation` it is for validation, and otherwise it is held out. The split of a group does not
depend on which other groups exist. No session that is added later moves a group, whatever its
number of observations, model or method, and what one machine holds out, no other machine trains on.

Ranking the groups instead would give exactly half of them to training, but a new group could then
move others. With a hash the numbers are those of a draw, 50 ± 5 of 100 groups, and with few groups
(texts have one per data set) a split may be empty. `GroupCounts.missing` reports empty splits. `fixed`
assigns groups by hand, or all groups of a published split.

Fractions are nested: with a larger `train` fraction, training gains groups and loses none. A name
counts without its task, so a problem that occurs under two tasks (a published set, and a user's
file with the same ids) cannot be in two splits. Where tasks number their problems alike, problems
with the same number share a split. One problem under two names is not detected.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from ..records import LabelsRows, Problem, UsageError
from ..tasks import load_family

_PLACES = 2**64


class Split(StrEnum):
    """The splits of the problems: training, validation and held-out."""

    TRAIN = "train"
    VALIDATION = "validation"
    HELD_OUT = "held-out"


def problem_group(problem: Problem) -> str:
    """Return the name of the group of problems that must stay in one split.

    The group is the problem's own group, or the problem's id if it has none. For labelled text, the
    group is the data set, because the problems `NAME#K` are samples of its rows.
    """
    if problem.group:
        return problem.group
    found = load_family(problem.family)
    return found.data_set_name(problem) if isinstance(found, LabelsRows) else problem.id


@dataclass(frozen=True)
class Fractions:
    """The fraction of groups in each split.

    Raises:
        UsageError: A fraction is not within [0, 1], or their sum is not 1.
    """

    train: float = 0.5
    validation: float = 0.1
    held_out: float = 0.4

    def __post_init__(self) -> None:
        parts = (self.train, self.validation, self.held_out)
        if not all(0 <= part <= 1 for part in parts) or not abs(sum(parts) - 1) <= 1e-9:
            raise UsageError(
                f"fractions are {', '.join(map(str, parts))}: give three shares for train,"
                " validation and held-out, each from 0 to 1, with the sum 1"
            )


@dataclass(frozen=True)
class GroupCounts:
    """The number of groups in each split, and the splits that are empty but should not be."""

    groups: Mapping[Split, int]
    missing: tuple[Split, ...]


@dataclass(frozen=True)
class Splits:
    """A split for each group, as a pure function of seed, fractions, `fixed` and the group's name.

    Attributes:
        seed: The seed of the hash.
        fractions: The fraction of groups in each split.
        fixed: Groups by name that are in a split whatever their hash.
    """

    seed: int = 0
    fractions: Fractions = Fractions()
    fixed: Mapping[str, Split] = field(default_factory=dict)

    def split_of(self, problem: Problem) -> Split:
        """Return the split to which a problem belongs."""
        return self.split_of_group(problem_group(problem))

    def split_of_group(self, group: str) -> Split:
        """Return the split to which a group of problems belongs."""
        if group in self.fixed:
            return Split(self.fixed[group])
        place = _place(group, self.seed)
        # Exact decimals: .5 and .1 add up to .6, and not to the sum of two floats.
        train, validation = (
            Fraction(str(part)) for part in (self.fractions.train, self.fractions.validation)
        )
        if place < train * _PLACES:
            return Split.TRAIN
        if place < (train + validation) * _PLACES:
            return Split.VALIDATION
        return Split.HELD_OUT if self.fractions.held_out else Split.VALIDATION

    def count_groups(self, groups: Iterable[str]) -> GroupCounts:
        """Count distinct groups by split."""
        found = dict.fromkeys(Split, 0)
        for group in set(groups):
            found[self.split_of_group(group)] += 1
        wanted = (self.fractions.train, self.fractions.validation, self.fractions.held_out)
        missing = [split for split, part in zip(Split, wanted, strict=True) if part]
        return GroupCounts(found, tuple(split for split in missing if not found[split]))


def _place(group: str, seed: int) -> int:
    text = f"split of groups, seed {seed}: {group}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")
