"""Odds ratios of two-by-two tables, over all rows and within groups of rows.

A table counts rows: [[a, b], [c, d]], where a sentence applies to the rows of the first line and not
to those of the second, and the rows of the first column have its label. The odds ratio is
a * d / (b * c). It is above 1 if the label is more frequent where the sentence applies.

- `odds_ratio`: interval by Woolf's method on the logarithm (B. Woolf, 1955). If a cell is empty, 0.5
  is added to each cell (J. Haldane, 1956; F. Anscombe, 1956).
- `mantel_haenszel`: the odds ratio that the groups have in common (N. Mantel and W. Haenszel, 1959),
  with the variance of J. Robins, N. Breslow and S. Greenland (1986).
- `breslow_day`: do the groups have different odds ratios? (N. Breslow and N. Day, 1980, with the
  correction of R. Tarone, 1985). Groups with an expected count below 5 are left out.
- `resample_stability`: how often the effect is found again in resampled rows. Rows with equal marks are
  interchangeable, so resampling n rows with replacement is one multinomial draw of the four counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Counts = NDArray[np.float64]
Verdict: TypeAlias = Literal[
    "holds", "confounded", "differs", "hidden", "no_effect", "too_few", "own_column"
]

Z = NormalDist().inv_cdf(0.975)  # of a 95% interval
RESAMPLES = 200
LEAST_EXPECTED = 5.0  # rows in each cell of a group whose own odds ratio is compared
LEAST_ROWS = 10  # in each margin of the groups within which rows are compared
DIFFERENT = 0.01  # significance of differences between groups
HALF = 0.5  # of the raw effect, on the logarithm
INSEPARABLE = 0.1  # share of a sentence's variance that is within groups


@dataclass(frozen=True)
class OddsRatio:
    """An odds ratio with its 95% confidence interval."""

    value: float
    low: float
    high: float

    @property
    def side(self) -> int:
        """Return 1 if the interval is above 1, -1 if it is below 1, and 0 if it includes 1."""
        return int(self.low > 1) - int(self.high < 1)


@dataclass(frozen=True)
class Stability:
    """How often an effect is found again in resampled rows.

    Attributes:
        direction: The share of resamples whose odds ratio is on the same side of 1.
        significant: The share of resamples whose interval excludes 1 on this side.
    """

    direction: float
    significant: float


@dataclass(frozen=True)
class Difference:
    """The test whether groups have different odds ratios.

    Attributes:
        p: The p-value.
        lowest: The index of the group with the lowest odds ratio, and this odds ratio.
        highest: The index of the group with the highest odds ratio, and this odds ratio.
    """

    p: float
    lowest: tuple[int, OddsRatio]
    highest: tuple[int, OddsRatio]

    @property
    def is_opposed(self) -> bool:
        """Whether the groups differ, with a clear effect in one direction and one in the other."""
        opposed = self.lowest[1].side < 0 < self.highest[1].side
        return self.p < DIFFERENT and opposed


@dataclass(frozen=True)
class GroupComparison:
    """An effect within groups of rows beside the effect over all rows.

    Attributes:
        verdict: "holds": the effect is there within the groups. "confounded": it is there over all
            rows, but not within the groups, or the sentence cannot be told from the groups.
            "differs": the odds ratio is clearly above 1 in one group and clearly below 1 in another.
            "hidden": the effect is only there within the groups. "no_effect": it is nowhere. "too_few": too few
            rows can be compared within groups.
        within: The odds ratio within the groups; None if no group has rows to compare.
        difference: The test whether the groups differ; None if fewer than two groups are large enough.
        groups: The number of groups.
        compared: The number of groups within which rows can be compared, because the sentence
            applies to some rows and not to others, and some rows have the label and others do not.
        rows: The number of rows in these groups.
        share: The logarithm of the odds ratio within groups as a share of that over all rows; None
            if a ratio is missing or the one over all rows is 1.
        separable: False if the sentence applies to all or none of the rows of nearly every group.
    """

    verdict: Verdict
    within: OddsRatio | None
    difference: Difference | None
    groups: int
    compared: int
    rows: int
    share: float | None
    separable: bool


def count_tables(
    applies: NDArray[np.bool_], has_label: NDArray[np.bool_], groups: NDArray[np.intp] | None = None
) -> Counts:
    """Count n rows in tables, one for each group, as float64 of shape (groups, 2, 2).

    Args:
        applies: Whether the sentence applies to each row, of shape (n,).
        has_label: Whether each row has the sentence's label, of shape (n,).
        groups: The number of each row's group, counted from 0, of shape (n,); None for one group.
    """
    kinds = 2 * ~applies + 1 * ~has_label
    if groups is None:
        return np.bincount(kinds, minlength=4).reshape(1, 2, 2).astype(np.float64)
    count = int(groups.max(initial=-1)) + 1
    return np.bincount(4 * groups + kinds, minlength=4 * count).reshape(-1, 2, 2).astype(np.float64)


def odds_ratio(table: ArrayLike) -> OddsRatio | None:
    """Return the odds ratio of a table of shape (2, 2) with Woolf's interval.

    The result is None if a line or a column of the table is empty.
    """
    logs, errors = _log_ratios(np.asarray(table, np.float64)[None])
    return None if math.isnan(logs[0]) else _interval(float(logs[0]), float(errors[0]))


def _interval(log: float, error: float) -> OddsRatio:
    low, value, high = (_exp(log + z * error) for z in (-Z, 0.0, Z))
    return OddsRatio(value, low, high)


def _exp(log: float) -> float:
    return math.exp(min(max(log, -700.0), 700.0))


def _log_ratios(tables: Counts) -> tuple[Counts, Counts]:
    """Return logarithms of odds ratios and their standard errors, of shape (k,); NaN if undefined."""
    is_empty = (tables.sum(axis=1) == 0).any(axis=1) | (tables.sum(axis=2) == 0).any(axis=1)
    cells = tables + 0.5 * (tables == 0).any(axis=(1, 2))[:, None, None]
    cells = np.where(is_empty[:, None, None], 1.0, cells)
    logs = np.log(cells)
    ratios = logs[:, 0, 0] + logs[:, 1, 1] - logs[:, 0, 1] - logs[:, 1, 0]
    errors = np.sqrt((1 / cells).sum(axis=(1, 2)))
    return np.where(is_empty, np.nan, ratios), np.where(is_empty, np.nan, errors)


def resample_stability(
    table: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0
) -> Stability | None:
    """Return in which share of resamples of the rows an effect is found again.

    A resample in which a line or a column of the table is empty does not count as found again. The
    result is None if the table itself has no odds ratio, or one of exactly 1.

    Args:
        table: The counts, of shape (2, 2).
        resamples: The number of resamples.
        seed: The seed of the draws.
    """
    counts = np.asarray(table, np.float64)
    log = float(_log_ratios(counts[None])[0][0])
    if math.isnan(log) or log == 0:
        return None
    n = int(counts.sum())
    drawn = np.random.default_rng(seed).multinomial(n, counts.ravel() / n, size=resamples)
    logs, errors = _log_ratios(drawn.reshape(-1, 2, 2).astype(np.float64))
    logs *= math.copysign(1.0, log)
    with np.errstate(invalid="ignore"):  # NaN is on no side
        same, clear = logs > 0, logs - Z * errors > 0
    return Stability(float(same.mean()), float(clear.mean()))


def informative_groups(tables: Counts) -> NDArray[np.bool_]:
    """Return in which of k groups rows can be compared: no line or column of the table is empty."""
    sums = np.concatenate([tables.sum(axis=1), tables.sum(axis=2)], axis=1)
    return np.asarray((sums > 0).all(axis=1), np.bool_)


def mantel_haenszel(tables: ArrayLike) -> OddsRatio | None:
    """Return the odds ratio that k groups have in common, with its interval.

    If all groups have an empty cell on the same diagonal, so that the ratio would be 0 or infinite,
    0.5 rows are divided among each of the four cells of the groups. The result is None if no group
    has rows to compare.

    Args:
        tables: The counts, of shape (k, 2, 2).
    """
    every = np.asarray(tables, np.float64)
    kept = every[informative_groups(every)]
    if not len(kept):
        return None
    right, wrong = _products(kept)
    if not right.sum() or not wrong.sum():
        kept = kept + 0.5 / len(kept)
        right, wrong = _products(kept)
    total = kept.sum(axis=(1, 2))
    same = (kept[:, 0, 0] + kept[:, 1, 1]) / total
    other = 1 - same
    r, w = float(right.sum()), float(wrong.sum())
    variance = (
        float(same @ right) / (2 * r * r)
        + float(same @ wrong + other @ right) / (2 * r * w)
        + float(other @ wrong) / (2 * w * w)
    )
    return _interval(math.log(r / w), math.sqrt(variance))


def _products(tables: Counts) -> tuple[Counts, Counts]:
    total = tables.sum(axis=(1, 2))
    right = tables[:, 0, 0] * tables[:, 1, 1] / total
    return right, tables[:, 0, 1] * tables[:, 1, 0] / total


def breslow_day(tables: ArrayLike, least: float = LEAST_EXPECTED) -> Difference | None:
    """Test whether k groups have different odds ratios.

    Args:
        tables: The counts, of shape (k, 2, 2).
        least: Groups with a smaller expected count in a cell are left out.

    Returns:
        The p-value, and the groups with the lowest and the highest odds ratio; None if fewer than
            two groups are large enough.
    """
    every = np.asarray(tables, np.float64)
    common = mantel_haenszel(every)
    if common is None:
        return None
    places = np.flatnonzero(informative_groups(every))
    places = places[(_expected(every[places], common.value) >= least).all(axis=1)]
    kept = every[places]
    common = mantel_haenszel(kept)
    if common is None or len(kept) < 2:
        return None
    expected = _expected(kept, common.value)
    variance = 1 / (1 / expected).sum(axis=1)
    apart = kept[:, 0, 0] - expected[:, 0]
    statistic = float((apart**2 / variance).sum() - apart.sum() ** 2 / variance.sum())
    logs, errors = _log_ratios(kept)
    lowest, highest = (
        (int(places[one]), _interval(float(logs[one]), float(errors[one])))
        for one in (int(np.argmin(logs)), int(np.argmax(logs)))
    )
    return Difference(chi_square_tail(statistic, len(kept) - 1), lowest, highest)


def _expected(tables: Counts, ratio: float) -> Counts:
    """Return expected counts (a, b, c, d) with the margins of each table and this odds ratio, (k, 4).

    The first is the root of a quadratic equation that lies between the bounds of the cell.
    """
    lines, columns = tables[:, 0].sum(axis=1), tables[:, :, 0].sum(axis=1)
    total = tables.sum(axis=(1, 2))
    b = ratio * (lines + columns) + total - lines - columns
    root = np.sqrt(np.maximum(b * b - 4 * (ratio - 1) * ratio * lines * columns, 0.0))
    a = 2 * ratio * lines * columns / (b + root)
    return np.stack([a, lines - a, columns - a, total - lines - columns + a], axis=1)


def chi_square_tail(statistic: float, degrees: int) -> float:
    """Return the probability that a chi-square variable exceeds `statistic`.

    Args:
        statistic: The value; a negative one counts as 0.
        degrees: The degrees of freedom, at least 1.
    """
    half = max(statistic, 0.0) / 2
    if half == 0:
        return 1.0
    start, tail = (0.0, 0.0) if degrees % 2 == 0 else (0.5, math.erfc(math.sqrt(half)))
    for step in range(degrees // 2):
        power = start + step
        tail += math.exp(power * math.log(half) - half - math.lgamma(power + 1))
    return min(1.0, tail)


def compare_groups(tables: Counts) -> GroupComparison:
    """Compare the effect over all rows with the effect within groups, and return a verdict.

    Args:
        tables: The counts of the groups, of shape (k, 2, 2).
    """
    raw = odds_ratio(tables.sum(axis=0))
    within = mantel_haenszel(tables)
    kept = tables[informative_groups(tables)]
    margins = [*kept.sum(axis=(0, 1)), *kept.sum(axis=(0, 2))] if len(kept) else [0]
    is_small = within is None or min(margins) < LEAST_ROWS
    difference = None if is_small else breslow_day(tables)
    separable = _is_separable(tables)
    share = None
    if raw is not None and within is not None and raw.value != 1:
        share = math.log(within.value) / math.log(raw.value)
    verdict = _verdict(raw, None if is_small else within, difference, share, separable)
    return GroupComparison(
        verdict, within, difference, int((tables.sum(axis=(1, 2)) > 0).sum()), len(kept),
        int(kept.sum()), share, separable,
    )  # fmt: skip


def _verdict(
    raw: OddsRatio | None,
    within: OddsRatio | None,
    difference: Difference | None,
    share: float | None,
    separable: bool,
) -> Verdict:
    if raw is None:
        return "too_few"
    if difference is not None and difference.is_opposed:
        return "differs"
    if within is None:
        return "confounded" if raw.side and not separable else "too_few"
    if not raw.side:
        return "hidden" if within.side else "no_effect"
    if within.side == raw.side:
        return "holds"
    # An effect of much the same size whose interval includes 1 lacks rows; it is not explained.
    unclear = within.side == 0 and share is not None and share >= HALF and separable
    return "too_few" if unclear else "confounded"


def _is_separable(tables: Counts) -> bool:
    """Return whether the sentence varies within groups; groups of few rows say nothing about this."""
    sizes = tables.sum(axis=(1, 2))
    n, groups = sizes.sum(), int((sizes > 0).sum())
    applies = tables[:, 0].sum(axis=1)
    overall = float(applies.sum() * (n - applies.sum()) / n) if n else 0.0
    if not overall or n < LEAST_ROWS * groups:
        return True
    inner = (applies * (sizes - applies) / np.maximum(sizes, 1)).sum()
    return bool(inner >= INSEPARABLE * overall)
