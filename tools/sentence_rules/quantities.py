"""Quantities that a sentence compares: counts, shares and lengths of texts, and numeric columns.

The attribute `text` of a quantity names a text column. If it is "", the argument `text` of the
method `values` names the column instead. If both are "", the only text column is used. Every
quantity returns float64 of shape (n,) for n rows, with NaN where a column has no number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...records import UsageError
from .prepared_rows import PreparedRows
from .terms import Term
from .vocabulary import Unit
from .wording import format_column, format_terms, format_text

UNITS: tuple[Unit, ...] = ("words", "characters", "sentences", "different words")
Numbers = NDArray[np.float64]


def check_terms(terms: tuple[Term, ...]) -> None:
    """Raise UsageError unless `terms` is a non-empty tuple without duplicates."""
    if not terms or not isinstance(terms, tuple):
        raise UsageError(f"a list of terms is a tuple of one or more, not {terms!r}")
    if len(set(terms)) < len(terms):
        twice = next(one for one in terms if terms.count(one) > 1)
        raise UsageError(f"{twice.text or twice.kind!r} occurs twice in a list")


@dataclass(frozen=True)
class MentionedEntries:
    """The number of different terms of a list that a text mentions."""

    terms: tuple[Term, ...]
    text: str = ""

    def __post_init__(self) -> None:
        check_terms(self.terms)

    def values(self, rows: PreparedRows, text: str = "") -> Numbers:
        """Return the number of mentioned terms in each of n rows, float64 of shape (n,)."""
        index = rows.text(self.text or text)
        total = np.zeros(len(rows), np.float64)
        for one in self.terms:
            total += index.contains(one)
        return total

    @property
    def noun(self) -> str:
        """The quantity in words, as used in a sentence."""
        return f"entries of {format_terms(self.terms)} in {format_text(self.text)}"


@dataclass(frozen=True)
class Count:
    """The number of times that terms of a list occur in a text.

    If `share` is True, the number is given per 100 words; a text without words has 0.
    """

    terms: tuple[Term, ...]
    share: bool = False
    text: str = ""

    def __post_init__(self) -> None:
        check_terms(self.terms)

    def values(self, rows: PreparedRows, text: str = "") -> Numbers:
        """Return the count or share in each of n rows, float64 of shape (n,)."""
        index = rows.text(self.text or text)
        counts = index.count_occurrences(self.terms).astype(np.float64)
        return (
            100 * counts / np.maximum(index.words, 1) * (index.words > 0) if self.share else counts
        )

    @property
    def noun(self) -> str:
        """The quantity in words, as used in a sentence."""
        per = " per 100 words" if self.share else ""
        return f"occurrences of {format_terms(self.terms)}{per} in {format_text(self.text)}"


@dataclass(frozen=True)
class Length:
    """The length of a text in a unit of `UNITS`.

    Characters are counted without leading and trailing whitespace.

    Raises:
        UsageError: The unit is unknown.
    """

    unit: Unit = "words"
    text: str = ""

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise UsageError(f"no unit {self.unit!r}: choose one of {', '.join(UNITS)}")

    def values(self, rows: PreparedRows, text: str = "") -> Numbers:
        """Return the length in each of n rows, float64 of shape (n,)."""
        index = rows.text(self.text or text)
        counts = (
            index.distinct_words if self.unit == "different words" else getattr(index, self.unit)
        )
        return np.asarray(counts, np.float64)

    @property
    def noun(self) -> str:
        """The quantity in words, as used in a sentence."""
        return f"{self.unit} in {format_text(self.text)}"


@dataclass(frozen=True)
class ColumnNumber:
    """The number in a column."""

    column: str

    def values(self, rows: PreparedRows, text: str = "") -> Numbers:
        """Return the number in each of n rows, float64 of shape (n,); NaN if there is none."""
        return rows.numbers(self.column)

    @property
    def noun(self) -> str:
        """The quantity in words, as used in a sentence."""
        return format_column(self.column)


Measure: TypeAlias = MentionedEntries | Count | Length  # The quantities of a text.
Quantity: TypeAlias = Measure | ColumnNumber
