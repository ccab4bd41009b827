"""Programs with one condition: one expression where it holds, another where it does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import prices
from .expressions import Expression
from .grammar import BOOL, STR, Operation
from .prices import adjust_price

CHOICE = Operation(
    "choice", (BOOL, STR, STR), STR, 5, lambda c, a, b: a if c else b, "{1} if {0} else {2}", True
)
CHOICE_PRICE = adjust_price(prices.CHOICE, 10)  # half bits
MAX_CONDITIONS = 400
SERVED = 2  # pairs of each branch; one for a single pair would memorise it


def choose_by_condition(
    goals: Sequence[Any],
    conditions: Iterable[Expression],
    branches: Iterable[Expression],
    limit: int,
) -> Iterator[Expression]:
    """Yield expressions with a condition whose values are the goals.

    Args:
        goals: the shown outputs.
        conditions: truth values, cheapest first.
        branches: expressions for the branches, cheapest first; they may be right on some pairs only.
        limit: the largest price, in half bits.
    """
    everywhere = (1 << len(goals)) - 1
    right: dict[int, Expression] = {}  # pairs on which it is right, as bits -> the cheapest
    for one in branches:
        bits = sum(
            1 << k
            for k, (v, goal) in enumerate(zip(one.values, goals, strict=False))
            if v == goal and type(v) is type(goal)
        )
        if bits and bits not in right:
            right[bits] = one
    tried: set[int] = set()
    for number, condition in enumerate(conditions):
        if number == MAX_CONDITIONS or condition.price + CHOICE_PRICE > limit:
            break
        holds = sum(1 << k for k, v in enumerate(condition.values[: len(goals)]) if v)
        if holds in tried or min(holds.bit_count(), (~holds & everywhere).bit_count()) < SERVED:
            continue
        tried.add(holds)
        yes = min(
            (one for bits, one in right.items() if bits & holds == holds), key=_price, default=None
        )
        no = min(
            (
                one
                for bits, one in right.items()
                if bits & ~holds & everywhere == ~holds & everywhere
            ),
            key=_price,
            default=None,
        )
        if yes is None or no is None:
            continue
        price = CHOICE_PRICE + condition.price + yes.price + no.price
        if price <= limit:
            values = tuple(
                a if c else b
                for c, a, b in zip(condition.values, yes.values, no.values, strict=False)
            )
            yield Expression(price, values, CHOICE, (condition, yes, no))


def _price(one: Expression) -> int:
    return one.price
