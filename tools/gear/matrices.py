"""Prediction matrices and the two size measures of GEAR, checked (section 3.3).

`codes`, int64 (h, n), and `defined`, bool (h, n), are as in `gear`, where the measures are told.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...records import UsageError

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Sizes = NDArray[np.float64]


def hypothesis_rows(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """The array as it is; raises ValueError where it is no matrix."""
    if array.ndim != 2:
        raise ValueError(f"a matrix (hypotheses, inputs) is needed, not shape {array.shape}")
    return array


def prediction_matrix(
    codes: ArrayLike, defined: ArrayLike, inputs: int | None = None
) -> tuple[Codes, Mask]:
    """Both as arrays (h, n). Raises ValueError where the shapes differ, or n is not `inputs`."""
    rows, known = np.asarray(codes, np.int64), np.asarray(defined, np.bool_)
    hypothesis_rows(rows)
    if rows.shape != known.shape:
        raise ValueError(f"codes {rows.shape} and defined {known.shape} differ in shape")
    if inputs is not None and rows.shape[1] != inputs:
        raise ValueError(f"a context over {rows.shape[1]} inputs, candidates over {inputs}")
    return rows, known


def unused_code(rows: Codes) -> int:
    """An int64 that `rows` does not hold."""
    unused = int(np.iinfo(np.int64).min)
    if not rows.size or rows.min() > unused:
        return unused
    while (rows == unused).any():
        unused += 1
    return unused


def unused_codes(rows: Codes) -> tuple[int, int]:
    """Two different int64 that `rows` does not hold."""
    first = int(np.iinfo(np.int64).min)
    if not rows.size or rows.min() > first + 1:
        return first, first + 1
    first = unused_code(rows)
    second = first + 1
    while (rows == second).any():
        second += 1
    return first, second


def input_sizes(weights: ArrayLike, n: int) -> Sizes:
    """M1 (n,). Raises ValueError for another shape, UsageError for what is no size."""
    sizes = np.asarray(weights, np.float64)
    if sizes.shape != (n,):
        raise ValueError(f"weights of shape {sizes.shape} for {n} inputs")
    return checked_sizes(sizes)


def checked_sizes(sizes: Sizes) -> Sizes:
    """The sizes as they are; raises UsageError for a negative, infinite or undefined one."""
    wrong = ~np.isfinite(sizes) | (sizes < 0)
    if wrong.any():
        raise UsageError(f"weight {sizes[wrong][0]} is not a finite number of at least 0")
    return sizes


def space_size(n: int, weights: ArrayLike | None) -> float:
    """M1(S)."""
    return float(n) if weights is None else float(input_sizes(weights, n).sum())


def prediction_sizes(
    rows: Codes, known: Mask, weights: ArrayLike | None, prediction_weights: ArrayLike | None
) -> Sizes | None:
    """M2 as None (cardinality), (n,) or (h, n). Raises ValueError for another shape, and where
    one prediction has two sizes; UsageError for what is no size."""
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
    return checked_sizes(sizes)
