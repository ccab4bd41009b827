"""The figure of bench/hypobench_grid.py: discovery and accuracy of the search by difficulty.

A panel a kind of difficulty; each point is the mean over the generated sets of that difficulty. Crosses
are what is published of HypoGeniC with four models (HypoBench, sections 4 and 5: where it says only two
or the best, these), rated by GPT-4o in quarters, on sets that the authors made in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from peirce.reports.files import plotting

Row = dict[str, Any]
AIM = 0.9
PUBLISHED = {  # HDR
    "all configurations": (0.46, 0.41, 0.44, 0.44),
    "base": (0.75, 0.813, 0.875, 0.938),
    "depth 4, at best": (0.388,),
    "noise": (0.362, 0.40),
    "distractors": (0.417, 0.383),
    "one-shot O3, 11 sets": (0.52,),
}
LINES = (
    ("hdr", "HDR exact", {"color": "#d62728", "marker": "o"}),
    (
        "hdr_identified",
        "HDR exact, identifiable rules",
        {"color": "#1f77b4", "marker": "s", "ls": "--"},
    ),
    ("hdr_released", "HDR released", {"color": "#2ca02c", "marker": "^", "ls": ":"}),
    ("accuracy", "accuracy, test rows", {"color": "#7f7f7f", "marker": "."}),
    ("best", "best possible accuracy", {"color": "#bcbcbc", "ls": "--"}),
)
CROSSES = "published HDR of HypoGeniC"


def base(rows: Sequence[Row]) -> list[Row]:
    """The four sets of one rule that the published base HDR is the mean of."""
    ends = ("admission/level_1/base", "/level0_nosubtlety")
    return [row for row in rows if row["set"].endswith(ends) or row["set"] == "shoe"]


class Panel(NamedTuple):
    """has, value: of a row. published: place -> values of HDR."""

    title: str
    has: Callable[[Row], bool]
    value: Callable[[Row], float]
    published: Mapping[float, Sequence[float]]


def _own(row: Row) -> str:
    return str(row["set"]).rpartition("/")[2]


def _admission(*kinds: str) -> Callable[[Row], bool]:
    def has(row: Row) -> bool:
        return row["generator"] == "admission" and _own(row).startswith((*kinds, "base"))

    return has


def _level(plain: bool) -> Callable[[Row], bool]:
    def has(row: Row) -> bool:
        own = _own(row)
        return own.startswith("level") and own.endswith("_nosubtlety") == plain

    return has


def _number(key: str) -> Callable[[Row], float]:
    return lambda row: float(row[key])


def _in_grid(row: Row) -> bool:
    return "_controlled/" in row["set"]


PANELS = (
    Panel(
        "admission, true rules",
        _admission("size"),
        _number("rules"),
        {1: PUBLISHED["base"]},
    ),
    Panel(
        "admission, conditions of a rule",
        _admission("depth"),
        _number("depth"),
        {1: PUBLISHED["base"], 4: PUBLISHED["depth 4, at best"]},
    ),
    Panel(
        "admission, labels changed",
        _admission("noise"),
        _number("noise_level"),
        {0: PUBLISHED["base"], 0.3: PUBLISHED["noise"]},
    ),
    Panel(
        "admission, idle columns",
        _admission("distractor"),
        _number("distractor"),
        {0: PUBLISHED["base"], 10: PUBLISHED["distractors"]},
    ),
    Panel(
        "posts, plain, level",
        _level(plain=True),
        lambda row: float(_own(row)[5]),
        {0: PUBLISHED["base"]},
    ),
    Panel(
        "posts, subtle, level",
        _level(plain=False),
        lambda row: float(_own(row)[5]),
        {},
    ),
    Panel("grid of posts, phrases with weights", _in_grid, _number("num_impactful_feature"), {}),
    Panel("grid of posts, labels changed", _in_grid, _number("noise_level"), {}),
    Panel("grid of posts, weights dropped", _in_grid, _number("random_dropout"), {}),
)


def draw(rows: Sequence[Row]) -> Any:
    figure = plotting.create_figure(11.5, 9.5)
    axes = figure.subplots(3, 3, squeeze=False).ravel()
    for axis, panel in zip(axes, PANELS, strict=True):
        own = [row for row in rows if panel.has(row)]
        values = sorted({panel.value(row) for row in own})
        for key, label, look in LINES:
            points = [
                (value, fmean(known))
                for value in values
                if (
                    known := [r[key] for r in own if panel.value(r) == value and r[key] is not None]
                )
            ]
            if points:
                axis.plot(*zip(*points, strict=True), label=label, ms=4, lw=1.3, **look)
        for at, some in panel.published.items():
            if own:
                axis.scatter([at] * len(some), some, marker="x", s=28, c="black", label=CROSSES)
        axis.axhline(AIM, color="#dddddd", lw=0.8, zorder=0)
        axis.set_xticks(values)
        axis.set_ylim(0, 1.03)
        counts = f"{len(own)} sets" if own else "not run"
        axis.set_title(f"{panel.title} ({counts})", fontsize=9)
        axis.grid(alpha=0.2)
    whole, shown = PUBLISHED["all configurations"], fmean(row["hdr"] for row in rows)
    figure.suptitle(
        f"The search on {len(rows)} generated sets: mean exact HDR {shown:.2f}. Published of HypoGeniC, all"
        f" configurations: {min(whole):.2f} to {max(whole):.2f}, of one-shot O3 .52, as GPT-4o rates.",
        fontsize=10,
    )
    plotting.add_legend_below(figure, list(axes), [*(label for _, label, _ in LINES), CROSSES])
    return figure
