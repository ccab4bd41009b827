"""Significance of single conditions, corrected for the number of conditions that were tried.

The false discovery rate is controlled by the method of Benjamini and Hochberg (1995). If rules
exist already, a further condition is tested by the method of Mantel and Haenszel (1959). If there
are no rules, the best condition is tested by the method of Westfall and Young (1993), because
conditions on one column are correlated.
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
        unseen: Number of conditions that the caller dropped before, as less associated with the
            labels than the conditions of `chances`. The correction counts the dropped conditions.
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
    """Return the index of the condition that best separates the wanted rows, and its p-value.

    The p-value is the probability that any of the conditions separates the rows as well when the
    labels are shuffled (Westfall and Young 1993). It uses 999 shuffles that are the same in every
    call. If `unseen` is not 0, the p-value is the one of Fisher's exact test for this condition,
    multiplied by the number of all conditions (Bonferroni), because shuffled labels would have led
    to a different selection of conditions.

    Args:
        holds: In which rows each of the m conditions holds, bool of shape (m, n), with m at least
            1. Each condition must hold in some rows but not in all.
        wanted: Which rows have the wanted label, bool of shape (n,).
        prices: Cost of each condition. Of equally good conditions the cheapest is chosen.
        unseen: Number of conditions that were dropped earlier because their association with the
            labels was weaker.
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
    """Return the two-sided p-value of Fisher's exact test for the association of two properties.

    Args:
        holds: Which rows meet a condition, bool of shape (n,).
        wanted: Which rows have the wanted label, bool of shape (n,).
    """
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
    """Test whether a condition is associated with the wanted label within groups of rows (strata).

    Args:
        holds: Which rows meet the condition, bool of shape (n,).
        wanted: Which rows have the wanted label, bool of shape (n,).
        strata: Number of the group to which each row belongs, of shape (n,).

    Returns:
        The two-sided p-value, and the excess. The excess says how many more of the rows that meet
        the condition are wanted than expected by chance; a negative number means fewer.
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
