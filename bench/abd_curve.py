"""The figure of bench/abd_tradeoff.py: what a smaller or a surer rule costs.

Rows are all instances and the regimes; columns are validity on holdouts by the released evaluator and
by the exact one, and the size of rules, each over the gap on the prompt worlds. A line is one worth of
certainty, along which the price of a node rises; in the column of an evaluator trade-offs read holdouts
as it does, and gaps are above its lower bounds. The paper's models stand as published: 600 instances,
of which these are a part, released evaluator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from peirce.reports.files import plotting


class Published(NamedTuple):
    """ABD, tables 2 and 4, all regimes. prompt: share valid (%). gap: of those. holdout: share valid
    of all (%). by_validity, by_size: where its name stands in the panels, in points, and which end of
    it is nearest."""

    name: str
    prompt: float
    gap: float
    size: float
    holdout: float
    by_validity: tuple[float, float, str]
    by_size: tuple[float, float, str]


PUBLISHED = (
    Published("Opus-4.6", 98.8, 1.05, 14.7, 62.2, (-5, -8, "right"), (-2, 6, "center")),
    Published("GPT-5.2", 92.2, 1.25, 22.0, 61.5, (5, -8, "left"), (6, -3, "left")),
    Published("Gemini-3.1", 98.0, 1.30, 12.3, 69.7, (6, -3, "left"), (5, 5, "left")),
    Published("Grok4.1f", 95.2, 1.51, 11.0, 82.2, (0, 7, "center"), (-3, -19, "right")),
    Published("DSR", 95.9, 1.55, 10.8, 80.6, (6, -7, "left"), (2, -15, "left")),
    Published("GPT-5.4", 85.2, 0.42, 65.9, 24.8, (6, -3, "left"), (6, -3, "left")),
)
MARKS = {
    "balanced": ("*", "#d62728", 130),
    "tight": ("D", "#d62728", 42),
    "safe": ("s", "#d62728", 42),
    "planted rule": ("P", "#ff7f0e", 60),
    "planted rule in scope": ("p", "#ffbb78", 60),
    "antecedent": ("^", "#e377c2", 60),
}
SAID = {"balanced": "balanced (the default)", "antecedent": "antecedent (ANTE)"}
OF_PAPER = "published, 600 instances, released evaluator"
SIZES = (5, 10, 20, 40, 80)


class Column(NamedTuple):
    """field, gap: of a point. reading: of holdouts, by the trade-offs of the lines."""

    field: str
    gap: str
    reading: str
    label: str
    factor: int


COLUMNS = (
    Column("holdout_validity_released", "gap_released", "released",
           "valid on all holdouts (%)\nreleased evaluator", 100),
    Column("holdout_validity_exact", "gap_exact", "exact",
           "valid on all holdouts (%)\nexact evaluator", 100),
    Column("ast_size_released", "gap_released", "released", "AST size (nodes)", 1),
)  # fmt: skip
GAP = "gap (elements above the bound, a world)"


def draw(points: Sequence[Mapping[str, Any]]) -> Any:
    """points: the last half of them is drawn."""
    some = [one for one in points if one["half"] == points[-1]["half"]]
    regimes = list(dict.fromkeys(one["regime"] for one in some))
    regimes.sort(key=lambda name: name != "all")
    heights = [1.55 if name == "all" else 1.0 for name in regimes]
    figure = plotting.create_figure(11.5, 1.2 + 2.35 * sum(heights))
    axes = figure.subplots(len(regimes), len(COLUMNS), squeeze=False, height_ratios=heights)
    for down, regime in enumerate(regimes):
        here = [one for one in some if one["regime"] == regime]
        for panel, column in zip(axes[down], COLUMNS, strict=True):
            _lines(panel, column, here)
            _named(panel, column, here)
            if regime == "all" and column.reading == "released":
                _published(panel, column)
            panel.set(ylabel=column.label, xlim=(0, 2.6 if regime == "all" else 3.6))
            panel.set_title(f"{regime}, {max(one['instances'] for one in here)} instances")
            panel.grid(alpha=0.3)
            if column.factor == 1:
                panel.set(yscale="log", ylim=(4, 100))
                panel.set_yticks(SIZES, [str(size) for size in SIZES])
                panel.minorticks_off()
            else:
                panel.set_ylim(0, 104)
    for panel in axes[-1]:
        panel.set_xlabel(GAP)
    lines = list(dict.fromkeys(_line(one["holds"]) for one in some if not one["name"]))
    plotting.add_legend_below(
        figure, axes.flat, [*lines, *(SAID.get(n, n) for n in MARKS), OF_PAPER]
    )
    return figure


def _line(worth: float) -> str:
    return f"certainty worth {worth:g}"


def _lines(panel: Any, column: Column, points: Sequence[Mapping[str, Any]]) -> None:
    from matplotlib import colormaps

    kept = [one for one in points if not one["name"] and one["reading"] == column.reading]
    worths = sorted({one["holds"] for one in kept})
    for place, worth in enumerate(worths):
        colour = colormaps["viridis_r"](0.08 + 0.9 * place / len(worths))
        line = [one for one in kept if one["holds"] == worth and one[column.gap] is not None]
        xs = [one[column.gap] for one in line]
        ys = [column.factor * one[column.field] for one in line]
        panel.plot(xs, ys, color=colour, linewidth=1.2, label=_line(worth))


def _named(panel: Any, column: Column, points: Sequence[Mapping[str, Any]]) -> None:
    for name, (mark, colour, size) in MARKS.items():
        for one in points:
            if one["name"] == name and one[column.gap] is not None:
                panel.scatter(
                    one[column.gap], column.factor * one[column.field], s=size, marker=mark,
                    color=colour, edgecolors="black", linewidths=0.6, zorder=4,
                    label=SAID.get(name, name), clip_on=False,
                )  # fmt: skip


def _published(panel: Any, column: Column) -> None:
    for one in PUBLISHED:
        of_size = column.factor == 1
        height, (right, up, side) = (
            (one.size, one.by_size) if of_size else (one.holdout, one.by_validity)
        )
        panel.scatter(one.gap, height, marker="x", color="black", s=28, zorder=5, label=OF_PAPER)
        panel.annotate(
            one.name, (one.gap, height), xytext=(right, up), textcoords="offset points",
            fontsize=8, ha=side, zorder=6,
            bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5},
        )  # fmt: skip
