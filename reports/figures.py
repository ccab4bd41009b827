"""Figures of a GEAR study as PNG and SVG, by matplotlib (extra `report`, imported when needed):
figure 3's six panels and the (gamma, beta) scatter. Names of models and data sets are shown as
they are, not as mathematics.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tools.gear_bounds import beta_bounds
from .grouping import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ABSENT = "figures are left out: they need matplotlib, pip install 'peirce[report]'"
PANELS = (
    ("(a) hypotheses a problem", "consistent_hypotheses"),
    ("(b) instruction following", "instruction_following"),
    ("(c) consistency", "consistency"),
    ("(d) beta", "beta"),
    ("(e) gamma", "gamma"),
    ("(f) generalizability", "generalizability"),
)
SETTINGS = {"text.parse_math": False, "svg.hashsalt": "peirce", "font.size": 9}
CURVES = 5  # values of k whose region is drawn


def available() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def write(study: Study, folder: Path) -> list[Path]:
    """figure3 (the mean over data sets), one figure3-NAME for each of several data sets, and
    scatter, each as .png and .svg. The folder is there. Returns the paths."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        drawn = {"figure3": figure_3(study, study.data_sets)}
        if len(study.data_sets) > 1:
            drawn |= {f"figure3-{_file(s)}": figure_3(study, [s]) for s in study.data_sets}
        if (points := scatter(study)) is not None:
            drawn["scatter"] = points
        return [path for name, figure in drawn.items() for path in _save(figure, folder / name)]


def _save(figure: Figure, stem: Path) -> list[Path]:
    paths = []
    for end, metadata in ((".png", {"Software": None}), (".svg", {"Date": None})):
        path = stem.with_name(stem.name + end)
        partial = stem.with_name(stem.name + ".partial" + end)
        figure.savefig(partial, dpi=130, metadata=metadata)
        partial.replace(path)
        paths.append(path)
        figure.set_layout_engine("none")  # it is laid out now, which is half of the work
    return paths


def _file(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name)


def _axes(figure: Figure, rows: int, columns: int) -> list[Any]:
    return list(np.ravel(figure.subplots(rows, columns, squeeze=False)))


def _colours(count: int) -> list[Any]:
    import matplotlib

    cycle = matplotlib.colormaps["tab10" if count <= 10 else "tab20"]
    return [cycle(i % cycle.N) for i in range(count)]


def figure_3(study: Study, data_sets: Sequence[str]) -> Figure:
    """Six panels over n, a line a model: (a) all hypotheses a problem dashed, the consistent ones
    whole; (b), (c) of all hypotheses; (d) to (f) of the consistent ones. Each point is the mean
    over problems, of several data sets the mean of their means, with its 95% interval."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7), layout="constrained")
    axes = _axes(figure, 2, 3)
    shift = 0.3 / max(1, len(study.models))
    for i, (model, colour) in enumerate(
        zip(study.models, _colours(len(study.models)), strict=True)
    ):
        for axis, (_, metric) in zip(axes, PANELS, strict=True):
            places, values = _line(study, model, data_sets, metric)
            if places:
                x = np.array(places) + (i - (len(study.models) - 1) / 2) * shift
                low, mean, high = np.array(values).T
                bars = [mean - low, high - mean]
                axis.errorbar(x, mean, bars, color=colour, marker="o", ms=3, lw=1, label=model)
        places, values = _line(study, model, data_sets, "hypotheses")
        if places:
            x = np.array(places) + (i - (len(study.models) - 1) / 2) * shift
            axes[0].plot(x, np.array(values)[:, 1], color=colour, marker="_", lw=0.8, ls="--")
    for axis, (title, _) in zip(axes, PANELS, strict=True):
        axis.set_title(title, fontsize=9)
        axis.set_xticks(range(len(study.ns)), [str(n) for n in study.ns])
        axis.grid(alpha=0.25)
    for axis in axes[3:]:
        axis.set_xlabel("observations shown (n)")
    axes[0].set_ylabel("dashed: all, whole: consistent")
    figure.suptitle(_over(study, data_sets), fontsize=10)
    handles, labels = axes[1].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(5, len(labels)))
    return figure


def _line(
    study: Study, model: str, data_sets: Sequence[str], metric: str
) -> tuple[list[int], list[tuple[float, float, float]]]:
    places, values = [], []
    for place, n in enumerate(study.ns):
        found = study.average(metric, model, data_sets, n).interval
        if found["mean"] is not None and found["low"] is not None and found["high"] is not None:
            places.append(place)
            values.append((found["low"], found["mean"], found["high"]))
    return places, values


def _over(study: Study, data_sets: Sequence[str]) -> str:
    """The data sets, by n where they differ."""
    there = {
        n: [s for s in data_sets if any(study.chosen(m, s, n) for m in study.models)]
        for n in study.ns
    }
    if len(data_sets) == 1:
        return data_sets[0]
    groups: dict[tuple[str, ...], list[str]] = {}
    for n, names in there.items():
        groups.setdefault(tuple(names), []).append(str(n))
    if len(groups) == 1:
        return f"mean over {', '.join(data_sets)}"
    return "\n".join(f"n {', '.join(ns)}: mean over {', '.join(s)}" for s, ns in groups.items())


def scatter(study: Study) -> Figure | None:
    """A point (gamma, beta) for each problem with two consistent hypotheses or more, a panel a
    model, coloured by their number k, within the region that appendix D leaves for that k; None
    without points."""
    from matplotlib.figure import Figure

    held = {
        model: [entry.detail.point for entry in study.chosen(model) if entry.detail.point]
        for model in study.models
    }
    held = {model: points for model, points in held.items() if points}
    if not held:
        return None
    ks = sorted({k for points in held.values() for _, _, k in points})
    kept = [ks[round(i * (len(ks) - 1) / max(1, CURVES - 1))] for i in range(CURVES)]
    columns = min(3, len(held))
    rows = -(-len(held) // columns)
    figure = Figure(figsize=(1 + 3.7 * columns, 1 + 3.2 * rows), layout="constrained")
    axes = _axes(figure, rows, columns)
    colours = dict(zip(ks, _shades(len(ks)), strict=True))
    for axis, (model, points) in zip(axes, held.items(), strict=False):
        for k in sorted(set(kept)):
            gammas = np.linspace(1, k, 200)
            low, high = np.array([beta_bounds(g, k) for g in gammas]).T
            axis.fill_between(gammas, low, high, color=colours[k], alpha=0.12, lw=0)
            axis.plot(gammas, low, color=colours[k], lw=0.6)
            axis.plot(gammas, high, color=colours[k], lw=0.6, label=f"k = {k}")
        gamma, beta, k_of = zip(*points, strict=True)
        axis.scatter(gamma, beta, s=7, c=[colours[k] for k in k_of], lw=0)
        axis.set_title(f"{model}: {len(points)} problems", fontsize=9)
        axis.set_xlabel("gamma, undefined as one extra output")
        axis.set_ylabel("beta, undefined as one extra output")
        axis.set_ylim(-0.03, 1.03)
        axis.grid(alpha=0.25)
    for axis in axes[len(held) :]:
        axis.set_visible(False)
    figure.suptitle(
        "Undefined counts as one extra output here, as the bounds of appendix D need; regions of"
        " some numbers k of consistent hypotheses",
        fontsize=9,
    )
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _shades(count: int) -> list[Any]:
    import matplotlib

    return [matplotlib.colormaps["viridis"](v) for v in np.linspace(0, 0.92, count)]
