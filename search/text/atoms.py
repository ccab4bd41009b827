"""Single conditions on one column, with the rows on which they hold and their length in bits.

A column of choices gives conditions on one value, on all values but one, and on sets of two or
three values. A column of truth values gives a condition for each of the two values. A column of
numbers gives upper and lower bounds that lie between two neighbouring values of the rows, and
conditions on a single value if there are few values. The rows often leave a range of numbers for a
bound. Then the roundest number in that range is used, because the rows cannot distinguish these
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...records import Json
from ...tools.sentence_rules.conditions import Comparison, Condition, IsOneOf, Missing, Not
from ...tools.sentence_rules.prepared_rows import PreparedRows, is_missing
from ...tools.sentence_rules.quantities import ColumnNumber

FEW_VALUES = 8  # a number with at most this many values may be tested for equality
MOST_VALUES = 12  # a choice with at most this many values gives pairs and triples of values
MOST_BOUNDS = 30  # maximum number of bounds on a number; quantiles if it has more values
MOST_CONDITIONS = 2_000  # maximum number of conditions over all columns
LARGEST = 1e300  # larger numbers are not rounded
# Bits for stating that a bound is round (three of four are) or that it is not.
ROUND, UNEVEN = 0.4, 2.0
NEGATION_BITS = 1.0  # bits for "not" and for "exactly"
Value = TypeVar("Value")


class Atoms(NamedTuple):
    """The m single conditions ("atoms") from which rules about n labelled rows are built.

    Args:
        conditions: The conditions.
        holds: In which rows each condition holds, bool of shape (m, n).
        bits: Number of bits that name each condition among the conditions on the same column, of
            shape (m,).
        column: Index of the column that each condition reads, of shape (m,).
        columns: Number of columns.
        phrases: Number of columns that stand for a phrase or a slot of a text.
        left_out: Number of conditions that were dropped after a comparison with the labels.
            Significance tests must count these conditions, too.
    """

    conditions: Sequence[Condition]
    holds: NDArray[np.bool_]
    bits: NDArray[np.float64]
    column: NDArray[np.int64]
    columns: int
    phrases: int = 0
    left_out: int = 0


def build_atoms(rows: PreparedRows) -> Atoms:
    """Return the conditions on all columns other than texts.

    Conditions that hold on no row or on all rows are left out. If several conditions on one column
    hold on the same rows, only the cheapest is kept.
    """
    kept: list[tuple[Condition, NDArray[np.bool_], float, int]] = []
    names = [name for name, told in rows.columns.items() if told["kind"] != "text"]
    for number, name in enumerate(names):
        seen: set[bytes] = set()
        for condition, bits in sorted(_on(rows, name), key=lambda pair: pair[1]):
            holds = condition.holds(rows)
            key = holds.tobytes()
            if holds.any() and not holds.all() and key not in seen:
                seen.add(key)
                kept.append((condition, holds, bits, number))
    return Atoms(
        [one[0] for one in kept],
        np.array([one[1] for one in kept], np.bool_).reshape(len(kept), len(rows)),
        np.array([one[2] for one in kept], np.float64),
        np.array([one[3] for one in kept], np.int64),
        len(names),
    )


def merge_atoms(one: Atoms, other: Atoms) -> Atoms:
    """Return the conditions of `one` and of `other`.

    The two arguments are taken to have no column in common.
    """
    return Atoms(
        [*one.conditions, *other.conditions],
        np.concatenate([one.holds, other.holds]),
        np.concatenate([one.bits, other.bits]),
        np.concatenate([one.column, other.column + one.columns]),
        one.columns + other.columns,
        one.phrases + other.phrases,
        one.left_out + other.left_out,
    )


def select_atoms(atoms: Atoms, labels: NDArray[np.int64], most: int = MOST_CONDITIONS) -> Atoms:
    """Return the `most` conditions that are most strongly associated with a label.

    The number is limited because later computations build tables of all pairs of conditions.

    Args:
        atoms: The conditions.
        labels: Index of the label of each row, of shape (n,).
        most: Maximum number of conditions.
    """
    if len(atoms.conditions) <= most:
        return atoms
    scores = [association(holds, labels) for holds in atoms.holds]
    some = sorted(sorted(range(len(scores)), key=lambda at: (-scores[at], at))[:most])
    columns, column = np.unique(atoms.column[some], return_inverse=True)
    dearer = math.log2(atoms.columns / len(columns))  # each was chosen among all columns
    return Atoms(
        [atoms.conditions[at] for at in some],
        atoms.holds[some],
        atoms.bits[some] + dearer,
        column.astype(np.int64),
        len(columns),
        min(atoms.phrases, len(columns)),
        atoms.left_out + len(atoms.conditions) - most,
    )


def association(marks: NDArray[np.bool_], labels: NDArray[np.int64]) -> float:
    """Return how strongly a set of rows is associated with some label, in standard errors.

    Args:
        marks: Which rows are in the set, bool of shape (n,).
        labels: Index of the label of each row, of shape (n,).
    """
    n, m = len(marks), float(marks.sum())
    counts = np.bincount(labels).astype(np.float64)
    inside = np.bincount(labels[marks], minlength=len(counts))
    spread = np.sqrt(counts * (n - counts) * m * (n - m) / (n * n * max(n - 1.0, 1.0)))
    return float(np.abs((inside - counts * m / n) / np.maximum(spread, 1e-9)).max().round(9))


def _on(rows: PreparedRows, name: str) -> Iterator[tuple[Condition, float]]:
    """Yield the conditions on a column, each with its bits."""
    told = rows.columns[name]
    if rows.missing_mask(name).any():
        yield Missing(name), 2.0
        yield Not(Missing(name)), 3.0
    if told["kind"] == "number":
        yield from _bounds(rows, name)
    elif told["kind"] == "truth":
        yield IsOneOf(name, (True,)), 1.0
        yield IsOneOf(name, (False,)), 1.0
    else:
        yield from _values(rows, name, told)


def _values(
    rows: PreparedRows, name: str, told: Mapping[str, Json]
) -> Iterator[tuple[Condition, float]]:
    seen = {row[name]: None for row in rows.rows if not is_missing(row.get(name))}
    values = [value for value in told.get("values") or () if value in seen]
    values += [value for value in seen if value not in values]
    if len(values) < 2:
        return
    bits = 1.0 + math.log2(len(values))
    for value in values:
        yield IsOneOf(name, (value,)), bits
        yield Not(IsOneOf(name, (value,))), bits + NEGATION_BITS
    for some, price in value_subsets(values):
        if len(some) > 1:
            yield IsOneOf(name, tuple(some)), price


def value_subsets(values: Sequence[Value]) -> Iterator[tuple[Sequence[Value], float]]:
    """Yield single values, pairs and triples from `values`, each with its length in bits.

    Pairs and triples are left out if there are more than `MOST_VALUES` values, or if they would
    contain all values or all but one.
    """
    for value in values:
        yield (value,), 1.0 + math.log2(len(values))
    if len(values) > MOST_VALUES:
        return
    for size in (2, 3):
        if len(values) > size + 1:
            runs = len(values) - size + 1  # values listed next to each other may belong together
            apart = math.comb(len(values), size) - runs
            for places in combinations(range(len(values)), size):
                run = places[-1] - places[0] == size - 1
                price = size + (math.log2(runs) if run else 1.0 + math.log2(apart))
                yield tuple(values[at] for at in places), price


def _bounds(rows: PreparedRows, name: str) -> Iterator[tuple[Condition, float]]:
    numbers = rows.numbers(name)
    values = np.unique(numbers[~np.isnan(numbers)])
    if len(values) < 2:
        return
    quantity = ColumnNumber(name)
    if len(values) <= FEW_VALUES:
        for value in values:
            yield (
                Comparison(quantity, "exactly", float(value)),
                2.0 + NEGATION_BITS + math.log2(len(values)),
            )
    gaps = list(zip(values[:-1].tolist(), values[1:].tolist(), strict=True))
    if len(gaps) > MOST_BOUNDS:
        ends = np.linspace(0, len(gaps) - 1, MOST_BOUNDS).round().astype(int)
        gaps = [gaps[at] for at in dict.fromkeys(ends.tolist())]
    whole = bool(np.all(values == np.round(values)))
    rounder = rounding_unit(values[0], values[-1])
    bounds = [(low, high, roundest_number(low, high, whole)) for low, high in gaps]
    even = [_even(bound, rounder) or _even(high, rounder) for _, high, bound in bounds]
    for (_, high, bound), is_round in zip(bounds, even, strict=True):
        alike = sum(one is is_round for one in even)
        bits = 1.0 + math.log2(alike) + (0.0 if all(even) else ROUND if is_round else UNEVEN)
        if is_round and not _even(bound, rounder):
            yield Comparison(quantity, "at least", high), bits
            yield Comparison(quantity, "less than", high), bits
        else:
            yield Comparison(quantity, "more than", bound), bits
            yield Comparison(quantity, "at most", bound), bits


def _even(bound: float, rounder: float) -> bool:
    return abs(bound / rounder - round(bound / rounder)) < 1e-9


def rounding_unit(low: float, high: float) -> float:
    """Return the unit of which round bounds between `low` and `high` are multiples."""
    spread = float(high) - float(low)
    if spread <= 0 or math.isinf(spread):
        return 1.0
    size = float(10.0 ** math.floor(math.log10(spread)))
    return size / 2 if spread < 5 * size else size


def roundest_number(low: float, high: float, integers_only: bool) -> float:
    """Return the number with the fewest digits that is at least `low` and less than `high`.

    If several numbers have equally few digits, the one nearest to `low` is returned.

    Args:
        low: Smallest allowed number.
        high: Upper end of the range, which is not allowed itself.
        integers_only: Whether only integers are allowed.
    """
    if (integers_only and high - low <= 1) or max(abs(low), abs(high)) > LARGEST:
        return low
    size = 10.0 ** math.ceil(math.log10(max(abs(low), abs(high), 1e-12)) + 1)
    while size > 1e-12:
        for step in (size, size / 2):
            at = math.ceil(low / step - 1e-9) * step
            if low <= at < high and (not integers_only or step >= 1):
                return float(f"{at:.12g}")
        size /= 10
    return low
