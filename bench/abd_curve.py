"""The figure of bench/abd_tradeoff.py: what a smaller or surer rule costs.

Columns are regimes; rows are validity on holdouts by the released evaluator, by the exact one, and
the size of rules, each over the gap on the prompt worlds. A line is one worth of certainty, along
which the price of a node rises; in the row of an evaluator trade-offs read holdouts as it does. The
paper's models stand as published: 600 instances, of which these are a part, released evaluator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from peirce.reports import plotting

WIDEST_GAP = 3.6


class Published(NamedTuple):
    """ABD, tables 2 and 4, all regimes. prompt: share valid (%). gap: of those. holdout: share valid
    of all (%). below: where its name stands."""

    name: str
    prompt: float
    gap: float
    size: float
    holdout: float
    offset: tuple[float, float] = (5, 4)


PUBLISHED = (
    Published("Opus-4.6", 98.8, 1.05, 14.7, 62.2),
    Published("GPT-5.2", 92.2, 1.25, 22.0, 61.5),
    Published("Gemini-3.1", 98.0, 1.30, 12.3, 69.7),
    Published("Grok4.1f", 95.2, 1.51, 11.0, 82.2),
    Published("DSR", 95.9, 1.55, 10.8, 80.6),
    Published("GPT-5.4", 85.2, 0.42, 65.9, 24.8),
)
ROWS = (
    ("holdout_validity_released", "released", "valid on holdouts (%), released"),
    ("holdout_validity_exact", "exact", "valid on holdouts (%), exact"),
    ("ast_size_exact", "released", "AST size (nodes)"),
)
"""(field, the reading of holdouts of the lines, label)"""
MARKS = {
    "balanced": ("*", "#d62728", 130),
    "tight": ("D", "#d62728", 42),
    "safe": ("s", "#d62728", 42),
    "planted rule": ("P", "#2ca02c", 55),
    "planted rule in scope": ("p", "#2ca02c", 55),
    "antecedent": ("^", "#9467bd", 55),
}
SAID = {"balanced": "balanced (the default)", "antecedent": "antecedent (ANTE)"}
OF_PAPER = "published models, 600 instances, released evaluator"


def draw(points: Sequence[Mapping[str, Any]]) -> Any:
    """points: of one half, the last that they have."""
    from matplotlib import colormaps

    half = points[-1]["half"]
    some = [one for one in points if one["half"] == half]
    regimes = list(dict.fromkeys(one["regime"] for one in some))
    regimes = [*[r for r in regimes if r == "all"], *[r for r in regimes if r != "all"]]
    worths = sorted({one["holds"] for one in some if not one["name"]})
    colours = dict(
        zip(
            worths,
            colormaps["viridis_r"]([0.1 + 0.85 * k / len(worths) for k in range(len(worths))]),
            strict=True,
        )
    )
    figure = plotting.blank(3.1 * len(regimes) + 0.6, 8.6)
    axes = figure.subplots(len(ROWS), len(regimes), sharex=True, sharey="row", squeeze=False)
    for down, (field, reading, label) in enumerate(ROWS):
        share = 100 if field.startswith("holdout") else 1
        for across, regime in enumerate(regimes):
            panel = axes[down][across]
            here = [one for one in some if one["regime"] == regime]
            for worth in worths:
                line = [
                    o
                    for o in here
                    if o["holds"] == worth and o["reading"] == reading and not o["name"]
                ]
                line = [o for o in line if o["gap_exact"] is not None]
                xs, ys = zip(*((o["gap_exact"], share * o[field]) for o in line), strict=True)
                panel.plot(xs, ys, marker=".", color=colours[worth], linewidth=1.1, markersize=4,
                           label=f"certainty worth {worth:g}")  # fmt: skip
            for name, (mark, colour, size) in MARKS.items():
                for one in here:
                    if one["name"] == name and one["gap_exact"] is not None:
                        panel.scatter(one["gap_exact"], share * one[field], marker=mark, color=colour,
                                      s=size, edgecolors="black", linewidths=0.6, zorder=4,
                                      label=SAID.get(name, name))  # fmt: skip
            if regime == "all" and not field.endswith("validity_exact"):
                _published(panel, field)
            if down == 0:
                panel.set_title(f"{regime} ({_count(here)} instances)")
            if across == 0:
                panel.set_ylabel(label)
            if down == len(ROWS) - 1:
                panel.set_xlabel("gap (marked above the bound, a prompt world)")
            panel.set_xlim(0, WIDEST_GAP)
            panel.grid(alpha=0.3)
            panel.set_ylim((0, 103) if share == 100 else (0, 70))
    named = [f"certainty worth {worth:g}" for worth in worths]
    plotting.legend_below(figure, axes.flat, [*named, *(SAID.get(n, n) for n in MARKS), OF_PAPER])
    return figure


def _count(points: Sequence[Mapping[str, Any]]) -> int:
    return int(max(one["instances"] for one in points))


def _published(panel: Any, field: str) -> None:
    for one in PUBLISHED:
        height = one.holdout if field.startswith("holdout") else one.size
        panel.scatter(one.gap, height, marker="x", color="black", s=28, zorder=3, label=OF_PAPER)
        panel.annotate(
            one.name, (one.gap, height), xytext=one.offset, textcoords="offset points", fontsize=7
        )
