"""Choose the variables of laws: few of a wide table, and some of them less a constant."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...tools.formulas import Expression, Number
from .trees import call

Floats = NDArray[np.float64]
MOST_VARIABLES = 16  # more make the search slow
ROWS_OF_VARIABLE = 3  # at least, so that all logarithms together do not explain any target
FAR = 1_000.0  # times its width is a variable away from 0 if it is shifted
DIGITS = 9  # of a score; further digits differ between processors
DEPENDENT = 1e-7  # share of a feature that others do not explain, below which it adds nothing


def choose_variables(x: Floats, target: Floats) -> list[int]:
    """Return the indices of at most `MOST_VARIABLES` variables that explain the target best, ascending.

    Forward selection: in turn for the target and for its logarithm, the variable is chosen whose value,
    square and logarithm explain most of what the chosen variables leave in a linear model.

    Args:
        x: The values of the variables, (n, d).
        target: The values that laws have, (n,).
    """
    n, d = x.shape
    most = min(MOST_VARIABLES, max(2, n // ROWS_OF_VARIABLE))
    if d <= most:
        return list(range(d))
    with np.errstate(all="ignore"):
        features = np.stack([_standard(x), _standard(x**2), _standard(np.log(np.abs(x)))], axis=2)
        goals = [_standard(target), _standard(np.log(np.abs(target)))]
    goals = [goal for goal in goals if goal.any()]
    features = features.transpose(1, 0, 2)  # (d, n, 3)
    chosen: list[int] = []
    while len(chosen) < most:
        place = len(chosen) % len(goals)
        bases = _orthonormal(features)
        scores = np.round(np.sum((goals[place] @ bases) ** 2, axis=1), DIGITS)
        scores[chosen] = -1.0
        best = int(np.argmax(scores))
        chosen.append(best)
        basis = bases[best]
        goals = [goal - basis @ (basis.T @ goal) for goal in goals]
        features = features - basis @ (basis.T @ features)
    return sorted(chosen)


def shift_variables(x: Floats, names: Sequence[Expression]) -> tuple[Floats, list[Expression]]:
    """Return the variables; those very far from 0, such as times in seconds since 1970, less a round number
    near their least value, because their powers and logarithms are nearly linear.

    Args:
        x: The values of the variables, (n, d).
        names: The variables, as formulas.
    """
    columns, trees = list(x.T), list(names)
    for place, values in enumerate(columns):
        low, width = float(values.min()), float(np.ptp(values))
        if width > 0 and np.abs(values).min() > FAR * width:
            step = 10.0 ** math.floor(math.log10(width))
            start = float(f"{math.floor(low / step) * step:.15g}")
            columns[place] = values - start
            sign = "-" if start > 0 else "+"
            trees[place] = call(sign, trees[place], Number(abs(start)))
    return np.array(columns).T.reshape(x.shape), trees


def _standard(values: Floats) -> Floats:
    """Return columns of mean 0 and length 1; 0 for those that are constant or not finite somewhere."""
    scaled = values / np.max(np.abs(values), axis=0)
    centred = scaled - scaled.mean(axis=0)
    found: Floats = centred / np.sqrt(np.sum(centred**2, axis=0))
    return np.where(np.isfinite(found).all(axis=0), found, 0.0)


def _orthonormal(features: Floats) -> Floats:
    """Return orthonormal bases of groups of features, (d, n, k); missing vectors are 0."""
    left, sizes, _ = np.linalg.svd(features, full_matrices=False)
    found: Floats = left * (sizes > DEPENDENT)[:, None, :]
    return found
