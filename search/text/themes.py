"""Themes: groups of terms with similar weights that occur in similar texts.

All terms of a theme count alike when a sentence is applied, so a theme must not mix terms that tell
much with terms that tell little. Within this limit, terms that occur in the same texts belong
together: each term has a vector from a singular value decomposition of the texts (latent semantic
analysis), or from a sentence encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .regression import Features, Integers, Numbers, Weights

DIMENSIONS = 20  # of the vectors from co-occurrence
SIMILARITY = 0.7  # weight of the similarity of terms, relative to that of their weights
MIN_WEIGHT = 1e-6
READABLE = 192  # up to this number of terms, a theme has at most `LISTED`
LISTED = 12


@dataclass(frozen=True)
class Theme:
    """A group of terms that speak for the label, or against it.

    Attributes:
        terms: Indices of the terms, the one with the greatest weight first.
        sign: 1 if the terms speak for the label, -1 if they speak against it.
    """

    terms: tuple[int, ...]
    sign: int

    def count(self, present: sparse.csr_matrix) -> Numbers:
        """Return how many of the terms each text contains, of shape (n,).

        Args:
            present: Which texts contain which terms, of shape (n, t); of pairs the differences.
        """
        chosen = np.zeros(present.shape[1])
        chosen[list(self.terms)] = 1.0
        found: Numbers = present @ chosen
        return found


def term_vectors(features: Features) -> Numbers:
    """Return a vector for each term, such that terms of the same texts have similar vectors.

    Returns:
        Vectors of shape (t, at most `DIMENSIONS`), centred, of length about 1.
    """
    from sklearn.utils.extmath import randomized_svd

    x = abs(features.present) @ sparse.diags(features.scale)
    lengths = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    x = sparse.diags(1 / np.where(lengths > 0, lengths, 1.0)) @ x
    count = min(DIMENSIONS, min(x.shape) - 1)
    if count < 1:
        return np.zeros((x.shape[1], 0))
    _, values, rows = randomized_svd(x, count, n_iter=4, random_state=0)
    return normalise_vectors(rows.T * values)


def normalise_vectors(vectors: Numbers) -> Numbers:
    """Return vectors of shape (t, d) scaled to length 1 and then centred."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found = vectors / np.where(lengths > 1e-9, lengths, 1.0)
    centred: Numbers = found - found.mean(axis=0)
    return centred


def group_terms(
    kept: Integers,
    weights: Weights,
    spread: Numbers,
    vectors: Numbers,
    parts: tuple[int, int],
    most: int = 2_000,
) -> list[Theme]:
    """Divide terms into themes, those that speak for the label first, the strongest first.

    Args:
        kept: Indices of the terms.
        weights: The weights of all terms.
        spread: Standard deviation of each term's column, of shape (t,): frequent terms count more
            when the terms are divided.
        vectors: A vector for each term, of shape (t, d).
        parts: Number of themes for the label, and against it.
        most: Maximum number of terms in a theme. Terms for which no theme has room, the weakest
            ones, are left out.
    """
    found: list[Theme] = []
    for sign, count in zip((1, -1), parts, strict=True):
        side = kept[sign * weights.terms[kept] > 0]
        if not len(side) or not count:
            continue
        size = np.abs(weights.terms[side])
        marks = _divide(size, spread[side] ** 2, vectors[side], min(count, len(side)), most)
        themes = [
            (float(size[marks == one].mean()), side[marks == one], size[marks == one])
            for one in range(marks.max() + 1)
            if (marks == one).any()
        ]
        for _, terms, weight in sorted(themes, key=lambda theme: (-theme[0], theme[1][0])):
            order = np.argsort(-weight, kind="stable")
            found.append(Theme(tuple(terms[order].tolist()), sign))
    return found


def _divide(
    size: Numbers, importance: Numbers, vectors: Numbers, count: int, most: int
) -> NDArray[np.int64]:
    """Return the group of each term by k-means over the logarithm of its weight and its vector.

    A group has at most `most` terms; -1 stands for a term of no group.
    """
    from sklearn.cluster import KMeans

    logarithm = np.log(size + MIN_WEIGHT)
    spread = max(float(logarithm.std()), 1e-9)
    points = np.column_stack([(logarithm - logarithm.mean()) / spread, SIMILARITY * vectors])
    points = points.round(6)  # processors differ in the last digits
    count = min(count, len(np.unique(points, axis=0)))
    means = KMeans(count, n_init=1, random_state=0).fit(points, sample_weight=importance + 1e-9)
    found: NDArray[np.int64] = means.labels_.astype(np.int64)
    if np.bincount(found).max() <= most:
        return found
    distances = means.transform(points).round(6)
    room = np.full(count, most)
    found[:] = -1
    for at in np.argsort(-size * np.sqrt(importance), kind="stable"):
        nearest = np.where(room > 0, distances[at], np.inf)
        if np.isfinite(nearest).any():
            found[at] = int(nearest.argmin())
            room[found[at]] -= 1
    return found


def split_sides(kept: Integers, weights: Weights, count: int) -> tuple[int, int]:
    """Return how many of `count` themes speak for the label, and how many against it.

    Both sides have a theme if both have terms and `count` is not 1.
    """
    more = int((weights.terms[kept] > 0).sum())
    if count < 2 or more in (0, len(kept)):
        return (count, 0) if 2 * more >= len(kept) else (0, count)
    share = min(count - 1, max(1, round(count * more / len(kept))))
    return share, count - share


def merge_weights(themes: Sequence[Theme], weights: Weights, spread: Numbers) -> Weights:
    """Return weights in which all terms of a theme have the mean weight of the theme.

    Args:
        themes: The themes. Terms of no theme get the weight 0.
        weights: The weights of all terms.
        spread: Standard deviation of each term's column, of shape (t,).
    """
    found = np.zeros(len(weights.terms))
    for theme in themes:
        some = list(theme.terms)
        found[some] = np.average(weights.terms[some], weights=spread[some] ** 2 + 1e-12)
    return Weights(found, weights.style, weights.constant)
