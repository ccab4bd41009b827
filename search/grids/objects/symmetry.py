"""Finder of steps that make objects symmetric about a centre that is inferred for each object.

The inferred centre is the one about which most of the object is already symmetric, without
contradictions between its cells. Cells of one colour may cover a part of the object. Then the step
removes that colour, or it shows only what the covering cells hid.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import FAILURES, Grid, Step, apply, colour_name
from .features import compile_expression

MAX_CELLS = 130  # maximum number of cells of an object

_VIEWS = (
    ("objects(h, False, True)", "every object of any colours", 0.0),
    ("objects(h, True, True)", "every object (diagonals count)", 0.3),
    ("[cells(h)]", "the whole drawing", 0.1),
    ("layers(h)", "every colour", 0.4),
)
# Images of a cell with the offsets y, x from the centre.
_WAYS = (
    ("((y, -x),)", "from left to right", 0.0),
    ("((-y, x),)", "from top to bottom", 0.0),
    ("((y, -x), (-y, x), (-y, -x))", "in both directions", 0.0),
    ("((x, -y), (-y, -x), (-x, y))", "under turns by a quarter", 0.3),
    (
        "((y, -x), (-y, x), (-y, -x), (x, y), (-x, -y), (x, -y), (-x, y))",
        "in all eight ways",
        -0.1,
    ),
    ("((-y, -x),)", "under half a turn", 0.4),
    ("((x, y),)", "about a diagonal", 0.5),
    ("((-x, -y),)", "about a rising diagonal", 0.5),
)


class Cover(NamedTuple):
    """A colour whose cells may hide a part of an object.

    Attributes:
        text: Expression over `g` that gives the colour. It is empty if nothing is hidden.
        says: A noun phrase for the cells of this colour.
        cost: Cost of assuming that these cells hide something.
    """

    text: str
    says: str
    cost: float


_NONE = Cover("", "", 0.0)
_VEILS = (
    ("veil(g)", "the full rectangle", 0.3),
    ("ranked(g)[0]", "the cells of the most frequent colour", 0.4),
    ("ranked(g)[-1]", "the cells of the rarest colour", 0.5),
)


def symmetrise_objects(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that make the objects of the shown inputs symmetric.

    Each step gives the outputs of `goal`. Nothing is yielded for grids that are the result of
    earlier steps.
    """
    if state.program.steps or not budget.charge(5.0):
        return
    fits = goal.has_shapes(state.grids)
    for cover in _covers(state, goal, fits):
        for (view, noun, dear), (ways, says, more) in product(_VIEWS, _WAYS):
            step = _written(cover, view, noun, ways, says, fits, 3.4 + dear + more)
            work = _work(state, view, cover, ways)
            if work is None or not budget.charge(10.0 + work):
                continue
            if apply(step, state.grids[:1]) != goal.outputs[:1]:
                continue
            budget.charge(work * (len(state.grids) - 1))
            if apply(step, state.grids) == goal.outputs:
                yield step


def _covers(state: State, goal: Goal, fits: bool) -> list[Cover]:
    """Return the possible covers, at most three, cheapest first.

    These are colours that cells lose, or colours that span a box as large as the output. If the
    outputs only add to what is there, there is no cover.
    """
    lost: list[set[int]] = []
    for g, out in zip(state.grids, goal.outputs, strict=True):
        if fits:
            both = [(v, w) for row, made in zip(g, out, strict=True) for v, w in zip(row, made, strict=True)]  # fmt: skip
            lost.append({v for v, w in both if v != w and v})
        else:
            lost.append({c for c in goal.colours if _size(g, c) == (len(out), len(out[0]))})
    if fits and not any(lost):
        return [_NONE]
    found = []
    for text, says, price in (*_VEILS, *((str(c), f"the {colour_name(c)} cells", 0.0) for c in goal.colours)):  # fmt: skip
        try:
            colours = [compile_expression(text, "g")(g) for g in state.grids]
        except FAILURES:
            continue
        if all(not one or c in one if fits else c in one for c, one in zip(colours, lost, strict=True)):  # fmt: skip
            found.append(Cover(text, says, price + 0.4))
    return sorted(found, key=lambda one: one.cost)[:3]


def _size(g: Grid, colour: int) -> tuple[int, int]:
    at = [(i, j) for i, row in enumerate(g) for j, v in enumerate(row) if v == colour]
    rows, columns = [i for i, _ in at], [j for _, j in at]
    return (max(rows) - min(rows) + 1, max(columns) - min(columns) + 1) if at else (0, 0)


def _free(cover: Cover) -> str:
    """Return code for the grid without the covering colour."""
    return "[[0 if v == hidden else v for v in row] for row in g]" if cover.text else "g"


def _work(state: State, view: str, cover: Cover, ways: str) -> float | None:
    """Return the cost of the step on the first grid in expansions, or None for large objects."""
    g = state.grids[0]
    hidden = compile_expression(cover.text, "g")(g) if cover.text else 0
    many = compile_expression(view, "h")([[0 if v == hidden else v for v in row] for row in g])
    if not many or not all(many) or max(map(len, many)) > MAX_CELLS or len(many) > 30:
        return None
    total = 5.0
    for o in many:
        rows, columns = [i for i, _ in o], [j for _, j in o]
        high, wide = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
        total += 0.025 * high * wide * (3 + len(o) / 4) * ways.count(", ")
    return total


def _written(
    cover: Cover, view: str, noun: str, ways: str, says: str, fits: bool, price: float
) -> Step:
    code = (
        f"hidden = {cover.text or 0}\n"
        f"h = {_free(cover)}\n"
        "r = [row[:] for row in h]\n"
        f"for o in {view}:\n"
        f"    for i, j, v in balanced(g, o, hidden, lambda y, x: {ways}):\n"
        "        r[i][j] = v\n" + ("g = r" if fits else "g = crop(r, places(g, hidden))")
    )
    said = f"make {noun} symmetric {says}, about where it fits best"
    if cover.text:
        said = f"take {cover.says} for what hides a part and {said}"
        if not fits:
            said += ", and show what was hidden"
    return Step(code, said, price + cover.cost)


FINDERS = ((3.1, symmetrise_objects),)
