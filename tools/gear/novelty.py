"""Novelty of a hypothesis given the earlier ones (GEAR, section 4.1).

cov(f | F) is the share of S on which some earlier hypothesis g has g(in) = f(in). Both must be
defined there: an undefined prediction is never covered. A hypothesis with cov of at least 0.8 is
not novel: exactly 0.8 is redundant. F holds every earlier parsable answer of the problem,
inconsistent and redundant ones too; who calls `Coverage.add` sees to that.

The boundary is exact. Shares are one correctly rounded division of integers (weights, being
binary fractions, are brought to integers first), and rounding keeps order, so the float is at
least 0.8 exactly where the fraction is, for anything below 10**15 inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import compress
from math import lcm

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...records import Predictions
from .matrices import checked_sizes

REDUNDANT_FROM = 0.8


def is_redundant(coverage: float) -> bool:
    """Whether a coverage from this module makes a hypothesis redundant: from 0.8 on, exactly."""
    return coverage >= REDUNDANT_FROM


class Coverage:
    """The running union of the predictions of a problem's earlier answers over n `inputs`.

    weights: sizes (n,) of the inputs, M1; without them inputs are counted. Predictions over
    another number of inputs raise ValueError.
    """

    def __init__(self, inputs: int, weights: ArrayLike | None = None) -> None:
        self._inputs = inputs
        self._units = None if weights is None else _units(np.asarray(weights, np.float64))
        self._earlier: list[tuple[NDArray[np.int64], NDArray[np.bool_] | None]] = []
        if self._units is not None and len(self._units) != inputs:
            raise ValueError(f"{len(self._units)} weights for {inputs} inputs")

    def covered(self, predictions: Predictions) -> NDArray[np.bool_]:
        """Where (n,) an earlier answer gave the same prediction."""
        return self._covered(predictions.codes, predictions.defined)

    def of(self, predictions: Predictions) -> float:
        """cov(f | F), between 0 and 1; 0 where S is empty or has size 0."""
        return self._share(self.covered(predictions))

    def add(self, predictions: Predictions) -> None:
        """Makes an answer one of the earlier ones."""
        codes, defined = predictions.codes, predictions.defined
        if np.array_equal(self._covered(codes, defined), defined):
            return  # it adds nothing to the union
        self._keep(codes, defined)

    def _keep(self, codes: NDArray[np.int64], defined: NDArray[np.bool_]) -> None:
        self._check(len(codes))
        self._earlier.append((codes, None if defined.all() else defined))

    def _covered(self, codes: NDArray[np.int64], defined: NDArray[np.bool_]) -> NDArray[np.bool_]:
        self._check(len(codes))
        covered = np.zeros(len(codes), np.bool_)
        same = np.empty(len(codes), np.bool_)
        for earlier, known in self._earlier:
            np.equal(codes, earlier, out=same)
            if known is not None:
                same &= known
            covered |= same
        return covered & defined

    def _share(self, covered: NDArray[np.bool_]) -> float:
        return _share(covered, self._units)

    def _check(self, inputs: int) -> None:
        if inputs != self._inputs:
            raise ValueError(f"predictions over {inputs} inputs, earlier ones over {self._inputs}")


def coverage(
    codes: ArrayLike,
    defined: ArrayLike,
    earlier_codes: ArrayLike,
    earlier_defined: ArrayLike,
    weights: ArrayLike | None = None,
) -> float:
    """cov(f | F) of one row (n,) given earlier rows (k, n); see `Coverage.of`."""
    row_codes = np.asarray(codes, np.int64)
    union = Coverage(len(row_codes), weights)
    known = np.asarray(earlier_defined, np.bool_)
    for row, row_known in zip(np.asarray(earlier_codes, np.int64), known, strict=True):
        union._keep(row, row_known)
    mask = union._covered(row_codes, np.asarray(defined, np.bool_))
    return union._share(mask)


def coverages(predictions: Sequence[Predictions], weights: ArrayLike | None = None) -> list[float]:
    """cov of each hypothesis given all before it, in order."""
    if not predictions:
        return []
    union = Coverage(len(predictions[0].codes), weights)
    shares = []
    for p in predictions:
        mask = union.covered(p)
        shares.append(union._share(mask))
        if not np.array_equal(mask, p.defined):
            union._keep(p.codes, p.defined)
    return shares


def covered_shares(covered: NDArray[np.bool_], weights: ArrayLike | None = None) -> list[float]:
    """cov of each of h hypotheses from where (h, n) it is covered."""
    units = None if weights is None else _units(np.asarray(weights, np.float64))
    return [_share(row, units) for row in covered]


def _share(covered: NDArray[np.bool_], units: list[int] | None) -> float:
    if units is None:
        return int(np.count_nonzero(covered)) / len(covered) if len(covered) else 0.0
    total = sum(units)
    return sum(compress(units, covered.tolist())) / total if total else 0.0


def _units(weights: NDArray[np.float64]) -> list[int]:
    """The weights times one common factor that makes all of them integers."""
    if weights.ndim != 1:
        raise ValueError(f"weights of shape {weights.shape}; one for each input is needed")
    exact = [Fraction(w) for w in checked_sizes(weights).tolist()]
    factor = lcm(*(w.denominator for w in exact))
    return [int(w * factor) for w in exact]
