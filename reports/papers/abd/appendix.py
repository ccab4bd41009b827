"""Tables G.1 to H.3 of the ABD paper, in which sessions take the place of models.

The gap of a rule is its cost above the lower bound, per world. The tables show gaps by theory and
their distribution, rules that stay valid on holdouts, rules that cost less than the planted rule,
and failures. Values are counts and means without intervals, for each session and, if there are
several sessions, for all sessions together as in the paper.
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
    """Return tables G.1 to G.3: gaps on prompt worlds and holdouts, by regime and theory.

    The last column is the number of rules that are valid on both prompt worlds and holdouts.
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
    """Return table G.4: the distribution of the gaps of valid rules on the prompt worlds."""
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for regime, some in add_all_group(group_by_regime(run.records), run.records):
            found = gap_spread(some)
            rows.append((regime, run.name, *(found or (0, *(None,) * 6))))
    heads = ("regime", "session", "valid", "mean", "median", "P90", "max", "share > 3", "share > 5")
    return Table(heads, tuple(rows))


def table_g5(runs: Sequence[SessionRecords]) -> Table:
    """Return table G.5: how much larger the gap is on holdouts, by theory.

    Only rules that are valid on prompt worlds and holdouts count. All regimes are combined.
    """
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for theory, some in group_by_theory(run.records):
            growth = _mean(one.delta_gap for one in some)
            rows.append((theory, run.name, growth, sum(one.survives for one in some)))
    return Table(("theory", "session", "delta_gap ↓", "valid on both"), tuple(rows))


def table_g6(runs: Sequence[SessionRecords]) -> Table:
    """Return table G.6: how many rules stay valid beyond the prompt worlds, with one row per
    session.

    The columns are the number of rules that are valid in all prompt worlds, how many of these rules
    belong to a problem with holdouts, and how many of those are valid in all holdouts.
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
    """Return table G.7: the rules that cost less than the planted rule on the prompt worlds, by
    theory.
    """
    return _beating(runs, "theory", group_by_theory)


def table_g8(runs: Sequence[SessionRecords]) -> Table:
    """Return table G.8: the rules that cost less than the planted rule, by size of the planted
    rule.
    """

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
    """Return table H.1: the outcomes of answers, as shares of all problems.

    Repaired answers are also counted in the other columns. Scope errors and unbound variables count
    as parse errors.
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
    """Return a table of the reasons why answers contain no readable rule.

    Syntax errors are counted separately from scope errors, unbound variables and unknown names.
    """
    names = sorted({one.reason for run in runs for one in run.records if one.reason})
    rows: list[tuple[Cell, ...]] = []
    for run in add_pooled_run(runs):
        for regime, some in add_all_group(group_by_regime(run.records), run.records):
            counts = Counter(one.reason for one in some)
            rows.append((run.name, regime, len(some), *(counts[name] for name in names)))
    return Table(("session", "regime", "problems", *names), tuple(rows))


def table_h2(runs: Sequence[SessionRecords]) -> Table:
    """Return table H.2: how many rules fail in each way.

    A rule counts in the first column whose failure applies. Repaired answers are also counted in a
    column of their own.
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
    """Return table H.3: the number of brittle rules, by the quantifiers that they contain.

    A brittle rule is valid on the prompt worlds but not on the holdouts.
    """
    rows: list[tuple[Cell, ...]] = []
    for run in add_pooled_run(runs):
        for regime, some in group_by_regime(run.records):
            counts = Counter(one.pattern for one in some if one.mode == "brittle")
            rows.append((run.name, regime, *(counts[name] for name in PATTERNS)))
    return Table(("session", "regime", *PATTERNS), tuple(rows))


def _mean(values: Iterable[float | None]) -> float | None:
    kept = [value for value in values if value is not None]
    return fmean(kept) if kept else None
