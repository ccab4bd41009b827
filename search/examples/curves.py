"""Numbers as outputs: sums of terms with fitted factors, exact or rounded afterwards.

A fit must say less than the outputs do: the bits of the outputs, less those of its constants and of the choice of
its terms, must exceed `number_goals.SURPLUS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from ..budget import Budget
from .expressions import Expression, apply_template
from .formula_sources import MAX_PLACES, digits_of, linear_source
from .grammar import FLOAT, INT, LARGEST
from .number_goals import Goals, agrees, places_of, unit_of
from .rounded_fits import DIGIT, FIT, fit_rounded
from .terms import DATED, IN_CURVES, IN_PRODUCTS, Term, base_terms, derived_terms, penalty_of_dates

IN_TRIPLES = 8
LARGEST_DENOMINATOR = 1_000
LONGEST_CONSTANT = 5  # digits of a constant beside others
TERM = 5  # half bits


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
        yield from fit_rounded(aim, places, base, derived, limit, budget)


def _exact_fits(
    aim: Goals, base: Sequence[Term], derived: Sequence[Term], limit: int, budget: Budget
) -> Iterator[Expression]:
    for terms in _groups(base, derived):
        price = sum(one.of.price for one in terms) + FIT + TERM * (len(terms) - 1)
        price += (DATED + 1) * sum(penalty_of_dates(one.of) > 0 for one in terms) * (len(terms) > 1)
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
