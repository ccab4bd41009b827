"""Ratios of sums with bootstrap intervals clustered by problem.

What is counted within one problem is not independent: hypotheses share their hidden pairs, pairs
of hypotheses share members, and one problem may stand in a table under several sets of shown
pairs. So whole problems are drawn again with replacement, with all that was counted in them, and
a figure (a rate, a mean of problems' values, a ratio of rates) is computed anew from the sums.
Intervals are percentiles of 2,000 such draws, as in `statistics`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from .statistics import LEVEL, RESAMPLES

Sums = NDArray[np.float64]
Formula = Callable[[Mapping[str, Sums]], Sums]

_CHUNK = 4_000_000  # draws held at once


class Estimate(TypedDict):
    """value: None where it is not defined (nothing to divide by, or an infinite ratio). low, high:
    None where the value is, and of one cluster alone, of which every draw is the same; one of them
    where that bound is infinite. n: problems behind it. undefined: draws of the bootstrap in which it
    was not finite."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    undefined: int


class Clusters:
    """Sums by cluster, and the same over clusters drawn again.

    names: of the cluster of each entry; counts: what each entry adds, by its name, NaN nowhere.
    The draws depend on the seed and on the number of clusters alone; clusters stand in the order
    of their names.
    """

    def __init__(
        self,
        names: Sequence[str],
        counts: Sequence[Mapping[str, float]],
        *,
        seed: int = 0,
        resamples: int = RESAMPLES,
    ) -> None:
        order = {name: i for i, name in enumerate(sorted(set(names)))}
        columns = list(counts[0]) if counts else []
        sums = np.zeros((len(order), len(columns)))
        for name, entry in zip(names, counts, strict=True):
            sums[order[name]] += [entry[column] for column in columns]
        self._behind = dict(zip(columns, np.count_nonzero(sums, axis=0).tolist(), strict=True))
        self._whole = dict(zip(columns, (math.fsum(c) for c in sums.T.tolist()), strict=True))
        drawn = _resampled(sums, seed, resamples) if len(order) else np.zeros((0, len(columns)))
        self._drawn = dict(zip(columns, drawn.T, strict=True))

    def total(self, name: str) -> float:
        return self._whole.get(name, 0.0)

    def estimate(self, formula: Formula, n: str) -> Estimate:
        """formula: from sums by name to the figure, NaN where there is none. n: the name of the
        sum that counts problems."""
        if not self._whole:
            return {"value": None, "low": None, "high": None, "n": 0, "undefined": 0}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            value = float(formula({k: np.array(v) for k, v in self._whole.items()}))
            drawn = np.asarray(formula(self._drawn), np.float64)
            known = drawn[~np.isnan(drawn)]
            low, high = (
                np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
                if len(known)
                else (value,) * 2
            )
        told = math.isfinite(value)
        bounded = told and self._behind[n] > 1
        return {
            "value": value if told else None,
            # Rounding may put the bounds of equal values an ulp to one side of the figure.
            "low": min(float(low), value) if bounded and math.isfinite(low) else None,
            "high": max(float(high), value) if bounded and math.isfinite(high) else None,
            "n": round(self.total(n)),
            "undefined": int(np.count_nonzero(~np.isfinite(drawn))),
        }


def share(part: str, whole: str) -> Formula:
    """part / whole."""
    return lambda sums: sums[part] / sums[whole]


def odds_ratio(one: str, other: str, whole: str) -> Formula:
    """Of two counts out of the same number: (one / (whole - one)) / (other / (whole - other))."""
    return lambda s: (s[one] * (s[whole] - s[other])) / (s[other] * (s[whole] - s[one]))


def _resampled(sums: Sums, seed: int, resamples: int) -> Sums:
    """Sums (resamples, columns) over as many clusters drawn with replacement as there are."""
    n = len(sums)
    rng = random.Random(seed)
    rows = max(1, _CHUNK // (n * max(1, sums.shape[1])))
    drawn = []
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        # 32 bits scaled to [0, n): the same stream as `statistics.resampled_means`.
        bits = np.frombuffer(rng.randbytes(4 * count * n), "<u4").astype(np.uint64)
        chosen = ((bits * np.uint64(n)) >> np.uint64(32)).astype(np.intp)
        drawn.append(sums[chosen.reshape(count, n)].sum(axis=1))
    return np.concatenate(drawn)
