"""Tables G.1 to H.3 of the ABD paper, with sessions in the place of models.

They cover gaps by theory and their distribution, survival, rules that beat the planted one, and
failures. Values are counts and means without intervals, for each session and, if there are several,
for all of them together as in the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from ...files.tables import Cell, Table
from .groups import (
    REFERENCE_SIZES,
    SessionRecords,
    add_all_group,
    add_pooled_run,
    gap_spread,
    group_by_regime,
    group_by_size,
    group_by_theory,
)
from .records import MODES, PATTERNS, Record


def table_g1(runs: Sequence[SessionRecords]) -> Table:
    """Return tables G.1 to G.3: gaps on prompt worlds and holdouts by regime and theory.

    The last column counts the rules that are valid on both.
    """
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for regime, some in group_by_regime(run.records):
            for theory, part in group_by_theory(some):
                gap = _mean(one.gap for one in part)
                held = _mean(one.holdout_gap for one in part)
                both = sum(one.survives for one in part)
                rows.append((regime, theory, run.name, len(part), gap, held, both))
    heads = ("regime", "theory", "session", "problems", "gap ↓", "holdout_gap ↓", "valid on both")
    return Table(heads, tuple(rows))


def table_g4(runs: Sequence[SessionRecords]) -> Table:
    """Return the distribution of the gaps of valid rules on the prompt worlds."""
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for regime, some in add_all_group(group_by_regime(run.records), run.records):
            found = gap_spread(some)
            rows.append((regime, run.name, *(found or (0, *(None,) * 6))))
    heads = ("regime", "session", "valid", "mean", "median", "P90", "max", "share > 3", "share > 5")
    return Table(heads, tuple(rows))


def table_g5(runs: Sequence[SessionRecords]) -> Table:
    """Return the growth of the gap by theory for rules valid on both, with regimes pooled."""
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for theory, some in group_by_theory(run.records):
            growth = _mean(one.delta_gap for one in some)
            rows.append((theory, run.name, growth, sum(one.survives for one in some)))
    return Table(("theory", "session", "delta_gap ↓", "valid on both"), tuple(rows))


def table_g6(runs: Sequence[SessionRecords]) -> Table:
    """Count rules that hold beyond the prompt worlds, with one row per session (table G.6 of ABD).

    The columns count the rules that are valid in all prompt worlds, those of them whose problem has
    holdouts, and those of them that are valid in all holdouts.
    """
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        valid = [one for one in run.records if one.valid]
        held = [one for one in valid if one.facts.holdout_worlds]
        share = _mean(one.holdout_given_prompt for one in valid)
        rows.append((run.name, len(valid), len(held), sum(one.survives for one in held), share))
    heads = (
        "session",
        "valid",
        "with holdouts",
        "valid on both",
        "holdout_validity_given_prompt ↑",
    )
    return Table(heads, tuple(rows))


def table_g7(runs: Sequence[SessionRecords]) -> Table:
    """Count rules that cost less than the planted one on the prompt worlds, by theory."""
    return _beating(runs, "theory", group_by_theory)


def table_g8(runs: Sequence[SessionRecords]) -> Table:
    """Count rules that cost less than the planted one, by the size of the planted rule."""

    def sized(records: Sequence[Record]) -> list[tuple[str, list[Record]]]:
        return group_by_size(records, lambda one: one.facts.reference_size, REFERENCE_SIZES)

    return _beating(runs, "reference AST", sized)


def _beating(
    runs: Sequence[SessionRecords],
    heading: str,
    groups: Callable[[Sequence[Record]], list[tuple[str, list[Record]]]],
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for run in add_pooled_run(runs):
        for regime, some in group_by_regime(run.records):
            for name, part in groups(some):
                compared = [one for one in part if one.gref is not None]
                better = [-one.gref for one in compared if one.gref is not None and one.gref < 0]
                share = len(better) / len(compared) if compared else None
                counts = (len(better), len(compared), share)
                rows.append(
                    (run.name, regime, name, *counts, _mean(better), max(better, default=None))
                )
    heads = ("session", "regime", heading, "beat it", "valid", "beats_reference ↑",
             "mean improvement a world", "largest")  # fmt: skip
    return Table(heads, tuple(rows))


def table_h1(runs: Sequence[SessionRecords]) -> Table:
    """Return the outcomes of answers as shares of all problems (table H.1 of ABD).

    Repaired answers are also counted in the other columns. Scope errors and unbound variables are
    parse errors.
    """
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        n = len(run.records)
        counts = (
            sum(one.valid is True for one in run.records),
            sum(one.has_rule and one.valid is False for one in run.records),
            sum(not one.has_rule and not one.missing for one in run.records),
            sum(one.closed > 0 for one in run.records),
            sum(one.missing for one in run.records),
            sum(one.has_rule and one.valid is None for one in run.records),
        )
        rows.append((run.name, n, *(count / n if n else None for count in counts)))
    heads = ("session", "problems", "valid", "invalid", "parse error", "repaired", "missing",
             "limit of the solver")  # fmt: skip
    return Table(heads, tuple(rows))


def reasons(runs: Sequence[SessionRecords]) -> Table:
    """Count why answers hold no rule; syntax is separate from scope, unbound variables and names."""
    names = sorted({one.reason for run in runs for one in run.records if one.reason})
    rows: list[tuple[Cell, ...]] = []
    for run in add_pooled_run(runs):
        for regime, some in add_all_group(group_by_regime(run.records), run.records):
            counts = Counter(one.reason for one in some)
            rows.append((run.name, regime, len(some), *(counts[name] for name in names)))
    return Table(("session", "regime", "problems", *names), tuple(rows))


def table_h2(runs: Sequence[SessionRecords]) -> Table:
    """Count how rules fail (table H.2 of ABD).

    Each rule counts under the first failure mode that fits, in the order of the columns.

    Repaired answers are counted in a column of their own and also under the outcome of the repaired
    rule.
    """
    rows: list[tuple[Cell, ...]] = []
    for run in add_pooled_run(runs):
        for regime, some in add_all_group(group_by_regime(run.records), run.records):
            rows.append((run.name, regime, len(some), *_failures(some)))
    told = [name for mode in MODES for name in _columns(mode)]
    return Table(("session", "regime", "problems", "auto_repaired", *told), tuple(rows))


def _columns(mode: str) -> list[str]:
    return [mode, "of which catastrophic"] if mode == "brittle" else [mode]


def _failures(records: Sequence[Record]) -> list[int]:
    modes = Counter(one.mode for one in records)
    catastrophic = sum(one.catastrophic for one in records)
    counts = [sum(one.closed > 0 for one in records)]
    for mode in MODES:
        counts += [modes[mode], catastrophic] if mode == "brittle" else [modes[mode]]
    return counts


def table_h3(runs: Sequence[SessionRecords]) -> Table:
    """Count brittle rules by the quantifiers that they contain."""
    rows: list[tuple[Cell, ...]] = []
    for run in add_pooled_run(runs):
        for regime, some in group_by_regime(run.records):
            counts = Counter(one.pattern for one in some if one.mode == "brittle")
            rows.append((run.name, regime, *(counts[name] for name in PATTERNS)))
    return Table(("session", "regime", *PATTERNS), tuple(rows))


def _mean(values: Iterable[float | None]) -> float | None:
    kept = [value for value in values if value is not None]
    return fmean(kept) if kept else None
