"""Logistic regression of a label on the terms and the style of texts, scored on held-out rows.

The columns of the regression are all terms, weighted by their inverse document frequency as in
TF-IDF, and the standardised measures of style. The ridge penalty is chosen by the log loss on
held-out rows. Every row is held out once (cross-fitting).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

STRENGTHS = (1.0, 3.0, 10.0)  # inverse ridge penalties to try
STYLE_SCALE = 0.05  # a measure of style is penalised as much as a term of this size
ITERATIONS = 40  # passes over the data that a fit needs, about
MAX_DEVIATIONS = 3.0  # standard deviations at which measures of style are cut off

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Weights:
    """Weights of a linear predictor of a label: positive weights speak for the label.

    Attributes:
        terms: Weight of each term, per text that contains the term, of shape (t,).
        style: Weight of each standardised measure of style, of shape (m,).
        constant: The constant.
    """

    terms: Numbers
    style: Numbers
    constant: float = 0.0


@dataclass(frozen=True)
class Features:
    """What the regression sees of n rows.

    Attributes:
        present: Which texts contain which terms, in CSR format of shape (n, t). For pairs of texts,
            it is 1 if only the first contains the term and -1 if only the second does.
        style: Measures of style, of shape (n, m). For pairs, the first text's less the second's.
        paired: Whether the rows are pairs of texts. The regression then has no constant.
    """

    present: sparse.csr_matrix
    style: Numbers
    paired: bool

    @cached_property
    def standard(self) -> Numbers:
        """The measures of style, standardised, of shape (n, m)."""
        middle = 0.0 if self.paired else self.style.mean(axis=0)
        spread = np.sqrt(((self.style - middle) ** 2).mean(axis=0))
        z = (self.style - middle) / np.where(spread > 1e-9, spread, 1.0)
        found: Numbers = np.clip(z, -MAX_DEVIATIONS, MAX_DEVIATIONS)
        return found

    @cached_property
    def scale(self) -> Numbers:
        """The factor of each term in the regression, of shape (t,).

        It is the inverse document frequency, divided by the median length of the rows as vectors.
        """
        n, t = self.present.shape
        frequency = np.bincount(self.present.indices, minlength=t)
        inverse = np.log((1 + n) / (1 + frequency)) + 1
        squares = np.asarray(self.present.multiply(self.present) @ inverse**2).ravel()
        lengths = np.sqrt(squares[squares > 0])
        found: Numbers = inverse / (float(np.median(lengths)) if len(lengths) else 1.0)
        return found

    @cached_property
    def design(self) -> sparse.csr_matrix:
        """The matrix of the regression, of shape (n, t + m)."""
        terms = self.present @ sparse.diags(self.scale)
        return narrow(sparse.hstack([terms, sparse.csr_matrix(self.standard * STYLE_SCALE)]))

    def select(self, rows: Integers) -> Features:
        """Return the features of some rows, in the scales of all rows."""
        some = Features(self.present[rows], self.style[rows], self.paired)
        for name in ("standard", "design"):
            some.__dict__[name] = getattr(self, name)[rows]
        some.__dict__["scale"] = self.scale
        return some

    def fit(self, y: NDArray[np.bool_], strength: float, only: Integers | None = None) -> Weights:
        """Return the weights of a logistic regression of `y` on the features.

        Args:
            y: Which rows have the label, of shape (n,), both values present.
            strength: Inverse ridge penalty.
            only: Indices of the terms to use, ascending; None for all. The others get the weight 0.
        """
        from sklearn.linear_model import LogisticRegression

        t = self.present.shape[1]
        columns = np.arange(t) if only is None else only
        x = self.design
        if only is not None:
            x = narrow(sparse.hstack([x[:, only], x[:, t:]]))
        model = LogisticRegression(
            C=strength,
            solver="liblinear",
            fit_intercept=not self.paired,
            intercept_scaling=10.0,
            max_iter=200,
        )
        model.fit(x, y)
        found = np.zeros(t)
        found[columns] = model.coef_[0, : len(columns)] * self.scale[columns]
        constant = 0.0 if self.paired else float(model.intercept_[0])
        return Weights(found, model.coef_[0, len(columns) :] * STYLE_SCALE, constant)

    def predict(self, weights: Weights) -> Numbers:
        """Return the logit of each row, of shape (n,)."""
        found: Numbers = (
            self.present @ weights.terms + self.standard @ weights.style + weights.constant
        )
        return found


def narrow(x: Any) -> sparse.csr_matrix:
    """Return a sparse matrix in the CSR format with 32-bit indices that liblinear needs."""
    found = sparse.csr_matrix(x, dtype=np.float64)
    found.indices, found.indptr = found.indices.astype(np.int32), found.indptr.astype(np.int32)
    return found


@dataclass(frozen=True)
class Fold:
    """One part of the rows, held out, and the weights that are fitted without it.

    Attributes:
        rest: Indices of the rows that are not held out.
        out: Indices of the rows that are held out.
        weights: Weights fitted on the rows `rest`.
    """

    rest: Integers
    out: Integers
    weights: Weights


def cross_fit(
    features: Features, y: NDArray[np.bool_], folds: int, seed: int
) -> tuple[float, list[Fold]]:
    """Choose the strength of the regression, and return it with the fits that leave a fold out.

    Strengths are tried in ascending order until the loss on held-out rows increases. A part of the
    rows without both values of `y` has weights of 0.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    parts = [np.sort(order[part::folds]) for part in range(folds)]
    t, m = features.present.shape[1], features.style.shape[1]
    empty = Weights(np.zeros(t), np.zeros(m))
    best: tuple[float, float, list[Fold]] = (np.inf, STRENGTHS[0], [])
    for strength in STRENGTHS:
        found, logit = [], np.zeros(len(y))
        for out in parts:
            rest = np.setdiff1d(order, out)
            both = 0 < y[rest].sum() < len(rest)
            weights = features.select(rest).fit(y[rest], strength) if both else empty
            logit[out] = features.select(out).predict(weights)
            found.append(Fold(rest, out, weights))
        loss = float(calibrated_losses(logit, y, features.paired).mean())
        if loss >= best[0]:
            break
        best = loss, strength, found
    return best[1], best[2]


