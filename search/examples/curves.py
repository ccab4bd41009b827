"""Numbers as outputs: sums of terms of several features, and curves, with constants that are fitted.

A term is a feature, or a power, root, product or ratio of features. A fit of a few terms is exact, or its
values are rounded afterwards. It must say less than the outputs do: the bits of the outputs, less those of
its constants and of the choice of its terms, must exceed `SURPLUS`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from ..budget import Budget
from .expressions import UNDEFINED, Expression, apply_template
from .grammar import FLOAT, INT, LARGEST

MAX_FEATURES = 16  # that are no multiples of each other, of which terms are made
IN_CURVES, IN_PRODUCTS = 6, 6  # of the cheapest of them
IN_TRIPLES = 8
LARGEST_DENOMINATOR = 1_000
PLAIN_DENOMINATOR = 12
MAX_PLACES = 4  # decimals of outputs that are rounded
FIT, TERM, DIGIT, ROUNDING, PI = 7, 5, 3, 7, 9  # half bits
LONGEST_CONSTANT = 5  # digits of a constant beside others
DATED = 3  # half bits
SURPLUS = 4.0  # bits
FORM_BITS = 4.0  # bits: to choose a form of fit
TOLERANCE = 1e-9  # of a value, where outputs are fractions

# --- terms: name, template, half bits, whether all values are whole where the features are
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
_MULTIPLICATIVE = {name for name, template, *_ in (*_CURVES, *_PAIRS) if "math" not in template}
_MULTIPLICATIVE |= {"times", "product_of", "ratio", "times_number", "scaled", "part_of"}
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


class Goals:
    """Numbers that are looked for.

    Args:
        values: the numbers.
        unit: what they are multiples of, such as 0.01; 0 stands for as many digits as floats have.
    """

    def __init__(self, values: Sequence[float], unit: Fraction) -> None:
        self.values = tuple(values)
        self.exact = tuple(Fraction(str(value)) for value in values)
        self.whole = all(type(value) is int for value in values)
        self.unit = unit
        spread = (max(self.exact) - min(self.exact)) / unit
        self.bits = math.log2(1 + float(min(spread, LARGEST**2)))  # of one of them

    def supports(self, pairs: int, digits: Sequence[int], choice: float) -> bool:
        """Return whether the numbers say more than a fit does.

        Args:
            pairs: how many different ones it fits; each of the others says a bit.
            digits: those of each of its constants.
            choice: bits that its terms say.
        """
        constants = sum(min(2 + 3.3 * count, self.bits) for count in digits)
        evidence = pairs * self.bits + len(self.values) - pairs
        return evidence - constants - choice - FORM_BITS >= SURPLUS


def unit_of(values: Sequence[float]) -> Fraction:
    """Return the unit of the last decimal that one of these numbers has."""
    return Fraction(1, 10 ** max(map(places_of, values)))


def places_of(value: float) -> int:
    """Return the number of decimals of a number."""
    if type(value) is int:
        return 0
    denominator, places = Fraction(str(value)).denominator, 0
    while 10**places % denominator and places < 17:
        places += 1
    return places


def fit_terms(
    goals: Sequence[float], features: Sequence[Expression], limit: int, budget: Budget
) -> Iterator[Expression]:
    """Yield sums of terms whose values are the goals, exactly or after they are rounded.

    Args:
        goals: the shown outputs: all integers, or all floats.
        features: integers and floats, cheapest first.
        limit: the largest price, in half bits.
        budget: a fit of several terms costs one expansion.
    """
    if len(goals) < 3 or any(abs(goal) > LARGEST or goal != goal for goal in goals):
        return
    unit = unit_of(goals)
    aim = Goals(goals, unit if type(goals[0]) is int else min(unit, Fraction(1, 10)))
    base = base_terms(features, len(goals))
    derived = derived_terms(base)
    yield from _exact_fits(aim, base, derived, limit, budget)
    places = max(map(places_of, goals))
    if places <= MAX_PLACES:
        aim = Goals(goals, unit)
        yield from _rounded_fits(aim, places, base, derived, limit, budget)


# --- terms


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
            if before.column == column and one.price <= before.of.price + DATED < _dated(before.of):
                found[known[shape]] = before._replace(of=one)
            continue
        known[shape] = len(found)
        found.append(Term(one, column, math.log2(1 + len(found))))
        if len(found) == MAX_FEATURES:
            break
    return found


def _dated(one: Expression) -> float:
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


# --- exact fits


def _exact_fits(
    aim: Goals, base: Sequence[Term], derived: Sequence[Term], limit: int, budget: Budget
) -> Iterator[Expression]:
    for terms in _groups(base, derived):
        price = sum(one.of.price for one in terms) + FIT + TERM * (len(terms) - 1)
        price += (DATED + 1) * sum(_dated(one.of) > 0 for one in terms) * (len(terms) > 1)
        if price > limit + FIT:
            continue
        if not budget.charge(1):
            return
        for with_base in (False, True):
            made = _fit_exactly(aim, terms, with_base, price, limit)
            if made is not None:
                yield made
                break


def _groups(base: Sequence[Term], derived: Sequence[Term]) -> Iterator[tuple[Term, ...]]:
    """Yield terms whose sum may be the output; not features alone, which are fitted as lines."""
    by_name: dict[tuple[str, tuple[Expression, ...]], Term] = {}
    for one in derived:
        yield (one,)
        assert one.of.operation is not None
        by_name[one.of.operation.name, one.of.arguments] = one
    for one in base[:IN_CURVES]:
        square = by_name.get(("square", (one.of,)))
        cube = by_name.get(("cube", (one.of,)))
        if square:
            yield (square, one)
        if square and cube:
            yield (cube, one)
            yield (cube, square)
            yield (cube, square, one)
    yield from combinations(base, 2)
    for pair in combinations(base[:IN_PRODUCTS], 2):
        product = by_name.get(("product", tuple(one.of for one in pair)))
        if product:
            yield from ((one, product) for one in pair)
            yield (product, *pair)
        squares = [by_name.get(("square", (one.of,))) for one in pair]
        if all(squares):
            yield tuple(one for one in squares if one)
    yield from combinations(base[:IN_TRIPLES], 3)


def _fit_exactly(
    aim: Goals, terms: tuple[Term, ...], with_base: bool, price: int, limit: int
) -> Expression | None:
    columns = [one.column for one in terms]
    if with_base:
        columns.append((1,) * len(aim.values))
    different = len({row for row in zip(*columns, aim.values, strict=True) if any(row)})
    if different < max(2, len(columns)) or not _is_near(columns, aim.values):
        return None
    factors = _solve([[Fraction(v) for v in column] for column in columns], aim.exact)
    if factors is None:
        return None
    factors = [one.limit_denominator(LARGEST_DENOMINATOR) for one in factors]
    base = factors.pop() if with_base else Fraction(0)
    if not all(factors) or max(map(abs, [*factors, base])) > LARGEST:
        return None
    digits = [digits_of(one) for one in (*factors, *([base] if with_base else []))]
    if len(terms) > 1 and max(digits) > LONGEST_CONSTANT:
        return None
    if factors == [1] and not base:
        digits, price = [], price - FIT
    if not aim.supports(different, digits, sum(one.bits for one in terms)):
        return None
    price += DIGIT * sum(digits) + (2 if base else 0)
    if price > limit:
        return None
    made = linear_source(terms, factors, base, aim.whole)
    if made is None:
        return None
    fit = apply_template(
        "fit", made, tuple(one.of for one in terms), price, INT if aim.whole else FLOAT, True
    )
    return fit if agrees(fit.values, aim.values) else None


def agrees(values: Sequence[Any], goals: Sequence[float]) -> bool:
    """Return whether the first values are the goals, up to what arithmetic does to floats."""
    for value, goal in zip(values, goals, strict=False):
        if type(value) not in (int, float) or (type(goal) is int and type(value) is not int):
            return False
        if abs(value - goal) > (0 if type(goal) is int else TOLERANCE * max(1.0, abs(goal))):
            return False
    return True


def _is_near(columns: Sequence[Sequence[float]], goals: Sequence[float]) -> bool:
    """Return whether a combination of the columns may be the goals, up to small errors."""
    rows = [[float(v) for v in row] for row in zip(*columns, goals, strict=True)]
    width = len(columns)
    size = [max(abs(row[k]) for row in rows) or 1.0 for k in range(width + 1)]
    rows = [[value / of for value, of in zip(row, size, strict=True)] for row in rows]
    for k in range(width):
        place = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
        if abs(rows[place][k]) < 1e-10:
            return False
        rows[k], rows[place] = rows[place], rows[k]
        pivot = rows[k]
        for i in range(k + 1, len(rows)):
            share = rows[i][k] / pivot[k]
            if share:
                rows[i] = [a - share * b for a, b in zip(rows[i], pivot, strict=True)]
    return all(abs(row[width]) < 1e-6 for row in rows[width:])


def _solve(columns: list[list[Fraction]], goals: Sequence[Fraction]) -> list[Fraction] | None:
    """Return the factors of the columns, from as many rows as determine them."""
    rows = [list(row) for row in zip(*columns, goals, strict=True)]
    width = len(columns)
    for k in range(width):
        place = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if place is None:
            return None
        rows[k], rows[place] = rows[place], rows[k]
        first = rows[k][k]
        rows[k] = [value / first for value in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k]:
                share = rows[i][k]
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[width] for row in rows[:width]]


# --- constants as a person writes them


def digits_of(value: Fraction) -> int:
    """Return how many digits a constant has, as a fraction or as a decimal; 0 and 1 have none."""
    if value in (0, 1):
        return 0
    top, bottom = abs(value.numerator), value.denominator
    ratio = (len(str(top)) if top > 1 else 0) + len(str(bottom)) if bottom > 1 else len(str(top))
    decimal = _decimal(abs(value))
    if decimal is None:
        return ratio + (bottom > PLAIN_DENOMINATOR)
    return min(ratio, len(decimal.removeprefix("0").replace(".", "")))


def _decimal(value: Fraction) -> str | None:
    """Return a fraction as a short decimal, or None if it has none."""
    for places in range(MAX_PLACES + 1):
        if (value * 10**places).denominator == 1:
            return str(int(value)) if places == 0 else f"{float(value):.{places}f}"
    return None


def linear_source(
    terms: Sequence[Term], factors: Sequence[Fraction], base: Fraction, integral: bool
) -> str | None:
    """Return the template of a sum of terms, or None if it has no plain one.

    Args:
        terms: the terms.
        factors: the factor of each.
        base: what is added.
        integral: whether the values are integers.
    """
    common = math.lcm(*(one.denominator for one in (*factors, base)))
    all_whole = all(one.is_whole for one in terms)
    if integral:
        if not all_whole:
            return None
        if common > 1:
            inner = _sum(terms, [one * common for one in factors], base * common)
            single = len(terms) == 1 and not base
            return f"{inner} // {common}" if single else f"({inner}) // {common}"
        return _sum(terms, factors, base)
    decimals = all(_decimal(abs(one)) is not None for one in (*factors, base))
    if common > 1 and (not decimals or common <= 4) and common < 100:
        inner = _sum(terms, [one * common for one in factors], base * common)
        single = len(terms) == 1 and not base
        return f"{inner} / {common}" if single else f"({inner}) / {common}"
    if _decimal(abs(base)) is None:
        return None
    found = _sum(terms, factors, base)
    return f"float({found})" if all_whole and common == 1 else found


def _sum(terms: Sequence[Term], factors: Sequence[Fraction], base: Fraction) -> str:
    alike = len(terms) > 1 and len(set(factors)) == 1 and factors[0] != 1
    if alike and not base:
        inner = " + ".join(_slot(one, place) for place, one in enumerate(terms))
        if factors[0] == -1:
            return f"-({inner})"
        return f"{_written(factors[0])} * ({inner})"
    ordered = sorted(range(len(terms)), key=lambda place: factors[place] < 0)
    pieces = [(factors[place], _slot(terms[place], place), True) for place in ordered]
    if base:
        at = 0 if pieces[0][0] < 0 < base else len(pieces)
        pieces.insert(at, (base, "", False))
    text = ""
    for factor, slot, of_term in pieces:
        size = _times(abs(factor), slot) if of_term else _written(abs(factor))
        if not text:
            text = size if factor > 0 else f"-{size}"
        else:
            text += f" + {size}" if factor > 0 else f" - {size}"
    return text


def _slot(one: Term, place: int) -> str:
    operation = one.of.operation
    free = operation is not None and operation.name in _MULTIPLICATIVE
    return f"{{{place}:free}}" if free else f"{{{place}}}"


def _times(factor: Fraction, slot: str) -> str:
    if factor == 1:
        return slot
    if factor.numerator == 1 and str(factor.denominator).strip("0") == "1":
        return f"{slot} / {factor.denominator}"
    if _decimal(factor) is not None:
        return f"{_written(factor)} * {slot}"
    if factor.numerator == 1:
        return f"{slot} / {factor.denominator}"
    return f"{slot} * {factor.numerator} / {factor.denominator}"


def _written(value: Fraction) -> str:
    return _decimal(value) or f"{value.numerator} / {value.denominator}"


# --- fits whose values are rounded


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


def _rounded_fits(
    aim: Goals,
    places: int,
    base: Sequence[Term],
    derived: Sequence[Term],
    limit: int,
    budget: Budget,
) -> Iterator[Expression]:
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
    if operation is None or operation.name != "fit" or operation.template.count(" / ") != 1:
        return made
    if any(type(v) is not int for one in inner.arguments for v in one.values if v is not UNDEFINED):
        return made
    top, _, bottom = operation.template.partition(" / ")
    if not bottom.isdigit() or "." in top:
        return made
    return apply_template(
        "quotient", f"{top} // {bottom}", inner.arguments, made.price - 2, INT, True
    )


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
    if least > 0:
        pi = Fraction(math.pi)
        share = simplest_between(least / pi, greatest / pi)
        text = "math.pi * {0}" if share == 1 else f"{_written(share)} * math.pi * {{0}}"
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
    decimal, ratio = _decimal(abs(value)), len(str(value.numerator)) + len(str(value.denominator))
    if decimal and (value.denominator % 10 == 0 or len(decimal) - 1 < ratio):
        return f"{{0}} * {'-' if value < 0 else ''}{decimal}"
    if value.numerator == 1:
        return f"{{0}} / {value.denominator}"
    return f"{{0}} * {value.numerator} / {value.denominator}"


def _rough_source(term: Term, factor: str, base: Fraction, shift: Fraction) -> str:
    slot = _slot(term, 0)
    if shift:
        amount = _written(abs(shift))
        return factor.replace("{0}", f"({slot} {'-' if shift > 0 else '+'} {amount})")
    text = factor.replace("{0}", slot)
    if base:
        text += f" {'+' if base > 0 else '-'} {_written(abs(base))}"
    return text
