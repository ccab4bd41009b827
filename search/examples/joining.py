"""Texts as outputs: the cheapest ways to put them together from expressions and constants."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from ..budget import Budget
from .constants import shared_length
from .expressions import UNDEFINED, Expression
from .grammar import STR, Operation
from .numerals import join_as_format
from .prices import CONSTANT_PRICE, JOIN_PRICE, price_of_character

PARTS_PER_EXPANSION = 8
MAX_VISITS = 6  # of a place in the outputs
MAX_PARTS = 30
COPIED_PER_EXPANSION = 20_000  # characters of the outputs from a place on
LONGEST_START = 100  # characters of a constant that ends within a text that all outputs share
CHARACTERS_PER_EXPANSION = 64  # of constants, which take memory


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
        if visits[places] > MAX_VISITS or len(joined) == MAX_PARTS:
            continue
        rest = [goal[place:] for goal, place in zip(goals, places, strict=True)]
        shared = shared_length(rest)
        candidates = [
            one
            for length in lengths
            for one in by_first.get(goals[0][places[0] : places[0] + length], ())
        ]
        work = len(candidates) / PARTS_PER_EXPANSION + shared // CHARACTERS_PER_EXPANSION
        copied = sum(ends) - sum(places)
        if not budget.charge(1 + work + copied // COPIED_PER_EXPANSION):
            return
        for part in (
            *_fitting(candidates, goals, places),
            *_constants_at(goals, places, joined, shared),
        ):
            total = price + part.price + (JOIN_PRICE if joined else 0)
            if total <= limit:
                after = tuple(p + len(v) for p, v in zip(places, part.values, strict=False))
                heapq.heappush(queue, (total, next(order), after, (*joined, part)))


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
    price = CONSTANT_PRICE
    for length, character in enumerate(whole, 1):
        price += price_of_character(character)
        if length <= LONGEST_START or length == shared:
            text = whole[:length]
            yield Expression(price, (text,) * len(goals), text=repr(text))


def _as_expression(parts: tuple[Expression, ...], price: int) -> Expression:
    if len(parts) == 1:
        return parts[0]
    formatted = join_as_format(parts, price)
    if formatted is not None:
        return formatted
    values = tuple(
        UNDEFINED if UNDEFINED in row else "".join(row)
        for row in zip(*(part.values for part in parts), strict=False)
    )
    return Expression(price, values, _join(len(parts)), parts)


def _join(count: int) -> Operation:
    source = " + ".join(f"{{{place}}}" for place in range(count))
    return Operation("join", (STR,) * count, STR, 0, lambda *texts: "".join(texts), source, True)
