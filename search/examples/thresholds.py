"""Outputs that depend on the level of a number: one output below a bound, another up to the next."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from .constants import kind_of
from .expressions import UNDEFINED, Expression, apply_template, escape_braces
from .number_goals import roundest_between

MAX_FEATURES = 30
MAX_LEVELS = 5
LEAST_PAIRS = 6
SURPLUS = 3.5  # bits that the order of the outputs must say beside the choice of the number
LEVEL, DIGIT = 9, 3  # half bits of a condition, and of a digit of its bound


def fit_levels(
    goals: Sequence[Any], prices: dict[str, int], features: Sequence[Expression], limit: int
) -> Iterator[Expression]:
    """Yield conditions on a number, of three levels or more, whose values are the goals.

    Args:
        goals: the shown outputs.
        prices: the price of each output as a constant, by its source.
        features: integers and floats, cheapest first.
        limit: the largest price, in half bits.
    """
    sources = [repr(goal) for goal in goals]
    levels, kind = len(set(sources)), kind_of(goals)
    if kind is None or not 3 <= levels <= MAX_LEVELS or len(goals) < LEAST_PAIRS:
        return
    counts = Counter(sources).values()
    orders = math.factorial(len(goals)) / math.prod(map(math.factorial, counts))
    surprise = math.log2(orders / math.factorial(levels))
    for number, one in enumerate(features[:MAX_FEATURES]):
        if surprise - math.log2(1 + number) < SURPLUS:
            return
        column = one.values[: len(goals)]
        if any(type(value) not in (int, float) for value in column):
            continue
        rows = sorted(zip(column, sources, strict=True))
        runs = [(source, [u for u, _ in run]) for source, run in groupby(rows, lambda row: row[1])]
        if len(runs) != levels:
            continue
        if any(a[1][-1] == b[1][0] for a, b in pairwise(runs)):
            continue
        bounds = [repr(roundest_between(a[1][-1], b[1][0])) for a, b in pairwise(runs)]
        price = one.price + sum(prices[source] for source, _ in runs)
        price += sum(LEVEL + DIGIT * len(bound.strip("-0.")) for bound in bounds)
        if price > limit:
            continue
        texts = [escape_braces(source) for source, _ in runs]
        template = "".join(
            f"{text} if {{0}} < {bound} else " for text, bound in zip(texts, bounds, strict=False)
        )
        found = apply_template("levels", template + texts[-1], (one,), price, kind, True)
        if all(v is not UNDEFINED and v == g for v, g in zip(found.values, goals, strict=False)):
            yield found
