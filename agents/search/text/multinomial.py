"""A multinomial logistic regression with a ridge, in numpy, judged on rows that it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
FOLDS = 10
STEPS = 25  # of Newton
NEAR = 1e-6

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Judged:
    """penalty: the best one. held: (n, labels), each row's chances by a fit of other rows. loss: their
    mean log loss, in nats; right: share of rows whose likeliest label is theirs."""

    penalty: float
    held: Numbers
    loss: float
    right: float


def fitted(x: Numbers, codes: Integers, labels: int, penalty: float) -> Numbers:
    """Weights (m + 1, labels), the constants last, which are hardly penalised. x: (n, m); codes: (n,)."""
    n, m = x.shape
    wide = np.hstack([x, np.ones((n, 1))])
    wanted = codes[:, None] == np.arange(labels)
    ridge = np.append(np.full(m, penalty), 1e-3)
    w = np.zeros((m + 1, labels))
    for _ in range(STEPS):
        p = _chances(wide @ w)
        slope = wide.T @ (p - wanted) + ridge[:, None] * w
        bend = np.zeros((labels, m + 1, labels, m + 1))
        for one in range(labels):
            for other in range(one, labels):
                share = p[:, one] * ((one == other) - p[:, other])
                bend[one, :, other] = bend[other, :, one] = (wide * share[:, None]).T @ wide
            bend[one, :, one] += np.diag(ridge)
        size = labels * (m + 1)
        step = np.linalg.solve(bend.reshape(size, size), slope.T.ravel()).reshape(labels, m + 1).T
        w -= step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < NEAR:
            break
    return w


def chances(x: Numbers, w: Numbers) -> Numbers:
    """(n, labels)."""
    return _chances(x @ w[:-1] + w[-1])


def _chances(scores: Numbers) -> Numbers:
    risen = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Numbers = risen / risen.sum(axis=1, keepdims=True)
    return found


def judged(x: Numbers, codes: Integers, labels: int) -> Judged:
    """The penalty with the least log loss of rows left out; heavy ones first, until they get worse."""
    best: Judged | None = None
    for penalty in reversed(PENALTIES):
        held = left_out(x, codes, labels, penalty)
        loss = float(-np.log(np.maximum(held[np.arange(len(codes)), codes], 1e-12)).mean())
        if best is not None and loss >= best.loss:
            break
        best = Judged(penalty, held, loss, float((held.argmax(1) == codes).mean()))
    assert best is not None
    return best


def left_out(x: Numbers, codes: Integers, labels: int, penalty: float) -> Numbers:
    """(n, labels): each row's chances by a fit of other rows, of all but one part in `FOLDS`."""
    order = np.random.default_rng(0).permutation(len(codes))
    held = np.zeros((len(codes), labels))
    for fold in range(FOLDS):
        out = order[fold::FOLDS]
        rest = np.setdiff1d(order, out)
        held[out] = chances(x[out], fitted(x[rest], codes[rest], labels, penalty))
    return held


def work(rows: int, columns: int, labels: int) -> float:
    """Multiplications of `left_out`, about."""
    size = columns * labels
    return FOLDS * 10 * (rows * size * size / 2 + size**3 / 3)
