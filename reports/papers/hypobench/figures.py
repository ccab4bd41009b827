"""HypoBench's figures 2 to 6: discovery and accuracy on synthetic data sets, by difficulty.

The figures show the method HypoGeniC; figures 3 and 6 also show zero-shot generation. Hollow marks
are values from the text of the paper. Each point is an average over data sets. Without matplotlib
(extra `report`), the points are still available as a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ...files.plotting import add_legend_below, create_figure, render_figure
from ...files.tables import Cell, Table
from . import layout
from .entries import EXACT_MARK, Average, Difficulty, Entry, average, metric_getter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HYPOGENIC, ZERO_SHOT = "HypoGeniC", "zero-shot generation"
CONTROLS = {
    "size": ("rules", (1, 5, 10, 15)),
    "depth": ("conditions per rule", (1, 2, 3, 4)),
    "noise": ("labels changed, %", (0, 10, 20, 30)),
    "distractor": ("irrelevant columns", (0, 3, 6, 10)),
}  # Label and the paper's values of each control; the first value is that of the base set.
TASKS = ("election", "personality", "admission", "shoe")
TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)
SERIES_OFFSET = 0.07  # Offset between two series, as a fraction of the distance of two ticks.
SUBTLETY, SUBTLE = "subtlety", ("plain", "subtle")
HDR, F1 = "HDR", "macro F1"


@dataclass(frozen=True)
class Point:
    """One point of a figure.

    Args:
        figure: Number of the figure, "2" to "6".
        panel: Name of the panel.
        x: Label on the x-axis.
        series: Name of the series: the model, and who scored its hypotheses.
        value: The average.
    """

    figure: str
    panel: str
    x: str
    series: str
    value: Average


def build_points(entries: Sequence[Entry]) -> list[Point]:
    """Return the points of all five figures. Entries of real data sets are ignored."""
    made = [one for one in entries if not one.real and not one.numeric]
    found: list[Point] = []
    for figure, series in (("2", _hdr), ("5", _f1)):
        found += _by_difficulty(
            figure, [o for o in made if not o.difficulty.counterintuitive], series
        )
    for figure, series in (("3", _hdr), ("6", _f1)):
        found += _by_task(figure, made, series)
    for turned, name in ((False, "normal"), (True, "counterintuitive")):
        for own in _grid_points(
            "4", name, [o for o in made if o.difficulty.counterintuitive is turned], _hdr
        ):
            found.append(own)
    return found


def points_table(points: Sequence[Point]) -> Table:
    """Return a table with one row for each point of the figures."""
    rows: list[tuple[Cell, ...]] = [
        (one.figure, one.panel, one.x, one.series, one.value.mean, one.value.values,
         ", ".join(one.value.sets))
        for one in points
    ]  # fmt: skip
    heads = ("figure", "panel", "difficulty", "series", "value", "n", "data sets")
    return Table(heads, tuple(rows))


def draw_figures(points: Sequence[Point]) -> dict[str, bytes]:
    """Return each figure that has points, as .png and .svg, by file name."""
    drawn = {
        "figure2": partial(_lines, points, "2", HDR),
        "figure3": partial(_bars, points, "3", HDR),
        "figure4": partial(_lines, points, "4", HDR),
        "figure5": partial(_lines, points, "5", F1),
        "figure6": partial(_bars, points, "6", F1),
    }
    files: dict[str, bytes] = {}
    for name, one in drawn.items():
        if any(point.figure == name[-1] for point in points):
            files |= {name + form: data for form, data in (render_figure(one) or {}).items()}
    return files


# --- computing the points ----------------------------------------------------------------

Series = Callable[[Entry], Mapping[str, float]]


def _hdr(one: Entry) -> dict[str, float]:
    """Return the HDR by exact rules and by each rater."""
    found = {}
    exact = one.metrics.get("hdr")
    if exact is not None:
        found[one.comparer_label] = exact
    for by, told in one.rated:
        if "released" in told:
            found[f"{one.model} · rated by {by}"] = float(told["released"]["hdr"])
    return found


def _f1(one: Entry) -> dict[str, float]:
    value = metric_getter("f1")(one)
    return {} if value is None else {one.reader_label: value}


def _averages(some: Sequence[Entry], series: Series) -> dict[str, Average]:
    names = dict.fromkeys(name for one in some for name in series(one))
    found = {}
    for name in names:
        value = average(some, lambda one, name=name: series(one).get(name))  # type: ignore[misc]
        if value is not None:
            found[name] = value
    return found


def _placed(
    figure: str, panel: str, x: str, some: Sequence[Entry], series: Series
) -> list[Point]:  # fmt: skip
    return [Point(figure, panel, x, name, value) for name, value in _averages(some, series).items()]


def _by_difficulty(figure: str, made: Sequence[Entry], series: Series) -> list[Point]:
    """Return the points of figures 2 and 5.

    Panels a to d start with the base sets of all tasks; panel e compares the sets with and without
    subtlety.
    """
    own = [one for one in made if one.method == HYPOGENIC]
    base = [one for one in own if one.difficulty.base]
    raised = [one for one in own if one.difficulty.control not in ("", "base")]
    found = _grid_points(figure, "", [*base, *raised], series)
    for subtle, name in zip((False, True), SUBTLE, strict=True):
        some = [one for one in own if one.difficulty.subtle is subtle]
        found += _placed(figure, SUBTLETY, name, some, series)
    return found


def _grid_points(figure: str, row: str, made: Sequence[Entry], series: Series) -> list[Point]:
    found: list[Point] = []
    own = [one for one in made if one.method == HYPOGENIC]
    if row:
        own = [one for one in own if one.difficulty.task == "admission"]
    for control, (_, (least, *_)) in CONTROLS.items():
        panel = f"{control} {row}".rstrip()
        found += _placed(figure, panel, str(least), [o for o in own if o.difficulty.base], series)
        values = sorted({o.difficulty.value for o in own if o.difficulty.control == control})
        for value in values:
            if value != least:
                at = partial(_is_at, control=control, value=value)
                found += _placed(
                    figure, panel, str(value), [o for o in own if at(o.difficulty)], series
                )
    return found


def _is_at(told: Difficulty, control: str, value: int) -> bool:
    return (told.control, told.value) == (control, value)


def _by_task(figure: str, made: Sequence[Entry], series: Series) -> list[Point]:
    found: list[Point] = []
    for method in (ZERO_SHOT, HYPOGENIC):
        for task in TASKS:
            own = [
                one for one in made
                if (one.method, one.difficulty.task, one.difficulty.counterintuitive) == (method, task, False)
            ]  # fmt: skip
            for name in ("base", "hardest"):
                some = [one for one in own if getattr(one.difficulty, name)]
                found += _placed(figure, f"{task}, {method}", name, some, series)
    return found


# --- drawing -----------------------------------------------------------------------------


def _panels(figure: str) -> list[str]:
    if figure == "4":
        return [
            f"{control} {row}" for row in ("normal", "counterintuitive") for control in CONTROLS
        ]
    if figure in ("2", "5"):
        return [*CONTROLS, SUBTLETY]
    return [f"{task}, {method}" for method in (ZERO_SHOT, HYPOGENIC) for task in TASKS]


def _started(found: Sequence[Point], figure: str, what: str) -> tuple[Figure, list[Any], list[str]]:
    import numpy as np

    names = _panels(figure)
    rows = 1 if len(names) == 5 else 2
    columns = len(names) // rows
    drawn = create_figure(3.2 * columns, 0.9 + 2.7 * rows)
    axes = list(np.ravel(drawn.subplots(rows, columns, squeeze=False, sharey=True)))
    for place, (axis, name) in enumerate(zip(axes, names, strict=True)):
        axis.set_title(f"({'abcdefgh'[place]}) {name}", fontsize=9)
        axis.set_ylim(-0.03, 1.15)
        axis.set_yticks(TICKS)
        axis.grid(alpha=0.25)
        if place % columns == 0:
            axis.set_ylabel(what)
    order = list(dict.fromkeys(one.series for one in found if one.figure == figure))
    return drawn, axes, order


def _lines(found: Sequence[Point], figure: str, what: str) -> Figure:
    drawn, axes, order = _started(found, figure, what)
    colours = _colours(order)
    for axis, panel in zip(axes, _panels(figure), strict=True):
        own = [one for one in found if (one.figure, one.panel) == (figure, panel)]
        control = panel.split()[0]
        said = _published(control) if figure == "2" else {}
        ticks = _ticks(control, own)
        place = {x: number for number, x in enumerate(ticks)}
        for number, series in enumerate(order):
            some = [one for one in own if one.series == series]
            aside = (
                number - (len(order) - 1) / 2
            ) * SERIES_OFFSET  # Equal values would hide each other.
            x, y = [place[o.x] + aside for o in some], [o.value.mean for o in some]
            if some:
                axis.plot(x, y, marker="o", ms=4, lw=1.2, label=series, color=colours[series])
        _hollow(axis, {(place[x], model): value for (x, model), value in said.items()})
        axis.set_xticks(range(len(ticks)), ticks)
        axis.set_xlim(-0.5, len(ticks) - 0.5)
        if control in CONTROLS:
            axis.set_xlabel(CONTROLS[control][0])
    _title(drawn, f"Figure {figure} of the paper: {what} of HypoGeniC by difficulty", figure, order)
    add_legend_below(drawn, axes, [*order, *_MARKED])
    return drawn


def _ticks(control: str, own: Sequence[Point]) -> list[str]:
    """Return the paper's values and those of the sessions."""
    if control not in CONTROLS:
        return list(SUBTLE)
    values = {*CONTROLS[control][1], *(int(one.x) for one in own)}
    return [str(value) for value in sorted(values)]


