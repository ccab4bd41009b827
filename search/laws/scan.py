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
LEAST_OF_SCAN = 1e-13  # the same of columns in single precision
DEPENDENT = 1e-7  # share of a column that the model does not explain, below which it adds nothing
SINGLE = 1e-6  # share of the squares: what single precision loses
FREE = 1e-5  # the same of a squared length in single precision
FREE_OF_PAIRS = 1e-3
MOST_COMPARED, SIMILAR = 3_000, 0.98  # correlation of columns that are nearly the same
FOLLOWED = 3  # larger sets of columns that come of one
MOST_TERMS, LONG_BEAM = 8, 2  # of sums that are longer than all short ones
EXCHANGED = 3  # sets of each size in which each column is exchanged for others
Places = tuple[int, ...]


def data_bits(
    squares: Floats | float, rows: int, variance: float, least: float = LEAST_SQUARES
) -> Floats:
    """Return the bits that residuals take: n/2 log2 of their mean square, relative to the variance.

    Args:
        squares: The sums of the squares of the residuals.
        rows: The number n of residuals.
        variance: The variance of the target.
        least: The mean square, relative to the variance, below which residuals are 0.
    """
    relative = np.asarray(squares, float) / (rows * variance)
    found: Floats = rows / 2 * np.log2(np.maximum(relative, least))
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

    def first(self, count: int) -> Scan:
        """Return a scan of the first columns."""
        return Scan(self.columns[:, :count], self.target, self.squares)

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
        fine = np.maximum(free.astype(float), FREE)
        shares = np.where(free > FREE, overlap[0].astype(float) ** 2 / fine, 0)
        found: Floats = squares * np.maximum(1.0 - shares, SINGLE / np.sqrt(fine))
        found[list(chosen)] = np.inf
        return found

    def left_by(self, chosen: Places) -> float:
        """Return the sum of squares that columns leave."""
        q, _ = np.linalg.qr(self.columns[:, list(chosen)].astype(float))
        left = self.target - q @ (q.T @ self.target)
        return float(left @ left)

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

    def errors_of_sets(self, sets: NDArray[np.int64]) -> Floats:
        """Return the sums of squares that sets of columns leave, (s,); infinite where they are dependent.

        Args:
            sets: The indices of the columns of each set, (s, k).
        """
        used, places = np.unique(sets, return_inverse=True)
        places = places.reshape(sets.shape)
        columns = self.columns[:, used].astype(float)
        unit = math.sqrt(self.squares) or 1.0
        overlap, along = columns.T @ columns, (self.target / unit) @ columns
        parts = overlap[places[:, :, None], places[:, None, :]]
        fine = np.linalg.det(parts) > FREE_OF_PAIRS**2
        found = np.full(len(sets), np.inf)
        own = along[places[fine]]
        shares = np.linalg.solve(parts[fine], own[:, :, None])[:, :, 0]
        left = 1.0 - np.einsum("ij,ij->i", shares, own)
        found[fine] = self.squares * np.maximum(left, SINGLE)
        return found

    def choose_different(
        self, bits: Floats, count: int, kinds: NDArray[np.int64] | None = None
    ) -> list[int]:
        """Return the columns with the smallest bits of which no two are nearly the same.

        Args:
            bits: The bits of each column, (m,).
            count: The largest number of columns.
            kinds: Their kinds, (m,), if columns of different kinds are different; None for one kind.
        """
        best = smallest(bits, MOST_COMPARED)
        own = np.zeros(len(best), np.int64) if kinds is None else kinds[best]
        columns = self.columns[:, best]
        similar = np.zeros(len(best))
        chosen: list[int] = []
        for place, k in enumerate(best.tolist()):
            if similar[place] > SIMILAR or not np.isfinite(bits[k]):
                continue
            chosen.append(k)
            if len(chosen) == count:
                break
            alike = np.abs(columns[:, place] @ columns) * (own == own[place])
            similar = np.maximum(similar, alike)
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
    scan: Scan,
    prices: Floats,
    variance: float,
    beam: int,
    depth: int,
    width: int,
    sets: Sequence[NDArray[np.int64]] = (),
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
        sets: Further sets that are tried, of shape (s, k).
    """
    rows = len(scan.target)
    parents: dict[Places, Places] = {}

    def measure_exactly(chosen: Places) -> float:
        left = data_bits(scan.left_by(chosen), rows, variance, LEAST_OF_SCAN)
        return float(left) + float(prices[list(chosen)].sum())

    def choose_sets(size: int) -> dict[Places, float]:
        found: dict[Places, float] = {}
        for own in sets:
            if own.shape[1] == size:
                bits = data_bits(scan.errors_of_sets(own), rows, variance)
                bits = bits + prices[own].sum(axis=1)
                for place in smallest(bits, beam).tolist():
                    if np.isfinite(bits[place]):
                        chosen = tuple(sorted(own[place].tolist()))
                        found[chosen] = measure_exactly(chosen)
        return found

    def extend(chosen: Places, count: int, found: dict[Places, float]) -> None:
        left = scan.errors_beside(chosen) if chosen else scan.errors()
        bits = data_bits(left, rows, variance, LEAST_OF_SCAN) + prices + sum(prices[list(chosen)])
        first = not chosen
        best = scan.choose_different(bits, count) if first else smallest(bits, count).tolist()
        for place in best:
            if np.isfinite(bits[place]):
                places = tuple(sorted((*chosen, place)))
                if places not in found:
                    found[places] = measure_exactly(places)
                    parents.setdefault(places, chosen)

    kept: list[Places] = [()]
    shortest, longest = math.inf, None
    for size in range(1, max(depth, MOST_TERMS) + 1):
        found: dict[Places, float] = {}
        for chosen in kept:
            extend(chosen, beam if size == 1 else width, found)
        others = choose_sets(size)
        if size > 1:  # columns alone are extended if they are different
            found.update(others)
        best = sorted(found, key=lambda one: (found[one], one))
        for chosen in best[: EXCHANGED if size > 1 else 0]:
            for place in chosen:  # a column may have stood for another one that was not tried yet
                extend(tuple(one for one in chosen if one != place), width, found)
        ordered = sorted(found.items(), key=lambda one: (one[1], one[0]))
        if not ordered or (size > depth and ordered[0][1] >= shortest):
            break
        if size <= depth:
            yield from ((bits, places) for places, bits in {**others, **found}.items())
        shortest = min(shortest, ordered[0][1])
        longest = ordered[0]
        most = beam if size < depth else LONG_BEAM
        followed: Counter[Places] = Counter()
        kept = []
        for places, _ in ordered:
            parent = parents.get(places, places)  # a set of `sets` may have none
            followed[parent] += 1
            if len(kept) < most and (size == 1 or followed[parent] <= FOLLOWED):
                kept.append(places)
    if longest is not None and len(longest[0]) > depth:
        yield longest[1], longest[0]
