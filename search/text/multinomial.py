"""A multinomial logistic regression with a ridge and with slips, in numpy, judged on rows that it was not
fitted to.

With slips s a row's label is what the regression says with the chance 1 - s, and else one of the other
labels, each as likely: labels that were changed at random do not bend the weights. Fitted by expectation and
maximisation, each row counting as far as its label is no slip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SLIPS = (0.0, 0.1, 0.2, 0.3)
FOLDS = 10
STEPS = 25  # of Newton
ROUNDS = 15  # of expectation and maximisation
NEAR = 1e-6
NEARLY = 1e-3

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """penalty: of the squared weights. slips: share of the labels that are none of the regression's."""

    penalty: float
    slips: float = 0.0


@dataclass(frozen=True)
class Judged:
    """setting: the best one. loss: mean log loss of rows left out, in nats; right: share of them whose
    likeliest label is theirs."""

    setting: Setting
    loss: float
    right: float


def fitted(x: Numbers, codes: Integers, labels: int, setting: Setting) -> Numbers:
    """Weights (m + 1, labels), the constants last, which are hardly penalised. x: (n, m); codes: (n,)."""
    wide = np.hstack([x, np.ones((len(x), 1))])
    ridge = np.append(np.full(x.shape[1], setting.penalty), 1e-3)
    counted = np.ones(len(codes))
    w = np.zeros((wide.shape[1], labels))
    if not setting.slips:
        return _newton(wide, codes, counted, ridge, w, NEAR)
    w = _newton(wide, codes, counted, np.maximum(ridge, 1.0), w, NEARLY)
    for _ in range(ROUNDS):
        meant = _chances(wide @ w)[np.arange(len(codes)), codes] * (1 - setting.slips)
        before, counted = counted, meant / (meant + setting.slips / (labels - 1) + 1e-12)
        w = _newton(wide, codes, counted, ridge, w, NEARLY)
        if np.abs(counted - before).max() < NEARLY:
            break
    return w


def _newton(
    wide: Numbers, codes: Integers, counted: Numbers, ridge: Numbers, start: Numbers, near: float
) -> Numbers:
    labels, w = start.shape[1], start.copy()
    size = w.size
    wanted = codes[:, None] == np.arange(labels)
    for _ in range(STEPS):
        p = _chances(wide @ w)
        slope = wide.T @ (counted[:, None] * (p - wanted)) + ridge[:, None] * w
        bend = np.zeros((labels, len(w), labels, len(w)))
        for one in range(labels):
            for other in range(one, labels):
                share = counted * p[:, one] * ((one == other) - p[:, other])
                bend[one, :, other] = bend[other, :, one] = (wide * share[:, None]).T @ wide
            bend[one, :, one] += np.diag(ridge)
        step = np.linalg.solve(bend.reshape(size, size), slope.T.ravel()).reshape(labels, -1).T
        w -= step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < near:
            break
    return w


def chances(x: Numbers, w: Numbers) -> Numbers:
    """Of each label, slips apart, (n, labels)."""
    return _chances(x @ w[:-1] + w[-1])


def _chances(scores: Numbers) -> Numbers:
    risen = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Numbers = risen / risen.sum(axis=1, keepdims=True)
    return found


def judged(
    x: Numbers, codes: Integers, labels: int, slips: Sequence[float] = SLIPS
) -> Judged:  # fmt: skip
    """The setting with the least log loss of rows left out: for each share of slips heavy penalties first,
    until they get worse."""
    best: Judged | None = None
    for share in slips:
        before = np.inf
        for penalty in reversed(PENALTIES):
            setting = Setting(penalty, share)
            held = left_out(x, codes, labels, setting)
            loss = float(-np.log(np.maximum(held[np.arange(len(codes)), codes], 1e-12)).mean())
            if best is None or loss < best.loss:
                best = Judged(setting, loss, float((held.argmax(1) == codes).mean()))
            if loss >= before:
                break
            before = loss
    assert best is not None
    return best


def left_out(x: Numbers, codes: Integers, labels: int, setting: Setting) -> Numbers:
    """(n, labels): each row's chances, slips and all, by a fit of all but one part in `FOLDS`."""
    order = np.random.default_rng(0).permutation(len(codes))
    held = np.zeros((len(codes), labels))
    for fold in range(FOLDS):
        out = order[fold::FOLDS]
        rest = np.setdiff1d(order, out)
        held[out] = chances(x[out], fitted(x[rest], codes[rest], labels, setting))
    each = setting.slips / (labels - 1)
    found: Numbers = held * (1 - labels * each) + each
    return found


def work(rows: int, columns: int, labels: int, slips: Sequence[float]) -> tuple[float, float]:
    """Multiplications of `judged` and of `left_out`, about."""
    size = columns * labels
    once = FOLDS * 10 * (rows * size * size / 2 + size**3 / 3) * (3 if max(slips) else 1)
    return 4 * len(slips) * once, once
