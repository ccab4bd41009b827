"""Split problems into training, validation and held-out problems (GEAR, section 6.1).

All problems of a group (`problem_group`) are in the same split. A hash of the seed and the group's
name gives a number from 0 to 1. Groups with a number below the fraction `train` are for training,
groups within the next `validation` are for validation, and all other groups are held out. The split
of a group does not depend on the other groups. Therefore sessions that are added later never move a
group to another split, and two machines use the same splits.

With a hash, the sizes of the splits vary: half of 100 groups is 50 ± 5 groups, and with few groups
(labelled text has one group per data set) a split may be empty. `GroupCounts.missing` reports empty
splits. Assigning exactly half of the groups would avoid this, but then a new group could move other
groups. `Splits.fixed` assigns groups by hand, for example all groups of a published split.

With a larger `train` fraction, the training split gains groups and loses none. The name of the task
has no effect on the split. Therefore a problem that occurs in two tasks (a published set, and a
user's file with the same ids) is in one split only, and problems of different tasks with the same
id share a split. If the same problem has two names, this is not detected.
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
    """The part of the problems that a problem belongs to: training, validation or held-out."""

    TRAIN = "train"
    VALIDATION = "validation"
    HELD_OUT = "held-out"


def problem_group(problem: Problem) -> str:
    """Return the name of the group of a problem. All problems of a group are in the same split.

    The name is the problem's own group, or the problem's id if it has no group. For labelled text
    it is the name of the data set, because the problems `NAME#K` are samples of the same rows.
    """
    if problem.group:
        return problem.group
    found = load_family(problem.family)
    return found.data_set_name(problem) if isinstance(found, LabelsRows) else problem.id


@dataclass(frozen=True)
class Fractions:
    """The fraction of groups that each split receives.

    Raises:
        UsageError: A fraction is not within [0, 1], or the sum of the fractions is not 1.
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
    """The number of groups in each split, and the empty splits whose fraction is above 0."""

    groups: Mapping[Split, int]
    missing: tuple[Split, ...]


@dataclass(frozen=True)
class Splits:
    """The rule that assigns each group of problems to a split.

    The split of a group depends only on these attributes and on the group's name.

    Attributes:
        seed: The seed of the hash.
        fractions: The fraction of groups in each split.
        fixed: The split of groups that are assigned by hand, by the group's name.
    """

    seed: int = 0
    fractions: Fractions = Fractions()
    fixed: Mapping[str, Split] = field(default_factory=dict)

    def split_of(self, problem: Problem) -> Split:
        """Return the split of a problem."""
        return self.split_of_group(problem_group(problem))

    def split_of_group(self, group: str) -> Split:
        """Return the split of the group with the name `group`."""
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
        """Return the number of distinct groups in each split."""
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
