"""Build formulas as people write them, and price them in bits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache

from ...tools.formulas import (
    Column,
    Constant,
    Expression,
    FreeConstant,
    Number,
    Operation,
    Text,
)

ONE, TWO, PI = Number(1.0), Number(2.0), Constant("pi")
Exponent = Fraction | float

OPERATOR_BITS = 2.0
FUNCTION_BITS = {
    "sqrt": 2.0, "negate": 1.0, "exp": 5.0, "log": 5.0, "sin": 8.0, "cos": 8.0, "tan": 10.0, "tanh": 10.0,
    "arcsin": 9.0, "arccos": 9.0, "arctan": 9.0, "abs": 8.0,
}  # fmt: skip
CONSTANT_BITS = 3.0
DIGIT_BITS, DECIMAL_BITS = math.log2(10), 9.0
NAMES = 8  # that a formula may use besides the columns


def call(name: str, *operands: Expression) -> Expression:
    """Return an operation."""
    return Operation(name, operands)


def total(terms: Sequence[Expression]) -> Expression:
    """Return the sum of terms; those with a minus sign are subtracted."""
    found = terms[0]
    for one in terms[1:]:
        if isinstance(one, Operation) and one.name == "negate":
            found = call("-", found, one.operands[0])
        else:
            found = call("+", found, one)
    return found


def power(base: Expression, exponent: Exponent) -> Expression:
    """Return a power with a positive exponent."""
    if exponent == 1:
        return base
    if exponent == Fraction(1, 2):
        return call("sqrt", base)
    return call("**", base, number(exponent))


def number(value: Exponent) -> Expression:
    """Return a number, a fraction as a quotient."""
    if isinstance(value, Fraction) and value.denominator > 1:
        found = call("/", Number(float(abs(value.numerator))), Number(float(value.denominator)))
        return call("negate", found) if value < 0 else found
    return Number(float(value)) if value >= 0 else call("negate", Number(float(-value)))


def product(factors: Iterable[tuple[Expression, Exponent]]) -> Expression:
    """Return a product of powers as a quotient, without negative exponents."""
    above: list[tuple[Expression, Exponent]] = []
    below: list[tuple[Expression, Exponent]] = []
    for base, exponent in factors:
        if base == ONE or exponent == 0:
            continue
        size = -exponent if exponent < 0 else exponent
        (above if exponent > 0 else below).append((base, size))
    if below and above and len({e for _, e in above + below}) == 1 and above[0][1] > 1:
        exponent = above[0][1]
        return power(
            product([(b, 1.0) for b, _ in above] + [(b, -1.0) for b, _ in below]), exponent
        )
    over, under = _multiplied(above), _multiplied(below)
    if under is None:
        return over or ONE
    return call("/", over or ONE, under)


def _multiplied(factors: Sequence[tuple[Expression, Exponent]]) -> Expression | None:
    found: Expression | None = None
    for base, exponent in factors:
        one = power(base, exponent)
        found = one if found is None else call("*", found, one)
    return found


def int_bits(value: int) -> float:
    """Return the bits of the Elias gamma code of a positive number."""
    return 2 * math.floor(math.log2(value)) + 1 if value else 1


@lru_cache(maxsize=4096)
def number_bits(value: float) -> float:
    """Return the bits of a number in a formula: of whole numbers by size, of others by digits."""
    size = abs(value)
    if size.is_integer() and size < 1e6:
        found = int_bits(int(size))
        digits = len(f"{size:g}".rstrip("0")) if size else 1
        return min(found, DIGIT_BITS * digits + DECIMAL_BITS)
    mantissa, _, exponent = f"{size:.15e}".partition("e")
    digits = len(mantissa.rstrip("0").replace(".", ""))
    return DIGIT_BITS * digits + DECIMAL_BITS + abs(int(exponent))


def price(tree: Expression, columns: int) -> float:
    """Return the description length of a formula in bits.

    Args:
        tree: The formula. Free constants cost nothing.
        columns: The number of columns that it may use.
    """
    name_bits = math.log2(columns + NAMES)
    bits, waiting = 0.0, [tree]
    while waiting:
        match waiting.pop():
            case Number(value):
                bits += number_bits(value)
            case Constant():
                bits += CONSTANT_BITS
            case Column() | Text():
                bits += name_bits
            case FreeConstant():
                pass
            case Operation(name, operands):
                bits += FUNCTION_BITS.get(name, OPERATOR_BITS)
                waiting += operands
    return bits
