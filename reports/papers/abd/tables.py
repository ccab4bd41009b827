"""Tables 2 to 6 of the ABD paper, in which sessions take the place of models.

Further tables show metrics by difficulty, and compare shorter rules with longer rules. Intervals
are 95% intervals and resample problems within their regime. The published tables have means without
intervals; here the cells include intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...files.tables import Cell, Mean, Table
from ...metrics.statistics import Interval
from . import metrics as abd
from .groups import (
    ALL,
    SessionRecords,
    add_all_group,
    find_pairs,
    group_by_difficulty,
    group_by_regime,
    group_by_size,
    group_by_theory,
    paired_interval,
)
from .records import Record

PROMPT_METRICS = ("prompt_validity_repaired", "prompt_validity", "ast_size", "gap", "gref")
HOLDOUT_METRICS = (
    "prompt_validity_repaired",
    "holdout_validity",
    "gap",
    "holdout_gap",
    "delta_gap",
)
_ARROWS = {metric.name: metric.arrow for metric in abd.METRICS}


def metric_heading(metric: str) -> str:
    """Return a metric's name with an arrow that shows whether higher or lower is better."""
    return f"{metric} {_ARROWS.get(metric, '')}".rstrip()


def interval_cell(value: Interval) -> Mean | None:
    """Return a mean with its interval as a table cell; None without a mean."""
    if value["mean"] is None:
        return None
    return Mean(value["mean"], value["low"], value["high"])


def metric_cells(
    records: Sequence[Record],
    metrics: Sequence[str],
    has_value: Callable[[Record], bool] = lambda one: True,
) -> list[Cell]:
    """Return one table cell per metric, with the mean over records and its interval.

    Args:
        records: The scored answers.
        metrics: Names of the metrics.
        has_value: Selects the records that count.
    """
    found = abd.intervals(records, metrics, has_value)
    return [interval_cell(found[name]) for name in metrics]


def count_valid(records: Sequence[Record]) -> int:
    """Return the number of records whose rule is valid in all prompt worlds."""
    return sum(one.valid is True for one in records)


def count_survivors(records: Sequence[Record]) -> int:
    """Return the number of records whose rule is valid in all prompt worlds and all holdouts."""
    return sum(one.survives for one in records)


def table_2(runs: Sequence[SessionRecords]) -> Table:
    """Return table 2: the metrics on prompt worlds, by regime.

    Sizes and gaps cover only rules that are valid in all prompt worlds.
    """
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for regime, some in add_all_group(group_by_regime(run.records), run.records):
            rows.append(
                (
                    run.name,
                    run.band,
                    regime,
                    len(some),
                    count_valid(some),
                    *metric_cells(some, PROMPT_METRICS),
                )
            )
    heads = ("session", "band", "regime", "problems", "valid", *map(metric_heading, PROMPT_METRICS))
    return Table(heads, tuple(rows))


def table_3(runs: Sequence[SessionRecords]) -> Table:
    """Return table 3: validity on prompt worlds and gap to the planted rule, by theory.

    All regimes are combined.
    """
    metrics = ("prompt_validity_repaired", "gref", "beats_reference")
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for theory, some in group_by_theory(run.records):
            rows.append(
                (theory, run.name, len(some), count_valid(some), *metric_cells(some, metrics))
            )
    rows.sort(key=lambda row: str(row[0]))  # The sort is stable: sessions keep their order.
    return Table(
        ("theory", "session", "problems", "valid", *map(metric_heading, metrics)), tuple(rows)
    )


def table_4(runs: Sequence[SessionRecords]) -> Table:
    """Return table 4: the metrics on holdouts, with all regimes combined.

    Sizes cover all readable rules.
    """
    metrics = (*HOLDOUT_METRICS, "holdout_validity_given_prompt", "ast_size_read")
    return _holdout_table(runs, metrics, lambda run: [(ALL, list(run.records))])


def table_5(runs: Sequence[SessionRecords]) -> Table:
    """Return table 5: the metrics on holdouts, by regime."""
    return _holdout_table(runs, HOLDOUT_METRICS, lambda run: group_by_regime(run.records))


