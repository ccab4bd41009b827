"""The novelty of a hypothesis compared with earlier hypotheses (GEAR, sections 3.3 and 4.1).

The coverage cov(f | F) is the share of the sample space S on which a hypothesis f makes the same
prediction as at least one earlier hypothesis in F. Both predictions must be defined: an undefined
prediction is never covered. A hypothesis with a coverage of at least 0.8 is redundant. F should
contain every earlier answer to the problem that could be parsed, including inconsistent and
redundant answers. The caller of `Coverage.add` is responsible for this.

The comparison with 0.8 is exact. A share is one correctly rounded division of integers, because
weights are binary fractions and are first scaled to integers. Rounding preserves order, so for
fewer than 10**15 inputs the float is at least 0.8 exactly when the fraction is. If a weighted
fraction just below 4/5 would round to 0.8, the result is the next smaller float.
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
    """Return `array` unchanged if it has two dimensions; otherwise raise ValueError."""
    if array.ndim != 2:
        raise ValueError(f"a matrix (hypotheses, inputs) is needed, not shape {array.shape}")
    return array


def check_predictions(
    codes: ArrayLike, defined: ArrayLike, inputs: int | None = None
) -> tuple[Codes, Mask]:
    """Convert the predictions of h hypotheses on n inputs to arrays, and check their shapes.

    Args:
        codes: Integer codes of the predictions, of shape (h, n).
        defined: Where the predictions are defined, of shape (h, n).
        inputs: The expected number n of inputs; None to accept any number.

    Returns:
        `codes` as int64 and `defined` as bool.

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
    """Return an integer in the range of int64 that does not occur in `rows`."""
    unused = int(np.iinfo(np.int64).min)
    if not rows.size or rows.min() > unused:
        return unused
    while (rows == unused).any():
        unused += 1
    return unused


def find_unused_codes(rows: Codes) -> tuple[int, int]:
    """Return two different integers in the range of int64 that do not occur in `rows`."""
    first = int(np.iinfo(np.int64).min)
    if not rows.size or rows.min() > first + 1:
        return first, first + 1
    first = find_unused_code(rows)
    second = first + 1
    while (rows == second).any():
        second += 1
    return first, second


def input_sizes(weights: ArrayLike, n: int) -> Sizes:
    """Return the sizes of n inputs (the measure M1 of GEAR) as a checked float64 array.

    Raises:
        ValueError: The shape of `weights` is not (n,).
        UsageError: A size is negative, infinite or NaN.
    """
    sizes = np.asarray(weights, np.float64)
    if sizes.shape != (n,):
        raise ValueError(f"weights of shape {sizes.shape} for {n} inputs")
    return check_sizes(sizes)


def check_sizes(sizes: Sizes) -> Sizes:
    """Return `sizes` unchanged if all are finite and at least 0; otherwise raise UsageError."""
    wrong = ~np.isfinite(sizes) | (sizes < 0)
    if wrong.any():
        raise UsageError(f"weight {sizes[wrong][0]} is not a finite number of at least 0")
    return sizes


def space_size(n: int, weights: ArrayLike | None) -> float:
    """Return the total size of the sample space, M1(S).

    This is the sum of `weights`, or the number `n` of inputs if `weights` is None.
    """
    return float(n) if weights is None else float(input_sizes(weights, n).sum())


def prediction_sizes(
    rows: Codes, known: Mask, weights: ArrayLike | None, prediction_weights: ArrayLike | None
) -> Sizes | None:
    """Return the sizes of the predictions of h hypotheses on n inputs (the measure M2 of GEAR).

    Args:
        rows: Codes of the predictions, of shape (h, n).
        known: Where the predictions are defined, of shape (h, n).
        weights: Sizes of the inputs, of shape (n,); None if all inputs have size 1.
        prediction_weights: Sizes of the predictions, of shape (n,) or (h, n); None if each
            prediction has the size of its input.

    Returns:
        Sizes of shape (n,) or (h, n). None if both measures are None, so that predictions are
        counted.

    Raises:
        ValueError: An array has a different shape, or equal predictions have different sizes.
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
    """Return whether a hypothesis with this coverage is redundant: whether it is at least 0.8.

    The comparison is exact for coverages computed in this module.
    """
    return coverage >= REDUNDANCY_THRESHOLD


class Coverage:
    """The predictions that the earlier answers to a problem have already made.

    Args:
        inputs: Number n of inputs in the sample space S. Predictions for a different number of
            inputs raise ValueError.
        weights: Sizes of the inputs, of shape (n,); None if all inputs have size 1.
    """

    def __init__(self, inputs: int, weights: ArrayLike | None = None) -> None:
        self._inputs = inputs
        self._units = None if weights is None else _units(np.asarray(weights, np.float64))
        self._earlier: list[tuple[NDArray[np.int64], NDArray[np.bool_] | None]] = []
        if self._units is not None and len(self._units) != inputs:
            raise ValueError(f"{len(self._units)} weights for {inputs} inputs")

    def covered_mask(self, predictions: Predictions) -> NDArray[np.bool_]:
        """Return for which of n inputs an earlier answer made the same prediction.

        The result is a bool array of shape (n,).
        """
        return self._covered(predictions.codes, predictions.defined)

    def share(self, predictions: Predictions) -> float:
        """Return the share of inputs for which an earlier answer made the same prediction.

        This is the coverage cov(f | F), between 0 and 1. It is 0 if there are no inputs or all
        weights are 0.
        """
        return self._share(self.covered_mask(predictions))

    def add(self, predictions: Predictions) -> float:
        """Add the predictions of an answer, and return their `share` before that."""
        codes, defined = predictions.codes, predictions.defined
        covered = self._covered(codes, defined)
        if not np.array_equal(covered, defined):  # else its predictions are already in the union
            self._keep(codes, defined)
        return self._share(covered)

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
    """Return the coverage of one hypothesis by k earlier hypotheses, between 0 and 1.

    The coverage is the share of n inputs on which an earlier hypothesis makes the same prediction.

    Args:
        codes: Codes of the predictions of the hypothesis, of shape (n,).
        defined: Where these predictions are defined, of shape (n,).
        earlier_codes: Codes of the predictions of the earlier hypotheses, of shape (k, n).
        earlier_defined: Where the earlier predictions are defined, of shape (k, n).
        weights: Sizes of the inputs, of shape (n,); None if all inputs have size 1.
    """
    row_codes = np.asarray(codes, np.int64)
    union = Coverage(len(row_codes), weights)
    known = np.asarray(earlier_defined, np.bool_)
    for row, row_known in zip(np.asarray(earlier_codes, np.int64), known, strict=True):
        union._keep(row, row_known)
    mask = union._covered(row_codes, np.asarray(defined, np.bool_))
    return union._share(mask)


def coverages(predictions: Sequence[Predictions], weights: ArrayLike | None = None) -> list[float]:
    """Return the coverage of each hypothesis by the hypotheses before it in `predictions`.

    The coverage is the share of inputs on which an earlier hypothesis makes the same prediction.
    `weights` holds the sizes of the n inputs, of shape (n,), or is None if all inputs have size 1.
    """
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
    """Return the coverage of each of h hypotheses, from the inputs that are covered.

    Args:
        covered: For each hypothesis, the inputs on which an earlier hypothesis makes the same
            prediction, bool of shape (h, n).
        weights: Sizes of the inputs, of shape (n,); None if all inputs have size 1.
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
