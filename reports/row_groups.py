"""Divide labelled rows into groups: by the values of a column, by bands of numbers, or by length.

Effects are compared within these groups (reports/sentence_effects.py). A column of many different
numbers is divided at its quartiles. `LENGTH` stands for the number of words in the texts of a row. If
the rows are pairs of texts, it is how many words the first text has more than the second, because only
the difference can decide between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..records import Json
from ..tools.sentence_rules import PreparedRows
from ..tools.sentence_rules.prepared_rows import as_numbers, is_missing

LENGTH = "length"
MISSING = "(missing)"
MAX_VALUES = 12  # different numbers that are groups of their own
QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class RowGroups:
    """A division of n rows into groups.

    Attributes:
        column: The column or property that divides the rows.
        names: The names of the groups.
        codes: The index of each row's group in `names`, of shape (n,).
    """

    column: str
    names: tuple[str, ...]
    codes: NDArray[np.intp]


def group_by_values(column: str, values: Sequence[Json]) -> RowGroups:
    """Divide rows by the values of a column; numbers with many different values by quartiles.

    Missing values are a group of their own.

    Args:
        column: The name of the column.
        values: The value of each row.
    """
    missing = np.array([is_missing(value) for value in values], np.bool_)
    numbers = as_numbers(values)
    is_number = bool((~missing).any()) and not np.isnan(numbers[~missing]).any()
    if is_number and len(np.unique(numbers[~missing])) > MAX_VALUES:
        return _in_bands(column, numbers, missing, "")
    shown = (
        [f"{one:.12g}" for one in numbers] if is_number else [str(one).strip() for one in values]
    )
    texts = [MISSING if lacks else one for one, lacks in zip(shown, missing, strict=True)]
    names, codes = np.unique(np.array(texts, np.object_), return_inverse=True)
    return RowGroups(column, tuple(map(str, names)), codes.astype(np.intp))


def group_by_length(rows: PreparedRows) -> RowGroups:
    """Divide rows at the quartiles of the number of words in their texts."""
    if not rows.texts:
        return RowGroups(LENGTH, ("no text",), np.zeros(len(rows), np.intp))
    counts = [rows.text(name).words.astype(np.float64) for name in rows.texts]
    is_pair = rows.shape == "pair" and len(counts) == 2
    lengths = counts[0] - counts[1] if is_pair else np.sum(counts, axis=0)
    unit = " words more" if is_pair else " words"
    return _in_bands(LENGTH, lengths, np.zeros(len(rows), np.bool_), unit)


def _in_bands(
    column: str, numbers: NDArray[np.float64], missing: NDArray[np.bool_], unit: str
) -> RowGroups:
    there = numbers[~missing]
    edges = np.unique(np.quantile(there, QUARTILES)) if len(there) else np.zeros(0)
    bands = np.searchsorted(edges, numbers, side="left")
    bands[missing] = len(edges) + 1
    used, codes = np.unique(bands, return_inverse=True)
    names = tuple(_name_band(numbers[bands == band], unit) for band in used)
    return RowGroups(column, names, codes.astype(np.intp))


def _name_band(numbers: NDArray[np.float64], unit: str) -> str:
    if np.isnan(numbers).any():
        return MISSING
    low, high = (f"{one:.6g}" for one in (numbers.min(), numbers.max()))
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def group_by_column(column: str, rows: PreparedRows) -> RowGroups | None:
    """Divide rows by one of their own columns, or by `LENGTH`; None if there is no such column.

    A column that is called `LENGTH` takes precedence.
    """
    if column in rows.columns:
        return group_by_values(column, [one.get(column) for one in rows.rows])
    return group_by_length(rows) if column == LENGTH else None


def group_rows(
    columns: Sequence[str], rows: PreparedRows, others: Mapping[str, Sequence[Json]]
) -> tuple[list[RowGroups], list[str]]:
    """Return the divisions of rows by several columns, and the columns that there are not.

    Args:
        columns: The names of the columns; `LENGTH` stands for the length.
        rows: The rows.
        others: Values of further columns, by name; they take precedence.
    """
    found: list[RowGroups] = []
    absent: list[str] = []
    for name in dict.fromkeys(columns):
        groups = (
            group_by_values(name, others[name]) if name in others else group_by_column(name, rows)
        )
        if groups is None:
            absent.append(name)
        else:
            found.append(groups)
    return found, absent
