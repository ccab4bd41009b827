"""Conditions on one row: the part of a rule that follows "if".

Conditions are immutable, so they can be compared and hashed. Each condition has two methods.
`holds(rows, text)` returns a bool array of shape (n,) for n rows. Its argument `text` is the text
column to which "the text" refers, or "" if there is only one text column. `to_text(negated)`
returns the condition in words. A missing value fulfils no comparison, so the negation of a
comparison holds for a missing value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...records import Json, UsageError
from .prepared_rows import PreparedRows, normalise_value
from .quantities import ColumnNumber, Count, Length, MentionedEntries, Quantity, check_terms
from .terms import Term
from .vocabulary import Relation
from .wording import format_column, format_number, format_terms, format_text, format_value

Marks = NDArray[np.bool_]
RELATIONS: dict[Relation, np.ufunc] = {
    "at least": np.greater_equal,
    "at most": np.less_equal,
    "more than": np.greater,
    "less than": np.less,
    "exactly": np.equal,
}


def check_finite(value: float) -> None:
    """Raise UsageError unless `value` is a finite number."""
    if isinstance(value, bool) or not math.isfinite(value):
        raise UsageError(f"a comparison needs a number, not {value!r}")


def quantity_text(quantity: Quantity, bound: str, negated: bool) -> str:
    """Return the condition that a quantity meets a bound, in words.

    Args:
        quantity: The quantity.
        bound: The bound in words, such as "at least 2" or "between 2 and 5".
        negated: Whether to negate the condition.
    """
    match quantity:
        case ColumnNumber(column):
            return f"{format_column(column)} is {'not ' if negated else ''}{bound}"
        case MentionedEntries(terms, text):
            verb = "does not mention" if negated else "mentions"
            if bound in ("at least 1", f"at least {len(terms)}"):
                bound = "one" if bound == "at least 1" else "all"
                if len(terms) == 1:
                    return f"{format_text(text)} {verb} {format_terms(terms)}"
            return f"{format_text(text)} {verb} {bound} of {format_terms(terms)}"
        case Count(terms, share, text):
            noun = _singular("occurrences", bound)
            what = f"{noun} of {format_terms(terms)}{' per 100 words' if share else ''}"
        case Length(unit, text):
            what = _singular(unit, bound)
    return f"{format_text(text)} {'does not have' if negated else 'has'} {bound} {what}"


def _singular(noun: str, bound: str) -> str:
    """Return a noun in the plural, or in the singular after a bound such as "at least 1"."""
    is_one = bound.split()[-1] == "1" and not bound.startswith("between")
    return noun.removesuffix("s") if is_one else noun


@dataclass(frozen=True)
class Comparison:
    """The condition that a quantity is in a relation (such as "at least") to a number.

    Raises:
        UsageError: The number or the relation is invalid.
    """

    quantity: Quantity
    relation: Relation
    value: float

    def __post_init__(self) -> None:
        check_finite(self.value)
        if self.relation not in RELATIONS:
            raise UsageError(f"no relation {self.relation!r}: choose one of {', '.join(RELATIONS)}")
        object.__setattr__(self, "value", float(self.value))

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether the comparison holds in each of n rows, as a bool array of shape (n,)."""
        found: Marks = RELATIONS[self.relation](self.quantity.values(rows, text), self.value)
        return found

    def to_text(self, negated: bool = False) -> str:
        """Return the condition, or its negation, in words."""
        return quantity_text(self.quantity, f"{self.relation} {format_number(self.value)}", negated)


@dataclass(frozen=True)
class Between:
    """The condition that a quantity lies between two numbers, both included.

    Raises:
        UsageError: A number is invalid.
    """

    quantity: Quantity
    low: float
    high: float

    def __post_init__(self) -> None:
        check_finite(self.low)
        check_finite(self.high)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether the quantity is in the range in each of n rows, bool of shape (n,)."""
        values = self.quantity.values(rows, text)
        return (values >= self.low) & (values <= self.high)

    def to_text(self, negated: bool = False) -> str:
        """Return the condition, or its negation, in words."""
        low, high = format_number(self.low), format_number(self.high)
        return quantity_text(self.quantity, f"between {low} and {high}", negated)


@dataclass(frozen=True)
class MoreThan:
    """The condition that one quantity is larger than another, as in "more of A than of B"."""

    left: Quantity
    right: Quantity

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether the left quantity is larger in each of n rows, bool of shape (n,)."""
        return self.left.values(rows, text) > self.right.values(rows, text)

    def to_text(self, negated: bool = False) -> str:
        """Return the condition, or its negation, in words."""
        match self.left, self.right:
            case MentionedEntries(left, one), MentionedEntries(right, other) if one == other:
                verb = "does not mention" if negated else "mentions"
                lists = f"more of {format_terms(left)} than of {format_terms(right)}"
                return f"{format_text(one)} {verb} {lists}"
            case Count(left, share, one), Count(right, same, other) if (one, share) == (
                other,
                same,
            ):
                verb = "does not have" if negated else "has"
                lists = f"more occurrences of {format_terms(left)} than of {format_terms(right)}"
                return f"{format_text(one)} {verb} {lists}{' per 100 words' if share else ''}"
        left_noun, right_noun = (
            side.noun if isinstance(side, ColumnNumber) else f"the number of {side.noun}"
            for side in (self.left, self.right)
        )
        return f"{left_noun} is {'not ' if negated else ''}more than {right_noun}"


