"""Facts about a table column that follow from its cells, such as missing values and the kind of
values.

The tests in `COLUMN_TESTS` decide the kind. There are more kinds here than in text/columns.py,
because the kinds here also determine which columns can be a target (the column to explain).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from ...records import DataError, Json, canonical_json
from ..io.json_text import parse_json, parse_literal

MOST_CLASSES = 100  # distinct values of a column of classes
MOST_CODES = 20  # distinct whole numbers that may stand for classes
LONGEST_CLASS = 60  # characters of a value that hardly repeats
MOSTLY = 0.8  # of the values of a column of numbers read as numbers
FEW_ROWS = 20  # with fewer rows, two thirds of the values may be distinct

_ID_WORDS = {"id", "ids", "idx", "index", "uuid", "guid"}  # at the start or the end of a name
_ID_NAMES = {"no", "nr", "number", "row", "key", "unnamed 0", "row number", "row no"}
_DATE = re.compile(
    r"\d{4}-\d{1,2}(?:-\d{1,2}(?:[T ]\d.*)?)?|\d{4}/\d{1,2}/\d{1,2}.*"
    r"|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})(?: \d.*)?"
)
_WRITTEN_NUMBER = re.compile(r"[-+]?[$€£]?\s?\d[\d.,' ]*\s?[%€$£]?")
_PLAIN_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_NUMBER_MARK = re.compile(r"[,'$€£%]")


class ColumnKind(StrEnum):
    """The kind of values that a column holds."""

    EMPTY = "empty"
    STRUCTURE = "lists or objects"
    CONSTANT = "one value"
    TRUTH = "truth values"
    CODES = "few whole numbers"
    IDENTIFIER = "identifiers"
    NUMBER = "numbers"
    WRITTEN_NUMBER = "numbers written as text"
    DATE = "dates"
    CLASSES = "few texts"
    TEXT = "texts"


@dataclass(frozen=True)
class ColumnFacts:
    """A column of a table, with the facts that follow from its cells. None is a missing cell."""

    name: str
    cells: Sequence[Json]
    is_last: bool = False

    @cached_property
    def filled(self) -> list[Json]:
        """The cells that are not missing."""
        return [cell for cell in self.cells if cell is not None]

    @cached_property
    def keys(self) -> list[Hashable]:
        """A hashable form of each cell. Cells with equal values have equal keys."""
        return [_key(cell) for cell in self.cells]

    @cached_property
    def counts(self) -> Counter[Hashable]:
        """The number of rows for each value. Missing cells are not counted."""
        return Counter(
            key for key, cell in zip(self.keys, self.cells, strict=True) if cell is not None
        )

    @cached_property
    def counts_of_texts(self) -> Counter[str]:
        """The number of rows for each value that is a text."""
        return Counter(cell for cell in self.filled if isinstance(cell, str))

    @property
    def distinct(self) -> int:
        """The number of different values, without missing cells."""
        return len(self.counts)

    @property
    def missing(self) -> int:
        """The number of missing cells."""
        return len(self.cells) - len(self.filled)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the column's name, in lower case."""
        spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", self.name)
        return tuple(re.findall(r"[a-z]+|\d+", spaced.lower()))

    @property
    def is_named_like_identifier(self) -> bool:
        """Whether the name of the column suggests row numbers or ids."""
        ends = {*self.words[:1], *self.words[-1:]}
        return not self.words or bool(_ID_WORDS & ends) or " ".join(self.words) in _ID_NAMES

    @cached_property
    def kind(self) -> ColumnKind:
        """The kind of the column: the first kind in `COLUMN_TESTS` whose test the column passes."""
        return next(kind for kind, holds in COLUMN_TESTS if holds(self))

    @property
    def words_per_cell(self) -> float:
        """The average number of words in cells with text; 0 if no cell has text."""
        texts = [cell for cell in self.filled if isinstance(cell, str)]
        return sum(len(cell.split()) for cell in texts) / len(texts) if texts else 0.0

    @property
    def has_few_values(self) -> bool:
        """Whether there are at least two values, and they repeat often enough to be class labels."""
        share = 2 * len(self.filled) / 3 if len(self.filled) < FEW_ROWS else len(self.filled) / 2
        return 2 <= self.distinct <= min(MOST_CLASSES, share)

    @property
    def is_unique(self) -> bool:
        """Whether no cell is missing and no value occurs twice."""
        return self.distinct == len(self.cells) > 1


