"""Prediction matrices, and the novelty of a hypothesis against earlier ones (GEAR, 3.3 and 4.1).

cov(f | F) is the share of S on which some earlier hypothesis g has g(in) = f(in). Both must be
defined there: an undefined prediction is never covered. A hypothesis whose cov is at least 0.8 is
not novel; exactly 0.8 is redundant. F holds every earlier parsable answer to the problem, including
inconsistent and redundant ones; the caller of `Coverage.add` sees to that.

The boundary is exact. A share is one correctly rounded division of integers (weights are binary
fractions and are scaled to integers first). Rounding preserves order, so for fewer than 10**15
inputs the float is at least 0.8 exactly when the fraction is. A weighted fraction just below 4/5 that
would round to 0.8 becomes the next smaller float.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import compress
from math import lcm, nextafter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...records import Predictions, UsageError

# --- Validation of prediction matrices and of the two size measures of GEAR (section 3.3).
#
# `codes`, int64 (h, n), and `defined`, bool (h, n), are as described in `scores.py`.

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Sizes = NDArray[np.float64]


def check_matrix(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the array unchanged if it is a matrix, else raise ValueError."""
    if array.ndim != 2:
        raise ValueError(f"a matrix (hypotheses, inputs) is needed, not shape {array.shape}")
    return array


def check_predictions(
    codes: ArrayLike, defined: ArrayLike, inputs: int | None = None
) -> tuple[Codes, Mask]:
    """Return the codes of predictions, and where they are defined, as arrays of shape (h, n).

    Raises:
        ValueError: The shapes differ, or n is not `inputs`.
    """
    rows, known = np.asarray(codes, np.int64), np.asarray(defined, np.bool_)
    check_matrix(rows)
    if rows.shape != known.shape:
        raise ValueError(f"codes {rows.shape} and defined {known.shape} differ in shape")
    if inputs is not None and rows.shape[1] != inputs:
        raise ValueError(f"a context over {rows.shape[1]} inputs, candidates over {inputs}")
    return rows, known


def find_unused_code(rows: Codes) -> int:
    """Return an int64 that does not occur in `rows`."""
    unused = int(np.iinfo(np.int64).min)
    if not rows.size or rows.min() > unused:
        return unused
    while (rows == unused).any():
        unused += 1
    return unused


def find_unused_codes(rows: Codes) -> tuple[int, int]:
    """Return two different int64 that do not occur in `rows`."""
    first = int(np.iinfo(np.int64).min)
    if not rows.size or rows.min() > first + 1:
        return first, first + 1
    first = find_unused_code(rows)
    second = first + 1
    while (rows == second).any():
        second += 1
    return first, second


def input_sizes(weights: ArrayLike, n: int) -> Sizes:
    """Return M1, the sizes (n,) of the inputs.

    Raises:
        ValueError: The shape is not (n,).
        UsageError: A size is negative, infinite or NaN.
    """
    sizes = np.asarray(weights, np.float64)
    if sizes.shape != (n,):
        raise ValueError(f"weights of shape {sizes.shape} for {n} inputs")
    return check_sizes(sizes)


def check_sizes(sizes: Sizes) -> Sizes:
    """Return the sizes unchanged; raise UsageError for a negative, infinite or NaN one."""
    wrong = ~np.isfinite(sizes) | (sizes < 0)
    if wrong.any():
        raise UsageError(f"weight {sizes[wrong][0]} is not a finite number of at least 0")
    return sizes


def space_size(n: int, weights: ArrayLike | None) -> float:
    """Return M1(S), the total size of the sample space."""
    return float(n) if weights is None else float(input_sizes(weights, n).sum())


def prediction_sizes(
    rows: Codes, known: Mask, weights: ArrayLike | None, prediction_weights: ArrayLike | None
) -> Sizes | None:
    """Return M2, the sizes of the predictions: None (cardinality), (n,) or (h, n).

    Raises:
        ValueError: The shape is another one, or one prediction has two sizes.
        UsageError: A size is negative, infinite or NaN.
    """
    h, n = rows.shape
    if prediction_weights is None:
        return None if weights is None else input_sizes(weights, n)
    sizes = np.asarray(prediction_weights, np.float64)
    if sizes.ndim == 1:
        return input_sizes(sizes, n)
    if sizes.shape != (h, n):
        raise ValueError(f"prediction weights {sizes.shape} are neither ({n},) nor ({h}, {n})")
    sizes = np.where(known, sizes, 0.0)
    order = np.lexsort((rows, ~known), axis=0)
    codes, kept, size = (np.take_along_axis(a, order, 0) for a in (rows, known, sizes))
    torn = (codes[1:] == codes[:-1]) & kept[1:] & (size[1:] != size[:-1])
    if torn.any():
        column = int(np.argwhere(torn)[0][1])
        raise ValueError(f"prediction weights give one prediction of input {column} two sizes")
    return check_sizes(sizes)


