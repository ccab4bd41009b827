"""Means over problems with bootstrap intervals.

A metric has at most one value per problem, and problems are resampled with replacement. The
intervals are percentiles of 2,000 resamples. They account for the choice of problems, but not for
another sampling seed or another training. If a problem occurs several times (with different numbers
of shown pairs, or in several runs), all its values are resampled together. For a single problem,
`wilson_interval` and `bootstrap_rows` account for the choice of the rows for which labels were
predicted.
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
MANY_ROWS = 20_000  # from which on a bootstrap over rows draws numbers of rows
LEVEL = 0.95
_CHUNK = 1_000_000  # Draws in memory at a time.
_KEPT = 400_000  # Maximum number of draws that are cached for the next metric.


class Interval(TypedDict):
    """A mean with the lower and upper bound of its confidence interval.

    Mean and bounds are None if no problem has a value. Only the bounds are None if there is a
    single problem, because resampling it says nothing about other problems. n is the number of
    problems with a value.
    """

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
    """Return the mean of a metric over problems, with a percentile bootstrap interval.

    The random draws depend only on the seed and on the number of values. Therefore metrics and
    sessions with equally many problems use the same draws.

    Args:
        values: One value per problem; None if the problem has no value.
        seed: Seed of the draws.
        resamples: Number of resamples.
        level: Confidence level.
    """
    return bootstrap_each([values], seed=seed, resamples=resamples, level=level)[0]


def bootstrap_each(
    metrics: Sequence[Sequence[float | None]],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> list[Interval]:
    """Return what `bootstrap` returns for each of several metrics, with fewer draws.

    Args:
        metrics: The values of each metric.
        seed: Seed of the draws.
        resamples: Number of resamples.
        level: Confidence level.
    """
    kept = [np.array([v for v in values if v is not None], np.float64) for values in metrics]
    means: dict[int, NDArray[np.float64]] = {}
    by_size: dict[int, list[int]] = {}
    for place, values in enumerate(kept):
        if len(values) > 1:
            by_size.setdefault(len(values), []).append(place)
    for places in by_size.values():
        found = _resample([kept[place] for place in places], seed, resamples)
        means.update(zip(places, found, strict=True))
    return [_interval(values, means.get(place), level) for place, values in enumerate(kept)]


def _interval(
    kept: NDArray[np.float64], resampled: NDArray[np.float64] | None, level: float
) -> Interval:
    """Return the interval of values whose resampled means are known if there are several."""
    n = len(kept)
    if not n:
        return {"mean": None, "low": None, "high": None, "n": 0}
    mean = math.fsum(kept.tolist()) / n
    if resampled is None:
        return {"mean": mean, "low": None, "high": None, "n": 1}
    means = np.sort(resampled)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    # Rounding may put the bounds of equal values one ulp to one side of their mean.
    return {"mean": mean, "low": min(float(low), mean), "high": max(float(high), mean), "n": n}


def resampled_means(
    values: NDArray[np.float64], seed: int, resamples: int = RESAMPLES
) -> NDArray[np.float64]:
    """Return the mean of each of `resamples` bootstrap samples of `values`.

    A sample has as many values as `values` and is drawn with replacement. The result has shape
    (resamples,).
    """
    return _resample([values], seed, resamples)[0]


def _resample(
    metrics: Sequence[NDArray[np.float64]], seed: int, resamples: int
) -> list[NDArray[np.float64]]:
    """Return the `resampled_means` of equally long arrays, with the same draws for all."""
    means: list[list[NDArray[np.float64]]] = [[] for _ in metrics]
    for rows in _draws(len(metrics[0]), seed, resamples):
        for values, found in zip(metrics, means, strict=True):
            found.append(values[rows].mean(axis=1))
    return [np.concatenate(found) for found in means]


def _draws(n: int, seed: int | str, resamples: int) -> Iterator[NDArray[np.intp]]:
    """Yield indices (r, n) drawn from n with replacement, `resamples` rows in total."""
    if n * resamples <= _KEPT:
        yield _kept_draws(n, seed, resamples)
        return
    yield from _new_draws(n, seed, resamples)


@lru_cache(maxsize=16)
def _kept_draws(n: int, seed: int | str, resamples: int) -> NDArray[np.intp]:
    """Return cached draws: every metric of a table uses the same, and drawing is most of the work."""
    drawn = np.concatenate(list(_new_draws(n, seed, resamples)))
    drawn.flags.writeable = False
    return drawn


def _new_draws(n: int, seed: int | str, resamples: int) -> Iterator[NDArray[np.intp]]:
    rng = random.Random(seed)
    rows = max(1, _CHUNK // n)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        # 32 bits scaled to [0, n): the bias is at most n / 2**32, and every machine draws the same.
        bits = np.frombuffer(rng.randbytes(4 * count * n), "<u4").astype(np.uint64)
        drawn = ((bits * np.uint64(n)) >> np.uint64(32)).astype(np.intp)
        yield drawn.reshape(count, n)


# --- values in strata, several per problem ---------------------------------------


@dataclass(frozen=True)
class Stratum:
    """The values of one metric in one data set, with the problem of each value."""

    values: Sequence[float | None]
    problems: Sequence[Hashable]

    def drop_missing(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the values that are not None, and for each value a number that identifies its
        problem.

        Problems are numbered from 0. Both arrays have the same length.
        """
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
    """Return the mean over the problems that have a value, with a stratified bootstrap interval.

    Problems, including problems without a value, are resampled within their stratum. The mean of a
    resample is taken over its problems that have a value (ABD, section 6.1: instances within
    scenario, survivor-conditioned). With one stratum in which all problems have a value, the result
    equals `bootstrap`.

    Args:
        values: One value per problem; None if the problem has no value.
        strata: The name of each problem's stratum.
        seed: Seed of the draws.
        resamples: Number of resamples.
    """
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
    """Return the mean of the means of several strata, with a bootstrap interval.

    Strata without a value are left out, and problems are resampled within each stratum. n is the
    number of values. With one stratum and one value per problem, the result equals `bootstrap`.
    """
    kept = [found for found in (stratum.drop_missing() for stratum in strata) if len(found[0])]
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


