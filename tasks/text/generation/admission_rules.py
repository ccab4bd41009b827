"""The rules of HypoBench's admission sets: disjunctions of cases, each a conjunction of conditions.

The cases are those of the published metadata and reproduce its labels in every row. A twin replaces
each condition by one that contradicts expectations about admission; see `turned`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ....records import Json
from ....tools.sentence_rules.conditions import AllOf, Compare, Is
from ....tools.sentence_rules.quantities import Number
from ....tools.sentence_rules.rules import Rule, When
from .applicants import FIELDS, GRADES, LABELS

Part: TypeAlias = Compare | Is
Case: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True)
class Admission:
    """One set of the grid.

    Attributes:
        folder: The name of the set, which is its folder.
        columns: The input columns.
        cases: The cases in which an applicant is admitted.
        noise: The share of labels that are changed.
        distractors: The number of columns that no case uses.
        tops: Columns with another maximum than usual; see applicants.py.
    """

    folder: str
    columns: tuple[str, ...]
    cases: tuple[Case, ...]
    noise: float = 0.0
    distractors: int = 0
    tops: Mapping[str, int] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """The number of conditions in the longest case."""
        return max(map(len, self.cases))


def of(column: str, *values: Json) -> Is:
    """Return the condition that a column has one of the values."""
    return Is(column, values)


def above(column: str, number: int) -> Compare:
    """Return the condition that a column is more than a number."""
    return Compare(Number(column), "more than", number)


MATH: tuple[Case, ...] = ((of("math", "A"),),)
_STEM = of("applied_major", "Science", "Medicine", "Engineering")
_HUMANITIES = of("applied_major", "Arts", "Business", "Law")
_CLEAN: Case = (of("academic_integrity_violation", False), of("criminal_record", False))

DEPTH_2: tuple[Case, ...] = ((of("math", "A"), above("num_publications", 0)),)
DEPTH_3: tuple[Case, ...] = (
    (of("math", "A"), above("num_publications", 0), of("applied_major", "Engineering")),
    (of("history", "A"), of("art", "A"), above("community_service_hours", 10)),
    (of("math", "A"), above("leadership_roles", 2), above("attendance_rate", 90)),
    (of("science", "A"), above("volunteer_projects", 1), of("applied_major", "Medicine")),
    (
        above("family_wealth_index", 8),
        of("donated_to_school", True),
        above("attendance_rate", 85),
    ),
)
DEPTH_4: tuple[Case, ...] = (
    (
        of("math", "A"),
        of("science", "A"),
        above("num_publications", 1),
        of("applied_major", "Science"),
    ),
    (
        of("history", "A"),
        of("art", "A"),
        above("volunteer_projects", 3),
        above("attendance_rate", 90),
    ),
    (
        of("math", "A"),
        above("leadership_roles", 2),
        above("attendance_rate", 95),
        of("applied_major", "Engineering"),
    ),
    (
        of("science", "A"),
        above("num_publications", 2),
        of("applied_major", "Medicine"),
        of("academic_integrity_violation", False),
    ),
    (
        above("family_wealth_index", 9),
        of("donated_to_school", True),
        of("legacy_status", True),
        above("attendance_rate", 90),
    ),
)
SIZE_5: tuple[Case, ...] = (
    (of("math", "A"),),
    (above("num_publications", 3),),
    (above("num_letters", 2),),
    (above("num_activities", 2),),
    (of("english", "B", "C"),),
)
SIZE_10: tuple[Case, ...] = (
    (_STEM, of("math", "A", "B"), of("science", "A")),
    (_HUMANITIES, of("history", "A", "B"), of("art", "A", "B")),
    (of("first_generation_college", True), above("attendance_rate", 85)),
    (above("leadership_roles", 2), above("community_service_hours", 30)),
    (above("volunteer_projects", 3), above("attendance_rate", 90)),
    (above("family_wealth_index", 8), of("donated_to_school", True)),
    _CLEAN,
    (of("legacy_status", True), of("math", "A", "B")),
    (of("faculty_family_member", True), above("attendance_rate", 95)),
    (of("applied_major", "Medicine"), of("science", "A"), above("num_publications", 1)),
)
SIZE_15: tuple[Case, ...] = (
    (_STEM, of("math", "A"), of("science", "A"), above("community_service_hours", 20)),
    (_HUMANITIES, of("history", "A"), of("art", "A"), above("volunteer_projects", 2)),
    (
        of("first_generation_college", True),
        above("attendance_rate", 90),
        above("leadership_roles", 1),
    ),
    (above("num_publications", 3), of("math", "A")),
    (above("num_letters", 2), above("attendance_rate", 85)),
    (above("num_activities", 3), of("history", "A", "B")),
    (of("applied_major", "Engineering"), of("math", "A"), above("num_publications", 1)),
    (of("applied_major", "Medicine"), of("science", "A"), above("volunteer_projects", 2)),
    (of("legacy_status", True), above("family_wealth_index", 7)),
    (of("faculty_family_member", True), above("attendance_rate", 95)),
    _CLEAN,
    (of("donated_to_school", True), above("family_wealth_index", 8)),
    (of("applied_major", "Science"), of("math", "A"), of("science", "A")),
    (of("applied_major", "Arts"), of("art", "A"), of("history", "A")),
    (above("leadership_roles", 3), above("attendance_rate", 90)),
)


def used(cases: Sequence[Case]) -> tuple[str, ...]:
    """Return the columns that the cases use, in the order of `FIELDS`."""
    there = {column_of(part) for case in cases for part in case}
    return tuple(name for name in FIELDS if name in there)


def column_of(part: Part) -> str:
    """Return the column of a condition."""
    if isinstance(part, Is):
        return part.column
    assert isinstance(part.quantity, Number)
    return part.quantity.column


def whole(cases: Sequence[Case]) -> Rule:
    """Return the rule that admits an applicant in any of the cases and rejects all others."""
    return Rule(tuple(When(_all(case), LABELS[0]) for case in cases), LABELS[1])


def findings(cases: Sequence[Case]) -> list[Rule]:
    """Return one rule per case; a single case also says what happens otherwise."""
    if len(cases) == 1:
        return [whole(cases)]
    return [Rule((When(_all(case), LABELS[0]),)) for case in cases]


def _all(case: Case) -> Part | AllOf:
    return case[0] if len(case) == 1 else AllOf(case)


# --- against expectation --------------------------------------------------------------


def turned(cases: Sequence[Case], tops: Mapping[str, int]) -> tuple[Case, ...]:
    """Return the cases with each condition reversed.

    The worst grade replaces the best, a truth value is negated, and "more than 8 of 1 to 10"
    becomes "less than 3". If the result would still hold for most records ("more than 0"), it is
    "at most" the same number instead. A condition on the major stays, because nobody expects
    anything of it.
    """
    return tuple(tuple(_turned(part, tops) for part in case) for case in cases)


def _turned(part: Part, tops: Mapping[str, int]) -> Part:
    name = column_of(part)
    about = FIELDS[name]
    if isinstance(part, Compare):
        top = tops.get(name, about.high)
        if top - part.value > (top - about.low + 1) / 2:
            return Compare(part.quantity, "at most", part.value)
        return Compare(part.quantity, "less than", about.low + top - part.value)
    if about.kind == "truth":
        return Is(name, tuple(not value for value in part.values))
    if about.values == GRADES:
        other = dict(zip(GRADES, reversed(GRADES), strict=True))
        return Is(name, tuple(other[str(value)] for value in reversed(part.values)))
    return part