def _bars(found: Sequence[Point], figure: str, what: str) -> Figure:
    drawn, axes, order = _started(found, figure, what)
    colours = _colours(order)
    width = 0.8 / max(1, len(order))
    for axis, panel in zip(axes, _panels(figure), strict=True):
        task, _, method = panel.partition(", ")
        for number, series in enumerate(order):
            own = [o for o in found if (o.figure, o.panel, o.series) == (figure, panel, series)]
            x = [int(o.x == "hardest") + (number - (len(order) - 1) / 2) * width for o in own]
            if own:
                heights = [o.value.mean for o in own]
                bars = axis.bar(x, heights, 0.9 * width, label=series, color=colours[series])
                # A bar of height 0 is invisible; its label is not.
                axis.bar_label(bars, fmt="%.2f", fontsize=7, padding=4)
        if figure == "3" and method == HYPOGENIC:
            said = {
                (int(hard), model): value
                for (of, hard), told in layout.FIGURE_3.items() if of == task
                for model, value in told.items()
            }  # fmt: skip
            _hollow(axis, said)
        axis.set_xticks((0, 1), ("base", "hardest"))
        axis.set_xlim(-0.6, 1.6)
    _title(drawn, f"Figure {figure} of the paper: {what} on four tasks", figure, order)
    add_legend_below(drawn, axes, [*order, *_MARKED])
    return drawn


