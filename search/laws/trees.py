"""Build formulas as people write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from ...tools.formulas import Constant, Expression, Number, Operation

ONE, TWO, PI = Number(1.0), Number(2.0), Constant("pi")
Exponent = Fraction | float


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
