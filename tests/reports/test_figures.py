"""Figures as a reader sees them: words stay within the edges and apart from each other, axes hold
what can be. What is drawn is compared nowhere pixel by pixel.

Internals: figures are measured as objects before they become files.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from peirce.reports.files.plotting import RC_SETTINGS
from peirce.reports.metrics.grouping import Study
from peirce.reports.papers.gear import files, study_tables

from .test_grouping import entry

pytest.importorskip("matplotlib", reason="MATPLOTLIB ABSENT (extra `report`): no figure is drawn")

LONG = "scripted:answers-of-a-model-with-a-name-that-is-very-long-indeed-and-goes-on.json"


def study(models, data_sets=("acre (generated)",), ns=(2, 3, 4)):
    values = {name: 1.0 for _, name in files.PANELS} | {"hypotheses": 9.0}
    return Study(
        [
            entry(data_set, n, model, str(i), values, point=(1.5 + k / 9, 0.9, k))
            for model in models
            for data_set in data_sets
            for n in ns
            for i, k in enumerate((2, 3, 5, 25))
        ]
    )


def row(data_set, n, m):
    def figure(value):
        return {"value": value, "low": value * 0.9, "high": value * 1.1, "n": 3, "undefined": 0}

    names = ("pass_rate", "gamma", "ratio", "odds_ratio")
    return {"data_set": data_set, "n": n, "m": m, **{name: figure(0.5 + m / 9) for name in names}}


def studied(name):
    rows = [
        row(data_set, n, m)
        for data_set in ("list_functions (a-file-with-a-long-name.jsonl)", "acre")
        for n in (2, 3, "all")
        for m in (1, 2, 3, 4)
    ]
    return {"study": name, "rows": rows}


DRAWN = {
    "figure 3 of one model": lambda: files.draw_figure_3(study(["search"]), ["acre (generated)"]),
    "figure 3 of many": lambda: files.draw_figure_3(
        study([f"{LONG}-{i}" for i in range(9)], ("acre", "arc", "mini_arc")),
        ["acre", "arc", "mini_arc"],
    ),
    "scatter of one model": lambda: files.draw_scatter(study(["search"])),
    "scatter of four": lambda: files.draw_scatter(study(["search", LONG, "a", "b"])),
    "defeasible": lambda: study_tables.draw_study(studied("defeasible")),
    "general": lambda: study_tables.draw_study(studied("general")),
}


@pytest.mark.parametrize("name", DRAWN)
def test_words_stay_within_the_edges_and_titles_apart(name):
    from matplotlib import rc_context
    from matplotlib.text import Text

    with rc_context(RC_SETTINGS):
        figure = DRAWN[name]()
        figure.draw_without_rendering()
    canvas = figure.bbox
    shown = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    for text in shown:
        box = text.get_window_extent()
        inside = (
            box.x0 >= -1 and box.x1 <= canvas.x1 + 1 and box.y0 >= -1 and box.y1 <= canvas.y1 + 1
        )
        of_hidden_tick = not text.get_text().isascii() or text in _ticks(figure)
        assert inside or of_hidden_tick, (text.get_text(), box, canvas)
    titles = [figure._suptitle, *(a.title for a in figure.axes if a.get_visible())]
    boxes = [t.get_window_extent() for t in titles if t is not None and t.get_text()]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def _ticks(figure):
    """Labels of ticks beyond the limits of an axis stay undrawn somewhere outside."""
    return {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for label in axis.get_ticklabels(which="both")
    }


def test_axes_of_shares_end_at_one_and_hold_the_points_at_it():
    drawn = DRAWN["figure 3 of one model"]()
    for axis, (_, metric) in zip(drawn.axes, files.PANELS, strict=True):
        low, high = axis.get_ylim()
        if metric not in files.COUNT_METRICS:
            assert 1 < high < 1.05 and high - low >= 0.15


def test_what_is_no_number_stands_apart_from_the_line_over_n():
    drawn = files.draw_figure_3(study(["m"], ns=(2, 3, "original")), ["acre (generated)"])
    lines = [line for line in drawn.axes[3].lines if len(line.get_xdata())]
    assert sorted(len(line.get_xdata()) for line in lines) == [1, 2]


def test_files_of_data_sets_with_like_names_are_told_apart(monkeypatch):
    forms = {".png": b"", ".svg": b""}  # of their names, nothing depends on what is drawn
    monkeypatch.setattr(files, "render_figure", lambda draw: forms)
    drawn = files.draw_figures(study(["m"], ("acre (a b)", "acre (a.b)")))
    names = {name for name in drawn if name.startswith("figure3-") and name.endswith(".svg")}
    assert names == {"figure3-acre-a-b.svg", "figure3-acre-a-b-again.svg"}


def test_no_bar_of_a_ratio_is_cut_off_where_panels_share_an_axis():
    result = studied("general")
    for one in result["rows"]:
        one["odds_ratio"] = {"value": 0.4, "low": 0.2, "high": 4.0, "n": 3, "undefined": 0}
    for panel in study_tables.draw_study(result).axes:
        low, high = panel.get_ylim()
        assert low < 0.2 and high > 4.0


def test_a_legend_has_its_models_in_their_order():
    drawn = study_tables.draw_study(studied("general"))
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["n = 2", "n = 3", "all n"]
