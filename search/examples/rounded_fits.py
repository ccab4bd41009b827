"""Formulas whose values are rounded: a multiple of one term, plus a constant."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from ..budget import Budget
from .expressions import UNDEFINED, Expression, apply_template
from .formula_sources import MAX_PLACES, decimal_of, digits_of, slot_of, source_of_number
from .grammar import FLOAT, INT, LARGEST
from .number_goals import Goals, agrees
from .terms import Term

FIT = 7  # half bits
DIGIT = 3  # half bits
ROUNDING, PI = 7, 9  # half bits
# Bytes, seconds, minutes, inches and feet: likelier than other numbers with as many digits.
WELL_KNOWN = tuple(
    Fraction(one) for one in ("1024", "1048576", "3600", "86400", "1440", "2.54", "0.3048")
)
WELL_KNOWN_DIGITS = 2


class Rounding(NamedTuple):
    """A way to round.

    Args:
        name: its name.
        low: how far below its rounded value a value may be, in units.
        high: how far above it.
        template: the Python source of the rounded value.
        price: half bits.
    """

    name: str
    low: float
    high: float
    template: str
    price: int


_TO_INTEGERS = (
    Rounding("nearest", 0.5, 0.5, "round({0:free})", 8),
    Rounding("downwards", 0, 1, "int({0:free})", 7),
    Rounding("below", 0, 1, "math.floor({0:free})", 9),
    Rounding("upwards", 1, 0, "math.ceil({0:free})", 8),
)


def fit_rounded(
    aim: Goals,
    places: int,
    base: Sequence[Term],
    derived: Sequence[Term],
    limit: int,
    budget: Budget,
) -> Iterator[Expression]:
    """Yield multiples of one term, plus a constant, that are the goals after they are rounded."""
    if aim.whole:
        ways: tuple[Rounding, ...] = _TO_INTEGERS
    elif places:
        template = f"round({{0:free}}, {places})"
        ways = (Rounding("places", 0.5, 0.5, template, ROUNDING),)
    else:
        return
    for way in ways:
        terms = [*base, *derived]
        for one in fit_roughly(aim, way, terms, limit - way.price, budget):
            made = apply_template(
                way.name, way.template, (one,), one.price + way.price, INT if aim.whole else FLOAT
            )
            if agrees(made.values, aim.values):
                yield _as_quotient(made, one) if way.name == "downwards" else made


def _as_quotient(made: Expression, inner: Expression) -> Expression:
    """Return int(x * 9 / 5) as x * 9 // 5 where x is an integer."""
    operation = inner.operation
    if operation is None or operation.name != "fit":
        return made
    quotient = re.fullmatch(r"([^-+.]+) / (\d+)", operation.template)
    if quotient is None:
        return made
    if any(type(v) is not int for one in inner.arguments for v in one.values if v is not UNDEFINED):
        return made
    source = f"{quotient[1]} // {quotient[2]}"
    return apply_template("quotient", source, inner.arguments, made.price - 2, INT, True)


def fit_roughly(
    aim: Goals, way: Rounding, terms: Sequence[Term], limit: int, budget: Budget
) -> Iterator[Expression]:
    """Yield multiples of one term, plus a constant, that round to the goals.

    Args:
        aim: the rounded values.
        way: how they were rounded.
        terms: the terms.
        limit: the largest price, in half bits.
        budget: each term costs one expansion.
    """
    low = [goal - Fraction(way.low) * aim.unit for goal in aim.exact]
    high = [goal + Fraction(way.high) * aim.unit for goal in aim.exact]
    for term in terms:
        if term.of.price > limit:
            continue
        if not budget.charge(1):
            return
        column = [
            Fraction(str(value)) if abs(value) < 1e15 else Fraction(value) for value in term.column
        ]
        different = len(set(zip(column, aim.values, strict=True)))
        if different < 3:
            continue
        for base, shift in _bases(term.column, aim, float(aim.unit), way):
            bounds = _slopes(column, low, high, base, shift)
            if bounds is None:
                continue
            for slope, text, digits in _short_slopes(*bounds):
                constants = [digits] if not (base or shift) else [digits, digits_of(base or shift)]
                if slope == 1 and not base and not shift:
                    constants = []
                    if term.is_whole:
                        continue
                if not aim.supports(different, constants, term.bits + 1):
                    continue
                price = term.of.price + (FIT if constants else 0) + DIGIT * sum(constants)
                price += (4 if base or shift else 0) + (PI if "pi" in text else 0)
                if price > limit:
                    continue
                if not constants:
                    yield term.of
                    continue
                source = _rough_source(term, text, base, shift)
                yield apply_template("fit", source, (term.of,), price, FLOAT, True)
            break