def resampled_ratios(
    numerators: NDArray[np.float64],
    denominators: NDArray[np.float64],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> NDArray[np.float64]:
    """Return ratios of sums over bootstrap samples of n problems.

    Args:
        numerators: Values of c quantities, of shape (n, c).
        denominators: The values that their sums are divided by, of shape (n,).
        seed: Seed of the draws.
        resamples: Number of resamples.

    Returns:
        The ratios, of shape (r, c). Resamples whose denominator is 0 are left out, so r may be
        smaller than `resamples`.
    """
    parts = []
    for drawn in _counts(len(denominators), seed, resamples):
        below = drawn @ denominators
        kept = below > 0
        parts.append((drawn[kept] @ numerators) / below[kept, None])
    return np.concatenate(parts)


def wilson_interval(count: int, n: int) -> Interval:
    """Return the share `count` / `n` with its 95% score interval (E. B. Wilson, 1927).

    The interval has a positive width even if the share is 0 or 1.
    """
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


def bootstrap_rows(
    kinds: NDArray[np.intp],
    score: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return a score of n rows with its interval, which is computed by resampling the rows.

    Args:
        kinds: A number that classifies each row, of shape (n,), counted from 0.
        score: Returns scores of shape (r,), from an array of shape (r, number of classes) with the
            number of rows in each class.
        seed: Seed of the draws.
        resamples: Number of resamples.
    """
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
    if n > MANY_ROWS:  # the numbers of rows by class are drawn instead of the rows
        shares = np.bincount(kinds, minlength=width) / n
        # the stream of RandomState is frozen (NEP 19), so that every machine draws the same
        drawn = np.random.RandomState(seed % 2**32).multinomial(n, shares, resamples)
        scores = score(drawn.astype(np.float64))
    else:
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
    """Return Spearman's rank correlation of two variables, with an interval over problems.

    Equal values get their mean rank. "mean" is the correlation, or None if a variable is constant.
    n is the number of pairs of values. Resamples in which a variable is constant are left out.

    Args:
        first: The values of one variable; None if there is no value.
        second: The values of the other variable.
        problems: The problem of each pair of values.
        seed: Seed of the draws.
        resamples: Number of resamples.
    """
    values, numbers = Stratum(first, problems).drop_missing()
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
    """Return Spearman's rho (r,) if value i occurs weights[i] (n, r) times; nan if undefined."""
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
    """Return the weighted mean ranks (n, r) minus `middle` (r,), and their sums of squares (r,)."""
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
    """Yield how often (r, n) each of n problems is drawn, `resamples` rows in total."""
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
    """Return a separate seed for each stratum; the first uses the seed itself, as without strata."""
    return f"{seed} stratum {stratum}" if stratum else seed


def metric_intervals(
    results: Sequence[Mapping[str, float | None]],
    metrics: Sequence[str],
    *,
    strata: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Interval]:
    """Return the mean and the interval of each metric over several problems.

    The intervals come from `bootstrap`, or from `stratified_mean` if `strata` is set.

    Args:
        results: The metrics of each problem. A missing metric counts as no value.
        metrics: Names of the metrics.
        strata: The name of each problem's stratum; None to resample over all problems.
        seed: Seed of the draws.
        resamples: Number of resamples.
    """
    values = {name: [r.get(name) for r in results] for name in metrics}
    if strata is None:
        found = bootstrap_each(list(values.values()), seed=seed, resamples=resamples)
        return dict(zip(values, found, strict=True))
    return {
        name: stratified_mean(own, strata, seed=seed, resamples=resamples)
        for name, own in values.items()
    }
