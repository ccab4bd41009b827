"""Significance of single conditions, corrected for the number of conditions tried.

The false discovery rate follows Benjamini and Hochberg 1995. A condition besides an existing rule
is tested by Mantel and Haenszel 1959. A condition that stands alone is tested by Westfall and Young
1993, since conditions on one column are correlated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FALSE_DISCOVERY_RATE = 0.05  # false discovery rate
SHUFFLES = 999
Marks = NDArray[np.bool_]


def select_significant(
    chances: Sequence[float], false: float = FALSE_DISCOVERY_RATE, unseen: int = 0
) -> list[int]:
    """Return the indices of the significant conditions, most significant first.

    Args:
        chances: p-value of each condition.
        false: False discovery rate.
        unseen: Number of further conditions, of which these are the best. A selection by the labels
            must be corrected for.
    """
    order = sorted(range(len(chances)), key=lambda at: (chances[at], at))
    last = 0
    for rank, at in enumerate(order, 1):
        if chances[at] <= false * rank / (len(order) + unseen):
            last = rank
    return order[:last]


def most_significant(
    holds: NDArray[np.bool_], wanted: Marks, prices: Sequence[float], unseen: int = 0
) -> tuple[int, float]:
    """Return the condition that best separates the wanted rows, and its p-value.

    The p-value is the chance that any condition does as well when labels are shuffled (Westfall and
    Young 1993; 1,000 orders, always the same). With `unseen`, it is Fisher's for this one condition
    times the number of all (Bonferroni), because other orders would have led to another selection.

    Args:
        holds: In which rows each condition holds, bool of shape (m, n) with m at least 1. Each
            condition holds in some rows, but not in all.
        wanted: Which rows have the wanted label, bool of shape (n,).
        prices: Cost of each condition; of equally good conditions the cheapest is chosen.
        unseen: Number of further conditions, of which these are the best.
    """
    n, k = len(wanted), float(wanted.sum())
    sizes = holds.sum(1).astype(np.float64)
    spread = np.sqrt(k * (n - k) * sizes * (n - sizes) / (n * n * (n - 1.0)))
    table = holds.astype(np.float32).T

    def scores(orders: NDArray[np.float32]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.abs(orders @ table - k * sizes / n) / spread
        return found

    here = scores(wanted[None, :].astype(np.float32))[0].round(9)
    at = min(range(len(here)), key=lambda one: (-here[one], prices[one], one))
    if unseen:
        return at, min(1.0, fisher_exact(holds[at], wanted) * (len(holds) + unseen))
    random = np.random.default_rng(0)
    orders = random.permuted(np.tile(wanted, (SHUFFLES, 1)), axis=1).astype(np.float32)
    above = int((scores(orders).max(1) >= here[at] - 1e-6).sum())
    return at, (1 + above) / (1 + SHUFFLES)


def fisher_exact(holds: Marks, wanted: Marks) -> float:
    """Return the two-sided p-value of Fisher's exact test."""
    n, k, m = len(wanted), int(wanted.sum()), int(holds.sum())
    low, high = max(0, m + k - n), min(k, m)

    def logarithm(count: int) -> float:
        return _log_choices(k, count) + _log_choices(n - k, m - count) - _log_choices(n, m)

    here = logarithm(int((holds & wanted).sum())) + 1e-9
    every = (logarithm(count) for count in range(low, high + 1))
    return min(1.0, math.fsum(math.exp(one) for one in every if one <= here))


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def mantel_haenszel(holds: Marks, wanted: Marks, strata: NDArray[np.int64]) -> tuple[float, float]:
    """Return the p-value and the excess of a condition within strata of rows.

    The p-value of its association with the wanted rows is two-sided. The excess is how many more
    wanted rows it has than expected; a negative value means fewer.
    """
    excess = variance = 0.0
    for stratum in np.unique(strata):
        here = strata == stratum
        n, k, m = int(here.sum()), int((here & wanted).sum()), int((here & holds).sum())
        if n < 2:
            continue
        excess += float((here & holds & wanted).sum()) - k * m / n
        variance += k * (n - k) * m * (n - m) / (n * n * (n - 1.0))
    if variance <= 0:
        return 1.0, 0.0
    z = max(0.0, abs(excess) - 0.5) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2.0)), excess
