"""What functions in a law are applied to: monomials of the columns, also of their sums and differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...tools.formulas import Expression
from .trees import Exponent, call, product

Floats = NDArray[np.float64]
LARGEST_NORM = 8  # sum of the absolute exponents of a monomial
OF_PAIRS = 0.25  # of the monomials, for those that have a sum or difference as a factor
LARGEST_RATIO = 1e9  # of the values of an argument to their median
ROWS_OF_SIZES = 32
USUAL = 1_000.0  # a median between this and its reciprocal is near enough to 1
SURCHARGE = 4  # symbols, about what a constant with a dimension costs


@dataclass(frozen=True)
class Arguments:
    """Candidates for the argument of a function, simplest first.

    Attributes:
        values: Their values, of shape (n, m).
        sizes: Their numbers of symbols, of shape (m,).
        exponents: The exponents of the variables, of shape (m, d).
        pairs: The index in `sums` of the sum or difference that is a further factor, or -1, (m,).
        powers: Its exponent, (m,).
        names: The variables, as formulas; d of them.
        sums: Sums and differences of two variables.
        has_dimension: Whether those that come first have a known dimension, other than none.
    """

    values: Floats
    sizes: NDArray[np.int64]
    exponents: NDArray[np.float64]
    pairs: NDArray[np.int64]
    powers: NDArray[np.int64]
    names: Sequence[Expression]
    sums: Sequence[Expression]
    has_dimension: bool = False

    @property
    def units(self) -> Floats:
        """The powers of ten in which the values are near 1, of shape (m,); 1 where they are nearly so."""
        middle = _usual_sizes(self.values)
        far = (middle > 0) & ((middle > USUAL) | (middle < 1 / USUAL))
        return np.asarray(
            np.where(far, 10.0 ** np.round(np.log10(np.where(far, middle, 1.0))), 1.0)
        )

    def is_variable(self) -> NDArray[np.bool_]:
        """Return which arguments are a variable itself, of shape (m,)."""
        found: NDArray[np.bool_] = (
            (self.sizes == 1) & (self.exponents.sum(axis=1) == 1) & (self.pairs < 0)
        )
        return found

    def first(self, count: int) -> Arguments:
        """Return the simplest arguments."""
        return Arguments(
            self.values[:, :count], self.sizes[:count], self.exponents[:count], self.pairs[:count],
            self.powers[:count], self.names, self.sums,
        )  # fmt: skip

    def tree(self, place: int, exponents: Sequence[Exponent] | None = None) -> Expression:
        """Return an argument as a formula, perhaps with other exponents of the variables."""
        own = self.exponents[place].tolist() if exponents is None else exponents
        factors: list[tuple[Expression, Exponent]] = [
            (name, e if isinstance(e, Fraction) else float(e))
            for name, e in zip(self.names, own, strict=True)
            if e
        ]
        if self.pairs[place] >= 0:
            factors.insert(0, (self.sums[self.pairs[place]], float(self.powers[place])))
        return product(factors)


def sums_of_two(x: Floats, names: Sequence[Expression]) -> tuple[Floats, list[Expression]]:
    """Return the differences and the sums of each two variables, of shape (n, d * (d - 1))."""
    pairs = list(combinations(range(x.shape[1]), 2))
    values = [x[:, a] - x[:, b] for a, b in pairs] + [x[:, a] + x[:, b] for a, b in pairs]
    trees = [call(sign, names[a], names[b]) for sign in "-+" for a, b in pairs]
    return (np.array(values).T if values else np.zeros((len(x), 0))), trees


def list_arguments(x: Floats, names: Sequence[Expression], most: int) -> Arguments:
    """Return arguments of functions.

    Args:
        x: The values of the variables, of shape (n, d).
        names: The variables, as formulas.
        most: About how many monomials there may be.
    """
    d = x.shape[1]
    pair_values, sums = sums_of_two(x, names)
    few = list_exponents(d, max(2 * d, int(OF_PAIRS * most / max(1, 2 * len(sums)))))
    few = few[: max(1, most // max(1, 2 * len(sums)))]  # many variables have very many sums
    few = np.vstack([np.zeros((1, d), np.int64), few])
    groups = [(list_exponents(d, most), -1, 0)]
    groups += [(few, place, power) for place in range(len(sums)) for power in (1, 2)]
    return gather_arguments(x, names, groups, pair_values, sums)


def gather_arguments(
    x: Floats,
    names: Sequence[Expression],
    groups: Sequence[tuple[NDArray[Any], int, int]],
    pair_values: Floats,
    sums: Sequence[Expression],
) -> Arguments:
    """Return monomials whose values vary and are not too large.

    Args:
        x: The values of the variables, of shape (n, d).
        names: The variables, as formulas.
        groups: Exponents of shape (m, d), the index of the sum that is a further factor (or -1), and
            its exponent.
        pair_values: The values of the sums.
        sums: The sums.
    """
    values, exponents, pairs, powers = [], [], [], []
    for own, place, power in groups:
        factor: Any = pair_values[:, [place]] ** power if place >= 0 else 1.0
        with np.errstate(invalid="ignore"):  # 0 / 0 where a sum and a variable are 0
            values.append(factor * _monomials(x, own))
        exponents.append(own.astype(np.float64))
        pairs.append(np.full(len(own), place))
        powers.append(np.full(len(own), power))
    everything = np.concatenate(values, axis=1)
    e, p, q = np.concatenate(exponents), np.concatenate(pairs), np.concatenate(powers)
    sizes = np.ceil(np.abs(e)).sum(axis=1) + (e != 0).sum(axis=1) - 1 + np.where(p >= 0, 3 + q, 0)
    sizes += (e % 1 > 0).any(axis=1)
    binary = ((x == 0) | (x == 1)).all(axis=0)  # such as a category: its powers are the same
    repeated = (e[:, binary] > 1).any(axis=1)
    order = np.flatnonzero(np.isfinite(everything).all(axis=0) & ~repeated)
    everything = everything[:, order]
    fine = not_extreme(everything)
    fine &= np.ptp(everything, axis=0) > 0
    everything, order = everything[:, fine], order[fine]
    simplest = np.argsort(sizes[order], kind="stable")
    everything, order = everything[:, simplest], order[simplest]
    whole = sizes[order].astype(np.int64)
    return Arguments(everything, whole, e[order], p[order], q[order], names, sums)


def not_extreme(values: Floats, largest: float = LARGEST_RATIO) -> NDArray[np.bool_]:
    """Return of which columns, (n, m), no value is very much larger than the median (or than 1)."""
    usual = _usual_sizes(values)
    most = np.abs(values).max(axis=0, initial=0.0)
    found: NDArray[np.bool_] = most < largest * np.where(usual > 0, usual, 1.0)
    return found


def _usual_sizes(values: Floats) -> Floats:
    """Return about the median of the absolute values of each column."""
    few = np.linspace(0, max(len(values) - 1, 0), min(len(values), ROWS_OF_SIZES)).astype(np.int64)
    return np.asarray(np.median(np.abs(values[few]), axis=0), np.float64)


def join_arguments(first: Arguments, others: Arguments) -> Arguments:
    """Return arguments, then others that are not among them. Both have the same variables and sums."""
    known = set(map(tuple, _keys(first).tolist()))
    new = [k for k, key in enumerate(map(tuple, _keys(others).tolist())) if key not in known]
    return Arguments(
        np.concatenate([first.values, others.values[:, new]], axis=1),
        np.concatenate([first.sizes, others.sizes[new]]),
        np.concatenate([first.exponents, others.exponents[new]]),
        np.concatenate([first.pairs, others.pairs[new]]),
        np.concatenate([first.powers, others.powers[new]]),
        first.names,
        first.sums,
    )


def _keys(arguments: Arguments) -> NDArray[np.float64]:
    return np.column_stack([arguments.exponents, arguments.pairs, arguments.powers])


def list_exponents(d: int, most: int) -> NDArray[np.int64]:
    """Return the exponents of monomials, simplest first, all of one norm or none: about `most`."""
    found = _exponents_of_norm(d, 1)
    for norm in range(2, LARGEST_NORM + 1):
        more = _exponents_of_norm(d, norm)
        if len(found) + len(more) > most:
            break
        found += more
    return np.array(found, np.int64).reshape(-1, d)


@lru_cache(maxsize=64)
def _cached_exponents(d: int, norm: int) -> tuple[tuple[int, ...], ...]:
    most = 4 if d <= 2 else 3 if d <= 4 else 2
    return tuple(sorted(_iter_exponents(d, norm, most), key=_simplicity))


def _exponents_of_norm(d: int, norm: int) -> list[tuple[int, ...]]:
    return list(_cached_exponents(d, norm))


def _simplicity(exponents: tuple[int, ...]) -> tuple[int, list[int]]:
    return sum(1 for e in exponents if e), [-e for e in exponents]


def _iter_exponents(d: int, norm: int, most: int) -> Iterator[tuple[int, ...]]:
    if d == 0:
        if norm == 0:
            yield ()
        return
    if norm > d * most:
        return
    for first in range(-min(most, norm), min(most, norm) + 1):
        for rest in _iter_exponents(d - 1, norm - abs(first), most):
            yield (first, *rest)


def _monomials(x: Floats, exponents: NDArray[Any]) -> Floats:
    """Return products of powers, of shape (n, m). They are infinite or NaN where a factor is 0 or has no
    root.
    """
    zero = (x == 0).astype(np.int64)
    found = np.exp(np.log(np.where(x == 0, 1.0, np.abs(x))) @ exponents.T.astype(float))
    negative = (x < 0).astype(np.int64) @ (exponents.T % 2)
    found = np.asarray(np.where(negative % 2 == 1, -found, found), np.float64)
    found[(x < 0).astype(np.int64) @ (exponents.T % 1 > 0) > 0] = np.nan
    found[zero @ (exponents.T > 0) > 0] = 0.0
    found[zero @ (exponents.T < 0) > 0] = np.inf
    return np.asarray(found, np.float64)
