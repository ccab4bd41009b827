"""Numbers as outputs: linear functions of one number, with constants that are fitted exactly.

`curves.py` has the fits of several terms, the curves and the rounded ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from .expressions import Expression, apply_template
from .grammar import FLOAT, INT, LARGEST
from .number_goals import TOLERANCE

MAX_FEATURES = 300
LINE = 7  # half bits, besides the digits of its constants
DIGIT = 3  # half bits of a digit of a constant


def fit_numbers(
    goals: Sequence[float], features: Sequence[Expression], limit: int
) -> Iterator[Expression]:
    """Yield lines a * feature + b whose values are the goals, and divisions feature / a.

    A line needs three different values, or two if its constants are short. Values beyond `LARGEST`
    have no lines.
    """
    if any(abs(goal) > LARGEST for goal in goals):
        return
    cheapest = sorted(features, key=lambda one: one.price)[:MAX_FEATURES]
    for one in cheapest:
        if one.price + LINE > limit:
            return
        values = one.values[: len(goals)]
        if any(abs(value) > LARGEST for value in values):
            continue
        distinct = sorted(set(zip(values, goals, strict=True)))
        if len({u for u, _ in distinct}) < 2 or any(type(u) is bool for u, _ in distinct):
            continue
        (u, y), (v, z) = distinct[0], distinct[-1]
        if u == v:
            continue
        slope = Fraction(str(z)) - Fraction(str(y))
        slope /= Fraction(str(v)) - Fraction(str(u))
        base = Fraction(str(y)) - slope * Fraction(str(u))
        slope, base = slope.limit_denominator(1000), base.limit_denominator(1000)
        if 10**6 % base.denominator:
            continue  # no decimal that a person would write
        digits = _digits(slope) + _digits(base)
        if len(distinct) < 3 and digits > 3:
            continue
        if max(abs(slope), abs(base)) > LARGEST or not all(
            abs(float(slope * Fraction(str(p)) + base) - q) <= TOLERANCE * max(1.0, abs(q))
            for p, q in distinct
        ):
            continue
        price = one.price + LINE + DIGIT * digits
        whole = all(type(goal) is int for goal in goals)
        made = _line(one, slope, base, whole, price)
        if made is not None and price <= limit:
            yield made


def _digits(value: Fraction) -> int:
    return (
        0
        if value in (0, 1)
        else len(str(abs(value.numerator)))
        + (len(str(value.denominator)) if value.denominator > 1 else 0)
    )


def _line(
    one: Expression, slope: Fraction, base: Fraction, whole: bool, price: int
) -> Expression | None:
    """Return slope * one + base as a person would write it."""
    source = "{0}"
    if slope == 0:
        return None
    if slope.denominator == 1:
        source = "{0}" if slope == 1 else f"{slope} * {{0}}"
    elif slope.numerator == 1 and not whole:
        source = f"{{0}} / {slope.denominator}"
    elif whole:
        return None
    else:
        source = f"{{0}} * {slope.numerator} / {slope.denominator}"
    if base:
        shown = base if base.denominator == 1 else float(base)
        source += f" + {shown}" if base > 0 else f" - {abs(shown)}"
    if source == "{0}":
        return None
    if (
        not whole
        and slope.denominator == 1
        and base.denominator == 1
        and all(type(v) is int for v in one.values)
    ):
        source = f"float({source})"
    return apply_template("line", source, (one,), price, INT if whole else FLOAT, True)
