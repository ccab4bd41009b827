"""Fit the constants of a law, and find the numbers that they stand for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
    residual_bits,
)
from .constants import find_exponents, find_meanings
from .scan import LEAST_SQUARES, data_bits

Floats = NDArray[np.float64]
STEPS, MORE_STEPS = 12, 5
CONVERGED = 1e-13  # relative change of the sum of squares
Fitted = tuple[dict[str, float], float, Floats]  # constants, sum of squares, derivatives


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
    spread = math.sqrt(table.variance) or 1.0
    bits = own + residual_bits(residuals, spread, math.sqrt(LEAST_SQUARES) * spread)
    return Law(tree, bits, own, squares)


@dataclass(frozen=True)
class Fit:
    """A formula of which some constants are replaced by the numbers that they stand for.

    Attributes:
        tree: The formula.
        own_bits: The description length of the formula without the other constants.
        squares: The sum of the squares of the residuals.
        least_bits: `own_bits` and those of the residuals: no law that comes of this formula is shorter.
        values: The other constants.
        jacobian: The derivatives by them, (constants, n).
    """

    tree: Expression
    own_bits: float
    squares: float
    least_bits: float
    values: Mapping[str, float]
    jacobian: Floats


def start_fit(tree: Expression, start: Mapping[str, float], table: Table) -> Fit | None:
    """Fit the free constants of a formula; None if it is not defined in all rows.

    Args:
        tree: The formula.
        start: The values from which its constants are fitted.
        table: The rows.
    """
    return _fit_tree(tree, {name: start[name] for name in list_free_constants(tree)}, table, STEPS)


def _fit_tree(tree: Expression, values: dict[str, float], table: Table, steps: int) -> Fit | None:
    fitted = _fit(tree, values, table, steps)
    if fitted is None:
        return None
    own = law_bits(tree, table.variables)
    bits = own + float(data_bits(fitted[1], len(table.target), table.variance))
    return Fit(tree, own, fitted[1], bits, fitted[0], fitted[2])


@np.errstate(over="ignore", invalid="ignore")
def refine(fit: Fit, table: Table, beam: int = 1) -> Law | None:
    """Return the law that a formula with fitted constants becomes when they are written short.

    One constant after the other is replaced by a number that it likely stands for, the surest first;
    after each, the others are fitted again.

    Args:
        fit: The formula.
        table: The rows.
        beam: How many choices of numbers are followed at a time.
    """
    states = [fit]
    for _ in fit.values:
        found: dict[Expression, Fit] = {}
        for state in states:
            for one in _fix_surest(state, table, beam):
                found.setdefault(one.tree, one)
        states = sorted(found.values(), key=lambda one: one.least_bits)[:beam]
    laws = [law for one in states if (law := measure(one.tree, table)) is not None]
    return min(laws, key=lambda one: one.bits, default=None)


def _fix_surest(fit: Fit, table: Table, count: int) -> Iterator[Fit]:
    """Yield a formula with the surest of its free constants replaced, by up to `count` numbers."""
    free = list(fit.values)
    if not free:
        yield fit
        return
    # smaller residuals are what arithmetic loses, of which no constant may consist
    least = LEAST_SQUARES * table.variance
    noise = max(fit.squares / max(len(table.target) - len(free), 1), least)
    errors = _standard_errors(fit.jacobian, noise)
    meanings = {
        name: (find_exponents if is_exponent(name) else find_meanings)(
            fit.values[name], float(error), count
        )
        for name, error in zip(free, errors, strict=True)
    }
    surest = min(free, key=lambda name: meanings[name][0].bits)
    for meaning in meanings[surest]:
        tree = substitute(fit.tree, surest, meaning.tree)
        values = {name: fit.values[name] for name in list_free_constants(tree)}
        found = _fit_tree(tree, values, table, MORE_STEPS)
        if found is not None:
            yield found


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


def _standard_errors(slopes: Floats, noise: float) -> Floats:
    """Return the standard errors of constants, (k,), of the derivatives by them, (k, n)."""
    sizes = np.max(np.abs(slopes), axis=1)
    sizes[sizes == 0] = 1.0
    shares = slopes / sizes[:, None]  # whose products are finite: LAPACK may not end otherwise
    inverse = np.linalg.pinv(shares @ shares.T)
    found: Floats = np.sqrt(np.maximum(np.diag(inverse), 0) * noise) / sizes
    return found


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
        case Operation("**", (a, Number(1.0))):
            return a
        case Operation("**", (_, Number(0.0))):
            return one
        case Operation("**", (Number(1.0), _)):
            return one
        case Operation("**", (a, Operation("/", (Number(1.0), Number(2.0))))):
            return Operation("sqrt", (a,))
        case Operation("*", (a, b)) if zero in (a, b):
            return zero
        case Operation("/", (a, _)) if a == zero:
            return zero
        case Operation("+", (a, b)) if a == zero:
            return b
        case Operation("+" | "-", (a, b)) if b == zero:
            return a
        case Operation("-", (a, b)) if a == zero:
            return simplify(Operation("negate", (b,)))
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
        case Operation("negate" | "sin", (a,)) if a == zero:
            return zero
        case Operation("exp" | "cos", (a,)) if a == zero:
            return one
    return tree


def is_exponent(name: str) -> bool:
    """Return whether a free constant is an exponent."""
    return name.startswith("e")


def constants(start: Sequence[float]) -> tuple[list[Expression], dict[str, float]]:
    """Return free constants with the values from which they are fitted."""
    names = [f"c{place}" for place in range(len(start))]
    return [FreeConstant(name) for name in names], dict(zip(names, map(float, start), strict=True))
