"""Find the columns whose multiples, added to a linear model, leave the least error."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LEAST_SQUARES = 1e-22  # relative to the variance: what arithmetic loses
DEPENDENT = 1e-7  # share of a column that the model does not explain, below which it adds nothing
SINGLE = 1e-6  # share of the squares: what single precision loses
FREE = 1e-5  # the same of a squared length in single precision
FREE_OF_PAIRS = 1e-3
MOST_COMPARED, SIMILAR = 3_000, 0.98  # correlation of columns that are nearly the same
FOLLOWED = 3  # larger sets of columns that come of one
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
        unit = math.sqrt(self.squares) or 1.0  # the target must not overflow in single precision
        shares = ((self.target / unit).astype(np.float32) @ self.columns).astype(float)
        found: Floats = self.squares * np.maximum(1.0 - shares**2, SINGLE)
        return found

    def errors_beside(self, chosen: Places) -> Floats:
        """Return the sum of squares that each column leaves beside chosen ones; infinite for these."""
        q, _ = np.linalg.qr(self.columns[:, list(chosen)].astype(float))
        left = self.target - q @ (q.T @ self.target)
        squares = float(left @ left)
        unit = math.sqrt(squares) or 1.0
        overlap = np.column_stack([left / unit, q]).T.astype(self.columns.dtype) @ self.columns
        free = 1.0 - np.einsum("ij,ij->j", overlap[1:], overlap[1:])
        shares = np.where(free > FREE, overlap[0].astype(float) ** 2 / np.maximum(free, FREE), 0)
        found: Floats = squares * np.maximum(1.0 - shares, SINGLE)
        found[list(chosen)] = np.inf
        return found

    def errors_of_pairs(self, chosen: Sequence[int]) -> Floats:
        """Return the sums of squares that each chosen column leaves together with each column.

        Args:
            chosen: The indices of k columns.

        Returns:
            An array of shape (k, m); infinite where both are the same or nearly so. It is only as
            exact as single precision.
        """
        unit = math.sqrt(self.squares) or 1.0
        along = (self.target / unit).astype(np.float32) @ self.columns
        overlap = self.columns[:, list(chosen)].T @ self.columns
        first = along[list(chosen)][:, None]
        free = 1.0 - overlap**2
        gain = first**2 + (along - overlap * first) ** 2 / np.maximum(free, FREE_OF_PAIRS)
        found: Floats = self.squares * np.maximum(1.0 - gain.astype(float), SINGLE)
        found[free < FREE_OF_PAIRS] = np.inf
        return found

    def choose_different(self, bits: Floats, count: int) -> list[int]:
        """Return the columns with the smallest bits of which no two are nearly the same.

        Args:
            bits: The bits of each column, (m,).
            count: The largest number of columns.
        """
        best = smallest(bits, MOST_COMPARED)
        columns = self.columns[:, best]
        similar = np.zeros(len(best))
        chosen: list[int] = []
        for place, k in enumerate(best.tolist()):
            if similar[place] > SIMILAR or not np.isfinite(bits[k]):
                continue
            chosen.append(k)
            if len(chosen) == count:
                break
            similar = np.maximum(similar, np.abs(columns[:, place] @ columns))
        return chosen


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

    In the best sets, each column is also exchanged for others. Sets larger than `depth` are tried from few
    sets, as long as each size brings a shorter description; only the best of the last size is yielded.

    Args:
        scan: The columns.
        prices: The bits of each column, (m,).
        variance: The variance of the target.
        beam: How many sets of each size are extended.
        depth: The largest size that is always tried.
        width: By how many columns each is extended.
    """
    rows = len(scan.target)
    parents: dict[Places, Places] = {}

    def extend(chosen: Places, count: int, found: dict[Places, float]) -> None:
        left = scan.errors_beside(chosen) if chosen else scan.errors()
        bits = data_bits(left, rows, variance) + prices + sum(prices[list(chosen)])
        first = not chosen
        best = scan.choose_different(bits, count) if first else smallest(bits, count).tolist()
        for place in best:
            if np.isfinite(bits[place]):
                places = tuple(sorted((*chosen, place)))
                found.setdefault(places, float(bits[place]))
                parents.setdefault(places, chosen)

    kept: list[Places] = [()]
    shortest, longest = math.inf, None
    for size in range(1, max(depth, MOST_TERMS) + 1):
        found: dict[Places, float] = {}
        for chosen in kept:
            extend(chosen, beam if size == 1 else width, found)
        best = sorted(found, key=lambda one: (found[one], one))
        for chosen in best[: EXCHANGED if size > 1 else 0]:
            for place in chosen:  # a column may have stood for another one that was not tried yet
                extend(tuple(one for one in chosen if one != place), width, found)
        ordered = sorted(found.items(), key=lambda one: (one[1], one[0]))
        if not ordered or (size > depth and ordered[0][1] >= shortest):
            break
        if size <= depth:
            yield from ((bits, places) for places, bits in ordered)
        shortest = min(shortest, ordered[0][1])
        longest = ordered[0]
        most = beam if size < depth else LONG_BEAM
        followed: Counter[Places] = Counter()
        kept = []
        for places, _ in ordered:
            followed[parents[places]] += 1
            if len(kept) < most and (size == 1 or followed[parents[places]] <= FOLLOWED):
                kept.append(places)
    if longest is not None and len(longest[0]) > depth:
        yield longest[1], longest[0]
