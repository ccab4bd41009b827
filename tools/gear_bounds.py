"""What gamma says about beta (GEAR, appendix D and figure 5).

The bounds hold where each of k hypotheses has exactly one prediction an input. Where some are
undefined, `undefined_as_output` makes "undefined" one more output; scores of that are not the
scores of the definition, and whoever plots them says so.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .gear import set_scores
from .measures import unused_code


def beta_bounds(gamma: float, k: int, *, integral: bool = False) -> tuple[float, float]:
    """The least and the greatest beta that k >= 2 total hypotheses with this gamma can have.

    integral: tighten the upper bound by a fact that appendix D leaves out: a prediction is
    shared by a whole number of hypotheses (for k = 2 the two bounds then meet, as they must).
    Raises ValueError where gamma is outside [1, k] or k below 2.
    """
    if k < 2:
        raise ValueError(f"beta bounds need at least 2 hypotheses, not {k}")
    if not 1 <= gamma <= k:
        raise ValueError(f"gamma of {k} total hypotheses lies in [1, {k}], not at {gamma}")
    low = 2 * (gamma - 1) / (k + gamma - 2)
    if not integral:
        return low, 2 * k * (gamma - 1) / (2 * k * gamma - gamma - k)
    # The mean pairwise intersection, over n, is least where multiplicities are the two whole
    # numbers around r = k / gamma.
    r = k / gamma
    whole = math.floor(r)
    mean_square = whole**2 + (2 * whole + 1) * (r - whole)
    shared = (mean_square / r - 1) / (k - 1)
    return low, max(low, 1 - shared / (2 - shared))


def undefined_as_output(
    codes: ArrayLike, defined: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The same hypotheses made total: undefined is one more output, equal to itself."""
    rows, known = np.asarray(codes, np.int64), np.asarray(defined, np.bool_)
    if known.all():
        return rows, known
    return np.where(known, rows, unused_code(rows)), np.ones_like(known)


def scatter_point(codes: ArrayLike, defined: ArrayLike) -> tuple[float, float, int] | None:
    """(gamma, beta, k) with undefined as one more output, for the scatter within the feasible
    region; None below two hypotheses or over an empty sample space."""
    rows, known = undefined_as_output(codes, defined)
    scores = set_scores(rows, known)
    if len(rows) < 2 or scores.gamma is None:
        return None
    return scores.gamma, scores.beta, len(rows)
