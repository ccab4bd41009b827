"""What all figures share: matplotlib (extra `report`, imported when something is drawn), one look,
bytes that are the same each time, and words that stay within the edges. Names of models and data
sets are shown as they are, not as mathematics.
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
ABSENT = f"figures are left out: they need matplotlib, {INSTALL}"
SETTINGS = {"text.parse_math": False, "svg.hashsalt": "peirce", "font.size": 9}
FORMS = (".png", ".svg")
AN_INCH = 12  # characters of size 9 that fit, wide ones too
NAMED = 60  # characters of a name in a legend


def available() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def blank(width_in: float, height_in: float) -> Figure:
    """A figure whose parts will stand apart."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.08)  # inches
    return Figure(figsize=(width_in, height_in), layout=layout)


def rendered(
    draw: Callable[[], Figure | None], forms: Sequence[str] = FORMS
) -> dict[str, bytes] | None:
    """What `draw` drew, in each form; None where it drew nothing. Raises UsageError where
    matplotlib is absent."""
    try:
        from matplotlib import rc_context
    except ImportError:
        raise UsageError(f"a figure needs matplotlib: {INSTALL}") from None
    made = {}
    with rc_context(SETTINGS):
        figure = draw()
        if figure is None:
            return None
        for form in forms:
            out = io.BytesIO()
            metadata = {"Date": None} if form == ".svg" else {"Software": None}
            figure.savefig(out, format=form[1:], dpi=130, metadata=metadata)
            made[form] = out.getvalue()
            figure.set_layout_engine("none")  # it is laid out now, which is half of the work
    return made


def wrapped(text: str, width_in: float) -> str:
    """In lines that fit so many inches, also where a name has no space."""
    lines = text.split("\n")
    return "\n".join(textwrap.fill(line, max(12, int(width_in * AN_INCH))) for line in lines)


def legend_below(figure: Figure, panels: Sequence[Any], order: Sequence[str]) -> None:
    """One legend for all panels, below them, its labels in `order`, in as many columns as they
    leave room for."""
    named: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    named = {label: named[label] for label in order if label in named}
    if named:
        labels = [
            name if len(name) <= NAMED else name[: NAMED - 21] + "…" + name[-20:] for name in named
        ]
        room = int(figure.get_figwidth() * AN_INCH) // (max(map(len, labels)) + 8)
        columns = max(1, min(6, len(labels), room))
        figure.legend(list(named.values()), labels, loc="outside lower center", ncols=columns)
