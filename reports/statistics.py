"""Means over problems with bootstrap intervals.

The unit is the problem: a metric has one value a problem, or none, and problems are drawn again
with replacement. Intervals are percentiles of 2,000 such draws. They hold what another choice of
problems would change; they leave out what another seed of the sampling, or another training,
would change.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
LEVEL = 0.95
_CHUNK = 4_000_000  # draws held at once


class Interval(TypedDict):
    """mean and bounds are None where no problem has a value; n counts the problems that have."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


def bootstrap(
    values: Sequence[float | None],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Mean of one metric over problems, with its percentile interval.

    values: one for each problem, None where the metric has no value there. The draws depend on
    the seed and on n alone, so metrics and sessions over the same problems share them.
    """
    kept = np.array([v for v in values if v is not None], np.float64)
    n = len(kept)
    if not n:
        return {"mean": None, "low": None, "high": None, "n": 0}
    mean = math.fsum(kept.tolist()) / n
    means = np.sort(resampled_means(kept, seed, resamples))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    # Rounding may put the bounds of equal values an ulp to one side of their mean.
    return {"mean": mean, "low": min(float(low), mean), "high": max(float(high), mean), "n": n}


def resampled_means(
    values: NDArray[np.float64], seed: int, resamples: int = RESAMPLES
) -> NDArray[np.float64]:
    """Means (resamples,) of `values` (n,) drawn n at a time with replacement."""
    n = len(values)
    rng = random.Random(seed)
    rows = max(1, _CHUNK // n)
    means = []
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        # 32 bits scaled to [0, n): a bias of at most n / 2**32, and one stream on any machine.
        bits = np.frombuffer(rng.randbytes(4 * count * n), "<u4").astype(np.uint64)
        drawn = ((bits * np.uint64(n)) >> np.uint64(32)).astype(np.intp)
        means.append(values[drawn.reshape(count, n)].mean(axis=1))
    return np.concatenate(means)


def summary(
    results: Sequence[Mapping[str, float | None]],
    metrics: Sequence[str],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Interval]:
    """`bootstrap` of each named metric over the problems' results; a result that lacks a metric
    has no value there."""
    return {
        name: bootstrap([r.get(name) for r in results], seed=seed, resamples=resamples)
        for name in metrics
    }
