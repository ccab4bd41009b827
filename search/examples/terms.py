"""Terms of fitted formulas: numbers of the input, their powers and roots, and products and ratios of two."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from .expressions import UNDEFINED, Expression, apply_template
from .grammar import FLOAT, INT, LARGEST

MAX_FEATURES = 16  # that are no multiples of each other, of which terms are made
IN_CURVES, IN_PRODUCTS = 6, 6  # of the cheapest of them
DATED = 3  # half bits
_CURVES = (
    ("square", "{0} ** 2", 6, True),
    ("root", "math.sqrt({0:free})", 8, False),
    ("cube", "{0} ** 3", 7, True),
    ("power_of_two", "2 ** {0}", 9, True),
)
_PAIRS = (
    ("product", "{0} * {1}", 8, True),
    ("ratio", "{0} / {1}", 8, False),
    ("inverse_ratio", "{1} / {0}", 8, False),
    ("divisor", "math.gcd({0:free}, {1:free})", 9, True),
    ("multiple", "math.lcm({0:free}, {1:free})", 9, True),
    ("by_square", "{0} * {1} ** 2", 12, True),
    ("by_square_of_first", "{1} * {0} ** 2", 12, True),
    ("over_square", "{0} / {1} ** 2", 12, False),
    ("square_over", "{1} / {0} ** 2", 12, False),
    ("power", "{0} ** {1}", 11, True),
    ("distance", "math.hypot({0:free}, {1:free})", 11, False),
)
_WHOLE_ONLY = {"power_of_two", "divisor", "multiple", "power"}
MULTIPLICATIVE = {name for name, template, *_ in (*_CURVES, *_PAIRS) if "math" not in template}
MULTIPLICATIVE |= {"times", "product_of", "ratio", "times_number", "scaled", "part_of"}
_MIXED = 9  # half bits: a product of a whole number and a fraction
_MAX_EXPONENT = 60


class Term(NamedTuple):
    """A term of a fit.

    Args:
        of: its expression.
        column: its values on the shown inputs.
        bits: what the choice of its features says.
    """

    of: Expression
    column: tuple[float, ...]
    bits: float

    @property
    def is_whole(self) -> bool:
        """Whether all values are integers."""
        return all(type(value) is int for value in self.column)


def base_terms(features: Sequence[Expression], count: int) -> list[Term]:
    """Return the cheapest features of which none is a multiple of another plus a number."""
    found: list[Term] = []
    known: dict[tuple[Fraction | None, ...], int] = {}
    for one in sorted(features, key=lambda one: one.price):
        column = one.values[:count]
        if any(type(v) not in (int, float) or not -LARGEST < v < LARGEST for v in column):
            continue
        shape = _shape(column)
        if shape is None:
            continue
        if shape in known:
            before = found[known[shape]]
            if before.column == column and one.price <= before.of.price + DATED < penalty_of_dates(
                before.of
            ):
                found[known[shape]] = before._replace(of=one)
            continue
        known[shape] = len(found)
        found.append(Term(one, column, math.log2(1 + len(found))))
        if len(found) == MAX_FEATURES:
            break
    return found


def penalty_of_dates(one: Expression) -> float:
    """Return a large number for a part of a date: the same part of its text is plainer."""
    return math.inf if "strptime" in one.source() else 0


def _shape(column: Sequence[float]) -> tuple[Fraction | None, ...] | None:
    """Return what a column has in common with its multiples; None for a constant."""
    values = [Fraction(value) for value in column]
    steps = [value - values[0] for value in values]
    first = next((step for step in steps if step), None)
    return None if first is None else tuple(step / first for step in steps)


def derived_terms(base: Sequence[Term]) -> list[Term]:
    """Return curves of the cheapest terms, and products and ratios of two of them."""
    found = []
    for one in base[:IN_CURVES]:
        for row in _CURVES:
            found += _derived(row, (one,))
    for pair in combinations(base[:IN_PRODUCTS], 2):
        for row in _PAIRS:
            found += _derived(row, pair)
    return sorted(found, key=lambda term: term.of.price)


def _derived(row: tuple[str, str, int, bool], arguments: tuple[Term, ...]) -> Iterator[Term]:
    name, template, price, whole = row
    kinds = [one.is_whole for one in arguments]
    if name in _WHOLE_ONLY and not all(kinds):
        return
    last = arguments[-1].column
    if "** {" in template and any(not 0 <= value <= _MAX_EXPONENT for value in last):
        return
    total = price + sum(one.of.price for one in arguments)
    total += _MIXED * (len(set(kinds)) > 1)
    gives = INT if whole and all(kinds) else FLOAT
    parts = tuple(one.of for one in arguments)
    if "** {" in template:
        parts = (*parts[:-1], _with_small_values(parts[-1]))
    made = apply_template(name, template, parts, total, gives, "math" not in template)
    column = made.values[: len(last)]
    if any(v is UNDEFINED or type(v) is complex or not -LARGEST < v < LARGEST for v in column):
        return
    if len(set(column)) > 1:
        yield Term(made, column, sum(one.bits for one in arguments) + 1)


def _with_small_values(one: Expression) -> Expression:
    """Return an exponent, undefined where a power of it would be huge."""
    values = [v if v is UNDEFINED or 0 <= v <= 2 * _MAX_EXPONENT else UNDEFINED for v in one.values]
    return replace(one, values=tuple(values))
