"""Numbers that laws are likely to have, and the one that measured values mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tools.description_length import law_bits
from ...tools.formulas import Expression, Number
from .trees import PI, call, number, product

LARGEST_NUMERATOR, LARGEST_DENOMINATOR = 100, 12
WIDTH = 4.0  # standard errors from the measured value within which numbers are tried
LONGEST_RECIPROCAL = 7  # digits and point of a decimal whose reciprocal is tried
LEAST_ERROR = 1e-12  # of a value: what arithmetic loses
SMALLEST = 1e-300  # smaller values are 0
EXPONENTS = sorted(
    {Fraction(a, 2) for a in range(-12, 13)}
    | {Fraction(a, 3) for a in range(-8, 9)}
    | {Fraction(a, 4) for a in (-3, -1, 1, 3)}
)
REAL_EXPONENT_BITS = 14.0


class Meaning(NamedTuple):
    """A number that a measured value may stand for.

    Attributes:
        bits: Its description length, and the bits of its distance from the measured value.
        value: The number.
        tree: The number as a formula.
    """

    bits: float
    value: float
    tree: Expression


@cache
def _likely() -> tuple[NDArray[np.float64], NDArray[np.float64], list[Expression]]:
    """Return values in ascending order with their bits and formulas: fractions with powers and roots."""
    roots: dict[object, float] = {None: 1.0, 2: math.sqrt(2), 3: math.sqrt(3), "pi": math.sqrt(math.pi), "2 pi": math.sqrt(2 * math.pi)}  # fmt: skip
    trees: dict[object, Expression] = {
        2: Number(2.0),
        3: Number(3.0),
        "pi": PI,
        "2 pi": call("*", Number(2.0), PI),
    }
    found: dict[float, tuple[float, float, Expression]] = {}
    for above in range(1, LARGEST_NUMERATOR + 1):
        for below in range(1, LARGEST_DENOMINATOR + 1):
            if math.gcd(above, below) > 1 or (above > 12 and below > 4):
                continue
            for of_pi in (0, 1, -1, 2, -2, 3, -3):
                for root, size in roots.items():
                    if root and (of_pi or above > 4 or below > 4):
                        continue
                    if of_pi and min(above, below) > 4:  # nobody means 9 * pi / 7
                        continue
                    for exponent in (1, -1) if root else (0,):
                        value = above / below * math.pi**of_pi * size**exponent
                        parts: list[tuple[Expression, float]] = [
                            (Number(float(above)), 1.0),
                            (Number(float(below)), -1.0),
                            (PI, float(of_pi)),
                        ]
                        if root:
                            parts.append((call("sqrt", trees[root]), float(exponent)))
                        tree = product([(base, e) for base, e in parts if base != Number(1.0)])
                        bits = law_bits(tree, 1)
                        key = round(value, 12)
                        if key not in found or found[key][0] > bits:
                            found[key] = (bits, value, tree)
    rows = sorted(found.values(), key=lambda one: one[1])
    return np.array([r[1] for r in rows]), np.array([r[0] for r in rows]), [r[2] for r in rows]


def find_meanings(value: float, error: float, count: int) -> list[Meaning]:
    """Return the numbers that a measured value most likely stands for, the likeliest first.

    Args:
        value: The measured value.
        error: Its standard error.
        count: The largest number of them.
    """
    found: dict[float, Meaning] = {}
    for one in sorted(_meanings(value, error), key=lambda one: (one.bits, one.value)):
        found.setdefault(one.value, one)
    return list(found.values())[:count]


def _meanings(value: float, error: float) -> Iterator[Meaning]:
    size, sign = abs(value), -1.0 if value < 0 else 1.0
    error = max(error, size * LEAST_ERROR, SMALLEST)
    if size < WIDTH * error:
        yield Meaning(1 + _misfit(size, error), 0.0, Number(0.0))
    values, bits, trees = _likely()
    first, last = np.searchsorted(values, [size - WIDTH * error, size + WIDTH * error])
    for place in range(int(first), int(last)):
        tree = trees[place] if sign > 0 else call("negate", trees[place])
        cost = float(bits[place]) + _misfit(size - values[place], error) + (sign < 0)
        yield Meaning(cost, sign * float(values[place]), tree)
    yield from _decimals(size, error, sign)
    if 1e-100 < size < 1e100:  # the reciprocal of a decimal, as of the gas constant
        for one in _decimals(1 / size, error / size**2, 1.0):
            if len(f"{one.value:.15g}") < LONGEST_RECIPROCAL and one.value != 1.0:
                tree = call("/", Number(1.0), one.tree)
                price = law_bits(tree, 1) - law_bits(one.tree, 1)
                yield Meaning(
                    one.bits + price, sign / one.value, tree if sign > 0 else call("negate", tree)
                )


def _decimals(size: float, error: float, sign: float) -> Iterator[Meaning]:
    """Yield decimals with more and more digits, up to one that is as exact as the measured value."""
    for digits in range(1, 16):
        rounded = float(f"{size:.{digits - 1}e}") if size else 0.0
        if abs(size - rounded) <= WIDTH * error or digits == 15:
            tree = number(sign * rounded)
            yield Meaning(law_bits(tree, 1) + _misfit(size - rounded, error), sign * rounded, tree)
        if abs(size - rounded) <= 0.5 * error:
            return


def _misfit(distance: float, error: float) -> float:
    return float((distance / error) ** 2 / (2 * math.log(2)))


def find_exponents(value: float, error: float, count: int) -> list[Meaning]:
    """Return the exponents that a measured one most likely stands for, the likeliest first."""
    prices = _price_exponents(value, error)
    best = np.argsort(prices, kind="stable")[:count]
    found = [
        Meaning(float(prices[k]), float(EXPONENTS[k]), number(EXPONENTS[k]))
        for k in best
        if prices[k] <= REAL_EXPONENT_BITS
    ]
    real = float(f"{value:.4g}")
    return [*found, Meaning(REAL_EXPONENT_BITS, real, number(real))][:count]


def find_exponent(value: float, error: float) -> tuple[float, Fraction | float]:
    """Return the exponent that a measured one most likely stands for, with its bits.

    Args:
        value: The measured exponent.
        error: Its standard error.
    """
    bits = _price_exponents(value, error)
    place = int(np.argmin(bits))
    if bits[place] <= REAL_EXPONENT_BITS:
        return float(bits[place]), EXPONENTS[place]
    return REAL_EXPONENT_BITS, float(f"{value:.4g}")


def _price_exponents(value: float, error: float) -> NDArray[np.float64]:
    """Return the bits of each of `EXPONENTS`, and of its distance from a measured exponent."""
    values, prices = _exponents()
    found: NDArray[np.float64] = prices + ((value - values) / max(error, 1e-9)) ** 2 / (
        2 * math.log(2)
    )
    return found


@cache
def _exponents() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values of `EXPONENTS` and their bits."""
    bits = [law_bits(number(abs(one)), 1) + (one < 0) if one else 0.0 for one in EXPONENTS]
    return np.array([float(one) for one in EXPONENTS]), np.array(bits)
