"""What the sample space says of a candidate: a correction to its price.

Programs that are right on all shown pairs may be undefined elsewhere, or grow without measure: both
make a rule dearer (totality, stability). And a test of the whole input that holds on the shown pairs
far more often than on the space, or far more seldom, was hardly chosen by chance: whoever showed the
pairs saw to it that both cases are there, so the test is cheaper by a part of the surprise in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .grammar import LARGEST_INTEGER, LONGEST_VALUE

INPUTS = 150  # of the space
LOOKED_AT = 40  # cheapest candidates that are run on them
UNDEFINED, EXPLODING = 5.0, 5.0  # for a program that is so on the whole space
SURPRISE, MOST = 0.25, 2.0  # what a nat of surprise in a test is worth, and all of it at most
Test = Callable[[list[int]], Any]

# What a written program can raise: with a predicted list of types no other end is hidden.
RAISED = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError, AttributeError)


def surcharge(
    function: Callable[[list[int]], Any], test: Test | None, shown: Sequence[list[int]],
    space: Sequence[list[int]],
) -> float:  # fmt: skip
    """What a program is dearer (or, below 0, cheaper) for what it does on the space."""
    if not space:
        return 0.0
    undefined = exploding = 0
    for values in space:
        try:
            out = function(list(values))
        except RAISED:
            undefined += 1
            continue
        exploding += type(out) is list and _huge(out)
    price = (UNDEFINED * undefined + EXPLODING * exploding) / len(space)
    return price - (_surprise(test, shown, space) if test else 0.0)


def _huge(out: list[int]) -> bool:
    return len(out) > LONGEST_VALUE or any(abs(v) > LARGEST_INTEGER for v in out)


def _surprise(test: Test, shown: Sequence[list[int]], space: Sequence[list[int]]) -> float:
    """How far the share of the shown inputs a test holds on is from that of the space."""
    here = sum(_holds(test, values) for values in shown) / len(shown)
    there = (sum(_holds(test, values) for values in space) + 0.5) / (len(space) + 1)
    nats = sum(p * math.log(p / q) for p, q in ((here, there), (1 - here, 1 - there)) if p > 0)
    return min(MOST, SURPRISE * len(shown) * nats)


def _holds(test: Test, values: list[int]) -> bool:
    try:
        return bool(test(list(values)))
    except RAISED:
        return False
