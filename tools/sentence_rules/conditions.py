"""Conditions on one row: what follows "if". They are frozen, so they can be compared and hashed.

`holds(rows, text)` returns bool (n,), where `text` is the column that "the text" means, or "" if
there is only one. `written(no)` returns the condition in words, negated if `no`. A missing value
fulfils no comparison, so the negation of a comparison holds for it.
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
    """Raise UsageError unless a value is a finite number."""
    if isinstance(value, bool) or not math.isfinite(value):
        raise UsageError(f"a comparison needs a number, not {value!r}")


def quantity_text(quantity: Quantity, bound: str, negated: bool) -> str:
    """Return "QUANTITY is BOUND" in the wording for each kind of quantity.

    Args:
        quantity: The quantity.
        bound: For instance "at least 2" or "between 2 and 5".
        negated: Whether to negate the sentence.
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
            what = f"occurrences of {format_terms(terms)}{' per 100 words' if share else ''}"
        case Length(unit, text):
            what = unit
    return f"{format_text(text)} {'does not have' if negated else 'has'} {bound} {what}"


@dataclass(frozen=True)
class Comparison:
    """Compares a quantity with a number. Raises UsageError for an invalid number or relation."""

    quantity: Quantity
    relation: Relation
    value: float

    def __post_init__(self) -> None:
        check_finite(self.value)
        if self.relation not in RELATIONS:
            raise UsageError(f"no relation {self.relation!r}: choose one of {', '.join(RELATIONS)}")
        object.__setattr__(self, "value", float(self.value))

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether the comparison holds in each row, (n,)."""
        found: Marks = RELATIONS[self.relation](self.quantity.values(rows, text), self.value)
        return found

    def to_text(self, negated: bool = False) -> str:
        """Return the condition in words, negated if `negated`."""
        return quantity_text(self.quantity, f"{self.relation} {format_number(self.value)}", negated)


@dataclass(frozen=True)
class Between:
    """A quantity lies between two numbers, both included.

    Raises UsageError for an invalid number.
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
        """Return whether the quantity is in the range in each row, (n,)."""
        values = self.quantity.values(rows, text)
        return (values >= self.low) & (values <= self.high)

    def to_text(self, negated: bool = False) -> str:
        """Return the condition in words, negated if `negated`."""
        low, high = format_number(self.low), format_number(self.high)
        return quantity_text(self.quantity, f"between {low} and {high}", negated)


@dataclass(frozen=True)
class MoreThan:
    """One quantity is larger than another: "more of A than of B"."""

    left: Quantity
    right: Quantity

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether the left quantity is larger in each row, (n,)."""
        return self.left.values(rows, text) > self.right.values(rows, text)

    def to_text(self, negated: bool = False) -> str:
        """Return the condition in words, negated if `negated`."""
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
    """The text starts with an entry of a list, or with `last` ends with one.

    At the end, closing marks are skipped unless the entry is a mark. Raises UsageError for an
    invalid list.
    """

    terms: tuple[Term, ...]
    text: str = ""
    last: bool = False

    def __post_init__(self) -> None:
        check_terms(self.terms)
        if any(one.kind for one in self.terms):
            raise UsageError("a text starts or ends with a word, a phrase or a mark")

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether each text starts or ends with an entry, (n,)."""
        index = rows.text(self.text or text)
        there = np.zeros(len(rows), np.bool_)
        for one in self.terms:
            there |= index.matches_edge(one, self.last)
        return there

    def to_text(self, negated: bool = False) -> str:
        """Return the condition in words, negated if `negated`."""
        verb = "end" if self.last else "start"
        verb = f"does not {verb}" if negated else f"{verb}s"
        return f"{format_text(self.text)} {verb} with {format_terms(self.terms)}"


@dataclass(frozen=True)
class IsOneOf:
    """The value of a column is one of several: numbers compare by value, texts ignore case.

    Raises UsageError without values, or for a missing one.
    """

    column: str
    values: tuple[Json, ...]

    def __post_init__(self) -> None:
        if not self.values or any(normalise_value(value) is None for value in self.values):
            raise UsageError(f"what should {self.column!r} be? Not one of {self.values!r}")

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether the column has one of the values in each row, (n,)."""
        wanted = {normalise_value(value) for value in self.values}
        values = rows.values(self.column)
        return np.fromiter((value in wanted for value in values), np.bool_, len(values))

    def to_text(self, negated: bool = False) -> str:
        """Return the condition in words, negated if `negated`."""
        values = ", ".join(format_value(value) for value in self.values)
        several = "one of " if len(self.values) > 1 else ""
        return f"{format_column(self.column)} is {'not ' if negated else ''}{several}{values}"


@dataclass(frozen=True)
class Missing:
    """A condition that holds if the column has no value in the row."""

    column: str

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether the value is missing in each row, (n,)."""
        return rows.missing_mask(self.column)

    def to_text(self, negated: bool = False) -> str:
        """Return the condition in words, negated if `negated`."""
        return f"{format_column(self.column)} is {'not ' if negated else ''}missing"


@dataclass(frozen=True)
class Not:
    """A condition that holds if another condition does not hold."""

    part: Condition

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether the part does not hold in each row, (n,)."""
        return ~self.part.holds(rows, text)

    def to_text(self, negated: bool = False) -> str:
        """Return the condition in words, negated if `negated`."""
        simple = not isinstance(self.part, Not | AllOf | AnyOf)
        inner = self.part.to_text(True) if simple else f"not ({self.part.to_text()})"
        return f"not ({inner})" if negated else inner


@dataclass(frozen=True)
class AllOf:
    """Every part holds. Raises UsageError for fewer than two parts."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise UsageError(f"a conjunction needs two parts at least, not {len(self.parts)}")

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether every part holds in each row, (n,)."""
        marks = self.parts[0].holds(rows, text)
        for part in self.parts[1:]:
            marks = marks & part.holds(rows, text)
        return marks

    def to_text(self, negated: bool = False) -> str:
        """Return the condition in words, negated if `negated`."""
        text = " and ".join(
            f"({part.to_text()})" if isinstance(part, AllOf | AnyOf) else part.to_text()
            for part in self.parts
        )
        return f"not ({text})" if negated else text


@dataclass(frozen=True)
class AnyOf:
    """At least one part holds. Raises UsageError for fewer than two parts."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise UsageError(f"a disjunction needs two parts at least, not {len(self.parts)}")

    def holds(self, rows: PreparedRows, text: str = "") -> Marks:
        """Return whether at least one part holds in each row, (n,)."""
        marks = self.parts[0].holds(rows, text)
        for part in self.parts[1:]:
            marks = marks | part.holds(rows, text)
        return marks

    def to_text(self, negated: bool = False) -> str:
        """Return the condition in words, negated if `negated`."""
        text = " or ".join(
            f"({part.to_text()})" if isinstance(part, AnyOf) else part.to_text()
            for part in self.parts
        )
        return f"not ({text})" if negated else text


Condition: TypeAlias = (
    Comparison | Between | MoreThan | Begins | IsOneOf | Missing | Not | AllOf | AnyOf
)


def mentions(terms: tuple[Term, ...], least: int | None = 1, text: str = "") -> Comparison:
    """Return the condition that the text mentions at least `least` entries; None means all."""
    return Comparison(
        MentionedEntries(terms, text), "at least", len(terms) if least is None else least
    )
