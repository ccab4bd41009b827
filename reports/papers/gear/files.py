"""The files that `peirce eval gear SESSION… --out DIR` writes: tables and figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....tools.gear.scores import beta_bounds
from ...files import plotting, tables
from ...files.plotting import add_legend_below, create_figure, render_figure, wrap_text
from ...files.tables import Table
from ...metrics.grouping import Study
from . import tables as gear_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# --- Figures of a GEAR study: the six panels of figure 3 and the (gamma, beta) scatter plot.

PANELS = (
    ("(a) hypotheses per problem (dashed: all; solid: consistent)", "consistent_hypotheses"),
    ("(b) instruction following", "instruction_following"),
    ("(c) consistency", "consistency"),
    ("(d) beta", "beta"),
    ("(e) gamma", "gamma"),
    ("(f) generalizability", "generalizability"),
)
COUNT_METRICS = ("consistent_hypotheses", "gamma")  # The other panels show shares.
SHARE_AXIS_END = 1.02  # Their axes end here, so that a point at 1 is fully visible.
MIN_SHARE_SPAN = 0.2  # Smallest range of an axis of shares, kept below 1 for equal values.
MAX_REGIONS = 4  # Maximum number of values of k whose region is drawn in a panel.


def draw_figures(study: Study) -> dict[str, bytes]:
    """Return the figures of GEAR as .png and .svg, by file name.

    The figures are figure3 (the mean over data sets), figure3-NAME for each data set if there are
    several, and scatter if there are points to draw.
    """
    drawn = {"figure3": partial(draw_figure_3, study, study.data_sets)}
    if len(study.data_sets) > 1:
        for name, data_set in _files(study.data_sets).items():
            drawn[f"figure3-{name}"] = partial(draw_figure_3, study, [data_set])
    made = {name: render_figure(one) for name, one in drawn.items()}
    made["scatter"] = render_figure(partial(draw_scatter, study))
    return {name + form: data for name, of in made.items() for form, data in (of or {}).items()}


def _files(data_sets: Sequence[str]) -> dict[str, str]:
    """Return a distinct file name for each data set."""
    found: dict[str, str] = {}
    for data_set in data_sets:
        name = re.sub(r"[^\w-]+", "-", data_set).strip("-")
        while name in found:
            name += "-again"
        found[name] = data_set
    return found


def _axes(figure: Figure, rows: int, columns: int) -> list[Any]:
    return list(np.ravel(figure.subplots(rows, columns, squeeze=False)))


def _colours(count: int) -> list[Any]:
    import matplotlib

    cycle = matplotlib.colormaps["tab10" if count <= 10 else "tab20"]
    return [cycle(i % cycle.N) for i in range(count)]


def draw_figure_3(study: Study, data_sets: Sequence[str]) -> Figure:
    """Draw figure 3: six panels over the number n of shown pairs, with one line per model.

    Panel (a) shows the number of all hypotheses per problem dashed, and of consistent hypotheses
    solid. Panels (b) and (c) cover all hypotheses, and (d) to (f) cover consistent hypotheses. Each
    point is a mean over problems with its 95% interval. For several data sets, it is the mean of
    the means of the data sets. The value "original" of n is not connected to the lines.
    """
    figure = create_figure(12, 7)
    axes = _axes(figure, 2, 3)
    models = list(zip(study.models, _colours(len(study.models)), strict=True))
    shift = 0.3 / max(1, len(models))
    for i, (model, colour) in enumerate(models):
        aside = (i - (len(models) - 1) / 2) * shift
        for axis, (_, metric) in zip(axes, PANELS, strict=True):
            style = {"color": colour, "marker": "o", "ms": 3, "lw": 1}
            _drawn(axis, study, model, data_sets, metric, aside, style)
        dashed = {"color": colour, "marker": "_", "lw": 0.8, "ls": "--"}
        _drawn(axes[0], study, model, data_sets, "hypotheses", aside, dashed, bars=False)
    for axis, (title, metric) in zip(axes, PANELS, strict=True):
        axis.set_title(title, fontsize=9)
        axis.set_xticks(range(len(study.ns)), [str(n) for n in study.ns])
        axis.set_xlim(-0.5, len(study.ns) - 0.5)
        axis.grid(alpha=0.25)
        _limit(axis, metric)
    for axis in axes[3:]:
        axis.set_xlabel("observations shown (n)")
    figure.suptitle(wrap_text(_over(study, data_sets), 11), fontsize=10)
    add_legend_below(figure, axes, study.models)
    return figure


def _drawn(
    axis: Any,
    study: Study,
    model: str,
    data_sets: Sequence[str],
    metric: str,
    aside: float,
    style: dict[str, Any],
    bars: bool = True,
) -> None:
    places, values = _line(study, model, data_sets, metric)
    numbered = [isinstance(study.ns[place], int) for place in places]
    for line, label in ((True, model), (False, "" if any(numbered) else model)):
        kept = [i for i, number in enumerate(numbered) if number is line]
        if not kept:
            continue
        x = np.array([places[i] for i in kept]) + aside
        low, mean, high = np.array([values[i] for i in kept]).T
        named = {"label": label} if label and bars else {}
        look = style | named | ({} if line else {"ls": "none"})
        axis.errorbar(x, mean, [mean - low, high - mean] if bars else None, **look)


def _limit(axis: Any, metric: str) -> None:
    """Start axes of counts at 0 where useful, and keep axes of shares within 0 and 1."""
    low, high = axis.get_ylim()
    if metric not in COUNT_METRICS:
        high = high if high < 0.98 else SHARE_AXIS_END
        axis.set_ylim(max(1 - SHARE_AXIS_END, min(low, high - MIN_SHARE_SPAN)), high)
    elif metric == COUNT_METRICS[0]:
        axis.set_ylim(0, high)


def _line(
    study: Study, model: str, data_sets: Sequence[str], metric: str
) -> tuple[list[int], list[tuple[float, float, float]]]:
    places, values = [], []
    for place, n in enumerate(study.ns):
        found = study.average(metric, model, data_sets, n).interval
        mean, low, high = found["mean"], found["low"], found["high"]
        if mean is not None:
            places.append(place)
            values.append((mean if low is None else low, mean, mean if high is None else high))
    return places, values


def _over(study: Study, data_sets: Sequence[str]) -> str:
    """Return the names of the data sets, by n if they differ."""
    there = {
        n: [s for s in data_sets if any(study.select_entries(m, s, n) for m in study.models)]
        for n in study.ns
    }
    if len(data_sets) == 1:
        return data_sets[0]
    groups: dict[tuple[str, ...], list[str]] = {}
    for n, names in there.items():
        groups.setdefault(tuple(names), []).append(str(n))
    if len(groups) == 1:
        return f"mean over {', '.join(data_sets)}"
    return "\n".join(f"n = {', '.join(ns)}: {_mean_of(sets)}" for sets, ns in groups.items())


def _mean_of(data_sets: Sequence[str]) -> str:
    return f"{data_sets[0]} only" if len(data_sets) == 1 else f"mean over {', '.join(data_sets)}"


def draw_scatter(study: Study) -> Figure | None:
    """Draw a point (gamma, beta) for each problem with at least two consistent hypotheses.

    Gamma and beta measure the diversity of the hypotheses. There is one panel per model. The colour
    of a point shows the number k of consistent hypotheses. For some k, the region that appendix D
    allows is outlined, with k at its tip. The result is None if there are no points.
    """
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.ticker import MaxNLocator

    held = {
        model: [entry.detail.point for entry in study.select_entries(model) if entry.detail.point]
        for model in study.models
    }
    held = {model: points for model, points in held.items() if points}
    if not held:
        return None
    ks = {k for points in held.values() for _, _, k in points}
    shades = ScalarMappable(
        Normalize(min(ks), max(max(ks), min(ks) + 1)), matplotlib.colormaps["viridis"]
    )
    columns = min(3, len(held))
    rows = -(-len(held) // columns)
    width = 1.4 + 3.9 * columns
    figure = create_figure(width, 0.9 + 3.4 * rows)
    axes = _axes(figure, rows, columns)
    for axis, (model, points) in zip(axes, held.items(), strict=False):
        _regions(axis, sorted({k for _, _, k in points}), shades)
        gamma, beta, k_of = zip(*points, strict=True)
        axis.scatter(
            gamma, beta, s=9, c=shades.to_rgba(np.array(k_of)), lw=0.3, edgecolors="white", zorder=3
        )
        axis.set_title(wrap_text(f"{model}: {len(points)} problems", 3.6), fontsize=9)
        axis.set_xlabel("gamma, with undefined as an extra output")
        axis.set_ylabel("beta, with undefined as an extra output")
        axis.set_ylim(-0.03, 1.08)
        axis.grid(alpha=0.25)
    for axis in axes[len(held) :]:
        axis.set_visible(False)
    label = "k, consistent hypotheses per problem"
    ticks = MaxNLocator(8, integer=True, min_n_ticks=1)
    figure.colorbar(
        shades, ax=axes[: len(held)], label=label, ticks=ticks, aspect=25 * rows, fraction=0.04
    )
    said = "Outlined: possible values for k total hypotheses (appendix D), with k at the tip"
    figure.suptitle(wrap_text(said, width - 0.6), fontsize=9)
    return figure


def _regions(axis: Any, ks: Sequence[int], shades: Any) -> None:
    """Outline the regions of some values of k, including the smallest and the largest."""
    kept = sorted({ks[round(i * (len(ks) - 1) / (MAX_REGIONS - 1))] for i in range(MAX_REGIONS)})
    for k in kept:
        gammas = np.linspace(1, k, 200)
        low, high = np.array([beta_bounds(g, k) for g in gammas]).T
        colour = shades.to_rgba(k)
        axis.fill_between(gammas, low, high, color=colour, alpha=0.07, lw=0)
        axis.plot(gammas, low, color=colour, lw=0.7)
        axis.plot(gammas, high, color=colour, lw=0.7)
    span = kept[-1] - 1
    free = -1.0
    for k in kept:  # Label the tips where there is room.
        if k - free > 0.05 * span:
            axis.annotate(
                f"{k}", (k, 1), (0, 3), textcoords="offset points", ha="center", fontsize=7
            )
            free = k


ABOUT = {
    "table3": "Table 3 of the paper: metrics by data set and model, over all n. Intervals are 95%"
        " bootstrap intervals over problems. An average over data sets is the mean of their"
        " means and names them. If a cell averages over fewer data sets, it names those.",
    "settings": ("Metrics by data set, n and model. Averages over data sets at each n name these data"
        " sets."),
    "volumes": "Hypotheses by verdict. Memorising hypotheses are flagged; they count as consistent"
        " unless they are excluded.",
    "stops": "Reasons why problems ended, and bad answers by verdict: all of them, and the last one"
        " of each problem that ended because of bad answers.",
    "undefined": ("Undefined predictions over S by reason, for all hypotheses and for the consistent ones."),
    "correlations": "Spearman's rank correlation of each metric with n over problems, with 95% bootstrap"
        " intervals. The column n next to it counts the values.",
    "points": "Undefined counts as one extra output here, as the bounds of appendix D require. These"
        " are not the gamma and beta of the other tables.",
}  # fmt: skip


def build_tables(study: Study) -> dict[str, Table]:
    """Return the tables of a study, by file name without the file extension."""
    return {
        "table3": gear_tables.format_table_3(gear_tables.table_3(study)),
        "settings": gear_tables.settings_table(study),
        "volumes": gear_tables.volumes_table(study),
        "stops": gear_tables.stops_table(study),
        "undefined": gear_tables.undefined_table(study),
        "correlations": gear_tables.correlations_table(study),
        "points": gear_tables.points_table(study),
    }


def render_files(
    study: Study, folder: Path, left_out: str = ""
) -> tuple[dict[Path, str | bytes], str]:
    """Return the files to write, and a sentence that says why there are no figures ("" if there
    are).

    The files are each table as .txt, .md and .csv (the table of points only as .csv), averages.csv
    with one row per average and metric, and the figures.

    Args:
        study: The study.
        folder: Folder of the files.
        left_out: A sentence to place above every table.
    """
    found: dict[Path, str | bytes] = {}
    for name, table in build_tables(study).items():
        found[folder / f"{name}.csv"] = tables.as_csv(table)
        if name != "points":
            said = [line for line in (left_out, ABOUT[name]) if line]
            found[folder / f"{name}.md"] = "\n\n".join([*said, tables.as_markdown(table)])
            found[folder / f"{name}.txt"] = "\n\n".join([*said, tables.as_text(table, None)])
    found[folder / "averages.csv"] = tables.as_csv(gear_tables.long_table(study))
    if not plotting.has_matplotlib():
        return found, plotting.MISSING_MATPLOTLIB
    found |= {folder / name: drawn for name, drawn in draw_figures(study).items()}
    return found, ""
