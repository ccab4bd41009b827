"""Functions that may stand in laws, as columns of logarithms and as parts of formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tools.description_length import LAW_FUNCTION_BITS as FUNCTION_BITS
from ...tools.description_length import LAW_OPERATOR_BITS as OPERATOR_BITS
from ...tools.formulas import Expression, Number, Operation
from .trees import ONE, call

Floats = NDArray[np.float64]
SMALLEST_ANGLE = 1e-3  # spread of a target under a trigonometric or exponential function
SCALES = (1.0, 2.0, 0.5, math.pi, 2 * math.pi, 1 / (2 * math.pi), 1 / 3, 3.0)
FINE_SCALES = tuple(float(one) for one in np.geomspace(1 / 32, 32, 41))


class Factor(NamedTuple):
    """A function of an argument u and a constant k that may be a factor of a law.

    Attributes:
        name: Its name.
        values: Function of the values of k * u (of u, if `k_outside`).
        tree: Function of the formulas of k and u that returns the formula.
        bits: What it costs besides k and u.
        k_outside: Whether k is a factor outside the function, as in 1 + k * cos(u).
    """

    name: str
    values: Callable[[Floats], Floats]
    tree: Callable[[Expression, Expression], Expression]
    bits: float
    k_outside: bool = False


def _times(k: Expression, u: Expression) -> Expression:
    if isinstance(u, Operation) and u.name == "/" and u.operands[0] == ONE:
        return call("/", k, u.operands[1])
    return call("*", k, u)


def _plain(name: str) -> Callable[[Expression, Expression], Expression]:
    return lambda k, u: call(name, _times(k, u))


_O = OPERATOR_BITS + 2.0  # an operator and the number 1
FACTORS = (
    Factor("1 + u", lambda u: 1 + u, lambda k, u: call("+", ONE, _times(k, u)), _O),
    Factor("1 - u", lambda u: 1 - u, lambda k, u: call("-", ONE, _times(k, u)), _O),
    Factor("exp - 1", np.expm1, lambda k, u: call("-", call("exp", _times(k, u)), ONE), _O + FUNCTION_BITS["exp"]),
    Factor("1 - exp", lambda u: -np.expm1(-u), lambda k, u: call("-", ONE, call("exp", call("negate", _times(k, u)))), _O + FUNCTION_BITS["exp"]),
    Factor("exp + 1", lambda u: np.exp(u) + 1, lambda k, u: call("+", call("exp", _times(k, u)), ONE), _O + FUNCTION_BITS["exp"]),
    Factor("sin", np.sin, _plain("sin"), FUNCTION_BITS["sin"]),
    Factor("cos", np.cos, _plain("cos"), FUNCTION_BITS["cos"]),
    Factor("tanh", np.tanh, _plain("tanh"), FUNCTION_BITS["tanh"]),
    Factor("log", np.log, _plain("log"), FUNCTION_BITS["log"]),
    Factor("1 + cos", lambda u: 1 + np.cos(u), lambda k, u: call("+", ONE, _times(k, call("cos", u))), _O + FUNCTION_BITS["cos"], True),
    Factor("1 - cos", lambda u: 1 - np.cos(u), lambda k, u: call("-", ONE, _times(k, call("cos", u))), _O + FUNCTION_BITS["cos"], True),
    Factor("1 + log", lambda u: 1 + np.log(u), lambda k, u: call("+", ONE, _times(k, call("log", u))), _O + FUNCTION_BITS["log"], True),
)  # fmt: skip
SCALED = (
    "exp - 1",
    "1 - exp",
    "exp + 1",
    "sin",
    "cos",
    "tanh",
)  # whose values are not those of other factors


class Transform(NamedTuple):
    """A function of the target that may be simpler than the target.

    Attributes:
        name: Its name.
        values: Function of the target.
        slopes: Its derivative.
        low, high: Between which values the target must lie; noise may exceed them a little.
        inverse: Function of a formula for the transform that returns the formula for the target.
    """

    name: str
    values: Callable[[Floats], Floats]
    slopes: Callable[[Floats], Floats]
    low: float
    high: float
    inverse: Callable[[Expression], Expression]

    def suits(self, target: Floats) -> bool:
        """Return whether the transform can be inverted on the values of the target."""
        width, spread = self.high - self.low, float(np.ptp(target))
        if math.isfinite(width) and spread < SMALLEST_ANGLE:
            return False  # of small values, the transform is the value or nearly constant
        slack = 0.05 * (width if math.isfinite(width) else spread)
        return bool(self.low - slack <= target.min() and target.max() <= self.high + slack)


def _same(values: Floats) -> Floats:
    return values


IDENTITY = Transform("y", _same, np.ones_like, -math.inf, math.inf, lambda tree: tree)
_HALF = math.pi / 2
IN_LOGARITHMS: Sequence[Transform] = (
    IDENTITY,
    Transform("sin", np.sin, np.cos, -_HALF, _HALF, lambda tree: call("arcsin", tree)),
    Transform("cos", np.cos, lambda y: -np.sin(y), 0.0, math.pi, lambda tree: call("arccos", tree)),
    Transform("tan", np.tan, lambda y: 1 / np.cos(y) ** 2, -_HALF, _HALF, lambda tree: call("arctan", tree)),
    Transform("exp", np.exp, np.exp, -30.0, 30.0, lambda tree: call("log", tree)),
)  # fmt: skip
IN_SUMS: Sequence[Transform] = (
    IDENTITY,
    Transform("square", np.square, lambda y: 2 * y, 0.0, math.inf, lambda tree: call("sqrt", tree)),
    Transform("inverse", lambda y: 1 / y, lambda y: -1 / y**2, -math.inf, math.inf, lambda tree: call("/", ONE, tree)),
    Transform("log", np.log, lambda y: 1 / y, 0.0, math.inf, lambda tree: call("exp", tree)),
    Transform("cos", np.cos, lambda y: -np.sin(y), 0.0, math.pi, lambda tree: call("arccos", tree)),
)  # fmt: skip
__all__ = [
    "FACTORS", "FINE_SCALES", "IDENTITY", "IN_LOGARITHMS", "IN_SUMS", "SCALED", "SCALES", "Factor", "Number",
    "Transform",
]  # fmt: skip