def _holdout_table(
    runs: Sequence[SessionRecords],
    metrics: Sequence[str],
    groups: Callable[[SessionRecords], list[tuple[str, list[Record]]]],
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for regime, some in groups(run):
            held = sum(one.holdout_valid is True for one in some)
            counts = (len(some), count_valid(some), held, count_survivors(some))
            rows.append((run.name, regime, *counts, *metric_cells(some, metrics)))
    heads = ("session", "regime", "problems", "valid", "valid on holdouts", "valid on both")
    return Table((*heads, *map(metric_heading, metrics)), tuple(rows))


def table_6(runs: Sequence[SessionRecords], starts: Sequence[int]) -> Table:
    """Return table 6: validity on holdouts and growth of the gap, by size of the rule.

    Only rules that are valid in all prompt worlds count.

    Args:
        runs: The records of each session.
        starts: The smallest size of each group of rules, in ascending order.
    """
    metrics = ("holdout_validity_given_prompt", "delta_gap")
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for regime, some in add_all_group(group_by_regime(run.records), run.records):
            valid = [one for one in some if one.valid and one.facts.holdout_worlds]
            for name, inside in group_by_size(valid, lambda one: one.size, starts):
                counts = (len(inside), count_survivors(inside))
                in_bin = metric_cells(some, metrics, _among(inside))
                rows.append((run.name, regime, name, *counts, *in_bin))
    heads = ("session", "regime", "size", "valid", "valid on both", *map(metric_heading, metrics))
    return Table(heads, tuple(rows))


def _among(records: Sequence[Record]) -> Callable[[Record], bool]:
    members = set(map(id, records))
    return lambda one: id(one) in members


def difficulty_table(runs: Sequence[SessionRecords]) -> Table:
    """Return a table of metrics by regime and difficulty."""
    metrics = (*PROMPT_METRICS, *HOLDOUT_METRICS[1:2], *HOLDOUT_METRICS[3:])
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for regime, some in group_by_regime(run.records):
            for difficulty, part in group_by_difficulty(some):
                counts = (len(part), count_valid(part))
                rows.append((run.name, regime, difficulty, *counts, *metric_cells(part, metrics)))
    heads = ("session", "regime", "difficulty", "problems", "valid", *map(metric_heading, metrics))
    return Table(heads, tuple(rows))


def paired_table(runs: Sequence[SessionRecords]) -> Table | None:
    """Return a table that compares shorter valid rules with longer valid rules.

    A shorter rule is at most as long as the planted rule. Only problems with both shorter and
    longer valid rules count. Values are means over problems. The result is None for fewer than two
    sessions.
    """
    if len(runs) < 2:
        return None
    found = find_pairs(runs)
    regimes = list(dict.fromkeys(one.regime for one in found))
    groups = [(regime, [one for one in found if one.regime == regime]) for regime in regimes]
    rows: list[tuple[Cell, ...]] = []
    for regime, some in [*groups, (ALL, found)] if len(groups) != 1 else groups:
        for side in ("shorter", "longer"):
            valid = interval_cell(paired_interval(some, f"{side}_valid"))
            growth = paired_interval(some, f"{side}_growth")
            rows.append((regime, side, len(some), valid, growth["n"], interval_cell(growth)))
    heads = ("regime", "than the planted rule", "problems", "holdout_validity_given_prompt ↑",
             "problems with a survivor", "delta_gap ↓")  # fmt: skip
    return Table(heads, tuple(rows))


def long_table(runs: Sequence[SessionRecords]) -> Table:
    """Return a table with one row per session, group and metric, with all digits.

    The groups are all problems, regimes, theories (also within a regime) and difficulties.
    """
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for group, name, some in list_groups(run):
            for metric, value in abd.intervals(some).items():
                numbers = (value[key] for key in ("mean", "low", "high", "n"))
                rows.append((run.session, run.name, group, name, len(some), metric, *numbers))
    heads = ("session", "name", "group", "of", "problems", "metric", "mean", "low", "high", "n")
    return Table(heads, tuple(rows))


def list_groups(run: SessionRecords) -> list[tuple[str, str, list[Record]]]:
    """Return every group of a session's records as (kind of group, name, records)."""
    regimes = group_by_regime(run.records)
    return [
        ("all", ALL, list(run.records)),
        *(("regime", name, some) for name, some in regimes),
        *(("theory", name, some) for name, some in group_by_theory(run.records)),
        *(("difficulty", name, some) for name, some in group_by_difficulty(run.records)),
        *(
            ("regime, theory", f"{regime}, {name}", some)
            for regime, part in regimes
            for name, some in group_by_theory(part)
        ),
    ]