def refit(
    features: Features,
    y: NDArray[np.bool_],
    strength: float,
    weights: Weights,
    sizes: Sequence[int],
) -> Iterator[tuple[Integers, Weights]]:
    """Yield the terms that tell most, fewer and fewer of them, and the weights fitted on them alone.

    Args:
        features: The features of n rows.
        y: Which rows have the label, of shape (n,).
        strength: Inverse ridge penalty.
        weights: Weights on all terms.
        sizes: Numbers of terms, descending.

    Yields:
        The indices of the terms, ascending, and their weights.
    """
    spread = presence_spread(features)
    for size in sizes:
        strong = np.flatnonzero(weights.terms)
        order = np.argsort(-np.abs(weights.terms[strong]) * spread[strong], kind="stable")
        kept = np.sort(strong[order[:size]])
        if len(kept) < len(strong):
            weights = features.fit(y, strength, kept)
        yield kept, weights


def presence_spread(features: Features) -> Numbers:
    """Return the standard deviation of each term's column, of shape (t,)."""
    n = features.present.shape[0]
    squares = np.asarray(features.present.multiply(features.present).sum(axis=0)).ravel() / n
    mean = np.asarray(features.present.sum(axis=0)).ravel() / n
    found: Numbers = np.sqrt(np.maximum(squares - (0.0 if features.paired else mean**2), 0.0))
    return found


def calibrated_losses(logit: Numbers, y: NDArray[np.bool_], paired: bool) -> Numbers:
    """Return the log loss of each prediction, in nats, after their scale and shift are fitted.

    The scale is not negative. With `paired`, nothing is shifted.
    """
    spread = float(np.sqrt((logit**2).mean())) if paired else float(logit.std())
    signs = np.where(y, 1.0, -1.0)
    share = 0.5 if paired else min(max(float(y.mean()), 1e-9), 1 - 1e-9)
    shift = log_odds = float(np.log(share / (1 - share)))
    z = (logit - (0.0 if paired else logit.mean())) / max(spread, 1e-12)
    slope = 0.0
    for _ in range(30 if spread > 1e-12 else 0):
        p = 1 / (1 + np.exp(-np.clip(slope * z + shift, -30, 30)))
        w = np.maximum(p * (1 - p), 1e-9)
        slope_gradient, shift_gradient = float(z @ (p - y)), float((p - y).sum())
        a, b, c = float(w @ z**2), float(w @ z), float(w.sum())
        if paired:
            steps = slope_gradient / a, 0.0
        else:
            size = max(a * c - b * b, 1e-12)
            steps = (
                (c * slope_gradient - b * shift_gradient) / size,
                (a * shift_gradient - b * slope_gradient) / size,
            )
        limit = max(1.0, abs(steps[0]) / 2, abs(steps[1]) / 2)
        slope, shift = slope - steps[0] / limit, shift - steps[1] / limit
        if max(map(abs, steps)) < 1e-8:
            break
    if slope <= 0:  # the best that is left is the share of the label
        slope, shift = 0.0, log_odds
    return np.asarray(np.logaddexp(0, -signs * (slope * z + shift)), np.float64)


def select_style(weights: Weights, count: int) -> Weights:
    """Return the weights with only the `count` largest weights of style, the others 0."""
    order = np.argsort(-np.abs(weights.style), kind="stable")[:count]
    kept = np.zeros(len(weights.style))
    kept[order] = weights.style[order]
    return replace(weights, style=kept)
