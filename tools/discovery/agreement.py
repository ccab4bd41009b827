"""How far raters agree: Cohen's kappa (1960), weighted (1968), shares.

A rating that is missing (None) of either rater leaves its item out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Agreement:
    """n: items that both rated. same: share rated alike. near: share at most one point of the scale
    apart. kappa: of equal or not; weighted: by squares of how far apart; weighted_linear: by how far.
    All three None where chance alone would agree on all."""

    n: int
    same: float | None
    near: float | None
    kappa: float | None
    weighted: float | None
    weighted_linear: float | None


def agreement(
    one: Sequence[float | None], other: Sequence[float | None], scale: Sequence[float]
) -> Agreement:
    """scale: the points in order. Raises ValueError for a rating that is none of them, and for
    sequences of different lengths."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if not pairs:
        return Agreement(0, None, None, None, None, None)
    place = {float(point): n for n, point in enumerate(scale)}
    table = np.zeros((len(scale), len(scale)))
    for a, b in pairs:
        if float(a) not in place or float(b) not in place:
            raise ValueError(f"{a if float(a) not in place else b} is no point of {list(scale)}")
        table[place[float(a)], place[float(b)]] += 1
    apart = np.abs(np.subtract.outer(np.arange(len(scale)), np.arange(len(scale))))
    shares = table / len(pairs)
    return Agreement(
        len(pairs),
        float(shares[apart == 0].sum()),
        float(shares[apart <= 1].sum()),
        _kappa(shares, (apart > 0).astype(np.float64)),
        _kappa(shares, apart.astype(np.float64) ** 2),
        _kappa(shares, apart.astype(np.float64)),
    )


def _kappa(shares: NDArray[np.float64], cost: NDArray[np.float64]) -> float | None:
    """1 - observed cost / cost expected of raters who know nothing of each other: with a cost of 1
    for every difference Cohen's kappa."""
    expected = float((np.outer(shares.sum(axis=1), shares.sum(axis=0)) * cost).sum())
    return None if expected == 0 else 1 - float((shares * cost).sum()) / expected
