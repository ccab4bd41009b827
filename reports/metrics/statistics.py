"""Means over problems with bootstrap intervals.

The unit is the problem: a metric has one value a problem, or none, and problems are drawn again
with replacement. Intervals are percentiles of 2,000 such draws. They hold what another choice of
problems would change; they leave out what another seed of the sampling, or another training,
would change. Where a problem stands several times (shown different numbers of its pairs, or run
again), all its values are drawn together. Of one problem alone, `wilson` and `over_rows` hold what
another choice of the rows that it predicts would change.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
LEVEL = 0.95
_CHUNK = 1_000_000  # draws held at once
_KEPT = 400_000  # draws kept for the next metric


class Interval(TypedDict):
    """mean and bounds are None where no problem has a value, bounds alone where every draw is of one
    problem again and again: nothing is then known of others. n counts the problems that have."""

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
    if n == 1:
        return {"mean": mean, "low": None, "high": None, "n": 1}
    means = np.sort(resampled_means(kept, seed, resamples))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    # Rounding may put the bounds of equal values an ulp to one side of their mean.
    return {"mean": mean, "low": min(float(low), mean), "high": max(float(high), mean), "n": n}


def resampled_means(
    values: NDArray[np.float64], seed: int, resamples: int = RESAMPLES
) -> NDArray[np.float64]:
    """Means (resamples,) of `values` (n,) drawn n at a time with replacement."""
    return np.concatenate(
        [values[rows].mean(axis=1) for rows in _draws(len(values), seed, resamples)]
    )


def _draws(n: int, seed: int | str, resamples: int) -> Iterator[NDArray[np.intp]]:
    """Places (r, n) drawn from n with replacement, `resamples` rows in all."""
    if n * resamples <= _KEPT:
        yield _kept_draws(n, seed, resamples)
        return
    yield from _new_draws(n, seed, resamples)


@lru_cache(maxsize=16)
def _kept_draws(n: int, seed: int | str, resamples: int) -> NDArray[np.intp]:
    """Every metric of a table is drawn alike, and making the draws is most of the work."""
    drawn = np.concatenate(list(_new_draws(n, seed, resamples)))
    drawn.flags.writeable = False
    return drawn


def _new_draws(n: int, seed: int | str, resamples: int) -> Iterator[NDArray[np.intp]]:
    rng = random.Random(seed)
    rows = max(1, _CHUNK // n)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        # 32 bits scaled to [0, n): a bias of at most n / 2**32, and one stream on any machine.
        bits = np.frombuffer(rng.randbytes(4 * count * n), "<u4").astype(np.uint64)
        drawn = ((bits * np.uint64(n)) >> np.uint64(32)).astype(np.intp)
        yield drawn.reshape(count, n)


# --- values in strata, several a problem ---------------------------------------


@dataclass(frozen=True)
class Stratum:
    """Values (v,) of one metric in one data set, with the problem of each."""

    values: Sequence[float | None]
    problems: Sequence[Hashable]

    def kept(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """The values there are, and the number of each one's problem: 0, 1, …"""
        numbers: dict[Hashable, int] = {}
        pairs = [
            (value, numbers.setdefault(problem, len(numbers)))
            for value, problem in zip(self.values, self.problems, strict=True)
            if value is not None
        ]
        values = np.array([value for value, _ in pairs], np.float64)
        return values, np.array([number for _, number in pairs], np.intp)


