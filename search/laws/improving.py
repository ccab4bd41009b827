"""Improve forms of laws locally: exponents inside functions become real numbers that are fitted.

A scan looks at few monomials as arguments of functions. One that is near the right one is a start: its
exponents and its constant are fitted together with the exponents outside by variable projection (Golub and
Pereyra, 1973; the derivatives of Kaufman, 1975), then replaced by the numbers that they stand for, the
surest first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .constants import find_exponent
from .scan import LEAST_SQUARES

Floats = NDArray[np.float64]
STEPS, MORE_STEPS = 15, 4
HALF_STEP = 1e-5  # of the logarithm of an argument, for derivatives
WORTHWHILE = 1e-3  # relative fall of the sum of squares of a step that is followed by another
LARGEST_EXPONENT = 9.0
LARGEST_FACTOR = 9.0  # the exponent of a function
SURE = 0.01  # of an exponent: this near to a whole number, with such an error, it is one


@dataclass(frozen=True)
class Movable:
    """A function of which the argument is to be improved.

    Attributes:
        values: Function of the values of the argument, with its constant, that returns the factor.
        fixed: Factor of the argument that does not change, (n,).
        exponents: The exponents of the variables in the argument, (d,).
        scale: The constant in the argument.
        is_free: Whether the scale is fitted.
    """

    values: Callable[[Floats], Floats]
    fixed: Floats
    exponents: Sequence[Fraction | float]
    scale: float
    is_free: bool = True


class _Model:
    """Logarithms of a law: columns whose factors are solved for, some of which move.

    Args:
        logs: Logarithms of the variables whose exponents may change, (n, d).
        columns: Columns that do not change, (n, m).
        movable: Functions of which the argument changes.
        t, w: The logarithm of the target, and the weights, (n,).
    """

    def __init__(
        self, logs: Floats, columns: Floats, movable: Sequence[Movable], t: Floats, w: Floats
    ) -> None:
        self.logs, self.movable, self.w = logs, movable, w
        self.base, self.aim = columns * w[:, None], t * w
        d = logs.shape[1]
        self.first = np.concatenate(
            [[0.0, *map(float, one.exponents)] for one in movable]
        )  # logarithm of the change of the scale, and exponents
        self.may_move = np.concatenate([[one.is_free] + [True] * d for one in movable])

    def _logarithm(self, one: Movable, place: int, values: Floats, shift: float) -> Floats:
        d = self.logs.shape[1]
        own = values[place * (d + 1) : (place + 1) * (d + 1)]
        argument = one.scale * one.fixed * np.exp(own[0] + self.logs @ own[1:] + shift)
        return np.log(np.abs(one.values(argument)))

    def solve(self, values: Floats) -> tuple[float, Floats, Floats, Floats] | None:
        """Return the sum of squares, residuals, an orthonormal basis and the factors of movable columns."""
        moved = [self._logarithm(one, k, values, 0.0) for k, one in enumerate(self.movable)]
        matrix = np.column_stack([self.base, *(one * self.w for one in moved)])
        if len(matrix) < matrix.shape[1] or not np.isfinite(matrix).all():
            return None
        basis, upper = np.linalg.qr(matrix)
        left = self.aim - basis @ (basis.T @ self.aim)
        try:
            factors = np.linalg.solve(upper + 1e-12 * np.diag(np.diag(upper)), basis.T @ self.aim)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(factors).all():
            return None
        moving = np.asarray(factors[-len(self.movable) :], np.float64)
        free = [one.is_free for one in self.movable]
        if np.abs(moving[free]).max(initial=0.0) > LARGEST_FACTOR:
            return None  # a function that hardly varies, which stands for another one
        return float(left @ left), left, np.asarray(basis, np.float64), moving

    def slopes(self, values: Floats, basis: Floats, factors: Floats) -> Floats | None:
        """Return the derivatives of the residuals, (n, parameters)."""
        found = []
        design = np.column_stack([np.ones(len(self.w)), self.logs])
        for place, one in enumerate(self.movable):
            more = self._logarithm(one, place, values, HALF_STEP)
            less = self._logarithm(one, place, values, -HALF_STEP)
            slope = factors[place] * (more - less) / (2 * HALF_STEP) * self.w
            found.append(slope[:, None] * design)
        every = np.concatenate(found, axis=1)
        if not np.isfinite(every).all():
            return None
        return np.asarray(every - basis @ (basis.T @ every), np.float64)


@np.errstate(all="ignore")
def improve(
    logs: Floats, columns: Floats, movable: Sequence[Movable], t: Floats, w: Floats
) -> tuple[float, list[Movable]] | None:
    """Return the functions with better arguments, and the sum of squares; None if there are none.

    Args:
        logs: Logarithms of the variables whose exponents may change, (n, d).
        columns: Columns that do not change, (n, m).
        movable: Functions of which the argument is improved.
        t, w: The logarithm of the target, and the weights, (n,).
    """
    model = _Model(logs, columns, movable, t, w)
    free = model.may_move.copy()
    values = model.first
    found = _descend(model, values, free, STEPS)
    if found is None:
        return None
    values, squares, slopes = found
    d = logs.shape[1]
    meant: dict[int, Fraction | float] = {}
    places = [k for k in range(len(values)) if k % (d + 1)]
    while len(meant) < len(places):
        noise = max(squares, LEAST_SQUARES * float(model.aim @ model.aim)) / max(
            len(t) - len(values) - columns.shape[1], 1
        )
        moving = np.flatnonzero(free)
        part = slopes[:, moving]
        inverse = np.linalg.pinv(part.T @ part, rcond=1e-10, hermitian=True)
        errors = dict(
            zip(moving.tolist(), np.sqrt(np.maximum(np.diag(inverse), 0) * noise), strict=True)
        )
        options = {
            k: (*find_exponent(float(values[k]), float(errors[k])), float(errors[k]))
            for k in places
            if k not in meant
        }
        sure = [
            k for k, (_, e, error) in options.items()
            if error < SURE and isinstance(e, Fraction) and abs(values[k] - float(e)) < SURE
        ]  # fmt: skip
        chosen = sure or [
            min(options, key=lambda k: (isinstance(options[k][1], float), options[k][2]))
        ]
        values = values.copy()
        for k in chosen:
            meant[k] = options[k][1]
            values[k] = float(options[k][1])
            free[k] = False
        found = _descend(model, values, free, MORE_STEPS)
        if found is None:
            return None
        values, squares, slopes = found
    better = []
    for place, one in enumerate(movable):
        start = place * (d + 1)
        scale = one.scale * math.exp(values[start])
        exponents = [meant[start + 1 + k] for k in range(d)]
        better.append(Movable(one.values, one.fixed, exponents, scale, one.is_free))
    return squares, better


def _descend(
    model: _Model, values: Floats, free: NDArray[np.bool_], steps: int
) -> tuple[Floats, float, Floats] | None:
    """Return improved parameters, the sum of squares and the derivatives."""
    solved = model.solve(values)
    if solved is None:
        return None
    damping = 1e-3
    squares, left, basis, factors = solved
    slopes = model.slopes(values, basis, factors)
    if slopes is None:
        return None
    for _ in range(steps if free.any() else 0):
        part = slopes[:, free]
        normal, slope = part.T @ part, part.T @ left
        scaled = np.diag(normal) + 1e-12 * float(np.trace(normal)) + 1e-300
        tried = None
        while damping < 1e6:
            step = np.linalg.solve(normal + damping * np.diag(scaled), slope)
            new = values.copy()
            new[free] += np.clip(step, -1.0, 1.0)
            if np.abs(new).max() < LARGEST_EXPONENT:
                tried = model.solve(new)
                if tried is not None and tried[0] < squares:
                    break
            tried = None
            damping *= 8
        if tried is None:
            break
        new_slopes = model.slopes(new, tried[2], tried[3])
        if new_slopes is None:
            break
        done = squares - tried[0] <= WORTHWHILE * squares
        values, slopes = new, new_slopes
        squares, left, basis, factors = tried
        damping = max(damping / 8, 1e-9)
        if done:
            break
    return values, squares, slopes
