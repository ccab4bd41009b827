"""Figures as data: what the page draws for a problem (reports/page), without code of its own.

A family that implements `DrawsFigures` computes them in Python. All numbers are finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """One axis of a figure.

    Attributes:
        label: What it shows, with its unit.
        low, high: Its ends; low < high, and 0 < low on a logarithmic axis.
        logarithmic: Whether equal ratios are equally long.
        whole: Whether only whole numbers are marked.
        names: Categories at 0, 1, …; they are marked instead of numbers.
        zero: On a logarithmic axis, where a value of 0 is drawn; None if there is no such value.
    """

    label: str
    low: float
    high: float
    logarithmic: bool = False
    whole: bool = False
    names: Sequence[str] = ()
    zero: float | None = None


@dataclass(frozen=True)
class Series:
    """Marks of one kind in a figure.

    Attributes:
        kind: "dots"; "rings", which are open and larger; "line" through the points; "rule", a thin
            line for orientation; "band", an area between the x of two points over the whole height.
        name: Its name in the key; "" for none.
        points: (x, y) pairs; None is a gap in a line.
        texts: A name for each point; empty if they have none.
    """

    kind: Literal["dots", "rings", "line", "rule", "band"]
    name: str
    points: Sequence[Point | None]
    texts: Sequence[str] = ()


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
        title: Its title.
        about: One sentence that says what is to be seen, for those who do not see it.
        x, y: The axes.
        series: What is drawn, from the back to the front.
        note: A sentence below the figure.
        choice, option: Figures with the same title are drawn in one place, of which the reader chooses
            one: the name of the choice, and this figure's option. "" for a figure that stands alone.
    """

    title: str
    about: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    note: str = ""
    choice: str = ""
    option: str = ""