def _bases(
    xs: Sequence[float], aim: Goals, unit: float, way: Rounding
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield what may be added to a multiple of the term, or to the term, near the line of least squares."""
    ys = aim.values
    low, high = way.low * unit, way.high * unit
    ends = [sorted(((y - low) / x, (y + high) / x)) for x, y in zip(xs, ys, strict=True) if x]
    least, most = max(one[0] for one in ends), min(one[1] for one in ends)
    if least <= most + 1e-9 * abs(most):
        yield Fraction(0), Fraction(0)
    middle, level = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - middle) ** 2 for x in xs)
    if not spread:
        return
    slope = sum((x - middle) * (y - level) for x, y in zip(xs, ys, strict=True)) / spread
    start = level - slope * middle
    if not slope or any(
        abs(slope * x + start - y) > 1.1 * unit for x, y in zip(xs, ys, strict=True)
    ):
        return
    for places in (0, 1, 2):
        step = Fraction(1, 10**places)
        for value, is_base in ((start, True), (-start / slope, False)):
            nearest = round(value * 10**places) * step
            for shift in (0, 1, -1):
                found = nearest + shift * step
                if found:
                    yield (found, Fraction(0)) if is_base else (Fraction(0), found)


def _slopes(
    column: Sequence[Fraction],
    low: Sequence[Fraction],
    high: Sequence[Fraction],
    base: Fraction,
    shift: Fraction,
) -> tuple[Fraction, Fraction] | None:
    """Return the least and the greatest slope with which all values are within bounds."""
    least, greatest = Fraction(-LARGEST), Fraction(LARGEST)
    for value, below, above in zip(column, low, high, strict=True):
        u, a, b = value - shift, below - base, above - base
        if u == 0:
            if not a <= 0 <= b:
                return None
            continue
        if u < 0:
            u, a, b = -u, -b, -a
        least, greatest = max(least, a / u), min(greatest, b / u)
        if least > greatest:
            return None
    return least, greatest


def _short_slopes(
    least: Fraction, greatest: Fraction
) -> Iterator[tuple[Fraction | float, str, int]]:
    """Yield a value between bounds that is a short fraction, decimal or multiple of pi, with its source."""
    found: dict[str, tuple[Fraction | float, str, int]] = {}
    if least > greatest:
        return
    fraction = simplest_between(least, greatest)
    if fraction == 0:
        return
    middle = (least + greatest) / 2
    options = [fraction]
    for places in range(1, MAX_PLACES + 1):
        rounded = Fraction(round(middle * 10**places), 10**places)
        if least <= rounded <= greatest:
            options.append(rounded)
            break
    for one in options:
        found.setdefault(str(one), (one, _factor(one), digits_of(one)))
    for known in WELL_KNOWN:
        for one in (known, 1 / known):
            if least <= one <= greatest:
                found[str(one)] = (one, _factor(one), WELL_KNOWN_DIGITS)
    if least > 0:
        pi = Fraction(math.pi)
        share = simplest_between(least / pi, greatest / pi)
        text = "math.pi * {0}" if share == 1 else f"{source_of_number(share)} * math.pi * {{0}}"
        found["pi"] = (float(share) * math.pi, text, digits_of(share))
    yield from sorted(found.values(), key=lambda one: (one[2], "/" in one[1]))


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of the smallest denominator between two bounds (Stern-Brocot tree)."""
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    floor = math.floor(low)
    return floor + 1 / simplest_between(1 / (high - floor), 1 / (low - floor))


def _factor(value: Fraction) -> str:
    """Return the template of a multiple."""
    if value == 1:
        return "{0}"
    if value.denominator == 1:
        return f"{{0}} * {value.numerator}"
    if value.numerator == 1 and re.fullmatch("100+", str(value.denominator)):
        return f"{{0}} / {value.denominator}"
    decimal, ratio = decimal_of(abs(value)), len(str(value.numerator)) + len(str(value.denominator))
    if decimal and (value.denominator % 10 == 0 or len(decimal) - 1 < ratio):
        return f"{{0}} * {'-' if value < 0 else ''}{decimal}"
    if value.numerator == 1:
        return f"{{0}} / {value.denominator}"
    return f"{{0}} * {value.numerator} / {value.denominator}"


def _rough_source(term: Term, factor: str, base: Fraction, shift: Fraction) -> str:
    slot = slot_of(term, 0)
    if shift:
        amount = source_of_number(abs(shift))
        return factor.replace("{0}", f"({slot} {'-' if shift > 0 else '+'} {amount})")
    text = factor.replace("{0}", slot)
    if base:
        text += f" {'+' if base > 0 else '-'} {source_of_number(abs(base))}"
    return text
