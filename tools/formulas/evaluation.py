"""Evaluate a formula on all rows of a table at once, with NumPy, and its derivatives by its free
constants.

Values follow the floating-point standard: the square root of a negative number is NaN, and a division
by zero is infinite or NaN. A law predicts nothing for a row in which its value is not finite. The
result of a comparison is 1.0 or 0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .expressions import CONSTANTS, Column, Constant, Expression, FreeConstant, Number, Operation
from .expressions import Text as TextValue

Floats: TypeAlias = NDArray[np.float64]
# By identifier: float64 arrays of shape (n,) for numbers, arrays of texts of shape (n,) for categories.
Columns: TypeAlias = Mapping[str, NDArray[Any]]

_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "arcsin": np.arcsin, "arccos": np.arccos, "arctan": np.arctan, "tanh": np.tanh, "abs": np.abs,
    "negate": np.negative, "not": lambda value: (value == 0) * 1.0,
}  # fmt: skip
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    "==": np.equal, "!=": np.not_equal,
    "and": lambda a, b: (a != 0) & (b != 0), "or": lambda a, b: (a != 0) | (b != 0),
}  # fmt: skip
# The derivative of a function at x, where its value is y.
_DERIVATIVES: Mapping[str, Callable[[Any, Any], Any]] = {
    "sqrt": lambda x, y: 0.5 / y, "exp": lambda x, y: y, "log": lambda x, y: 1 / x,
    "sin": lambda x, y: np.cos(x), "cos": lambda x, y: -np.sin(x), "tan": lambda x, y: 1 + y * y,
    "arcsin": lambda x, y: 1 / np.sqrt(1 - x * x), "arccos": lambda x, y: -1 / np.sqrt(1 - x * x),
    "arctan": lambda x, y: 1 / (1 + x * x), "tanh": lambda x, y: 1 - y * y,
    "abs": lambda x, y: np.sign(x), "negate": lambda x, y: np.full_like(y, -1.0),
}  # fmt: skip


def count_rows(columns: Columns) -> int:
    """Return the number of rows of a table; 1 for a table without columns."""
    return len(next(iter(columns.values()))) if columns else 1


def evaluate_formula(
    expression: Expression, columns: Columns, constants: Mapping[str, float] | None = None
) -> Floats:
    """Return the value of a formula in each row, as a float64 array of shape (n,).

    Args:
        expression: The formula.
        columns: The n values of each column, by identifier.
        constants: The values of its free constants, by name.

    Returns:
        The values. They are NaN or infinite where the formula is undefined.

    Raises:
        KeyError: The formula uses a column or a free constant without values.
    """
    with np.errstate(all="ignore"):
        found = np.asarray(_evaluate(expression, columns, constants or {}), np.float64)
    return np.array(np.broadcast_to(found, (count_rows(columns),)))


def _evaluate(expression: Expression, columns: Columns, constants: Mapping[str, float]) -> Any:
    match expression:
        case Number(value):
            return np.float64(value)
        case Constant(name):
            return np.float64(CONSTANTS[name])
        case Column(name):
            return columns[name]
        case FreeConstant(name):
            return np.float64(constants[name])
        case TextValue(value):
            return value
        case Operation("where", (condition, yes, no)):
            holds = _evaluate(condition, columns, constants) != 0
            sides = _evaluate(yes, columns, constants), _evaluate(no, columns, constants)
            return np.where(holds, *sides)
        case Operation(name, operands):
            values = [_evaluate(one, columns, constants) for one in operands]
            if len(values) == 1:
                return _FUNCTIONS[name](values[0])
            return np.asarray(_OPERATORS[name](*values), np.float64)


def differentiate_formula(
    expression: Expression, columns: Columns, constants: Mapping[str, float]
) -> tuple[Floats, Floats]:
    """Return the value of a formula in each row, and its derivatives by its free constants.

    The derivatives are computed by forward-mode automatic differentiation.

    Args:
        expression: The formula.
        columns: The n values of each column, by identifier.
        constants: The values of the k free constants, by name.

    Returns:
        The values, of shape (n,), and the derivatives, of shape (k, n), in the order of `constants`.
    """
    rows = count_rows(columns)
    places = {name: place for place, name in enumerate(constants)}
    with np.errstate(all="ignore"):
        value, slopes = _differentiate(expression, columns, constants, places)
    found = np.zeros((len(places), rows))
    for place, slope in slopes.items():
        found[place] = slope
    return np.array(np.broadcast_to(np.asarray(value, np.float64), (rows,))), found


Slopes: TypeAlias = dict[int, Any]  # the derivative by the free constant with this place


def _differentiate(
    expression: Expression,
    columns: Columns,
    constants: Mapping[str, float],
    places: Mapping[str, int],
) -> tuple[Any, Slopes]:
    """Return the value of an expression and its derivatives that are not zero everywhere."""
    if isinstance(expression, FreeConstant):
        return np.float64(constants[expression.name]), {places[expression.name]: 1.0}
    if not isinstance(expression, Operation):
        return _evaluate(expression, columns, constants), {}
    name, operands = expression.name, expression.operands
    parts = [_differentiate(one, columns, constants, places) for one in operands]
    values, slopes = [value for value, _ in parts], [slope for _, slope in parts]
    if name == "where":
        holds = values[0] != 0
        changed = {
            place: np.where(holds, slopes[1].get(place, 0.0), slopes[2].get(place, 0.0))
            for place in {**slopes[1], **slopes[2]}
        }
        return np.where(holds, values[1], values[2]), changed
    if len(values) == 1:
        value = _FUNCTIONS[name](values[0])
        if not slopes[0] or name not in _DERIVATIVES:
            return value, {}
        factor = _DERIVATIVES[name](values[0], np.asarray(value, np.float64))
        return value, {place: factor * slope for place, slope in slopes[0].items()}
    value = np.asarray(_OPERATORS[name](*values), np.float64)
    a, b = values
    factors = _partial_derivatives(name, a, b, value, bool(slopes[0]), bool(slopes[1]))
    combined: Slopes = {}
    for factor, own in zip(factors, slopes, strict=True):
        for place, slope in own.items() if factor is not None else ():
            combined[place] = combined.get(place, 0.0) + factor * slope
    return value, combined


def _partial_derivatives(
    name: str, a: Any, b: Any, value: Any, first: bool, second: bool
) -> tuple[Any, Any]:
    """Return the derivatives of an operation by its operands; None where it is 0 or not needed."""
    match name:
        case "+":
            return 1.0, 1.0
        case "-":
            return 1.0, -1.0
        case "*":
            return b, a
        case "/":
            return (1 / b if first else None), (-value / b if second else None)
        case "**":
            by_base = b * np.power(a, b - 1) if first else None
            # 0 ** b is constant in b
            by_exponent = np.where(a == 0, 0.0, value * np.log(a)) if second else None
            return by_base, by_exponent
    return None, None
