"""Show the result of a GEAR study as a figure (figure 4) and as tables.

The figure has one row of panels for each data set. A panel shows values over m, with a line for
each n and bars for 95% intervals. For the second study, the figure and the short table show only
the rows in which the sizes of contexts are combined. The Markdown file has every row, and the CSV
file every row and number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ....records import Json
from ...files.plotting import add_legend_below, create_figure, wrap_text
from ...files.tables import Cell, Mean, Table
from .studies import ALL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTTED = {
    "defeasible": {"pass_rate": "pass rate", "gamma": "gamma of the survivors"},
    "general": {"ratio": "ratio of pass rates", "odds_ratio": "odds ratio"},
}
RATIOS = ("ratio", "odds_ratio")
TITLE = {
    "defeasible": "Consistent hypotheses that m hidden pairs leave",
    "general": "Do higher-scored hypotheses pass m hidden pairs more often? Above 1 they do",
}
WIDTH, HEIGHT = 4.2, 3.0  # Size of a panel in inches.
MIN_RATIO_LIMIT = 1.6  # An axis of ratios covers at least 1 / LEAST to LEAST.


def draw_study(result: Mapping[str, Json]) -> Figure:
    """Draw the figure of a study.

    Args:
        result: The result of `studies.run_study`.
    """
    figures = PLOTTED[result["study"]]
    rows = [row for row in result["rows"] if row.get("k", ALL) == ALL]
    data_sets = list(dict.fromkeys(row["data_set"] for row in rows))
    lines = max(1, len(data_sets))
    width = WIDTH * len(figures)
    drawn = create_figure(width, 0.9 + HEIGHT * lines)
    panels = drawn.subplots(
        lines, len(figures), squeeze=False, sharey="row" if result["study"] == "general" else False
    )
    ns = sorted({row["n"] for row in rows}, key=lambda n: (n == ALL, isinstance(n, str), n))
    for line, data_set in zip(panels, data_sets, strict=False):
        own = [row for row in rows if row["data_set"] == data_set]
        for panel, (name, title) in zip(line, figures.items(), strict=True):
            _panel(panel, own, name, ns)
            panel.set_title(wrap_text(f"{data_set}: {title}", WIDTH), fontsize=9)
        if result["study"] == "general":  # one axis per row, set after all bars
            for panel in line:
                _ratio_axis(panel)
    for panel in panels[-1]:
        panel.set_xlabel("hidden pairs drawn (m)")
    drawn.suptitle(wrap_text(TITLE[result["study"]], width - 0.5), fontsize=10)
    add_legend_below(drawn, list(panels.ravel()), [_label(n) for n in ns])
    return drawn


def _label(n: int | str) -> str:
    return "all n" if n == ALL else f"n = {n}"


def _panel(
    panel: Any, rows: Sequence[Mapping[str, Json]], name: str, ns: Sequence[int | str]
) -> None:
    import matplotlib

    ms = list(dict.fromkeys(row["m"] for row in rows if row[name]["value"] is not None))
    here = [n for n in ns if any(row["n"] == n for row in rows)]
    for i, n in enumerate(here):
        own = [row for row in rows if row["n"] == n and row[name]["value"] is not None]
        if not own:
            continue
        values = [row[name]["value"] for row in own]
        low, high = (
            [
                0.0 if row[name][end] is None else abs(row[name][end] - row[name]["value"])
                for row in own
            ]
            for end in ("low", "high")
        )
        aside = (i - (len(here) - 1) / 2) * 0.08
        places = [ms.index(row["m"]) + aside for row in own]
        style: dict[str, Any] = {"color": matplotlib.colormaps["tab10"](ns.index(n) % 10)}
        if n == ALL:
            style = {"color": "black", "linestyle": ":"}
        panel.errorbar(
            places, values, [low, high], label=_label(n), capsize=2,
            marker="o", markersize=3, linewidth=1, **style,
        )  # fmt: skip
    panel.set_xticks(range(len(ms)), [str(m) for m in ms])
    panel.set_xlim(-0.5, max(1, len(ms)) - 0.5)
    panel.grid(alpha=0.25)
    if name not in RATIOS:
        panel.set_ylim(bottom=0)


def _ratio_axis(panel: Any) -> None:
    """Use a logarithmic axis, on which 2 and 1/2 have the same distance from 1."""
    from matplotlib.ticker import LogLocator, NullFormatter

    panel.axhline(1.0, color="grey", linewidth=0.8)
    panel.set_yscale("log")
    panel.autoscale_view()
    panel.yaxis.set_major_locator(LogLocator(10, (1, 1.5, 2, 3, 5, 7)))
    panel.yaxis.set_major_formatter("{x:g}")
    panel.yaxis.set_minor_formatter(NullFormatter())
    low, high = panel.get_ylim()
    panel.set_ylim(min(low, 1 / MIN_RATIO_LIMIT), max(high, MIN_RATIO_LIMIT))


INDEX_COLUMNS = ("data_set", "n", "m", "k")
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
SHORT_COLUMNS = {
    "defeasible": (("hypotheses",), ("pass_rate", "gamma")),
    "general": (("pairs",), ("ratio", "odds_ratio")),
}


def short_table(result: Mapping[str, Json]) -> Table:
    """Return a table with one row for each data set, n and m, with values and their 95% intervals.

    Args:
        result: The result of `studies.run_study`.
    """
    counts, figures = SHORT_COLUMNS[result["study"]]
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


def full_table(result: Mapping[str, Json]) -> Table:
    """Return a table of all rows of a study, with counts, values and intervals.

    Args:
        result: The result of `studies.run_study`.
    """
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
    """Return a table of all rows of a study with every number, for CSV.

    The numbers include bounds, numbers of problems, undefined resamples and reasons.

    Args:
        result: The result of `studies.run_study`.
    """
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


def study_facts(result: Mapping[str, Json]) -> list[str]:
    """Return the sentences to print below the table of a study.

    Args:
        result: The result of `studies.run_study`.
    """
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
    """Return the names of indices, counts and values of the rows, in their order."""
    figures = FIGURES[result["study"]]
    first = result["rows"][0] if result["rows"] else {}
    counts = [
        name for name in first if name not in (*INDEX_COLUMNS, "left_out") and name not in figures
    ]
    return [name for name in INDEX_COLUMNS if name in first], counts, figures


def _mean(estimate: Mapping[str, Json]) -> Mean | None:
    if estimate["value"] is None:
        return None
    low, high = estimate["low"], estimate["high"]
    if low is None and high is None:  # a single problem
        return Mean(estimate["value"], None, None)
    unbounded = (-math.inf if low is None else low, math.inf if high is None else high)
    return Mean(estimate["value"], *unbounded)


def _place(value: Json) -> Cell:
    return str(value)


def _reasons(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {why.replace('_', ' ')}" for why, count in left_out.items()) or "0"
