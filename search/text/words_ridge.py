"""Ridge regression on labels of ±1: the teacher that picks terms, and what a set of features predicts.

Squared loss, since leaving one row out then costs nothing; on balanced labels it orders texts as a
logistic loss does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
DROPPED = 0.3  # of the terms, in each round of elimination
PENALTY = 100.0  # of the teacher, on presence: 0 or 1
WEIGHINGS = (3.0, 10.0, 30.0, 100.0)  # penalties tried on features of unit variance


def centred(x: NDArray[np.float32], through_zero: bool) -> NDArray[np.float32]:
    """Columns less their mean; as they are where labels change sign with the features (pairs)."""
    return x if through_zero else x - x.mean(axis=0, dtype=np.float32)


def weights(x: NDArray[np.float32], y: Numbers) -> Numbers:
    """float64 (t,): ridge weights of the columns x (n, t), by way of the smaller of n and t."""
    n, t = x.shape
    if t <= n:
        gram = (x.T @ x).astype(np.float64) + PENALTY * np.eye(t)
        target = np.asarray(x.T @ y.astype(np.float32), np.float64)
        return np.asarray(np.linalg.solve(gram, target), np.float64)
    kernel = (x @ x.T).astype(np.float64) + PENALTY * np.eye(n)
    dual = np.linalg.solve(kernel, y).astype(np.float32)
    return np.asarray(x.T @ dual, np.float64)


def eliminated(
    x: NDArray[np.float32], y: Numbers, stops: Sequence[int]
) -> Iterator[tuple[NDArray[np.int64], Numbers]]:
    """For each of `stops`, which descend: the columns of x (n, t) that are left at so many, and their
    weights. Of those there are the lightest third leaves in each round."""
    left = np.arange(x.shape[1])
    w = weights(x, y)
    for stop in stops:
        while len(left) > stop:
            keep = max(stop, int(len(left) * (1 - DROPPED)))
            order = np.argsort(-np.abs(w), kind="stable")[:keep]
            left = left[np.sort(order)]
            w = weights(x[:, left], y)
        yield left, w


def work(rows: int, terms: int) -> float:
    """Multiplications of an elimination from `terms` down, about."""
    return 4.0 * rows * min(rows, terms) * terms + min(rows, terms) ** 3


class Fit:
    """A ridge on standardised features (n, m), with each row's prediction by the other rows."""

    def __init__(self, features: Numbers, y: Numbers, through_zero: bool = False) -> None:
        self.y = y
        self.middle = 0.0 if through_zero else features.mean(axis=0)
        spread = np.sqrt(((features - self.middle) ** 2).mean(axis=0))
        self.spread = np.where(spread > 1e-9, spread, 1.0)
        z = (features - self.middle) / self.spread
        self.base = 0.0 if through_zero else float(y.mean())
        left, values, right = np.linalg.svd(z, full_matrices=False)
        self.loss = np.inf
        for penalty in WEIGHINGS:
            shrunk = values**2 / (values**2 + penalty)
            predicted = self.base + (left * shrunk) @ (left.T @ (y - self.base))
            held = (left**2 * shrunk).sum(axis=1) + (0.0 if through_zero else 1 / len(y))
            residual = (y - predicted) / np.maximum(1 - held, 1e-6)
            loss = float((residual**2).mean())
            if loss < self.loss:
                self.loss, self.left_out = loss, y - residual
                factor = values / (values**2 + penalty)
                self.w = right.T @ (factor * (left.T @ (y - self.base)))