@dataclass(frozen=True)
class Begins:
    """The condition that a text starts with one of several terms.

    If `last` is True, the text must end with one of the terms instead. Punctuation marks at the end
    of the text are then ignored, unless the term ends with a punctuation mark itself.

    Raises:
        UsageError: The list of terms is invalid.
    """

    terms: tuple[Term, ...]
    text: str = ""
    last: bool = False

    def __post_init__(self) -> None:
        check_terms(self.terms)
        if any(one.kind for one in self.terms):
            raise UsageError("a text starts or ends with a word, a phrase or a mark")

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether each of n texts starts or ends with a term, bool of shape (n,)."""
        index = rows.text(self.text or text)
        there = np.zeros(len(rows), np.bool_)
        for one in self.terms:
            there |= index.matches_edge(one, self.last)
        return there

    def to_text(self, negated: bool = False) -> str:
        """Return the condition, or its negation, in words."""
        verb = "end" if self.last else "start"
        verb = f"does not {verb}" if negated else f"{verb}s"
        return f"{format_text(self.text)} {verb} with {format_terms(self.terms)}"


@dataclass(frozen=True)
class IsOneOf:
    """The condition that the value of a column is one of several values.

    Numbers are compared by value. Texts are compared without regard to upper and lower case.

    Raises:
        UsageError: There are no values, or a value is missing.
    """

    column: str
    values: tuple[Json, ...]

    def __post_init__(self) -> None:
        if not self.values or any(normalise_value(value) is None for value in self.values):
            raise UsageError(f"what should {self.column!r} be? Not one of {self.values!r}")

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether the column has one of the values in each of n rows, bool of shape (n,)."""
        wanted = {normalise_value(value) for value in self.values}
        values = rows.values(self.column)
        return np.fromiter((value in wanted for value in values), np.bool_, len(values))

    def to_text(self, negated: bool = False) -> str:
        """Return the condition, or its negation, in words."""
        values = ", ".join(format_value(value) for value in self.values)
        several = "one of " if len(self.values) > 1 else ""
        return f"{format_column(self.column)} is {'not ' if negated else ''}{several}{values}"


@dataclass(frozen=True)
class Missing:
    """The condition that a column has no value."""

    column: str

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether the value is missing in each of n rows, bool of shape (n,)."""
        return rows.missing_mask(self.column)

    def to_text(self, negated: bool = False) -> str:
        """Return the condition, or its negation, in words."""
        return f"{format_column(self.column)} is {'not ' if negated else ''}missing"


@dataclass(frozen=True)
class Not:
    """The condition that another condition does not hold."""

    part: Condition

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether the negated condition fails in each of n rows, bool of shape (n,)."""
        return ~self.part.holds(rows, text)

    def to_text(self, negated: bool = False) -> str:
        """Return the condition, or its negation, in words."""
        simple = not isinstance(self.part, Not | AllOf | AnyOf)
        inner = self.part.to_text(True) if simple else f"not ({self.part.to_text()})"
        return f"not ({inner})" if negated else inner


@dataclass(frozen=True)
class AllOf:
    """The condition that all of several conditions hold.

    Raises:
        UsageError: There are fewer than two conditions.
    """

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise UsageError(f"a conjunction needs two parts at least, not {len(self.parts)}")

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether all conditions hold in each of n rows, bool of shape (n,)."""
        marks = self.parts[0].holds(rows, text)
        for part in self.parts[1:]:
            marks = marks & part.holds(rows, text)
        return marks

    def to_text(self, negated: bool = False) -> str:
        """Return the condition, or its negation, in words."""
        text = " and ".join(
            f"({part.to_text()})" if isinstance(part, AllOf | AnyOf) else part.to_text()
            for part in self.parts
        )
        return f"not ({text})" if negated else text


@dataclass(frozen=True)
class AnyOf:
    """The condition that at least one of several conditions holds.

    Raises:
        UsageError: There are fewer than two conditions.
    """

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise UsageError(f"a disjunction needs two parts at least, not {len(self.parts)}")

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether at least one condition holds in each of n rows, bool of shape (n,)."""
        marks = self.parts[0].holds(rows, text)
        for part in self.parts[1:]:
            marks = marks | part.holds(rows, text)
        return marks

    def to_text(self, negated: bool = False) -> str:
        """Return the condition, or its negation, in words."""
        text = " or ".join(
            f"({part.to_text()})" if isinstance(part, AnyOf) else part.to_text()
            for part in self.parts
        )
        return f"not ({text})" if negated else text


Condition: TypeAlias = (
    Comparison | Between | MoreThan | Begins | IsOneOf | Missing | Not | AllOf | AnyOf
)


def mentions(terms: tuple[Term, ...], least: int | None = 1, text: str = "") -> Comparison:
    """Return the condition that a text mentions at least `least` different terms.

    If `least` is None, the text must mention all terms. `text` is the text column, or "" for the
    text to which "the text" refers.
    """
    return Comparison(
        MentionedEntries(terms, text), "at least", len(terms) if least is None else least
    )
