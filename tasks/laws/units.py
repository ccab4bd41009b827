"""Dimensions of units that people write, such as `m/s^2`, `J / (mol K)`, `kg m2` or `µm`.

A dimension is a mapping from base dimensions, such as "length" and "time", to exponents; a number
without a unit has the dimension {}. Pint knows each unit by its name, with prefixes. Products, quotients
and powers are read here, since Pint would compute any power in a text and does not read `m s-1`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from ...tools.formulas import Dimension, add_dimensions
from ..io.messages import shorten, warn

if TYPE_CHECKING:
    import pint

Exponents: TypeAlias = dict[str, int | float]
LONGEST = 60  # characters of a unit
LARGEST_EXPONENT = 12
LARGEST_DENOMINATOR = 4
# What stands for "no unit", and words that Pint takes for units of print and for a picohenry.
DIMENSIONLESS = frozenset(
    {"", "-", "–", "—", "%", "‰", "none", "ph", "point", "points", "score", "scores"}
)

_SUPERSCRIPTS = re.compile("[⁻⁰¹²³⁴-⁹]+")
_PLAIN_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_SIGNS = str.maketrans({"·": "*", "⋅": "*", "×": "*", "−": "-", "μ": "µ"})
_PRESSURES = re.compile(r"\b(mm|in) Hg\b")
_POWER = r"(?:\s*(?:\^|\*\*)\s*)"
_VALUE = r"(?:\([+-]?\d+(?:[./]\d+)?\)|[+-]?\d+(?:\.\d+)?)"
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?:{_POWER}{_VALUE})?"
    rf"|(?P<name>[°%‰]?[^\W\d_]+|[°%‰]|\))(?P<power>{_POWER}?{_VALUE})?"
    r"|(?P<sign>\*(?!\*)|[./(]))\s*"
)


def read_dimensions(units: Mapping[str, str]) -> dict[str, Exponents]:
    """Return the dimension of each column whose unit is known, and warn once about all other units.

    Args:
        units: The units of columns by name, as text.
    """
    found = {name: read_dimension(unit) for name, unit in units.items()}
    unknown = [name for name, one in found.items() if one is None]
    if unknown:
        listed = ", ".join(
            f"{shorten(units[name], 30)!r} of {shorten(name, 30)!r}" for name in unknown
        )
        verb = "the units {} are not known; the columns" if len(unknown) > 1 else "the unit {} is not known; the column"  # fmt: skip
        warn(f"{verb.format(listed)} may have any dimension")
    return {name: one for name, one in found.items() if one is not None}


def read_dimension(unit: str) -> Exponents | None:
    """Return the dimension of a unit, with exponents by base dimension, or None if it is not known."""
    text = _PRESSURES.sub(r"\1Hg", " ".join(unit.split()).translate(_SIGNS))
    if text.casefold() in DIMENSIONLESS:
        return {}
    if len(text) > LONGEST:
        return None
    plain = _SUPERSCRIPTS.sub(lambda found: "^" + found[0].translate(_PLAIN_DIGITS), text)
    tokens: list[re.Match[str]] = []
    place = 0
    while place < len(plain):
        token = _TOKEN.match(plain, place)
        if token is None:
            return None
        tokens.append(token)
        place = token.end()
    try:
        found, end = _read_product(tokens, 0)
    except _UnknownUnit:
        return None
    if end < len(tokens):
        return None
    return {name: int(e) if e.denominator == 1 else float(e) for name, e in sorted(found.items())}


class _UnknownUnit(Exception):
    """Raised for a text that is no unit."""


def _read_product(tokens: list[re.Match[str]], place: int) -> tuple[Dimension, int]:
    """Return the dimension of a product that begins at a token, and the place after it.

    A quotient divides by the next factor only, as in Python.
    """
    found: Dimension = {}
    side, count = 1, 0
    while place < len(tokens) and tokens[place]["name"] != ")":
        token = tokens[place]
        place += 1
        if token["number"]:  # a factor, as in g / 100 mL
            count += 1
            continue
        if token["sign"] in ("*", ".", "/") or token["name"] == "per":
            if side < 0 or (not count and token["sign"] in ("*", ".")):
                raise _UnknownUnit
            side = 1 if token["sign"] in ("*", ".") else -1
            continue
        power = token["power"]
        if token["sign"] == "(":
            factor, place = _read_product(tokens, place)
            if place == len(tokens):
                raise _UnknownUnit
            power = tokens[place]["power"]
            place += 1
        else:
            factor = _look_up(token["name"])
        found = add_dimensions(found, factor, side * _read_power(power))
        side, count = 1, count + 1
    if not count or side < 0:
        raise _UnknownUnit
    return found, place


def _read_power(text: str | None) -> Fraction:
    if not text:
        return Fraction(1)
    try:
        found = Fraction(text.strip(" ^*()"))
    except (ValueError, ZeroDivisionError):
        raise _UnknownUnit from None
    if abs(found) > LARGEST_EXPONENT or found.denominator > LARGEST_DENOMINATOR:
        raise _UnknownUnit
    return found


@cache
def _registry() -> pint.UnitRegistry[float]:
    from pint import UnitRegistry

    return UnitRegistry()


def _look_up(name: str) -> Dimension:
    if name.casefold() in DIMENSIONLESS:
        return {}
    from pint.errors import UndefinedUnitError

    for written in dict.fromkeys([name, name.casefold() if len(name) > 3 else name]):
        try:
            found = _registry().parse_units(written).dimensionality
        except (UndefinedUnitError, ValueError):
            continue
        return {
            base.strip("[]"): Fraction(str(power)).limit_denominator(LARGEST_DENOMINATOR)
            for base, power in found.items()
        }
    raise _UnknownUnit
