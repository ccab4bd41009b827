"""Held-out rows decide which sentences about a text are used, and which of them are significant.

A sentence adds a number to the logit of the label, which is found without the row that it judges. The
attempt with the fewest terms among those that predict about best is chosen. Sentences that clearly raise
the loss are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .regression import Fold, Numbers, calibrated_losses
from .themes import READABLE, Theme

# Part of the reduction of the loss that may be given up for fewer terms. With few rows, where the
# loss of many terms is uncertain, more is given up for themes that can be read.
SLACK = 0.01
FEW_ROWS, FEW_ROWS_SLACK = 300, 0.25
FALSE_DISCOVERY_RATE = 0.1  # false discovery rate over sentences (Benjamini-Hochberg)
SHORT = 120  # fewer terms are used only if they are clearly better


@dataclass(frozen=True)
class Attempt:
    """A shape with what it predicts of held-out rows.

    Attributes:
        shape: The shape.
        losses: Log loss of each row, of shape (n,).
        said: What each sentence adds to the logit of each row, of shape (n, themes + measures).
        themes: For each fold, the themes that were found without it, by their column of `said`.
    """

    shape: Shape
    losses: Numbers
    said: Numbers
    themes: tuple[Mapping[int, Theme], ...]

    @property
    def loss(self) -> float:
        """Mean of the losses."""
        return float(self.losses.mean())


class Shape(NamedTuple):
    """How many terms, themes for and against the label, and measures of style are used."""

    terms: int
    parts: tuple[int, int]
    style: int


def match_themes(themes: Sequence[Theme], attempt: Attempt, folds: Sequence[Fold]) -> Numbers:
    """Return what each theme of all rows says of held-out rows, of shape (n, themes).

    The rows of a fold are judged by the most similar theme that was found without them: themes are
    matched one to one, so that they share as many terms as possible. A theme without a similar one
    says nothing of these rows.

    Args:
        themes: The themes that all rows give.
        attempt: The themes that each part of the rows gives, with what they say.
        folds: The parts of the rows.
    """
    from scipy.optimize import linear_sum_assignment

    found = np.zeros((len(attempt.said), len(themes)))
    for fold, placed in zip(folds, attempt.themes, strict=True):
        theirs = list(placed.items())
        shared = np.array(
            [[_similarity(one, other) for _, other in theirs] for one in themes]
        ).reshape(len(themes), len(theirs))
        for at, other in zip(*linear_sum_assignment(-shared), strict=True):
            if shared[at, other] > 0:
                found[fold.out, at] = attempt.said[fold.out, theirs[other][0]]
    return found


def _similarity(one: Theme, other: Theme) -> float:
    """Return the share of common terms of two themes on the same side (Jaccard)."""
    if one.sign != other.sign:
        return 0.0
    common = len({*one.terms} & {*other.terms})
    return common / (len(one.terms) + len(other.terms) - common)


def select_attempt(tried: Sequence[Attempt], chance: float, is_sparse: bool) -> Attempt:
    """Return the attempt with the fewest terms among those that predict about best.

    Attempts with few terms vary most from sample to sample. One of them is taken only if its loss
    is less than that of the others by more than chance (two standard errors, or one).

    Args:
        tried: The attempts, those with most terms first.
        chance: Mean loss without any sentence.
        is_sparse: Whether a single feature tells more than all together. With few rows, one standard
            error is then enough.
    """
    many = [one for one in tried if one.shape.terms >= SHORT] or list(tried[:1])
    best = min(one.loss for one in many)
    has_few_rows = len(tried[0].losses) <= FEW_ROWS
    errors = 1 if is_sparse and has_few_rows else 2
    slack = FEW_ROWS_SLACK if has_few_rows else SLACK
    enough = best + slack * max(0.0, chance - best)
    near = [one for one in many if one.loss <= enough]
    found = min(near, key=lambda one: (max(one.shape.terms, READABLE), round(one.loss, 9)))
    for one in tried:
        gain = found.losses - one.losses
        if one.shape.terms < SHORT and gain.mean() > errors * gain.std() / math.sqrt(len(gain)):
            found = one
    return found


def admit(contributions: Numbers, y: NDArray[np.bool_], paired: bool) -> list[int]:
    """Return the indices of the sentences that do not raise the loss on held-out rows.

    Sentences are dropped one by one as long as the loss falls by more than a standard error.

    Args:
        contributions: What each sentence adds to the logit of each held-out row, of shape (n, m).
        y: Which rows have the label, of shape (n,).
        paired: Whether the rows are pairs of texts.
    """
    left = list(range(contributions.shape[1]))
    now = calibrated_losses(contributions.sum(axis=1), y, paired)
    while len(left) > 1:
        whole = contributions[:, left].sum(axis=1)
        without = [calibrated_losses(whole - contributions[:, at], y, paired) for at in left]
        gains = [float((now - one).mean()) for one in without]
        at = int(np.argmax(np.round(gains, 12)))
        if gains[at] <= float((now - without[at]).std()) / math.sqrt(len(y)):
            break
        now = without[at]
        del left[at]
    return left


def z_scores(features: Numbers, y: NDArray[np.bool_], through_zero: bool) -> Numbers:
    """Return the correlation of each feature with the label as a z-score, of shape (m,).

    The z-scores come from Fisher's transformation of the correlations.

    Args:
        features: Features of the n rows, of shape (n, m).
        y: Which rows have the label, of shape (n,).
        through_zero: If true, the means of features and targets are not subtracted.
    """
    signs = np.where(y, 1.0, -1.0)
    x = features - (0.0 if through_zero else features.mean(axis=0))
    v = signs if through_zero else signs - signs.mean()
    size = np.sqrt((x**2).sum(axis=0) * (v @ v))
    r = np.clip((v @ x) / np.where(size > 0, size, 1.0), -1 + 1e-12, 1 - 1e-12)
    found: Numbers = np.arctanh(r) * math.sqrt(max(1, len(y) - 3))
    return found


def significant_mask(z: Numbers) -> NDArray[np.bool_]:
    """Return which z-scores are significant in a one-sided test, as a bool array of the same shape.

    The false discovery rate is `FALSE_DISCOVERY_RATE`, by the method of Benjamini and Hochberg
    (1995).
    """
    p = np.array([math.erfc(one / math.sqrt(2)) / 2 for one in z])
    order = np.argsort(p, kind="stable")
    below = p[order] <= FALSE_DISCOVERY_RATE * (np.arange(len(p)) + 1) / max(1, len(p))
    found = np.zeros(len(p), np.bool_)
    if below.any():
        found[order[: int(np.flatnonzero(below)[-1]) + 1]] = True
    return found
