"""Fit the free constants of a formula to data by least squares.

Constants in which the formula is linear are solved for exactly at each step (variable projection:
Golub and Pereyra, 1973, with the Jacobian of Kaufman, 1975). The other constants are improved by the
Levenberg-Marquardt method (Marquardt, 1963), from several starting points, with derivatives by
automatic differentiation. Rows in which the formula is undefined at a starting point are left out of
the fit from this point. Nothing is random: equal arguments give equal results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .evaluation import Columns, Floats, differentiate_formula, evaluate_formula
from .expressions import (
    Expression,
    FreeConstant,
    Operation,
    fill_constants,
    list_free_constants,
)

MAX_STEPS = 60  # of one starting point
MAX_STARTS = 24
DIGITS = 12  # significant digits of a fitted number; further digits differ between processors
_VALUES = (1.0, -1.0, 0.1, 3.0, -0.3, 10.0)  # of the constants at the starting points
_CONVERGED = 1e-13  # relative change of the sum of squares


@dataclass(frozen=True)
class Fit:
    """A formula whose free constants were fitted.

    Attributes:
        formula: The formula, with numbers in place of its free constants.
        constants: The fitted numbers, by the names of the free constants.
        rms: The root mean square of the residuals in the rows in which the formula is defined;
            infinite if it is defined in none.
        defined: The number of these rows.
    """

    formula: Expression
    constants: Mapping[str, float]
    rms: float
    defined: int


def fit_constants(
    formula: Expression,
    columns: Columns,
    target: Floats,
    starts: Sequence[Mapping[str, float]] = (),
) -> Fit:
    """Fit the free constants of a formula by least squares.

    Args:
        formula: The formula, with free constants `c0`, `c1` and so on, or without.
        columns: The n values of each column, by identifier.
        target: The values that the formula should have, of shape (n,).
        starts: Further starting points for the constants, which are tried first.

    Returns:
        The fit with the most defined rows, and among these the one with the smallest error.
    """
    names = list_free_constants(formula)
    linear = _find_linear(formula, names)
    problem = _Problem(formula, columns, target, names, linear)
    best: tuple[int, float, Floats] | None = None
    for start in _starting_points(names, problem.nonlinear, starts):
        found = problem.improve(start)
        if found is None:
            continue
        if best is None or (-found[0], found[1]) < (-best[0], best[1] * (1 - 1e-9)):
            best = found
        if best[0] == len(target) and best[1] <= problem.negligible:
            break
    values = np.ones(len(names)) if best is None else best[2]
    constants = {
        name: float(f"{value:.{DIGITS}g}") for name, value in zip(names, values, strict=True)
    }
    return measure_fit(fill_constants(formula, constants), columns, target, constants)


def measure_fit(
    formula: Expression, columns: Columns, target: Floats, constants: Mapping[str, float]
) -> Fit:
    """Return a formula without free constants as a fit, with its error."""
    residuals = evaluate_formula(formula, columns) - target
    defined = np.isfinite(residuals)
    count = int(defined.sum())
    with np.errstate(over="ignore"):
        rms = math.sqrt(float(np.mean(residuals[defined] ** 2))) if count else math.inf
    return Fit(formula, constants, rms, count)


def _starting_points(
    names: Sequence[str], nonlinear: Sequence[int], first: Sequence[Mapping[str, float]]
) -> list[Floats]:
    """Return values of all constants; those of linear constants do not matter."""
    points = [np.array([start.get(name, 1.0) for name in names], float) for start in first]
    if not nonlinear:
        return points or [np.ones(len(names))]
    count = len(nonlinear)
    for number, combination in enumerate(product(_VALUES, repeat=min(count, 3))):
        if number >= MAX_STARTS * 9:
            break
        if number % max(1, len(_VALUES) ** min(count, 3) // MAX_STARTS):
            continue
        point = np.ones(len(names))
        for place, index in enumerate(nonlinear):
            point[index] = combination[place % len(combination)]
        points.append(point)
    return points[: len(first) + MAX_STARTS]


def _find_linear(formula: Expression, names: Sequence[str]) -> list[int]:
    """Return the places of constants in which the formula is linear, all of them together."""
    chosen: list[str] = []
    for name in names:
        if (_degree(formula, {*chosen, name}) or 0) <= 1:
            chosen.append(name)
    return [names.index(name) for name in chosen]


def _degree(expression: Expression, names: set[str]) -> float:
    """Return the degree of a polynomial in the constants `names`; infinity if it is none."""
    if isinstance(expression, FreeConstant):
        return float(expression.name in names)
    if not isinstance(expression, Operation):
        return 0.0
    degrees = [_degree(one, names) for one in expression.operands]
    match expression.name:
        case "+" | "-" | "negate":
            return max(degrees)
        case "*":
            return sum(degrees)
        case "/" if not degrees[1]:
            return degrees[0]
        case "where" if not degrees[0]:
            return max(degrees)
    return math.inf if any(degrees) else 0.0


class _Problem:
    """A least-squares problem, whose linear constants are solved for."""

    def __init__(
        self,
        formula: Expression,
        columns: Columns,
        target: Floats,
        names: Sequence[str],
        linear: Sequence[int],
    ) -> None:
        self.formula, self.columns, self.target = formula, columns, target
        self.names = names
        self.linear = list(linear)
        self.nonlinear = [place for place in range(len(names)) if place not in set(linear)]
        size = float(np.sqrt(np.mean(np.square(target)))) if len(target) else 0.0
        self.negligible = 1e-13 * size  # an error that rounding explains

    def improve(self, start: Floats) -> tuple[int, float, Floats] | None:
        """Return (defined rows, root mean square error, constants) from a starting point.

        The result is None if the formula is defined in too few rows there.
        """
        rows = self._defined(start)
        if rows.sum() < max(1, min(len(self.names), len(self.target))):
            return None
        now = self._project(start, rows)
        if now is None:
            return None
        damping = 1e-3
        for _ in range(MAX_STEPS if self.nonlinear else 0):
            values, cost, residuals, slopes = now
            if cost <= self.negligible**2 * rows.sum():
                break
            ahead, damping = self._step(values, cost, residuals, slopes, rows, damping)
            if ahead is None:
                break
            gain = cost - ahead[1]
            now = ahead
            if gain <= _CONVERGED * cost:
                break
        values, cost, *_ = now
        return int(rows.sum()), math.sqrt(cost / rows.sum()), values

    def _defined(self, values: Floats) -> NDArray[np.bool_]:
        constants = dict(zip(self.names, map(float, values), strict=True))
        return np.isfinite(evaluate_formula(self.formula, self.columns, constants))

    def _project(
        self, values: Floats, rows: NDArray[np.bool_]
    ) -> tuple[Floats, float, Floats, Floats] | None:
        """Return (constants, sum of squares, residuals, Jacobian) with the linear constants solved.

        The Jacobian of shape (rows, nonlinear constants) is that of the residuals. The result is
        None if the formula is undefined in one of `rows`.
        """
        values = values.copy()
        basis: Floats | None = None
        if self.linear:
            values[self.linear] = 0.0
            offset, slopes = self._differentiate(values)
            basis, offset = slopes[self.linear][:, rows].T, offset[rows]
            if not (np.isfinite(basis).all() and np.isfinite(offset).all()):
                return None
            norms = np.sqrt(np.sum(basis**2, axis=0))
            norms[norms == 0] = 1.0
            solution, *_ = np.linalg.lstsq(basis / norms, self.target[rows] - offset, rcond=1e-13)
            values[self.linear] = solution / norms
        value, slopes = self._differentiate(values)
        residuals = value[rows] - self.target[rows]
        jacobian = slopes[self.nonlinear][:, rows].T
        with np.errstate(over="ignore"):
            cost = float(residuals @ residuals)
        if not (math.isfinite(cost) and np.isfinite(jacobian).all()):
            return None
        if basis is not None and self.nonlinear:
            columns, _ = np.linalg.qr(basis)
            jacobian = jacobian - columns @ (columns.T @ jacobian)
        return values, cost, residuals, jacobian

    def _differentiate(self, values: Floats) -> tuple[Floats, Floats]:
        constants = dict(zip(self.names, map(float, values), strict=True))
        return differentiate_formula(self.formula, self.columns, constants)

    def _step(
        self,
        values: Floats,
        cost: float,
        residuals: Floats,
        jacobian: Floats,
        rows: NDArray[np.bool_],
        damping: float,
    ) -> tuple[tuple[Floats, float, Floats, Floats] | None, float]:
        """Return the next point with a smaller error, or None, and the next damping."""
        gradient = jacobian.T @ residuals
        curvature = jacobian.T @ jacobian
        scale = np.diag(curvature).copy()
        scale[scale <= 0] = 1.0
        for _ in range(12):
            try:
                change = np.linalg.solve(curvature + damping * np.diag(scale), -gradient)
            except np.linalg.LinAlgError:
                change = None
            if change is not None and np.isfinite(change).all():
                moved = values.copy()
                moved[self.nonlinear] += change
                ahead = self._project(moved, rows)
                if ahead is not None and ahead[1] < cost:
                    return ahead, max(damping / 5, 1e-12)
            damping *= 4
        return None, damping