def stratified_mean(
    values: Sequence[float | None],
    strata: Sequence[str],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """The mean over problems that have a value, with its interval: problems, those without a value
    too, are drawn within their stratum, and each draw's mean is over those with a value (ABD,
    section 6.1: instances within scenario, survivor-conditioned). Of one stratum in which all have
    a value this is `bootstrap`."""
    kept = [value for value in values if value is not None]
    if not kept:
        return {"mean": None, "low": None, "high": None, "n": 0}
    mean = math.fsum(kept) / len(kept)
    if len(kept) == 1 or len(set(strata)) == len(strata):
        return {"mean": mean, "low": None, "high": None, "n": len(kept)}
    sums, counts = np.zeros(resamples), np.zeros(resamples)
    for place, stratum in enumerate(sorted(set(strata))):
        some = [value for value, of in zip(values, strata, strict=True) if of == stratum]
        filled = np.array([0.0 if value is None else value for value in some])
        there = np.array([value is not None for value in some], np.float64)
        drawn = list(_counts(len(some), _seed_of(seed, place), resamples))
        sums += np.concatenate([w @ filled for w in drawn])
        counts += np.concatenate([w @ there for w in drawn])
    means = sums[counts > 0] / counts[counts > 0]
    low, high = (
        np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if len(means) else (mean,) * 2
    )
    return {
        "mean": mean, "low": min(float(low), mean), "high": max(float(high), mean), "n": len(kept)
    }  # fmt: skip


def mean_of_means(
    strata: Sequence[Stratum], *, seed: int = 0, resamples: int = RESAMPLES
) -> Interval:
    """The mean over strata of their means, those without a value left out, with its interval:
    problems are drawn within each stratum. n counts values. Of one stratum with one value a
    problem this is `bootstrap`."""
    kept = [found for found in (stratum.kept() for stratum in strata) if len(found[0])]
    if not kept:
        return {"mean": None, "low": None, "high": None, "n": 0}
    mean = math.fsum(math.fsum(v.tolist()) / len(v) for v, _ in kept) / len(kept)
    n = sum(len(values) for values, _ in kept)
    if not any(problems.any() for _, problems in kept):  # one problem in each
        return {"mean": mean, "low": None, "high": None, "n": n}
    means = np.zeros(resamples)
    for place, (values, problems) in enumerate(kept):
        sums = np.bincount(problems, values)
        counts = np.bincount(problems).astype(np.float64)
        drawn = _counts(len(sums), _seed_of(seed, place), resamples)
        means += np.concatenate([w @ sums / (w @ counts) for w in drawn])
    low, high = np.quantile(means / len(kept), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {"mean": mean, "low": min(float(low), mean), "high": max(float(high), mean), "n": n}


def wilson(count: int, n: int) -> Interval:
    """The share of n rows that `count` of them are, with its 95% score interval (E. B. Wilson, 1927),
    which has a width where the share is 0 or 1 too. n counts rows."""
    if not n:
        return {"mean": None, "low": None, "high": None, "n": 0}
    share, z = count / n, NormalDist().inv_cdf((1 + LEVEL) / 2)
    middle, spread = (
        share + z * z / (2 * n),
        z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2),
    )
    low, high = (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)
    return {
        "mean": share,
        "low": max(0.0, min(low, share)),
        "high": min(1.0, max(high, share)),
        "n": n,
    }


def over_rows(
    kinds: NDArray[np.intp],
    score: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """A score of n rows, each of one kind, with its interval: rows are drawn again. kinds: (n,),
    from 0 on. score: of how often (r, kinds) each kind stands, (r,). n counts rows."""
    n = len(kinds)
    if not n:
        return {"mean": None, "low": None, "high": None, "n": 0}
    width = int(kinds.max()) + 1

    def counted(drawn: NDArray[np.intp]) -> NDArray[np.float64]:
        flat = (kinds[drawn] + np.arange(len(drawn))[:, None] * width).ravel()
        return np.bincount(flat, minlength=len(drawn) * width).reshape(-1, width).astype(np.float64)

    mean = float(score(counted(np.arange(n)[None, :]))[0])
    if n == 1:
        return {"mean": mean, "low": None, "high": None, "n": 1}
    scores = np.concatenate([score(counted(drawn)) for drawn in _draws(n, seed, resamples)])
    low, high = np.quantile(scores, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {"mean": mean, "low": min(float(low), mean), "high": max(float(high), mean), "n": n}


def rank_correlation(
    first: Sequence[float | None],
    second: Sequence[float],
    problems: Sequence[Hashable],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES // 2,
) -> Interval:
    """Spearman's rho of values (v,) with others, ties at their mean rank, with its interval over
    problems. mean: rho; None where either is constant. n counts the values there are. Draws
    in which either is constant have no rho and are left out."""
    values, numbers = Stratum(first, problems).kept()
    others = np.array([s for s, f in zip(second, first, strict=True) if f is not None], np.float64)
    n = len(values)
    rho = float(_rho(np.ones((n, 1)), values, others)[0]) if n else math.nan
    if math.isnan(rho):
        return {"mean": None, "low": None, "high": None, "n": n}
    if not numbers.any():
        return {"mean": rho, "low": None, "high": None, "n": n}
    drawn = _counts(int(numbers.max()) + 1, seed, resamples)
    rhos = np.concatenate([_rho(w.T[numbers], values, others) for w in drawn])
    rhos = rhos[~np.isnan(rhos)]
    low, high = np.quantile(rhos, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {"mean": rho, "low": min(float(low), rho), "high": max(float(high), rho), "n": n}


def _rho(
    weights: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Spearman's rho (r,) where value i stands weights[i] (n, r) times; nan where it has none."""
    middle = (weights.sum(axis=0) + 1) / 2
    x, xx = _ranks(weights, first, middle)
    y, yy = _ranks(weights, second, middle)
    x *= weights
    spread = xx * yy
    return np.where(
        spread > 0, np.einsum("ir,ir->r", x, y) / np.sqrt(np.where(spread > 0, spread, 1)), np.nan
    )


def _ranks(
    weights: NDArray[np.float64], values: NDArray[np.float64], middle: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean rank (n, r) of each value, counted with its weights, less `middle` (r,), and the
    sum (r,) of their squares."""
    _, level = np.unique(values, return_inverse=True)
    order = np.argsort(level, kind="stable")
    starts = np.flatnonzero(np.diff(level[order], prepend=-1))
    stands = np.add.reduceat(weights[order], starts, axis=0)
    ranks = np.cumsum(stands, axis=0)
    ranks -= (stands - 1) / 2
    ranks -= middle
    squares = np.einsum("lr,lr,lr->r", stands, ranks, ranks)
    return ranks[level], squares


def _counts(n: int, seed: int | str, resamples: int) -> Iterator[NDArray[np.float64]]:
    """How often (r, n) each of n problems is drawn; `resamples` rows in all."""
    if n * resamples <= _KEPT:
        yield _kept_counts(n, seed, resamples)
        return
    yield from map(_counted, _new_draws(n, seed, resamples))


@lru_cache(maxsize=16)
def _kept_counts(n: int, seed: int | str, resamples: int) -> NDArray[np.float64]:
    counts = _counted(_kept_draws(n, seed, resamples))
    counts.flags.writeable = False
    return counts


def _counted(drawn: NDArray[np.intp]) -> NDArray[np.float64]:
    rows, n = drawn.shape
    flat = (drawn + np.arange(rows)[:, None] * n).ravel()
    return np.bincount(flat, minlength=rows * n).reshape(rows, n).astype(np.float64)


def _seed_of(seed: int, stratum: int) -> int | str:
    """Strata are drawn apart; the first as if it were alone."""
    return f"{seed} stratum {stratum}" if stratum else seed


def summary(
    results: Sequence[Mapping[str, float | None]],
    metrics: Sequence[str],
    *,
    strata: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Interval]:
    """`bootstrap` of each named metric over the problems' results, with strata `stratified_mean`;
    a result that lacks a metric has no value there."""

    def interval(values: Sequence[float | None]) -> Interval:
        if strata is None:
            return bootstrap(values, seed=seed, resamples=resamples)
        return stratified_mean(values, strata, seed=seed, resamples=resamples)

    return {name: interval([r.get(name) for r in results]) for name in metrics}
