"""Choose the target of a table: the column whose values are to be explained by the other columns.

`EVIDENCE` lists the evidence that a column is the target, with points. The name of a column has the
most points, then few distinct values, then the last position. The best column is certain to be the
target if it has at least `ENOUGH` points and leads all other columns by at least `CLEAR_LEAD`
points. The name of an outcome, such as `churned`, therefore needs no last position, unless the last
column may be the target too. A name that is only common for a target, such as `status`, is often
that of an input, so it needs the last position, or no competing column. A column whose values cannot be explained, such as a column with only
one value, gets no points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .column_facts import ColumnFacts, ColumnKind

ENOUGH = 3
CLEAR_LEAD = 3

TARGET_NAMES = frozenset(
    {"label", "labels", "target", "class", "y", "outcome", "gold", "ground truth", "y true"}
)
LAST_WORDS = frozenset({"label", "target", "class", "outcome"})  # as in true_label
# What happened in the end, or what somebody decided or judged.
OUTCOME_WORDS = frozenset(
    {
        *("churn", "churned", "survived", "passed", "bought", "approved", "accepted", "decision"),
        *("verdict", "diagnosis", "sentiment", "stance", "intent", "spam", "fraud"),
    }
)
CLASS_WORDS = OUTCOME_WORDS | {
    *("kind", "category", "type", "status", "result", "species", "topic", "genre", "grade"),
    *("default", "prediction", "emotion", "toxic", "polarity", "severity", "priority"),
}
QUESTIONS = frozenset({"is", "has", "was"})  # as in is_spam
NUMBER_WORDS = frozenset(
    {
        *("price", "cost", "value", "amount", "score", "rating", "salary", "income", "yield"),
        *("sales", "revenue", "output", "response", "consumption", "demand", "quality", "mpg"),
    }
)
CLASS_KINDS = (ColumnKind.TRUTH, ColumnKind.CLASSES, ColumnKind.CODES)
NUMBER_KINDS = (ColumnKind.NUMBER, ColumnKind.WRITTEN_NUMBER)


@dataclass(frozen=True)
class Evidence:
    """One kind of evidence that a column is the target of a table.

    Attributes:
        points: The weight of the evidence.
        reason: The evidence in words, with the placeholders {distinct} and {filled} for the numbers
            of distinct values and of filled cells.
        holds: Returns whether a column of a table (second argument: all columns) has this evidence.
    """

    points: int
    reason: str
    holds: Callable[[ColumnFacts, Sequence[ColumnFacts]], bool]


def has_target_name(column: ColumnFacts) -> bool:
    """Return whether the name of a column is a usual name for a target, such as `label`."""
    return " ".join(column.words) in TARGET_NAMES or bool(LAST_WORDS & set(column.words[-1:]))


def _has_target_word(column: ColumnFacts) -> bool:
    """Return whether the name is common for a target; as a part of a name, `status` often is not."""
    of_number = bool(NUMBER_WORDS & set(column.words[-1:]))
    name = _name_without_question(column)
    if column.kind is ColumnKind.CODES:
        return of_number or name in CLASS_WORDS
    return of_number if column.kind in NUMBER_KINDS else name in CLASS_WORDS


def _name_without_question(column: ColumnFacts) -> str:
    return " ".join(one for one in column.words if one not in QUESTIONS)


def _names_outcome(column: ColumnFacts) -> bool:
    return column.kind in CLASS_KINDS and _name_without_question(column) in OUTCOME_WORDS


def _has_common_name(column: ColumnFacts) -> bool:
    named_better = has_target_name(column) or _names_outcome(column)
    return _has_target_word(column) and not named_better


def _is_only_class(column: ColumnFacts, columns: Sequence[ColumnFacts]) -> bool:
    return [one for one in columns if one.kind in CLASS_KINDS] == [column]


EVIDENCE = (
    Evidence(7, "its name means a target", lambda column, _: has_target_name(column)),
    Evidence(3, "its name means an outcome", lambda column, _: _names_outcome(column)),
    Evidence(2, "its name is common for a target", lambda column, _: _has_common_name(column)),
    Evidence(
        2,
        "it has {distinct} different values in {filled} rows",
        lambda column, _: column.kind in CLASS_KINDS,
    ),
    Evidence(1, "no other column has few values", _is_only_class),
    Evidence(1, "it is the last column", lambda column, _: column.is_last),
)


@dataclass(frozen=True)
class Candidate:
    """A column that may be the target of a table, with the evidence for it."""

    column: ColumnFacts
    evidence: tuple[Evidence, ...]

    @property
    def points(self) -> int:
        """The sum of the points of the evidence."""
        return sum(one.points for one in self.evidence)

    @property
    def why(self) -> str:
        """The evidence in words, as a clause."""
        distinct, filled = f"{self.column.distinct:,}", f"{len(self.column.filled):,}"
        reasons = [one.reason.format(distinct=distinct, filled=filled) for one in self.evidence]
        return join_words(reasons, "and") or "nothing else can be the target"


def join_words(parts: Sequence[str], conjunction: str) -> str:
    """Return words as an enumeration, such as "a", "a and b" or "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {conjunction} {parts[-1]}"


def rank_targets(columns: Sequence[ColumnFacts]) -> list[Candidate]:
    """Return the columns that may be the target of a table, the most likely first."""
    found = [
        Candidate(column, tuple(one for one in EVIDENCE if one.holds(column, columns)))
        for column in columns
        if column.kind in (*CLASS_KINDS, *NUMBER_KINDS)
    ]
    return sorted(found, key=lambda one: -one.points)


def find_certain(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the first candidate if it is certain to be the target, otherwise None.

    The candidate needs at least `ENOUGH` points and a lead of `CLEAR_LEAD` points over the second.
    """
    if not candidates or candidates[0].points < ENOUGH:
        return None
    second = candidates[1].points if len(candidates) > 1 else 0
    return candidates[0] if candidates[0].points - second >= CLEAR_LEAD else None


def are_classes(column: ColumnFacts, *, named_by_user: bool) -> bool | None:
    """Return whether the values of a target column are class labels, or None if this is not
    certain.

    Truth values and few different texts are classes. The values 0 and 1 are classes if the user or
    the column name says that the column is the target. More than two whole numbers are classes only
    if the column name says so.

    Args:
        column: The target column.
        named_by_user: Whether the user named `column` as the target.
    """
    if column.kind in (ColumnKind.TRUTH, ColumnKind.CLASSES):
        return True
    if column.kind in NUMBER_KINDS:
        numbered = has_target_name(column) and column.has_few_values
        return None if numbered and all(isinstance(cell, int) for cell in column.filled) else False
    if has_target_name(column):
        return True
    two = column.distinct == 2
    return True if two and (named_by_user or _has_target_word(column)) else None


PROBLEMS_OF_KINDS = {
    ColumnKind.EMPTY: "has no values",
    ColumnKind.CONSTANT: "has the same value in every row",
    ColumnKind.IDENTIFIER: "has a different value in every row",
    ColumnKind.DATE: "holds dates",
    ColumnKind.TEXT: "holds texts that hardly repeat",
    ColumnKind.STRUCTURE: "holds lists or objects",
}
