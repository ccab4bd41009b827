"""The records of several sessions beside each other, and how they are grouped: by regime, theory,
difficulty, size; the study of shorter against longer rules (ABD, sections 6.2 to 6.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

import numpy as np

from ....tools.logic.judging import REGIMES
from ...metrics.statistics import RESAMPLES, Interval, stratified_mean
from .metrics import SEED
from .records import Record

ALL = "all"
SIZES = (0, 15, 30)  # of predictions, where a bin begins: table 6
FINER_SIZES = (0, 5, 10, 15, 20, 30, 50)
REFERENCE_SIZES = (0, 5, 10, 15, 20, 30)  # table G.8
BANDS = ((0.9, "high validity"), (0.5, "intermediate validity"), (0.0, "low validity"))


@dataclass(frozen=True)
class Run:
    """A session's records. name: how tables call it."""

    session: str
    name: str
    records: tuple[Record, ...]

    @property
    def validity(self) -> float:
        """Share of rules valid on the prompt worlds, repaired; 0 where none could be judged."""
        return _mean(one.valid for one in self.records) or 0.0

    @property
    def band(self) -> str:
        """Table 2's: above 90%, from 50% on, below."""
        high, middle = BANDS[0], BANDS[1]
        if self.validity > high[0]:
            return high[1]
        return middle[1] if self.validity >= middle[0] else BANDS[2][1]


def ordered(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Table 2's order: by band, then by mean gap, then by name."""
    names = [band for _, band in BANDS]

    def place(run: Run) -> tuple[int, bool, float, str]:
        gap = _mean(one.gap for one in run.records)
        return names.index(run.band), gap is None, gap or 0.0, run.name

    return tuple(sorted(runs, key=place))


def pooled(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs; of several first one that holds all their records."""
    if len(runs) < 2:
        return tuple(runs)
    together = tuple(record for run in runs for record in run.records)
    return (Run(ALL, f"all {len(runs)} sessions", together), *runs)


Group = tuple[str, list[Record]]


def by_regime(records: Sequence[Record]) -> list[Group]:
    """Those that occur, in the order of `REGIMES`."""
    of = {regime: [one for one in records if one.facts.regime == regime] for regime in REGIMES}
    return [(regime, some) for regime, some in of.items() if some]


def with_all(groups: Sequence[Group], records: Sequence[Record]) -> list[Group]:
    """The groups, and where there are several all records together at the end."""
    return [*groups, (ALL, list(records))] if len(groups) > 1 else list(groups)


def by_theory(records: Sequence[Record]) -> list[Group]:
    return _by(records, lambda one: one.facts.theory)


def by_difficulty(records: Sequence[Record]) -> list[Group]:
    """Those of which it is known."""
    return _by([one for one in records if one.facts.difficulty], lambda one: one.facts.difficulty)


def _by(records: Sequence[Record], key: Callable[[Record], str]) -> list[Group]:
    names = sorted({key(one) for one in records})
    return [(name, [one for one in records if key(one) == name]) for name in names]


def binned(
    records: Sequence[Record], size: Callable[[Record], int | None], starts: Sequence[int]
) -> list[Group]:
    """By size, in bins that begin at `starts`; records without a size are in none."""
    groups: list[Group] = []
    for start, end in [*pairwise(starts), (starts[-1], None)]:
        name = f"[{start}, {end})" if end is not None else f"[{start}, ∞)"
        inside = [
            one for one in records
            if (n := size(one)) is not None and n >= start and (end is None or n < end)
        ]  # fmt: skip
        groups.append((name, inside))
    return groups


class Spread(NamedTuple):
    """Of gaps a world. over: shares above 3 and 5, strictly."""

    n: int
    mean: float
    median: float
    p90: float
    most: float
    over_3: float
    over_5: float


def spread(records: Sequence[Record]) -> Spread | None:
    """Of the prompt gaps of valid rules; the 90th percentile is linear at 0.9 (n - 1) (table G.4)."""
    gaps = np.array([one.gap for one in records if one.gap is not None], np.float64)
    if not len(gaps):
        return None
    return Spread(
        len(gaps),
        float(gaps.mean()),
        float(np.median(gaps)),
        float(np.quantile(gaps, 0.9)),
        float(gaps.max()),
        float((gaps > 3).mean()),
        float((gaps > 5).mean()),
    )


class Pair(NamedTuple):
    """Of one problem with rules of both kinds: share valid on the holdouts and mean growth of the
    gap (None without a survivor) of those no longer than the planted rule, and of the longer ones."""

    regime: str
    shorter_valid: float | None
    longer_valid: float | None
    shorter_growth: float | None
    longer_growth: float | None


def pairs(runs: Sequence[Run]) -> list[Pair]:
    """Problems on which at least two sessions have a valid rule, one no longer than the planted rule
    and not it, one longer (section 6.5)."""
    problems: dict[str, list[Record]] = {}
    for one in (record for run in runs for record in run.records):
        if one.valid and one.facts.reference_size is not None:
            problems.setdefault(one.facts.key, []).append(one)
    found = []
    for some in problems.values():
        limit = some[0].facts.reference_size or 0
        longer = [one for one in some if (one.size or 0) > limit]
        shorter = [
            one for one in some
            if (one.size or 0) <= limit and one.formula != one.facts.reference
        ]  # fmt: skip
        if len(some) >= 2 and shorter and longer:
            found.append(
                Pair(
                    some[0].facts.regime,
                    _mean(one.holdout_given_prompt for one in shorter),
                    _mean(one.holdout_given_prompt for one in longer),
                    _mean(one.delta_gap for one in shorter),
                    _mean(one.delta_gap for one in longer),
                )
            )
    return found


def paired_interval(some: Sequence[Pair], field: str) -> Interval:
    """The mean over problems of one of a pair's numbers, drawn within regimes."""
    return stratified_mean(
        [getattr(one, field) for one in some],
        [one.regime for one in some],
        seed=SEED,
        resamples=RESAMPLES,
    )


def _mean(values: Iterable[float | bool | None]) -> float | None:
    kept = [float(value) for value in values if value is not None]
    return fmean(kept) if kept else None
