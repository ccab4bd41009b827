"""A ridge logistic regression in numpy, and its penalty by rows that it was not fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
STEPS = 30  # of Newton, which needs some six
CLIPPED = 3.0  # standard deviations: a row that repeats a word ten times is no ten rows


@dataclass(frozen=True)
class Scale:
    """What features (n, m) are measured by: where their middle is, and how far they spread."""

    middle: Numbers
    spread: Numbers

    @staticmethod
    def of(features: Numbers, through_zero: bool) -> Scale:
        """through_zero: a feature of 0 speaks for no label, as where two texts are alike."""
        middle = np.zeros(features.shape[1]) if through_zero else features.mean(axis=0)
        spread = np.sqrt(((features - middle) ** 2).mean(axis=0))
        return Scale(middle, np.where(spread > 1e-9, spread, 1.0))

    def measured(self, features: Numbers) -> Numbers:
        found: Numbers = np.clip((features - self.middle) / self.spread, -CLIPPED, CLIPPED)
        return found


def fitted(
    z: Numbers, marks: NDArray[np.bool_], counted: Numbers, penalty: float, through_zero: bool
) -> Numbers:
    """The weights (m + 1,), the constant last (0 where `through_zero`), which is not penalised.

    z: (n, m); marks: (n,), what is to be told; counted: (n,), how much each row counts.
    """
    n, m = z.shape
    x = np.hstack([z, np.zeros((n, 1)) if through_zero else np.ones((n, 1))])
    ridge = np.diag(np.append(np.full(m, penalty), 1e-6 if not through_zero else 1.0))
    w = np.zeros(m + 1)
    for _ in range(STEPS):
        p = chance(x @ w)
        slope = x.T @ (counted * (p - marks)) + ridge @ w
        bend = (x * (counted * np.maximum(p * (1 - p), 1e-6))[:, None]).T @ x + ridge
        step = np.linalg.solve(bend, slope)
        w -= step * min(1.0, 4.0 / max(1e-9, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-8:
            break
    return w


def chance(logit: Numbers) -> Numbers:
    found: Numbers = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
    return found


def logits(z: Numbers, weights: Sequence[Numbers]) -> Numbers:
    """float64 (n, one a weighing)."""
    return np.stack([z @ w[:-1] + w[-1] for w in weights], axis=1)


def log_loss(logit: Numbers, marks: NDArray[np.bool_]) -> float:
    """In sum."""
    return float(np.logaddexp(0, np.where(marks, -logit, logit)).sum())
