"""The columns of the admission data sets, and random applicants (HypoBench, appendix B.4).

Values are drawn uniformly from the values in the published data sets. As in these, the maximum of a
count differs between data sets (`num_publications` up to 4 or 3).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....records import DataError, Json, Observation
from ....tools.sentence_rules.rules import Rule
from ..columns import Columns
from .planted import apply_rule

LABELS = ("admitted", "rejected")
GRADES = ("A", "B", "C", "D", "F")
MAJORS = ("Arts", "Business", "Engineering", "Law", "Medicine", "Science")
_BATCH = 2_000  # records drawn at a time
_MOST = 400_000  # records for one split


@dataclass(frozen=True)
class Field:
    """A column of the generated table of applicants: a choice, a count or a truth value.

    Attributes:
        about: A description of the column.
        values: The possible values of a choice; empty for a count or a truth value.
        low: The minimum of a count.
        high: The maximum of a count; 0 for a choice or a truth value.
    """

    about: str
    values: tuple[str, ...] = ()
    low: int = 0
    high: int = 0

    @property
    def kind(self) -> str:
        """The kind of the column: "choice", "number" or "truth"."""
        return "choice" if self.values else "number" if self.high else "truth"

    def draw_value(self, draw: random.Random) -> Json:
        """Return a random value of this column."""
        if self.values:
            return draw.choice(self.values)
        return draw.randint(self.low, self.high) if self.high else draw.random() < 0.5

    def describe(self) -> dict[str, Json]:
        """Return the description of the column in the form of `Columns.about`."""
        return {
            "kind": self.kind,
            "about": self.about,
            **({"values": list(self.values)} if self.values else {}),
        }


def _counted(about: str, high: int, low: int = 0) -> Field:
    return Field(about, low=low, high=high)


FIELDS: Mapping[str, Field] = {
    "math": Field("grade in mathematics", GRADES),
    "science": Field("grade in science", GRADES),
    "english": Field("grade in English", GRADES),
    "history": Field("grade in history", GRADES),
    "art": Field("grade in art", GRADES),
    "applied_major": Field("what is applied for", MAJORS),
    "num_publications": _counted("papers written", 3),
    "num_letters": _counted("letters of recommendation", 3),
    "num_activities": _counted("clubs and teams", 3),
    "leadership_roles": _counted("roles with others to lead", 3),
    "volunteer_projects": _counted("projects of volunteer work", 5),
    "community_service_hours": _counted("hours of community service", 50),
    "attendance_rate": _counted("attendance in percent", 100, 80),
    "family_wealth_index": _counted("wealth of the family, 1 to 10", 10, 1),
    "sports_played": _counted("kinds of sport played", 3),
    "first_generation_college": Field("whether the first of the family at a university"),
    "donated_to_school": Field("whether the family gave to the school"),
    "academic_integrity_violation": Field("whether there was cheating or plagiarism"),
    "criminal_record": Field("whether there is a criminal record"),
    "legacy_status": Field("whether a parent studied here"),
    "faculty_family_member": Field("whether of the family of a teacher here"),
}


def build_columns(names: Sequence[str], maxima: Mapping[str, int]) -> Columns:
    """Return the input columns of a data set from the definitions in `FIELDS`.

    Args:
        names: The names of the columns.
        maxima: The maximum of a count, for columns whose maximum differs from the usual value.
    """
    about = {name: _field(name, maxima).describe() for name in names}
    return Columns(about, "fields", LABELS)


def _field(name: str, tops: Mapping[str, int]) -> Field:
    field = FIELDS[name]
    return Field(field.about, low=field.low, high=tops[name]) if name in tops else field


def draw_balanced(
    names: Sequence[str], rule: Rule, per_label: int, draw: random.Random, maxima: Mapping[str, int]
) -> list[Observation]:
    """Return random records in random order, with the same number for each label.

    Args:
        names: The names of the columns.
        rule: The rule that labels the records; it must give a label to every record.
        per_label: The number of records for each label.
        draw: The random number generator.
        maxima: The maximum of a count, for columns whose maximum differs from the usual value.

    Raises:
        DataError: A label is so rare that too few records are found.
    """
    columns = build_columns(names, maxima)
    fields = {name: _field(name, maxima) for name in names}
    left = dict.fromkeys(LABELS, per_label)
    found: list[Observation] = []
    for _ in range(_MOST // _BATCH):
        records = [
            {name: one.draw_value(draw) for name, one in fields.items()} for _ in range(_BATCH)
        ]
        labels = apply_rule(records, rule, columns, LABELS)
        for record, label in zip(records, labels, strict=True):
            if label is not None and left[label]:
                left[label] -= 1
                found.append(Observation(record, label))
        if not any(left.values()):
            return found
    label = next(one for one in left if left[one])
    raise DataError(f"the rule gives too few of {_MOST:,} records the label {label}")
