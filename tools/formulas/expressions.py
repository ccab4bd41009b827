"""Expression trees of formulas, and their text.

A formula computes a number from the columns of a row, for example `0.5 * m * v ** 2`. Its text is a
Python expression, which parsing.py reads and `format_formula` writes:
`parse_formula(format_formula(tree))` returns an equal tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Number:
    """A number that is written in a formula."""

    value: float


@dataclass(frozen=True, slots=True)
class Constant:
    """A named number: `pi` or `e`."""

    name: str


@dataclass(frozen=True, slots=True)
class Column:
    """The value of a column, by the identifier of the column."""

    name: str


@dataclass(frozen=True, slots=True)
class FreeConstant:
    """A number that is still to be fitted: `c0`, `c1` and so on."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """A value of a column of categories; an operand of `==` and `!=` only."""

    value: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator or a function, with its operands.

    Attributes:
        name: A name in `ARITHMETIC`, `COMPARISONS`, `LOGICAL` or `FUNCTIONS`, "negate" or "where".
        operands: The operands in order; for "where" the condition, the value where it holds, and the
            value where it does not hold.
    """

    name: str
    operands: tuple[Expression, ...]


Expression: TypeAlias = Number | Constant | Column | FreeConstant | Text | Operation

CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e}
ARITHMETIC = ("+", "-", "*", "/", "**")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
LOGICAL = ("and", "or", "not")
FUNCTIONS = (
    "sqrt", "exp", "log", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "tanh", "abs",
)  # fmt: skip

# How strongly an operator binds its operands, as in Python.
_BINDING = {
    "or": 1, "and": 2, "not": 3, **dict.fromkeys(COMPARISONS, 4), "+": 5, "-": 5, "*": 6, "/": 6,
    "negate": 7, "**": 8,
}  # fmt: skip
_ATOM = 9
_LARGEST_WHOLE = 1e16  # larger whole numbers are written with an exponent


def format_number(value: float) -> str:
    """Return a number as text with the fewest digits that read back as the same float."""
    if value.is_integer() and abs(value) < _LARGEST_WHOLE:
        return str(int(value))
    return repr(value)


def format_formula(expression: Expression) -> str:
    """Return the text of a formula, with as few parentheses as possible."""
    return _written(expression)[0]


def _written(expression: Expression) -> tuple[str, int]:
    """Return the text of an expression, and how strongly its outermost operator binds."""
    match expression:
        case Number(value):
            binding = _BINDING["negate"] if math.copysign(1.0, value) < 0 else _ATOM
            return format_number(value), binding
        case Constant(name) | Column(name) | FreeConstant(name):
            return name, _ATOM
        case Text(value):
            return repr(value), _ATOM
        case Operation("negate" | "not" as name, (operand,)):
            sign = "-" if name == "negate" else "not "
            return sign + _enclosed(operand, _BINDING[name]), _BINDING[name]
        case Operation(name, (left, right)) if name in _BINDING:
            own = _BINDING[name]
            if name == "**":  # binds to the right, and less than a sign on its right
                sides = _enclosed(left, own + 1), _enclosed(right, _BINDING["negate"])
            elif name in COMPARISONS:
                sides = _enclosed(left, own + 1), _enclosed(right, own + 1)
            else:
                sides = _enclosed(left, own), _enclosed(right, own + 1)
            return f"{sides[0]} {name} {sides[1]}", own
        case Operation(name, operands):
            return f"{name}({', '.join(format_formula(one) for one in operands)})", _ATOM


def _enclosed(expression: Expression, least: int) -> str:
    """Return the text of an operand, in parentheses if it binds less strongly than `least`."""
    text, binding = _written(expression)
    return f"({text})" if binding < least else text


def iter_nodes(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all expressions inside it, in the order of their text."""
    yield expression
    if isinstance(expression, Operation):
        for one in expression.operands:
            yield from iter_nodes(one)


def list_numbers(expression: Expression) -> list[float]:
    """Return the numbers that are written in a formula, in the order of its text."""
    return [one.value for one in iter_nodes(expression) if isinstance(one, Number)]


def list_columns(expression: Expression) -> list[str]:
    """Return the identifiers of the columns that a formula uses, each once, in the order of its
    text.
    """
    return list(
        dict.fromkeys(one.name for one in iter_nodes(expression) if isinstance(one, Column))
    )


def list_free_constants(expression: Expression) -> list[str]:
    """Return the names of the free constants of a formula, each once, in the order of its text."""
    names = (one.name for one in iter_nodes(expression) if isinstance(one, FreeConstant))
    return list(dict.fromkeys(names))


def replace_numbers(expression: Expression, numbers: list[float]) -> Expression:
    """Return a formula with other numbers, which are given in the order of its text.

    Raises:
        ValueError: `numbers` has not as many items as the formula has numbers.
    """
    left = iter(numbers)
    if len(numbers) != len(list_numbers(expression)):
        raise ValueError(f"{len(numbers)} numbers for {len(list_numbers(expression))} in a formula")
    return _map_leaves(
        expression, lambda leaf: Number(float(next(left))) if isinstance(leaf, Number) else leaf
    )


def free_numbers(expression: Expression) -> tuple[Expression, dict[str, float]]:
    """Return a formula with its numbers replaced by free constants, and the value of each of them.

    The numbers become `c0`, `c1` and so on, in the order of the text. Names of columns and of free
    constants that the formula already has are skipped.
    """
    taken = {*list_columns(expression), *list_free_constants(expression)}
    values: dict[str, float] = {}
    number = -1

    def free(leaf: Expression) -> Expression:
        nonlocal number
        if not isinstance(leaf, Number):
            return leaf
        number += 1
        while f"c{number}" in taken:
            number += 1
        values[f"c{number}"] = leaf.value
        return FreeConstant(f"c{number}")

    return _map_leaves(expression, free), values


def fill_constants(expression: Expression, values: Mapping[str, float]) -> Expression:
    """Return a formula with numbers in place of those free constants that `values` names."""

    def fill(leaf: Expression) -> Expression:
        named = isinstance(leaf, FreeConstant) and leaf.name in values
        return Number(float(values[leaf.name])) if named else leaf  # type: ignore[union-attr]

    return _map_leaves(expression, fill)


def _map_leaves(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    if not isinstance(expression, Operation):
        return change(expression)
    operands = tuple(_map_leaves(one, change) for one in expression.operands)
    return Operation(expression.name, operands)