def _title(drawn: Figure, about: str, figure: str, order: Sequence[str]) -> None:
    said = [f"{EXACT_MARK} not from a model"] if any(EXACT_MARK in one for one in order) else []
    if figure in "23":
        said.append("hollow: values in the paper's text, as GPT-4o rated")
    drawn.suptitle("\n".join([about, *(["; ".join(said)] if said else [])]), fontsize=10)


_SHAPES = dict(zip(layout.MODELS, "s^vD", strict=True))
_MARKED = tuple(f"{model} (paper)" for model in layout.MODELS)


def _hollow(axis: Any, said: Mapping[tuple[int, str], float]) -> None:
    for (x, model), value in said.items():
        aside = (layout.MODELS.index(model) - 1.5) * 0.08
        axis.plot(
            x + aside, value, marker=_SHAPES[model], ms=6, mfc="none", mec="0.4", ls="none",
            label=f"{model} (paper)",
        )  # fmt: skip


def _published(control: str) -> dict[tuple[str, str], float]:
    """Return the published HDR by (x, model) for a panel of figure 2."""
    if control not in CONTROLS:
        return {}
    found: dict[tuple[str, str], float] = {}
    for (name, value), told in layout.FIGURE_2.items():
        if name in ("base", control):
            x = str(CONTROLS[control][1][0] if name == "base" else value)
            found |= {(x, model): share for model, share in told.items()}
    return found


def _colours(order: Sequence[str]) -> dict[str, Any]:
    import matplotlib

    cycle = matplotlib.colormaps["tab10" if len(order) <= 10 else "tab20"]
    return {name: cycle(place % cycle.N) for place, name in enumerate(order)}
