"""Texts as outputs: the cheapest ways to put them together from expressions and constants."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from ..budget import Budget
from . import prices
from .expressions import UNDEFINED, Expression
from .grammar import STR, Operation
from .prices import adjust_price, class_of_character

JOIN = Operation("join", (STR, STR), STR, 1.5, lambda a, b: a + b, "{0:free} + {1:free}", True)
JOIN_PRICE = adjust_price(prices.JOIN, 3)  # half bits
PARTS_PER_EXPANSION = 8
MAX_VISITS = 6  # of a place in the outputs
LONGEST_START = 100  # characters of a constant that ends within a text that all outputs share
CHARACTERS_PER_EXPANSION = 64  # of constants, which take memory
CONSTANT = adjust_price(prices.CONSTANT, 4)  # half bits, besides its characters
CHARACTERS = {
    name: adjust_price(name, price)
    for name, price in {prices.MARK: 4, prices.DIGIT: 7, prices.LETTER: 9}.items()
}


def price_of_constant(value: object) -> int:
    """Return the price of a constant, in half bits."""
    if value is None or type(value) is bool:
        return CONSTANT
    return CONSTANT + sum(_price_of(c) for c in str(value))


def _price_of(character: str) -> int:
    return CHARACTERS[class_of_character(character)]


def join_parts(
    goals: Sequence[str], parts: Iterable[Expression], limit: int, budget: Budget
) -> Iterator[Expression]:
    """Yield expressions whose values are the goals, joined from parts, cheapest first.

    The search goes through tuples of places, one in each goal, from their beginnings to their ends.

    Args:
        goals: the shown outputs.
        parts: expressions whose values are texts; their first values belong to the goals.
        limit: the largest price, in half bits.
        budget: a place that is left costs one expansion.
    """
    by_first: dict[str, list[Expression]] = {}
    for one in parts:
        if one.values[0] in goals[0]:
            by_first.setdefault(one.values[0], []).append(one)
    lengths = sorted(set(map(len, by_first)))
    ends = tuple(map(len, goals))
    order = count()
    queue: list[tuple[int, int, tuple[int, ...], tuple[Expression, ...]]] = [
        (0, next(order), (0,) * len(goals), ())
    ]
    visits: Counter[tuple[int, ...]] = Counter()
    while queue:
        price, _, places, joined = heapq.heappop(queue)
        if places == ends and joined:
            yield _as_expression(joined, price)
            continue
        visits[places] += 1
        if visits[places] > MAX_VISITS:
            continue
        shared = _shared_length(goals, places)
        candidates = [
            one
            for length in lengths
            for one in by_first.get(goals[0][places[0] : places[0] + length], ())
        ]
        work = len(candidates) / PARTS_PER_EXPANSION + shared // CHARACTERS_PER_EXPANSION
        if not budget.charge(1 + work):
            return
        for part in (
            *_fitting(candidates, goals, places),
            *_constants_at(goals, places, joined, shared),
        ):
            total = price + part.price + (JOIN_PRICE if joined else 0)
            if total <= limit:
                after = tuple(p + len(v) for p, v in zip(places, part.values, strict=False))
                heapq.heappush(queue, (total, next(order), after, (*joined, part)))


def _shared_length(goals: Sequence[str], places: tuple[int, ...]) -> int:
    """Return how many characters all outputs share from these places on."""
    ends = [goal[place:] for goal, place in zip(goals, places, strict=True)]
    least, greatest = min(ends), max(ends)  # all others begin as both of them do
    differing = (k for k, both in enumerate(zip(least, greatest, strict=False)) if len({*both}) > 1)
    return next(differing, min(len(least), len(greatest)))


def _fitting(
    candidates: Iterable[Expression], goals: Sequence[str], places: tuple[int, ...]
) -> Iterator[Expression]:
    for one in candidates:
        if any(one.values[: len(goals)]) and all(
            goal.startswith(value, place)
            for goal, value, place in zip(goals, one.values, places, strict=False)
        ):
            yield one


def _constants_at(
    goals: Sequence[str], places: tuple[int, ...], joined: tuple[Expression, ...], shared: int
) -> Iterator[Expression]:
    """Yield the constants that begin at these places: short ones, and the longest."""
    if joined and joined[-1].operation is None and joined[-1].text.startswith(("'", '"')):
        return  # two constants are one
    whole = goals[0][places[0] : places[0] + shared]
    price = CONSTANT
    for length, character in enumerate(whole, 1):
        price += _price_of(character)
        if length <= LONGEST_START or length == shared:
            text = whole[:length]
            yield Expression(price, (text,) * len(goals), text=repr(text))


def _as_expression(parts: tuple[Expression, ...], price: int) -> Expression:
    if len(parts) == 1:
        return parts[0]
    found = parts[0]
    for part in parts[1:]:
        values = tuple(
            UNDEFINED if UNDEFINED in (a, b) else a + b
            for a, b in zip(found.values, part.values, strict=False)
        )
        found = Expression(price, values, JOIN, (found, part))
    return found
