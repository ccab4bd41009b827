"""Fit the constants of a law, and find the numbers that they stand for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tools.description_length import law_bits
from ...tools.formulas import (
    Dimensions,
    Expression,
    FreeConstant,
    Number,
    Operation,
    differentiate_formula,
    evaluate_formula,
    list_free_constants,
)
from .constants import find_meaning
from .scan import data_bits

Floats = NDArray[np.float64]
STEPS, MORE_STEPS = 12, 5
CONVERGED = 1e-13  # relative change of the sum of squares


@dataclass(frozen=True)
class Table:
    """Rows that laws are fitted to.

    Attributes:
        columns: The n values of each column, by identifier.
        target: The values that laws have, (n,).
        variables: How many columns laws may use.
        dimensions: The dimensions of the columns; None if they are not known.
    """

    columns: Mapping[str, NDArray[np.generic]]
    target: Floats
    variables: int
    dimensions: Dimensions | None = None

    @property
    def variance(self) -> float:
        """The variance of the target."""
        return float(self.target.var())


@dataclass(frozen=True)
class Law:
    """A formula without free constants, with what it costs.

    Attributes:
        tree: The formula.
        bits: Its description length and that of its residuals.
        own_bits: Its description length alone.
        squares: The sum of the squares of its residuals.
    """

    tree: Expression
    bits: float
    own_bits: float
    squares: float


def measure(tree: Expression, table: Table) -> Law | None:
    """Return a law with its costs, or None if it is undefined in some row."""
    residuals = evaluate_formula(tree, table.columns) - table.target
    with np.errstate(over="ignore", invalid="ignore"):
        squares = float(residuals @ residuals)
    if not math.isfinite(squares):
        return None
    own = law_bits(tree, table.variables, table.dimensions)
    return Law(tree, own + float(data_bits(squares, len(residuals), table.variance)), own, squares)


@np.errstate(over="ignore", invalid="ignore")
def refine(tree: Expression, start: Mapping[str, float], table: Table) -> Law | None:
    """Return the law that a formula with free constants becomes when they are fitted and written short.

    One constant after the other is replaced by the number that it most likely stands for, the surest
    first; after each, the others are fitted again.

    Args:
        tree: The formula.
        start: The values from which its constants are fitted.
        table: The rows.
    """
    free = list_free_constants(tree)
    values = {name: start[name] for name in free}
    fitted = _fit(tree, values, table, STEPS)
    while fitted is not None and free:
        values, squares, jacobian = fitted
        normal = jacobian @ jacobian.T
        if not np.isfinite(normal).all():  # the decomposition of such a matrix may never end
            return None
        noise = squares / max(len(table.target) - len(free), 1)
        errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(normal)), 0) * noise)
        meanings = {
            name: find_meaning(values[name], float(error))
            for name, error in zip(free, errors, strict=True)
        }
        surest = min(free, key=lambda name: meanings[name].bits)
        tree = substitute(tree, surest, meanings[surest].tree)
        free = list_free_constants(tree)
        fitted = _fit(tree, {name: values[name] for name in free}, table, MORE_STEPS)
    return None if fitted is None else measure(tree, table)


Fitted = tuple[dict[str, float], float, Floats]


@np.errstate(over="ignore", invalid="ignore")
def _fit(tree: Expression, values: dict[str, float], table: Table, steps: int) -> Fitted | None:
    """Return fitted constants, the sum of squares and the derivatives, by the Levenberg-Marquardt method."""
    value, slopes = differentiate_formula(tree, table.columns, values)
    left = table.target - value
    with np.errstate(over="ignore", invalid="ignore"):
        squares = float(left @ left)
    if not (math.isfinite(squares) and np.isfinite(slopes).all()):
        return None
    damping = 1e-4
    for _ in range(steps if values else 0):
        normal, slope = slopes @ slopes.T, slopes @ left
        while damping < 1e8:
            step = _solve(normal + damping * np.diag(np.diag(normal) + 1e-300), slope)
            tried = {name: v + float(s) for (name, v), s in zip(values.items(), step, strict=True)}
            value, new_slopes = differentiate_formula(tree, table.columns, tried)
            new_left = table.target - value
            with np.errstate(over="ignore", invalid="ignore"):
                new_squares = float(new_left @ new_left)
            if new_squares <= squares and np.isfinite(new_slopes).all():
                break
            damping *= 10
        else:
            break
        done = squares - new_squares <= CONVERGED * squares
        values, left, slopes, squares = tried, new_left, new_slopes, new_squares
        damping = max(damping / 10, 1e-12)
        if done:
            break
    return values, squares, slopes


def _solve(matrix: Floats, vector: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(matrix, vector), np.float64)
    except np.linalg.LinAlgError:
        return np.zeros(len(vector))


def substitute(tree: Expression, name: str, value: Expression) -> Expression:
    """Return a formula with a formula for one of its free constants; factors of 1 are left out."""
    if isinstance(tree, FreeConstant):
        return value if tree.name == name else tree
    if not isinstance(tree, Operation):
        return tree
    return simplify(Operation(tree.name, tuple(substitute(o, name, value) for o in tree.operands)))


def simplify(tree: Operation) -> Expression:
    """Return an operation without factors of 1, terms of 0 and double signs."""
    one, zero = Number(1.0), Number(0.0)
    match tree:
        case Operation("*", (a, b)) if a == one:
            return b
        case Operation("*", (a, b)) if b == one:
            return a
        case Operation("/", (a, b)) if b == one:
            return a
        case Operation("*", (a, b)) if zero in (a, b):
            return zero
        case Operation("/", (a, _)) if a == zero:
            return zero
        case Operation("+", (a, b)) if a == zero:
            return b
        case Operation("+" | "-", (a, b)) if b == zero:
            return a
        case Operation("+", (a, Operation("negate", (b,)))):
            return Operation("-", (a, b))
        case Operation("-", (a, Operation("negate", (b,)))):
            return Operation("+", (a, b))
        case Operation("+", (Operation("negate", (a,)), b)):
            return Operation("-", (b, a))
        case Operation("*" | "/" as name, (Operation("negate", (a,)), b)):
            return Operation("negate", (simplify(Operation(name, (a, b))),))
        case Operation("*", (Operation("/", (a, b)), c)):  # 1 / 2 * m as m / 2
            return simplify(Operation("/", (simplify(Operation("*", (a, c))), b)))
        case Operation("/", (Operation("/", (a, b)), c)):
            return Operation("/", (a, simplify(Operation("*", (b, c)))))
        case Operation("negate", (Operation("negate", (a,)),)):
            return a
    return tree


def constants(start: Sequence[float]) -> tuple[list[Expression], dict[str, float]]:
    """Return free constants with the values from which they are fitted."""
    names = [f"c{place}" for place in range(len(start))]
    return [FreeConstant(name) for name in names], dict(zip(names, map(float, start), strict=True))