def _key(cell: Json) -> Hashable:
    if isinstance(cell, dict | list):
        return canonical_json(cell)
    return (
        (cell, isinstance(cell, bool)) if isinstance(cell, bool | int | float | str) else id(cell)
    )


def _is_number(cell: Json) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _are_numbers(column: ColumnFacts) -> bool:
    return all(map(_is_number, column.filled))


def _are_codes(column: ColumnFacts) -> bool:
    whole = _are_numbers(column) and all(cell == int(cell) for cell in column.filled)
    return whole and column.has_few_values and column.distinct <= MOST_CODES


def _are_texts(column: ColumnFacts, pattern: re.Pattern[str]) -> bool:
    return all(isinstance(cell, str) and pattern.fullmatch(cell.strip()) for cell in column.filled)


def _are_structures(column: ColumnFacts) -> bool:
    return all(isinstance(cell, dict | list) or _parses(cell) for cell in column.filled)


def _parses(cell: Json) -> bool:
    """Return whether a text is a list or an object in JSON or Python."""
    if not isinstance(cell, str) or cell.strip()[:1] not in ("[", "{", "("):
        return False
    for read in (parse_json, parse_literal):
        try:
            return isinstance(read(cell, ""), dict | list)
        except DataError:
            continue
    return False


def _are_written_numbers(column: ColumnFacts) -> bool:
    marked = any(_NUMBER_MARK.search(cell) for cell in column.filled if isinstance(cell, str))
    return (marked and _are_texts(column, _WRITTEN_NUMBER)) or _are_mostly_numbers(column)


def _are_mostly_numbers(column: ColumnFacts) -> bool:
    """Return whether most values read as numbers, and others are faults such as "n/a" and "12 kg"."""
    if column.has_few_values:
        return False
    numbers = sum(_is_number(cell) or _reads_as_number(cell) for cell in column.filled)
    return MOSTLY * len(column.filled) <= numbers < len(column.filled)


def _reads_as_number(cell: Json) -> bool:
    return isinstance(cell, str) and bool(_PLAIN_NUMBER.fullmatch(cell.strip()[:LONGEST_CLASS]))


def _are_identifiers(column: ColumnFacts) -> bool:
    """Return whether the values are unique whole numbers or single words that number the rows."""
    if not column.is_unique:
        return False
    if column.is_named_like_identifier:
        return not any(isinstance(cell, float) for cell in column.filled)
    if all(isinstance(cell, int) for cell in column.filled):
        steps = {b - a for a, b in zip(column.filled, column.filled[1:], strict=False)}
        return steps == {1}
    codes = all(isinstance(cell, str) and len(cell.split()) == 1 for cell in column.filled)
    return codes and all(re.search(r"\d|@", cell) for cell in column.filled)


def _are_classes(column: ColumnFacts) -> bool:
    if not column.has_few_values or not all(isinstance(cell, str) for cell in column.filled):
        return False
    often = 5 * column.distinct <= len(column.filled)
    return often or all(len(str(cell)) <= LONGEST_CLASS for cell in column.filled)


COLUMN_TESTS: tuple[tuple[ColumnKind, Callable[[ColumnFacts], bool]], ...] = (
    (ColumnKind.EMPTY, lambda column: not column.filled),
    (ColumnKind.STRUCTURE, _are_structures),
    (ColumnKind.CONSTANT, lambda column: column.distinct == 1),
    (ColumnKind.TRUTH, lambda column: all(isinstance(cell, bool) for cell in column.filled)),
    (ColumnKind.CODES, _are_codes),
    (ColumnKind.WRITTEN_NUMBER, _are_written_numbers),
    (ColumnKind.DATE, lambda column: _are_texts(column, _DATE)),
    (ColumnKind.IDENTIFIER, _are_identifiers),
    (ColumnKind.NUMBER, _are_numbers),
    (ColumnKind.CLASSES, _are_classes),
    (ColumnKind.TEXT, lambda column: True),
)
