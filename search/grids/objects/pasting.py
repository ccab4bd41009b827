"""Finder of steps that copy one object to markers.

The copied object is the largest object or the object with the most colours. All other objects, or
all single cells, are markers: each of them marks where the middle, an edge or a corner of a copy
goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Step, apply
from .features import compile_expression
from .stamping import loses_cells

MAX_OBJECTS = 30  # maximum number of objects of a grid
MAX_CELLS = 150  # maximum number of cells of the copied object

_VIEWS = (
    ("objects(g, False, True)", 0.0),
    ("objects(g, True, True)", 0.1),
    ("objects(g, True, False)", 0.2),
)
_CHOSEN = (
    ("max(many, key=len)", "the largest object", 0.0),
    (
        "max(many, key=lambda o: hues(g, o))",
        "the object of most colours",
        0.2,
    ),
)
_MARKS = (
    ("x != o", "every other object", 0.0),
    ("len(x) == 1", "every single cell", 0.1),
)
# Offsets that align the box (a, b, c, d) of the template with the box (s, t, u, v) of a marker.
_ANCHORS = (
    ("(s + u - a - c) // 2, (t + v - b - d) // 2", "its middle there", 0.0),
    ("s - a, t - b", "its upper left corner there", 0.3),
    ("s - a, v - d", "its upper right corner there", 0.4),
    ("u - c, t - b", "its lower left corner there", 0.4),
    ("u - c, v - d", "its lower right corner there", 0.4),
    ("u - c, (t + v - b - d) // 2", "the middle of its lower edge there", 0.4),
    ("s - a, (t + v - b - d) // 2", "the middle of its upper edge there", 0.4),
    ("u - a, (t + v - b - d) // 2", "right below it", 0.4),
    ("s - c, (t + v - b - d) // 2", "right above it", 0.4),
)
_RESTS = (
    ("r = [row[:] for row in g]", "", 0.0),
    (
        "r = [row[:] for row in g]\nfor i, j in o:\n    r[i][j] = 0",
        ", and wipe it out",
        0.2,
    ),
    ("r = [[0] * len(row) for row in g]", ", and wipe out all else", 0.3),
)
_COLOURS = (("g[i][j]", "", 0.0), ("tint(g, x)", " in the colour of that", 0.2))


def paste(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that copy one object to all markers.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if len(state.program.steps) > 1 or not goal.has_shapes(state.grids):
        return
    rests = _RESTS if loses_cells(state, goal) else _RESTS[:1]
    for (view, dear), chosen in product(_VIEWS, _CHOSEN):
        found = [compile_expression(view, "g")(g) for g in state.grids]
        if not budget.charge(3.0 + goal.cells / 16):
            return
        if any(not 2 <= len(many) <= MAX_OBJECTS for many in found):
            continue
        if any(not 1 < max(map(len, many)) <= MAX_CELLS for many in found):
            continue
        for marks, anchor, rest, colour in product(_MARKS, _ANCHORS, rests, _COLOURS):
            code = (
                f"many = {view}\n"
                f"o = {chosen[0]}\n"
                f"{rest[0]}\n"
                "a, b, c, d = box(o)\n"
                "for x in many:\n"
                f"    if {marks[0]}:\n"
                "        s, t, u, v = box(x)\n"
                f"        p, q = {anchor[0]}\n"
                "        for i, j in o:\n"
                "            if 0 <= i + p < len(g) and 0 <= j + q < len(g[0]):\n"
                f"                r[i + p][j + q] = {colour[0]}\n"
                "g = r"
            )
            says = f"copy {chosen[1]}{colour[1]} to {marks[1]}, {anchor[1]}{rest[1]}"
            price = 2.8 + dear + chosen[2] + marks[2] + anchor[2] + rest[2] + colour[2]
            if not budget.charge(4.0 + goal.cells / 32):
                return
            step = Step(code, says, price)
            if apply(step, state.grids[:1]) != goal.outputs[:1]:
                continue
            budget.charge(goal.cells / 4)
            if apply(step, state.grids) == goal.outputs:
                yield step


FINDERS = ((3.2, paste),)