REDUNDANCY_THRESHOLD = 0.8


def is_redundant(coverage: float) -> bool:
    """Return whether a coverage makes a hypothesis redundant: whether it is at least 0.8.

    The comparison is exact for coverages computed in this module.
    """
    return coverage >= REDUNDANCY_THRESHOLD


class Coverage:
    """The running union of the predictions of a problem's earlier answers over n inputs.

    Args:
        inputs: Number n of inputs. Predictions over another number raise ValueError.
        weights: Sizes (n,) of the inputs, M1; without them inputs are counted.
    """

    def __init__(self, inputs: int, weights: ArrayLike | None = None) -> None:
        self._inputs = inputs
        self._units = None if weights is None else _units(np.asarray(weights, np.float64))
        self._earlier: list[tuple[NDArray[np.int64], NDArray[np.bool_] | None]] = []
        if self._units is not None and len(self._units) != inputs:
            raise ValueError(f"{len(self._units)} weights for {inputs} inputs")

    def covered_mask(self, predictions: Predictions) -> NDArray[np.bool_]:
        """Return for which inputs an earlier answer made the same prediction, as a bool array of
        shape (n,).
        """
        return self._covered(predictions.codes, predictions.defined)

    def share(self, predictions: Predictions) -> float:
        """Return cov(f | F), between 0 and 1; 0 if S is empty or has size 0."""
        return self._share(self.covered_mask(predictions))

    def add(self, predictions: Predictions) -> None:
        """Add the predictions of an answer to the covered predictions."""
        codes, defined = predictions.codes, predictions.defined
        if np.array_equal(self._covered(codes, defined), defined):
            return  # Its predictions are already in the union.
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
    """Return cov(f | F) of one row (n,) against earlier rows (k, n); see `Coverage.share`."""
    row_codes = np.asarray(codes, np.int64)
    union = Coverage(len(row_codes), weights)
    known = np.asarray(earlier_defined, np.bool_)
    for row, row_known in zip(np.asarray(earlier_codes, np.int64), known, strict=True):
        union._keep(row, row_known)
    mask = union._covered(row_codes, np.asarray(defined, np.bool_))
    return union._share(mask)


def coverages(predictions: Sequence[Predictions], weights: ArrayLike | None = None) -> list[float]:
    """Return cov of each hypothesis against all hypotheses before it, in order."""
    if not predictions:
        return []
    union = Coverage(len(predictions[0].codes), weights)
    shares = []
    for p in predictions:
        mask = union.covered_mask(p)
        shares.append(union._share(mask))
        if not np.array_equal(mask, p.defined):
            union._keep(p.codes, p.defined)
    return shares


def covered_shares(covered: NDArray[np.bool_], weights: ArrayLike | None = None) -> list[float]:
    """Return for each of h hypotheses the share of S on which an earlier one predicts the same.

    Args:
        covered: For each hypothesis, the inputs on which an earlier hypothesis made an equal
            prediction, bool of shape (h, n).
        weights: Weight of each input, of shape (n,); None for equal weights.
    """
    units = None if weights is None else _units(np.asarray(weights, np.float64))
    return [_share(row, units) for row in covered]


def _share(covered: NDArray[np.bool_], units: list[int] | None) -> float:
    if units is None:
        return int(np.count_nonzero(covered)) / len(covered) if len(covered) else 0.0
    total, part = sum(units), sum(compress(units, covered.tolist()))
    share = part / total if total else 0.0
    # Units of weights may have more than 53 bits; a fraction just below the bound then rounds to it.
    return nextafter(share, 0) if share == REDUNDANCY_THRESHOLD and 5 * part < 4 * total else share


def _units(weights: NDArray[np.float64]) -> list[int]:
    """Scale the weights by one common factor that makes all of them integers."""
    if weights.ndim != 1:
        raise ValueError(f"weights of shape {weights.shape}; one for each input is needed")
    exact = [Fraction(w) for w in check_sizes(weights).tolist()]
    factor = lcm(*(w.denominator for w in exact))
    return [int(w * factor) for w in exact]
