"""Numbers that formulas are fitted to: how much they say, and which values agree with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .grammar import LARGEST

SURPLUS = 4.0  # bits
FORM_BITS = 4.0  # bits: to choose a form of fit
TOLERANCE = 1e-9  # of a value, where outputs are fractions


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


def roundest_between(low: float, high: float) -> float:
    """Return the roundest number above `low` and not above `high`; of several, one in the middle."""
    least, most = Fraction(str(low)), Fraction(str(high))
    for places in range(-12, 17):
        for step in (5 * Fraction(10) ** -places, Fraction(10) ** -places):
            first, last = math.floor(least / step) + 1, math.floor(most / step)
            if first <= last:
                found = (first + last) // 2 * step
                return int(found) if found.denominator == 1 else float(found)
    return high


def agrees(values: Sequence[Any], goals: Sequence[float]) -> bool:
    """Return whether the first values are the goals, up to what arithmetic does to floats."""
    for value, goal in zip(values, goals, strict=False):
        if type(value) not in (int, float) or (type(goal) is int and type(value) is not int):
            return False
        if abs(value - goal) > (0 if type(goal) is int else TOLERANCE * max(1.0, abs(goal))):
            return False
    return True
