"""The Python source of fitted formulas, as a person would write it, and the digits of their constants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from .terms import MULTIPLICATIVE, Term

PLAIN_DENOMINATOR = 12
MAX_PLACES = 4  # decimals of outputs that are rounded


def digits_of(value: Fraction) -> int:
    """Return how many digits a constant has, as a fraction or as a decimal; 0 and 1 have none."""
    if value in (0, 1):
        return 0
    top, bottom = abs(value.numerator), value.denominator
    ratio = (len(str(top)) if top > 1 else 0) + len(str(bottom)) if bottom > 1 else len(str(top))
    decimal = decimal_of(abs(value))
    if decimal is None:
        return ratio + (bottom > PLAIN_DENOMINATOR)
    return min(ratio, len(decimal.removeprefix("0").replace(".", "")))


def decimal_of(value: Fraction) -> str | None:
    """Return a fraction as a short decimal, or None if it has none."""
    for places in range(MAX_PLACES + 1):
        if (value * 10**places).denominator == 1:
            return str(int(value)) if places == 0 else f"{float(value):.{places}f}"
    return None


def linear_source(
    terms: Sequence[Term], factors: Sequence[Fraction], base: Fraction, integral: bool
) -> str | None:
    """Return the template of a sum of terms, or None if it has no plain one.

    Args:
        terms: the terms.
        factors: the factor of each.
        base: what is added.
        integral: whether the values are integers.
    """
    common = math.lcm(*(one.denominator for one in (*factors, base)))
    all_whole = all(one.is_whole for one in terms)
    if integral:
        if not all_whole:
            return None
        if common > 1:
            inner = _sum(terms, [one * common for one in factors], base * common)
            single = len(terms) == 1 and not base
            return f"{inner} // {common}" if single else f"({inner}) // {common}"
        return _sum(terms, factors, base)
    decimals = all(decimal_of(abs(one)) is not None for one in (*factors, base))
    if common > 1 and (not decimals or common <= 4) and common < 100:
        inner = _sum(terms, [one * common for one in factors], base * common)
        single = len(terms) == 1 and not base
        return f"{inner} / {common}" if single else f"({inner}) / {common}"
    if decimal_of(abs(base)) is None:
        return None
    found = _sum(terms, factors, base)
    return f"float({found})" if all_whole and common == 1 else found


def _sum(terms: Sequence[Term], factors: Sequence[Fraction], base: Fraction) -> str:
    alike = len(terms) > 1 and len(set(factors)) == 1 and factors[0] != 1
    if alike and not base:
        inner = " + ".join(slot_of(one, place) for place, one in enumerate(terms))
        if factors[0] == -1:
            return f"-({inner})"
        return f"{source_of_number(factors[0])} * ({inner})"
    ordered = sorted(range(len(terms)), key=lambda place: factors[place] < 0)
    pieces = [(factors[place], slot_of(terms[place], place), True) for place in ordered]
    if base:
        at = 0 if pieces[0][0] < 0 < base else len(pieces)
        pieces.insert(at, (base, "", False))
    text = ""
    for factor, slot, of_term in pieces:
        size = _times(abs(factor), slot) if of_term else source_of_number(abs(factor))
        if not text:
            text = size if factor > 0 else f"-{size}"
        else:
            text += f" + {size}" if factor > 0 else f" - {size}"
    return text


def slot_of(one: Term, place: int) -> str:
    """Return the place of a term in a source, in parentheses where it needs them."""
    operation = one.of.operation
    free = operation is not None and operation.name in MULTIPLICATIVE
    return f"{{{place}:free}}" if free else f"{{{place}}}"


def _times(factor: Fraction, slot: str) -> str:
    if factor == 1:
        return slot
    if factor.numerator == 1 and str(factor.denominator).strip("0") == "1":
        return f"{slot} / {factor.denominator}"
    if decimal_of(factor) is not None:
        return f"{source_of_number(factor)} * {slot}"
    if factor.numerator == 1:
        return f"{slot} / {factor.denominator}"
    return f"{slot} * {factor.numerator} / {factor.denominator}"


def source_of_number(value: Fraction) -> str:
    """Return the source of a constant."""
    return decimal_of(value) or f"{value.numerator} / {value.denominator}"
