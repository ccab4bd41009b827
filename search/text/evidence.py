"""A test of whether the words and the style of texts tell anything about a label.

The whole of the evidence is tested at once, so that many weak signs count together. The first
statistic is the maximum mean discrepancy between the texts with the label and the others (Gretton
et al. 2012) with a linear kernel on weighted terms; it grows with many weak signs. The second is the
greatest z-score of a single column; it grows with one strong sign. Both are compared with shuffled
labels. For pairs of texts, the texts are swapped at random instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .regression import Features, Numbers

SHUFFLES = 399
BLOCK = 50  # shuffles at a time, which limits the memory
LEVEL = 0.03  # significance level of the two statistics together


class Evidence(NamedTuple):
    """p-values of the hypothesis that the features do not depend on the labels.

    Attributes:
        chance: By both statistics together.
        whole: By the discrepancy of all features.
        single: By the strongest feature.
    """

    chance: float
    whole: float = 1.0
    single: float = 1.0

    @property
    def is_sparse(self) -> bool:
        """Whether a single feature tells more than all features together."""
        return self.single <= LEVEL and self.single < self.whole


def measure_evidence(features: Features, y: NDArray[np.bool_], seed: int = 0) -> Evidence:
    """Return the p-values of the hypothesis that the features do not depend on the labels.

    Args:
        features: The features of n rows.
        y: Which rows have the label, of shape (n,).
        seed: Random seed of the shuffles.
    """
    x = features.design
    signs = np.where(y, 1.0, -1.0)
    if not features.paired:
        signs = signs - signs.mean()
    squares = np.asarray(x.multiply(x).sum(axis=0)).ravel()
    means = np.asarray(x.sum(axis=0)).ravel() / len(y)
    variance = squares - (0.0 if features.paired else len(y) * means**2)
    spread = np.sqrt(np.maximum(variance, 0.0))
    kept = spread > 1e-9
    if not kept.any():
        return Evidence(1.0)
    columns, spread = sparse.csr_matrix(x[:, kept].T), spread[kept]
    lengths = np.asarray(x.multiply(x).sum(axis=1)).ravel()

    def statistics(some: Numbers) -> Numbers:
        """Return both statistics of labels of shape (n, k), as an array of shape (2, k)."""
        along = columns @ some
        # without the rows' own products, which only add noise where rows differ in length
        whole = (along**2).sum(axis=0) - lengths @ some**2
        return np.stack([whole, np.abs(along / spread[:, None]).max(axis=0)])

    here = statistics(signs[:, None])[:, 0]
    random = np.random.default_rng(seed)
    shuffled = []
    for start in range(0, SHUFFLES, BLOCK):
        count = min(BLOCK, SHUFFLES - start)
        if features.paired:
            some = random.choice([-1.0, 1.0], (len(signs), count))
        else:
            some = random.permuted(np.tile(signs[:, None], (1, count)), axis=0)
        shuffled.append(statistics(some))
    every = np.hstack([here[:, None], *shuffled])
    # The rank of the smaller p-value among those of the shuffles corrects for taking the smaller.
    both = np.stack([_chances(row) for row in every])
    chances = both.min(axis=0)
    chance = float((chances <= chances[0] + 1e-12).mean())
    return Evidence(chance, *map(float, both[:, 0]))


def _chances(values: Numbers) -> Numbers:
    """Return for each value the share of all values that are at least as great."""
    order = np.sort(values)
    found: Numbers = (len(values) - np.searchsorted(order, values - 1e-9)) / len(values)
    return found
