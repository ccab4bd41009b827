"""Dimensional analysis of formulas: whether their terms and arguments have the dimensions that they need.

A dimension is a mapping from base dimensions to exponents without zeros, such as {"length": 1, "time": -2}.
Terms of a sum need one dimension, arguments of functions such as exp none. A table often lacks constants of
nature, such as g or R. Where dimensions do not agree, a number in the formula must therefore be a constant with a
dimension: `missing_dimensions` lists these dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from .expressions import COMPARISONS, LOGICAL, Column, Expression, Number, Operation

Dimension: TypeAlias = Mapping[str, Fraction]
LARGEST_DENOMINATOR = 12  # of exponents


@dataclass(frozen=True)
class Dimensions:
    """The dimensions of the columns of a table.

    Attributes:
        columns: By identifier; a column with an unknown dimension is absent.
        target: That of the target; None if it is unknown.
    """

    columns: Mapping[str, Dimension]
    target: Dimension | None


def to_dimension(exponents: Mapping[str, float]) -> Dimension:
    """Return a dimension with exact exponents, without zeros."""
    found = {
        name: Fraction(e).limit_denominator(LARGEST_DENOMINATOR) for name, e in exponents.items()
    }
    return {name: e for name, e in found.items() if e}


def add_dimensions(a: Dimension, b: Dimension, times: Fraction | int = 1) -> Dimension:
    """Return the dimension of a product: of `a` and of `b` to the power `times`."""
    found = {
        name: a.get(name, Fraction(0)) + times * b.get(name, Fraction(0)) for name in {**a, **b}
    }
    return {name: e for name, e in found.items() if e}


def format_dimension(dimension: Dimension) -> str:
    """Return a dimension as text, such as `length / time^2`."""

    def write(power: Iterable[tuple[str, Fraction]]) -> str:
        return " ".join(name if e == 1 else f"{name}^{e if e.denominator == 1 else f'({e})'}" for name, e in power)  # fmt: skip

    above = write((name, e) for name, e in sorted(dimension.items()) if e > 0)
    below = write((name, -e) for name, e in sorted(dimension.items()) if e < 0)
    if below:
        return f"{above or '1'} / {f'({below})' if ' ' in below else below}"
    return above or "none"


def find_dimension(law: Expression, dimensions: Dimensions) -> Dimension | None:
    """Return the dimension of a formula, or None if it is unknown."""
    return _Reader(dimensions).read(law, None)


def missing_dimensions(law: Expression, dimensions: Dimensions) -> list[Dimension]:
    """Return the dimensions that constants must have, so that the dimensions of a law agree.

    The list is empty if they agree, or could agree for some dimensions of the columns whose dimensions
    are unknown.
    """
    reader = _Reader(dimensions)
    found = reader.read(law, dimensions.target)
    reader.demand(dimensions.target, found)
    return reader.missing


class _Reader:
    """Finds the dimension of a formula, and collects those that constants in it must have."""

    def __init__(self, dimensions: Dimensions) -> None:
        self.columns = dimensions.columns
        self.missing: list[Dimension] = []

    def demand(self, wanted: Dimension | None, got: Dimension | None) -> None:
        """Add the dimension of a constant that makes `got` to `wanted`, if they are known and differ."""
        if wanted is not None and got is not None and (needed := add_dimensions(wanted, got, -1)):
            self.missing.append(needed)

    def read(self, tree: Expression, wanted: Dimension | None) -> Dimension | None:
        """Return the dimension of a formula, None if it is unknown.

        Args:
            tree: The formula.
            wanted: The dimension that the terms of a sum should have; None for that of its first term.
        """
        match tree:
            case Column(name):
                return self.columns.get(name)
            case Operation("negate" | "abs", (operand,)):
                return self.read(operand, wanted)
            case Operation("+" | "-"):
                return self._read_terms(_terms(tree), wanted)
            case Operation("where", (condition, yes, no)):
                self.read(condition, None)
                return self._read_terms([yes, no], wanted)
            case Operation("*" | "/" as name, (left, right)):
                above, below = self.read(left, None), self.read(right, None)
                if above is None or below is None:
                    return None
                return add_dimensions(above, below, 1 if name == "*" else -1)
            case Operation("sqrt", (operand,)):
                return self._power(self.read(operand, None), Fraction(1, 2))
            case Operation("**", (base, exponent)):
                inner = self.read(base, None)
                if (power := _constant_value(exponent)) is not None:
                    return self._power(inner, power)
                self.demand({}, inner)
                self.demand({}, self.read(exponent, {}))
                return {}
            case Operation(name, operands) if name in COMPARISONS:
                self._read_terms(operands, None)
                return {}
            case Operation(name, operands):  # of logic, or a function
                for one in operands:
                    inner = self.read(one, {})
                    if name not in LOGICAL:
                        self.demand({}, inner)
                return {}
        return {}

    def _read_terms(
        self, terms: Iterable[Expression], wanted: Dimension | None
    ) -> Dimension | None:
        found = [(one, self.read(one, wanted)) for one in terms]
        own = [dimension for one, dimension in found if _has_column(one)]
        if wanted is None or wanted not in own:
            if None in own:
                return None
            wanted = own[0] if len(own) == len(found) else {}  # of 1 + v / 5, not l + t
        for _, dimension in found:
            self.demand(wanted, dimension)
        return wanted

    def _power(self, base: Dimension | None, power: Fraction) -> Dimension | None:
        return None if base is None else add_dimensions({}, base, power)


def _terms(tree: Expression) -> list[Expression]:
    if isinstance(tree, Operation) and tree.name in ("+", "-") and len(tree.operands) == 2:
        return [one for operand in tree.operands for one in _terms(operand)]
    return [tree]


def _has_column(tree: Expression) -> bool:
    if isinstance(tree, Operation):
        return any(map(_has_column, tree.operands))
    return isinstance(tree, Column)


def _constant_value(tree: Expression) -> Fraction | None:
    """Return the value of an exponent that is a number, a quotient of numbers or one with a sign."""
    match tree:
        case Number(value) if math.isfinite(value):
            return Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
        case Operation("negate", (operand,)):
            inner = _constant_value(operand)
            return None if inner is None else -inner
        case Operation("/", (left, right)):
            above, below = _constant_value(left), _constant_value(right)
            return above / below if above is not None and below else None
    return None
