"""Group the records of sessions by regime, theory, difficulty and size.

A record is the scored answer to one problem. `find_pairs` supports the comparison of shorter and
longer rules (ABD, sections 6.2 to 6.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

import numpy as np

from ....tools.logic.fast_path import REGIMES
from ...metrics.statistics import RESAMPLES, Interval, stratified_mean
from .metrics import SEED
from .records import Record

ALL = "all"
SIZES = (0, 15, 30)  # Lower bounds of the bins of prediction sizes in table 6.
FINER_SIZES = (0, 5, 10, 15, 20, 30, 50)
REFERENCE_SIZES = (0, 5, 10, 15, 20, 30)  # Lower bounds of the bins of table G.8.
BANDS = ((0.9, "high validity"), (0.5, "intermediate validity"), (0.0, "low validity"))


@dataclass(frozen=True)
class SessionRecords:
    """The records (scored answers) of one session, with the name of the session in tables."""

    session: str
    name: str
    records: tuple[Record, ...]

    @property
    def validity(self) -> float:
        """The share of rules that are valid on the prompt worlds after repair; 0 if no rule was
        judged.
        """
        return _mean(one.valid for one in self.records) or 0.0

    @property
    def band(self) -> str:
        """The band of table 2 to which the session's validity belongs: above 90%, from 50% to 90%,
        or below 50%.
        """
        high, middle = BANDS[0], BANDS[1]
        if self.validity > high[0]:
            return high[1]
        return middle[1] if self.validity >= middle[0] else BANDS[2][1]


def sort_runs(runs: Iterable[SessionRecords]) -> tuple[SessionRecords, ...]:
    """Return the sessions in the order of table 2: by band, then by mean gap, then by name."""
    names = [band for _, band in BANDS]

    def place(run: SessionRecords) -> tuple[int, bool, float, str]:
        gap = _mean(one.gap for one in run.records)
        return names.index(run.band), gap is None, gap or 0.0, run.name

    return tuple(sorted(runs, key=place))


def add_pooled_run(runs: Sequence[SessionRecords]) -> tuple[SessionRecords, ...]:
    """Return the sessions, preceded by one with the records of all sessions if there are
    several.
    """
    if len(runs) < 2:
        return tuple(runs)
    together = tuple(record for run in runs for record in run.records)
    return (SessionRecords(ALL, f"all {len(runs)} sessions", together), *runs)


Group = tuple[str, list[Record]]


def group_by_regime(records: Sequence[Record]) -> list[Group]:
    """Return (regime, records) for each regime that occurs, in the order of `REGIMES`."""
    of = {regime: [one for one in records if one.facts.regime == regime] for regime in REGIMES}
    return [(regime, some) for regime, some in of.items() if some]


def add_all_group(groups: Sequence[Group], records: Sequence[Record]) -> list[Group]:
    """Return the groups, followed by one group with all records if there are several groups."""
    return [*groups, (ALL, list(records))] if len(groups) > 1 else list(groups)


def group_by_theory(records: Sequence[Record]) -> list[Group]:
    """Return (theory, records) for each theory that occurs."""
    return _by(records, lambda one: one.facts.theory)


def group_by_difficulty(records: Sequence[Record]) -> list[Group]:
    """Return (difficulty, records) for each difficulty. Records without a difficulty are left
    out.
    """
    return _by([one for one in records if one.facts.difficulty], lambda one: one.facts.difficulty)


def _by(records: Sequence[Record], key: Callable[[Record], str]) -> list[Group]:
    names = sorted({key(one) for one in records})
    return [(name, [one for one in records if key(one) == name]) for name in names]


def group_by_size(
    records: Sequence[Record], size: Callable[[Record], int | None], starts: Sequence[int]
) -> list[Group]:
    """Return the records grouped by size. Records without a size are left out.

    Args:
        records: The records.
        size: Returns the size of a record, or None.
        starts: The smallest size of each group, in ascending order. The last group has no upper
            limit.
    """
    groups: list[Group] = []
    for start, end in [*pairwise(starts), (starts[-1], None)]:
        name = f"[{start}, {end})" if end is not None else f"[{start}, ∞)"
        inside = [
            one for one in records
            if (n := size(one)) is not None and n >= start and (end is None or n < end)
        ]  # fmt: skip
        groups.append((name, inside))
    return groups


class GapSpread(NamedTuple):
    """The distribution of gaps. A gap is the cost of a rule above the lower bound, per world.

    Args:
        n: Number of gaps.
        largest: The largest gap.
        over_3: Share of gaps above 3.
        over_5: Share of gaps above 5.
    """

    n: int
    mean: float
    median: float
    p90: float
    largest: float
    over_3: float
    over_5: float


def gap_spread(records: Sequence[Record]) -> GapSpread | None:
    """Return the distribution of the gaps of valid rules on prompt worlds; None if there are none.

    The 90th percentile interpolates linearly at 0.9 (n - 1) (table G.4).
    """
    gaps = np.array([one.gap for one in records if one.gap is not None], np.float64)
    if not len(gaps):
        return None
    return GapSpread(
        len(gaps),
        float(gaps.mean()),
        float(np.median(gaps)),
        float(np.quantile(gaps, 0.9)),
        float(gaps.max()),
        float((gaps > 3).mean()),
        float((gaps > 5).mean()),
    )


class RulePair(NamedTuple):
    """A comparison of shorter and longer valid rules for one problem.

    A shorter rule is at most as long as the planted rule. For shorter and for longer rules, the
    fields are the share that is valid on the holdouts, and the mean growth of the gap from prompt
    worlds to holdouts (None if no rule is valid on the holdouts).
    """

    regime: str
    shorter_valid: float | None
    longer_valid: float | None
    shorter_growth: float | None
    longer_growth: float | None


def find_pairs(runs: Sequence[SessionRecords]) -> list[RulePair]:
    """Return a comparison for each problem with both shorter and longer valid rules (section 6.5).

    A shorter rule must differ from the planted rule. The rules come from different sessions.
    """
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
                RulePair(
                    some[0].facts.regime,
                    _mean(one.holdout_given_prompt for one in shorter),
                    _mean(one.holdout_given_prompt for one in longer),
                    _mean(one.delta_gap for one in shorter),
                    _mean(one.delta_gap for one in longer),
                )
            )
    return found


def paired_interval(pairs: Sequence[RulePair], field: str) -> Interval:
    """Return the mean of one field over comparisons, with an interval that resamples within
    regimes.

    Args:
        pairs: The comparisons.
        field: Name of a field of `RulePair`.
    """
    return stratified_mean(
        [getattr(one, field) for one in pairs],
        [one.regime for one in pairs],
        seed=SEED,
        resamples=RESAMPLES,
    )


def _mean(values: Iterable[float | bool | None]) -> float | None:
    kept = [float(value) for value in values if value is not None]
    return fmean(kept) if kept else None
