"""GEAR's score of a preference pair (section 5.3) by its definition: what one hypothesis adds to a context.

Three terms: the candidate's prediction share, and the differences that it makes to gamma and to beta.
Gamma of no hypothesis is 0 here. The package scores many contexts at once and never calls this; its
studies and its preference pairs are held to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import peirce.tools.gear.scores as gear
from numpy.typing import ArrayLike, NDArray


class Gains(NamedTuple):
    """What each of c candidates adds to a context; each (c,)."""

    share: NDArray[np.float64]
    gamma: NDArray[np.float64]  # gamma(context and f) - gamma(context)
    beta: NDArray[np.float64]  # beta(context and f) - beta(context)

    @property
    def score(self) -> NDArray[np.float64]:
        return (self.share + self.gamma + self.beta) / 3


def marginal_gains(
    codes: ArrayLike,
    defined: ArrayLike,
    context_codes: ArrayLike,
    context_defined: ArrayLike,
    weights: ArrayLike | None = None,
) -> Gains:
    """Of c candidates (c, n), each on its own, over a context (k, n) of hypotheses."""
    rows, known = np.asarray(codes, np.int64), np.asarray(defined, np.bool_)
    context, context_known = np.asarray(context_codes, np.int64), np.asarray(context_defined, bool)
    gamma_before = gear.gamma(context, context_known, weights) or 0.0
    beta_before = gear.beta(context, context_known, weights)
    found = np.zeros((3, len(rows)))
    for i in range(len(rows)):
        both = np.concatenate([context, rows[[i]]]), np.concatenate([context_known, known[[i]]])
        found[:, i] = (
            gear.prediction_share(known[i], weights),
            (gear.gamma(*both, weights) or 0.0) - gamma_before,
            gear.beta(*both, weights) - beta_before,
        )
    return Gains(*found)
