"""What the studies came to as tables.

Text is short: of the second study the rows that pool the sizes of context. Markdown has every row,
CSV every row and every number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..records import Json
from .studies import ALL
from .tables import Cell, Mean, Table

PLACES = ("data_set", "n", "m", "k")
REASONS = ("no_consistent", "too_few_hidden", "too_few_hypotheses", "nothing_to_compare")
FIGURES = {
    "defeasible": (
        *("pass_rate", "pass_rate_micro", "rejected", "rejected_micro"),
        *("gamma", "gamma_two", "gamma_micro"),
    ),
    "general": (
        *("ratio", "odds_ratio", "chosen_rate", "rejected_rate"),
        *("ratio_by_problem", "odds_ratio_by_problem"),
    ),
}
SHORT = {
    "defeasible": (("hypotheses",), ("pass_rate", "gamma")),
    "general": (("pairs",), ("ratio", "odds_ratio")),
}


def short_table(result: Mapping[str, Json]) -> Table:
    """One row a cell, named in its first column; figures with their 95% intervals."""
    counts, figures = SHORT[result["study"]]
    rows = [row for row in result["rows"] if row.get("k", ALL) == ALL]
    body = [
        (
            f"{row['data_set']}, n={row['n']}, m={row['m']}",
            *(row["problems"], sum(row["left_out"].values())),
            *(row[name] for name in counts),
            *(_mean(row[name]) for name in figures),
        )
        for row in rows
    ]
    return Table(("setting", "problems", "left out", *counts, *figures), tuple(body))


def whole_table(result: Mapping[str, Json]) -> Table:
    """Every row: where it stands, what it counts, its figures with their intervals."""
    places, counts, figures = _columns(result)
    body = [
        (
            *(_place(row[name]) for name in places),
            *(row[name] for name in counts),
            _reasons(row["left_out"]),
            *(_mean(row[name]) for name in figures),
        )
        for row in result["rows"]
    ]
    return Table((*places, *counts, "left out", *figures), tuple(body))


def long_table(result: Mapping[str, Json]) -> Table:
    """Every row and number: bounds, problems behind a figure, draws without one, whys."""
    places, counts, figures = _columns(result)
    headings = [
        *places,
        *counts,
        *(f"left_out_{why}" for why in REASONS),
        *(f"{name}{end}" for name in figures for end in ("", "_low", "_high", "_n", "_undefined")),
    ]
    body = [
        (
            *(row[name] for name in (*places, *counts)),
            *(row["left_out"].get(why, 0) for why in REASONS),
            *(
                row[name][key]
                for name in figures
                for key in ("value", "low", "high", "n", "undefined")
            ),
        )
        for row in result["rows"]
    ]
    return Table(tuple(headings), tuple(body))


def facts(result: Mapping[str, Json]) -> list[str]:
    """What stands below the table, a sentence a line."""
    sessions = len(result["sessions"])
    told = [
        f"{result['hypotheses']:,} consistent hypotheses, {result['distinct']:,} of them different in"
        f" what they predict, of {result['problems']:,} problems"
        f" ({result['without_consistent']:,} without any) from {sessions} session"
        f"{'s' if sessions > 1 else ''}; {result['draws']} draws, seed {result['seed']}"
    ]
    if result["study"] == "defeasible":
        whole = result["whole"]
        if whole["rejected"]["value"] is not None:
            told.append(
                f"all hidden pairs together reject {_mean(whole['rejected'])} of a problem's"
                f" consistent hypotheses, {_mean(whole['rejected_micro'])} of all"
                f" {whole['hypotheses']:,}, over {', '.join(whole['data_sets'])}"
            )
    else:
        told.append(
            "ratio: Pr(pass | higher score) / Pr(pass | lower score) over all pairs; sizes of"
            " context apart with --out or --json"
        )
    if result["memorising"]:
        count = f"{result['memorising']:,} hypotheses memorise what they were shown"
        told.append(
            f"{count} and are left out"
            if result["without_memorising"]
            else f"{count} (--without-memorising)"
        )
    left_out = result["hidden_left_out"] | {"hypotheses_not_judged": result["not_judged"]}
    for session in result["sessions"]:
        for status, count in session["left_out"].items():
            name = f"problems_{status}"
            left_out[name] = left_out.get(name, 0) + count
    some = [f"{count} {why.replace('_', ' ')}" for why, count in left_out.items() if count]
    return [*told, f"left out: {', '.join(some)}"] if some else told


# --- inside ------------------------------------------------------------------


def _columns(result: Mapping[str, Json]) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Places, counts and figures of the rows, in their order."""
    figures = FIGURES[result["study"]]
    first = result["rows"][0] if result["rows"] else {}
    counts = [name for name in first if name not in (*PLACES, "left_out") and name not in figures]
    return [name for name in PLACES if name in first], counts, figures


def _mean(estimate: Mapping[str, Json]) -> Mean | None:
    if estimate["value"] is None:
        return None
    low, high = estimate["low"], estimate["high"]
    if low is None and high is None:  # of one problem alone
        return Mean(estimate["value"], None, None)
    unbounded = (-math.inf if low is None else low, math.inf if high is None else high)
    return Mean(estimate["value"], *unbounded)


def _place(value: Json) -> Cell:
    return str(value)


def _reasons(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {why.replace('_', ' ')}" for why, count in left_out.items()) or "0"
