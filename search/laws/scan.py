"""Find the columns whose multiples, added to a linear model, leave the least error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LEAST_SQUARES = 1e-22  # relative to the variance: what arithmetic loses
DEPENDENT = 1e-7  # share of a column that the model does not explain, below which it adds nothing
FREE = 1e-5  # the same of a squared length in single precision
MOST_TERMS, LONG_BEAM = 8, 2  # of sums that are longer than all short ones
EXCHANGED = 3  # sets of each size in which each column is exchanged for others
Places = tuple[int, ...]


def data_bits(squares: Floats | float, rows: int, variance: float) -> Floats:
    """Return the bits that residuals take: n/2 log2 of their mean square, relative to the variance.

    Args:
        squares: The sums of the squares of the residuals.
        rows: The number n of residuals.
        variance: The variance of the target.
    """
    relative = np.asarray(squares, float) / (rows * variance)
    found: Floats = rows / 2 * np.log2(np.maximum(relative, LEAST_SQUARES))
    return found


@dataclass
class Scan:
    """Columns, orthogonal to those that any model has, of length 1.

    Attributes:
        columns: Of shape (n, m), in single precision, which is enough to find those that matter.
        target: What the common columns leave of the target, (n,).
        squares: The sum of its squares.
    """

    columns: NDArray[np.float32]
    target: Floats
    squares: float

    @classmethod
    def prepare(cls, columns: Floats, common: Floats, target: Floats, weights: Floats) -> Scan:
        """Return a scan of columns beside common ones, all rows weighted."""
        rest = project(common, weights)
        left = rest(target * weights)
        return cls(normalise(columns, weights, rest), left, float(left @ left))

    def errors(self) -> Floats:
        """Return the sum of squares that each column leaves, of shape (m,)."""
        found: Floats = np.maximum(
            self.squares - (self.target.astype(np.float32) @ self.columns).astype(float) ** 2, 0.0
        )
        return found

    def errors_beside(self, chosen: Places) -> Floats:
        """Return the sum of squares that each column leaves beside chosen ones; infinite for these."""
        q, _ = np.linalg.qr(self.columns[:, list(chosen)].astype(float))
        left = self.target - q @ (q.T @ self.target)
        overlap = np.column_stack([left, q]).T.astype(self.columns.dtype) @ self.columns
        free = 1.0 - np.einsum("ij,ij->j", overlap[1:], overlap[1:])
        gain = np.where(free > FREE, overlap[0].astype(float) ** 2 / np.maximum(free, FREE), 0)
        found: Floats = np.maximum(left @ left - gain, 0.0)
        found[list(chosen)] = np.inf
        return found


class Projection:
    """What weighted columns leave of others."""

    def __init__(self, common: Floats, weights: Floats) -> None:
        self.basis, _ = np.linalg.qr(common * weights[:, None])

    def __call__(self, values: Floats) -> Floats:
        """Return values, of shape (n,) or (n, m), less their projection on the columns."""
        found: Floats = values - self.basis @ (self.basis.T @ values)
        return found


def project(common: Floats, weights: Floats) -> Projection:
    """Return what maps values to what weighted common columns do not explain of them."""
    return Projection(common, weights)


def normalise(columns: Floats, weights: Floats, projection: Projection) -> NDArray[np.float32]:
    """Return weighted columns, orthogonal to the common ones, of length 1 (0 if they are explained)."""
    weighted = columns * weights[:, None]
    before = np.einsum("ij,ij->j", weighted, weighted)
    left = projection(weighted)
    after = np.einsum("ij,ij->j", left, left)
    scale = np.where(after > DEPENDENT**2 * before, 1 / np.sqrt(np.maximum(after, 1e-300)), 0.0)
    return (left * scale).astype(np.float32)


def smallest(bits: Floats, count: int) -> NDArray[np.int64]:
    """Return the indices of the smallest numbers in ascending order, of equal ones the first."""
    if count < len(bits):
        bound = np.partition(bits, count - 1)[count - 1]
        places = np.flatnonzero(bits <= bound)
    else:
        places = np.arange(len(bits))
    found: NDArray[np.int64] = places[np.argsort(bits[places], kind="stable")[:count]]
    return found


def choose_several(
    scan: Scan, prices: Floats, variance: float, beam: int, depth: int, width: int
) -> Iterator[tuple[float, Places]]:
    """Yield sets of columns by forward selection with a beam, with their description lengths in bits.

    In the best sets, each column is also exchanged for others. Sets larger than `depth` are tried as long as each size brings a shorter description than the
    smaller ones and from few sets, and only the best of the last size is yielded.

    Args:
        scan: The columns.
        prices: The bits of each column, (m,).
        variance: The variance of the target.
        beam: How many sets of each size are extended.
        depth: The largest size that is always tried.
        width: By how many columns each is extended.
    """
    rows = len(scan.target)

    def extend(chosen: Places, most: int, found: dict[Places, float]) -> None:
        left = scan.errors_beside(chosen) if chosen else scan.errors()
        bits = data_bits(left, rows, variance) + prices + sum(prices[list(chosen)])
        for place in smallest(bits, most):
            if np.isfinite(bits[place]):
                found.setdefault(tuple(sorted((*chosen, int(place)))), float(bits[place]))

    kept: list[Places] = [()]
    shortest, longest = math.inf, None
    for size in range(1, max(depth, MOST_TERMS) + 1):
        found: dict[Places, float] = {}
        for chosen in kept:
            extend(chosen, beam if size == 1 else width, found)
        for chosen in sorted(found, key=lambda one: (found[one], one))[
            : EXCHANGED if size > 1 else 0
        ]:
            for place in chosen:  # a column may have stood for another one that was not tried yet
                extend(tuple(one for one in chosen if one != place), width, found)
        ordered = sorted(found.items(), key=lambda one: (one[1], one[0]))
        if not ordered or (size > depth and ordered[0][1] >= shortest):
            break
        if size <= depth:
            yield from ((bits, places) for places, bits in ordered)
        shortest = min(shortest, ordered[0][1])
        longest = ordered[0]
        kept = [places for places, _ in ordered[: beam if size < depth else LONG_BEAM]]
    if longest is not None and len(longest[0]) > depth:
        yield longest[1], longest[0]
