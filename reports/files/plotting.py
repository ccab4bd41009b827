"""Functions that all figures share.

Figures need matplotlib (extra `report`), which is imported when a figure is drawn. All figures have
the same style, and the same data always gives the same bytes. Names of models and data sets are
shown literally and never parsed as mathematics.
"""

from __future__ import annotations

import importlib.util
import io
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...records import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INSTALL = "pip install 'peirce[report]'"
MISSING_MATPLOTLIB = f"figures are left out: they need matplotlib, {INSTALL}"
RC_SETTINGS = {"text.parse_math": False, "svg.hashsalt": "peirce", "font.size": 9}
FORMATS = (".png", ".svg")
CHARS_PER_INCH = 12  # Characters of size 9 that fit into an inch, including wide ones.
MAX_NAME_CHARS = 60  # Maximum characters of a name in a legend.


def has_matplotlib() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def create_figure(width_in: float, height_in: float) -> Figure:
    """Return an empty figure whose layout keeps titles, axes and legends from overlapping."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.08)  # inches
    return Figure(figsize=(width_in, height_in), layout=layout)


def render_figure(
    draw: Callable[[], Figure | None], formats: Sequence[str] = FORMATS
) -> dict[str, bytes] | None:
    """Render the figure that `draw` returns, and return its bytes by format.

    If `draw` returns None, the result is None.

    Raises:
        UsageError: matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
    except ImportError:
        raise UsageError(f"a figure needs matplotlib: {INSTALL}") from None
    made = {}
    with rc_context(RC_SETTINGS):
        figure = draw()
        if figure is None:
            return None
        for form in formats:
            out = io.BytesIO()
            metadata = {"Date": None} if form == ".svg" else {"Software": None}
            figure.savefig(out, format=form[1:], dpi=130, metadata=metadata)
            made[form] = out.getvalue()
            figure.set_layout_engine("none")  # Do not compute the layout again.
    return made


def wrap_text(text: str, width_in: float) -> str:
    """Wrap text into lines that fit into a width in inches. Long names without spaces are
    broken.
    """
    lines = text.split("\n")
    return "\n".join(textwrap.fill(line, max(12, int(width_in * CHARS_PER_INCH))) for line in lines)


def add_legend_below(figure: Figure, panels: Sequence[Any], order: Sequence[str]) -> None:
    """Add one legend for all panels of a figure, below the panels.

    Args:
        figure: The figure.
        panels: The matplotlib axes whose labels are shown.
        order: The labels to show, in this order.
    """
    named: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    named = {label: named[label] for label in order if label in named}
    if named:
        labels = [
            name if len(name) <= MAX_NAME_CHARS else name[: MAX_NAME_CHARS - 21] + "…" + name[-20:]
            for name in named
        ]
        room = int(figure.get_figwidth() * CHARS_PER_INCH) // (max(map(len, labels)) + 8)
        columns = max(1, min(6, len(labels), room))
        figure.legend(list(named.values()), labels, loc="outside lower center", ncols=columns)
