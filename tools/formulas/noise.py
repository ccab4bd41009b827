"""Estimate the noise of measurements before a law is known.

If enough rows repeat the inputs of another row, the noise is the spread of the target within such
rows. Otherwise smoothers of several kinds and widths predict each row from all others, and the noise
is the smallest of their errors: a curve that ignores the row cannot follow its noise, so the error is
at least the noise, and near it if one of the curves can follow the law. The estimate is therefore
rather too large than too small where the law varies quickly or has many inputs.

The smoothers are ridge regressions on polynomials of degree 0 to 4, of the columns and of their
logarithms, for the target and for its logarithm, and kernel ridge regressions. All of them have a
closed form for the error of leaving one row out (Hastie, Tibshirani and Friedman, 2009, section 7.10).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .evaluation import Columns, Floats

MAX_ROWS = 500  # that the smoothers use
MAX_TERMS = 250  # of a polynomial
MAX_INDICATORS = 20  # values of a category that the smoothers tell apart
LEAST_REPEATED = 10  # degrees of freedom within rows with equal inputs
RIDGES = (1e-10, 1e-6, 1e-2)
KERNEL_RIDGES = (1e-9, 1e-5, 1e-2)
LENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0)  # of kernels, in standard deviations of a column
LEAST_SHARE = 1e-10  # of the target's spread


def estimate_noise(columns: Columns, target: Floats) -> float:
    """Return an estimate of the standard deviation of the noise in the target.

    Args:
        columns: The n values of each column, by identifier; numbers or texts.
        target: The values of the target, finite, of shape (n,).

    Returns:
        The estimate, in the unit of the target. It is at least the error with which the digits of
        the target were rounded, and at least 1e-10 of the target's spread. At most 500 rows, spread
        evenly over the table, are used.
    """
    target = np.asarray(target, np.float64)
    spread = float(np.std(target)) if len(target) else 0.0
    least = max(rounding_error(target), LEAST_SHARE * spread)
    if spread == 0.0:
        return least
    repeated = _noise_of_repeated_rows(columns, target)
    if repeated is not None:
        return max(repeated, least)
    chosen = np.unique(np.linspace(0, len(target) - 1, min(len(target), MAX_ROWS)).astype(int))
    y = target[chosen]
    errors = [float(np.std(y, ddof=1)) if len(y) > 1 else spread]
    errors += _smoothing_errors({name: cells[chosen] for name, cells in columns.items()}, y)
    found = [one for one in errors if math.isfinite(one)]
    return max(float(f"{min(found):.3g}"), least)


def rounding_error(target: Floats) -> float:
    """Return the standard deviation of the error with which the target was rounded to its digits.

    The shortest decimal that reads as the same float counts as the number that was written. Values
    with as many digits as a float holds count as not rounded, except for the float's own precision.
    """
    finite = target[np.isfinite(target)]
    places = max((_decimal_places(float(value)) for value in finite[:5_000]), default=0)
    size = float(np.max(np.abs(finite), initial=0.0))
    return max(10.0**-places / math.sqrt(12), size * 2.0**-53)


def _decimal_places(value: float) -> int:
    """Return the number of decimal places of a number; whole numbers are not rounded."""
    digits, _, exponent = repr(value).partition("e")
    fraction = digits.partition(".")[2].rstrip("0")
    return max(len(fraction) - int(exponent or 0), 0) if fraction else max(-int(exponent or 0), 0)


def _noise_of_repeated_rows(columns: Columns, target: Floats) -> float | None:
    groups: dict[tuple[object, ...], list[float]] = defaultdict(list)
    for value, *row in zip(target.tolist(), *(cells.tolist() for cells in columns.values()),
                           strict=True):  # fmt: skip
        groups[tuple(row)].append(value)
    freedom = sum(len(own) - 1 for own in groups.values())
    if freedom < max(LEAST_REPEATED, len(target) / 20):
        return None
    squares = sum(len(own) * float(np.var(own)) for own in groups.values())
    return math.sqrt(squares / freedom)


# --- smoothers ------------------------------------------------------------------------


def _smoothing_errors(columns: Columns, y: Floats) -> Iterator[float]:
    """Yield the error of each smoother when it leaves a row out."""
    plain = _features(columns, logarithms=False)
    if not plain.shape[1]:
        return
    logarithmic = _features(columns, logarithms=True)
    kinds = [plain] if logarithmic is plain else [plain, logarithmic]
    positive = bool((y > 0).all() or (y < 0).all())
    for features in kinds:
        for degree in range(1, 5):
            terms = _polynomial(features, degree)
            if terms is None:
                break
            yield from _ridge_errors(terms, y)
            if positive:  # a product of powers is linear in logarithms
                yield from _ridge_errors(terms, y, in_logarithms=True)
    for features in kinds:
        yield from _kernel_errors(features, y)


def _features(columns: Columns, *, logarithms: bool) -> Floats:
    """Return standardised features of shape (n, d): numbers, and an indicator for each category."""
    found: list[Floats] = []
    for cells in columns.values():
        if cells.dtype.kind in "fiub":
            values = cells.astype(np.float64)
            if logarithms and (values > 0).all():
                values = np.log(values)
            found.append(values)
        else:
            names, counts = np.unique(cells.astype(str), return_counts=True)
            most = names[np.argsort(-counts, kind="stable")][:MAX_INDICATORS]
            found += [(cells.astype(str) == name).astype(np.float64) for name in most]
    standard = []
    for values in found:
        spread = float(np.std(values))
        if spread > 0 and math.isfinite(spread):
            standard.append((values - values.mean()) / spread)
    rows = len(next(iter(columns.values()))) if columns else 0
    return np.stack(standard, axis=1) if standard else np.zeros((rows, 0))


def _polynomial(features: Floats, degree: int) -> Floats | None:
    """Return all products of at most `degree` features, of shape (n, terms); None if too many."""
    count = features.shape[1]
    if math.comb(count + degree, degree) > min(MAX_TERMS, len(features)):
        return None
    terms = [np.ones(len(features))]
    for size in range(1, degree + 1):
        for chosen in itertools.combinations_with_replacement(range(count), size):
            terms.append(np.prod(features[:, chosen], axis=1))
    return np.stack(terms, axis=1)


def _ridge_errors(terms: Floats, y: Floats, *, in_logarithms: bool = False) -> Iterator[float]:
    goal = np.log(np.abs(y)) if in_logarithms else y
    left, singular, _ = np.linalg.svd(terms, full_matrices=False)
    for ridge in RIDGES:
        weights = singular**2 / (singular**2 + ridge * singular[0] ** 2)
        fitted = left @ (weights * (left.T @ goal))
        leverage = np.einsum("ij,j,ij->i", left, weights, left)
        error = (goal - fitted) / np.maximum(1 - leverage, 1e-9)
        if in_logarithms:  # back in the unit of the target
            with np.errstate(over="ignore", invalid="ignore"):
                error = np.abs(y) * (1 - np.exp(-error))
        yield _root_mean_square(error)


def _kernel_errors(features: Floats, y: Floats) -> Iterator[float]:
    squares = np.sum(features**2, axis=1)
    distances = np.maximum(squares[:, None] + squares[None, :] - 2 * features @ features.T, 0.0)
    goal = y - y.mean()
    for length in LENGTHS:
        values, vectors = np.linalg.eigh(np.exp(-distances / (2 * length**2 * features.shape[1])))
        rotated = vectors.T @ goal
        for ridge in KERNEL_RIDGES:
            inverse = 1 / (np.maximum(values, 0.0) + ridge * len(y))
            weights: NDArray[np.float64] = vectors @ (inverse * rotated)
            diagonal = np.einsum("ij,j,ij->i", vectors, inverse, vectors)
            yield _root_mean_square(weights / diagonal)


def _root_mean_square(values: Floats | Sequence[float]) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return math.sqrt(max(float(np.mean(np.square(values))), 0.0))
