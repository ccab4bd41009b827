"""A study as a figure (GEAR, figure 4): a row of panels for each data set, figures by m, a line for
each n, bars for the 95% intervals; of the second study the rows that pool the sizes of context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..records import Json
from .plotting import blank, legend_below, wrapped
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
WIDTH, HEIGHT = 4.2, 3.0  # of a panel, in inches
LEAST = 1.6  # a ratio that an axis holds at least, and one to it


def figure(result: Mapping[str, Json]) -> Figure:
    figures = PLOTTED[result["study"]]
    rows = [row for row in result["rows"] if row.get("k", ALL) == ALL]
    data_sets = list(dict.fromkeys(row["data_set"] for row in rows))
    lines = max(1, len(data_sets))
    width = WIDTH * len(figures)
    drawn = blank(width, 0.9 + HEIGHT * lines)
    panels = drawn.subplots(
        lines, len(figures), squeeze=False, sharey="row" if result["study"] == "general" else False
    )
    ns = sorted({row["n"] for row in rows}, key=lambda n: (n == ALL, isinstance(n, str), n))
    for line, data_set in zip(panels, data_sets, strict=False):
        own = [row for row in rows if row["data_set"] == data_set]
        for panel, (name, title) in zip(line, figures.items(), strict=True):
            _panel(panel, own, name, ns)
            panel.set_title(wrapped(f"{data_set}: {title}", WIDTH), fontsize=9)
        if result["study"] == "general":  # one axis a row, after all its bars
            for panel in line:
                _ratio_axis(panel)
    for panel in panels[-1]:
        panel.set_xlabel("hidden pairs drawn (m)")
    drawn.suptitle(wrapped(TITLE[result["study"]], width - 0.5), fontsize=10)
    legend_below(drawn, list(panels.ravel()), [_label(n) for n in ns])
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
    """Logarithmic, so that 2 and 1/2 are as far from 1."""
    from matplotlib.ticker import LogLocator, NullFormatter

    panel.axhline(1.0, color="grey", linewidth=0.8)
    panel.set_yscale("log")
    panel.autoscale_view()
    panel.yaxis.set_major_locator(LogLocator(10, (1, 1.5, 2, 3, 5, 7)))
    panel.yaxis.set_major_formatter("{x:g}")
    panel.yaxis.set_minor_formatter(NullFormatter())
    low, high = panel.get_ylim()
    panel.set_ylim(min(low, 1 / LEAST), max(high, LEAST))
