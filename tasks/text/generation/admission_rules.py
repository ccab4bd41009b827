"""The rules of HypoBench's admission data sets.

A rule is a list of cases, and an applicant is admitted if any case holds. A case is a list of
conditions that must all hold. The cases are those in the published metadata, and they reproduce the
published labels in every row. In a counterintuitive twin, each condition is replaced by a condition
that contradicts expectations about admission; see `reverse_cases`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ....records import Json
from ....tools.sentence_rules.conditions import AllOf, Comparison, IsOneOf
from ....tools.sentence_rules.quantities import ColumnNumber
from ....tools.sentence_rules.rules import ConditionClause, Rule
from .applicants import FIELDS, GRADES, LABELS

Part: TypeAlias = Comparison | IsOneOf
Case: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True)
class AdmissionSet:
    """The settings of one data set of the generator `labels:admission`.

    Attributes:
        folder: The name of the data set, which is also its folder.
        columns: The names of the input columns.
        cases: An applicant is admitted if all conditions of any case hold.
        noise: The share of labels that are changed.
        distractors: The number of columns that no case uses.
        maxima: The maximum of a count, for columns whose maximum differs from the usual value.
    """

    folder: str
    columns: tuple[str, ...]
    cases: tuple[Case, ...]
    noise: float = 0.0
    distractors: int = 0
    maxima: Mapping[str, int] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """The number of conditions in the longest case."""
        return max(map(len, self.cases))


def equals_any(column: str, *values: Json) -> IsOneOf:
    """Return the condition that a column has one of the values."""
    return IsOneOf(column, values)


def is_above(column: str, number: int) -> Comparison:
    """Return the condition that the value of a column is more than a number."""
    return Comparison(ColumnNumber(column), "more than", number)


MATH: tuple[Case, ...] = ((equals_any("math", "A"),),)
_STEM = equals_any("applied_major", "Science", "Medicine", "Engineering")
_HUMANITIES = equals_any("applied_major", "Arts", "Business", "Law")
_CLEAN: Case = (
    equals_any("academic_integrity_violation", False),
    equals_any("criminal_record", False),
)

DEPTH_2: tuple[Case, ...] = ((equals_any("math", "A"), is_above("num_publications", 0)),)
DEPTH_3: tuple[Case, ...] = (
    (
        equals_any("math", "A"),
        is_above("num_publications", 0),
        equals_any("applied_major", "Engineering"),
    ),
    (equals_any("history", "A"), equals_any("art", "A"), is_above("community_service_hours", 10)),
    (equals_any("math", "A"), is_above("leadership_roles", 2), is_above("attendance_rate", 90)),
    (
        equals_any("science", "A"),
        is_above("volunteer_projects", 1),
        equals_any("applied_major", "Medicine"),
    ),
    (
        is_above("family_wealth_index", 8),
        equals_any("donated_to_school", True),
        is_above("attendance_rate", 85),
    ),
)
DEPTH_4: tuple[Case, ...] = (
    (
        equals_any("math", "A"),
        equals_any("science", "A"),
        is_above("num_publications", 1),
        equals_any("applied_major", "Science"),
    ),
    (
        equals_any("history", "A"),
        equals_any("art", "A"),
        is_above("volunteer_projects", 3),
        is_above("attendance_rate", 90),
    ),
    (
        equals_any("math", "A"),
        is_above("leadership_roles", 2),
        is_above("attendance_rate", 95),
        equals_any("applied_major", "Engineering"),
    ),
    (
        equals_any("science", "A"),
        is_above("num_publications", 2),
        equals_any("applied_major", "Medicine"),
        equals_any("academic_integrity_violation", False),
    ),
    (
        is_above("family_wealth_index", 9),
        equals_any("donated_to_school", True),
        equals_any("legacy_status", True),
        is_above("attendance_rate", 90),
    ),
)
SIZE_5: tuple[Case, ...] = (
    (equals_any("math", "A"),),
    (is_above("num_publications", 3),),
    (is_above("num_letters", 2),),
    (is_above("num_activities", 2),),
    (equals_any("english", "B", "C"),),
)
SIZE_10: tuple[Case, ...] = (
    (_STEM, equals_any("math", "A", "B"), equals_any("science", "A")),
    (_HUMANITIES, equals_any("history", "A", "B"), equals_any("art", "A", "B")),
    (equals_any("first_generation_college", True), is_above("attendance_rate", 85)),
    (is_above("leadership_roles", 2), is_above("community_service_hours", 30)),
    (is_above("volunteer_projects", 3), is_above("attendance_rate", 90)),
    (is_above("family_wealth_index", 8), equals_any("donated_to_school", True)),
    _CLEAN,
    (equals_any("legacy_status", True), equals_any("math", "A", "B")),
    (equals_any("faculty_family_member", True), is_above("attendance_rate", 95)),
    (
        equals_any("applied_major", "Medicine"),
        equals_any("science", "A"),
        is_above("num_publications", 1),
    ),
)
SIZE_15: tuple[Case, ...] = (
    (
        _STEM,
        equals_any("math", "A"),
        equals_any("science", "A"),
        is_above("community_service_hours", 20),
    ),
    (
        _HUMANITIES,
        equals_any("history", "A"),
        equals_any("art", "A"),
        is_above("volunteer_projects", 2),
    ),
    (
        equals_any("first_generation_college", True),
        is_above("attendance_rate", 90),
        is_above("leadership_roles", 1),
    ),
    (is_above("num_publications", 3), equals_any("math", "A")),
    (is_above("num_letters", 2), is_above("attendance_rate", 85)),
    (is_above("num_activities", 3), equals_any("history", "A", "B")),
    (
        equals_any("applied_major", "Engineering"),
        equals_any("math", "A"),
        is_above("num_publications", 1),
    ),
    (
        equals_any("applied_major", "Medicine"),
        equals_any("science", "A"),
        is_above("volunteer_projects", 2),
    ),
    (equals_any("legacy_status", True), is_above("family_wealth_index", 7)),
    (equals_any("faculty_family_member", True), is_above("attendance_rate", 95)),
    _CLEAN,
    (equals_any("donated_to_school", True), is_above("family_wealth_index", 8)),
    (equals_any("applied_major", "Science"), equals_any("math", "A"), equals_any("science", "A")),
    (equals_any("applied_major", "Arts"), equals_any("art", "A"), equals_any("history", "A")),
    (is_above("leadership_roles", 3), is_above("attendance_rate", 90)),
)


def find_columns(cases: Sequence[Case]) -> tuple[str, ...]:
    """Return the names of the columns that the cases use, in the order of `FIELDS`."""
    there = {find_column(part) for case in cases for part in case}
    return tuple(name for name in FIELDS if name in there)


def find_column(part: Part) -> str:
    """Return the name of the column that a condition is about."""
    if isinstance(part, IsOneOf):
        return part.column
    assert isinstance(part.quantity, ColumnNumber)
    return part.quantity.column


def complete_rule(cases: Sequence[Case]) -> Rule:
    """Return the rule that admits an applicant in any of the cases and rejects all others."""
    return Rule(tuple(ConditionClause(_conjunction(case), LABELS[0]) for case in cases), LABELS[1])


def build_findings(cases: Sequence[Case]) -> list[Rule]:
    """Return one rule per case, which admits applicants in this case.

    If there is only one case, its rule also rejects all other applicants.
    """
    if len(cases) == 1:
        return [complete_rule(cases)]
    return [Rule((ConditionClause(_conjunction(case), LABELS[0]),)) for case in cases]


def _conjunction(case: Case) -> Part | AllOf:
    return case[0] if len(case) == 1 else AllOf(case)


# --- against expectation --------------------------------------------------------------


def reverse_cases(cases: Sequence[Case], tops: Mapping[str, int]) -> tuple[Case, ...]:
    """Return the cases with each condition reversed.

    The best grade becomes the worst, a truth value is negated, and "more than 8" of 1 to 10 becomes
    "less than 3". A condition such as "more than 0", whose reverse would still hold for most
    records, becomes "at most" the same number. Conditions on the major are not changed, because
    nobody expects an influence of the major.

    Args:
        cases: The cases of a rule.
        tops: The maximum of a count, for columns whose maximum differs from the usual value.
    """
    return tuple(tuple(_reverse(part, tops) for part in case) for case in cases)


def _reverse(part: Part, tops: Mapping[str, int]) -> Part:
    name = find_column(part)
    about = FIELDS[name]
    if isinstance(part, Comparison):
        top = tops.get(name, about.high)
        if top - part.value > (top - about.low + 1) / 2:
            return Comparison(part.quantity, "at most", part.value)
        return Comparison(part.quantity, "less than", about.low + top - part.value)
    if about.kind == "truth":
        return IsOneOf(name, tuple(not value for value in part.values))
    if about.values == GRADES:
        other = dict(zip(GRADES, reversed(GRADES), strict=True))
        return IsOneOf(name, tuple(other[str(value)] for value in reversed(part.values)))
    return part
