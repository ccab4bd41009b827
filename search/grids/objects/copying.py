"""Finder of steps that copy objects.

Every object that meets a condition is copied to a place next to it, mirrored or turned in its own
place, or repeated up to the border. The copies keep the colours of the object or have one given
colour.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Step, apply, colour_name
from .features import (
    VIEWS,
    BoolArray,
    Condition,
    View,
    ViewedObjects,
    compile_expression,
    describe_objects,
    view_objects,
)

MAX_STEPS = 6  # maximum number of steps for one view

IntArray = NDArray[np.int64]


class Copy(NamedTuple):
    """A way to copy an object to other positions of the grid.

    Attributes:
        places: Expressions for the positions (row, column) to which the cell (i, j) of an object is
            copied. The names a, b, c and d are the top, left, bottom and right of the object's box.
        says: Instruction in English, with {} in the place of the objects.
        cost: Cost of copying in this way.
        instead: Whether the copy replaces the object.
        on: Whether copies are made for k = 1, 2, … up to the border of the grid.
    """

    places: tuple[str, ...]
    says: str
    cost: float
    instead: bool = False
    on: bool = False


COPIES = (
    Copy(("(i, b + d - 1 - j)",), "mirror {} from left to right in its place", 1.2, True),
    Copy(("(a + c - 1 - i, j)",), "mirror {} from top to bottom in its place", 1.2, True),
    Copy(("(a + c - 1 - i, b + d - 1 - j)",), "turn {} by half a turn in its place", 1.4, True),
    Copy(("(a + j - b, b + i - a)",), "make columns rows in {}", 1.6, True),
    Copy(("(a + j - b, b + c - 1 - i)",), "turn {} clockwise in its place", 1.6, True),
    Copy(("(a + d - 1 - j, b + i - a)",), "turn {} anticlockwise in its place", 1.6, True),
    Copy(("(i, 2 * d - 1 - j)",), "put the mirror image of {} to its right", 1.3),
    Copy(("(i, 2 * b - 1 - j)",), "put the mirror image of {} to its left", 1.3),
    Copy(("(2 * c - 1 - i, j)",), "put the mirror image of {} below it", 1.3),
    Copy(("(2 * a - 1 - i, j)",), "put the mirror image of {} above it", 1.3),
    Copy(("(i, 2 * d - 1 - j)", "(i, 2 * b - 1 - j)"), "put mirror images of {} to its left and right", 1.5),
    Copy(("(2 * c - 1 - i, j)", "(2 * a - 1 - i, j)"), "put mirror images of {} above and below it", 1.5),
    Copy(("(i, 2 * d - 1 - j)", "(i, 2 * b - 1 - j)", "(2 * c - 1 - i, j)", "(2 * a - 1 - i, j)"), "put mirror images of {} on its four sides", 1.8),
    Copy(("(i, j + d - b)",), "put a copy of {} to its right", 1.3),
    Copy(("(i, j - d + b)",), "put a copy of {} to its left", 1.3),
    Copy(("(i + c - a, j)",), "put a copy of {} below it", 1.3),
    Copy(("(i - c + a, j)",), "put a copy of {} above it", 1.3),
    Copy(("(i, j + d - b + 1)",), "put a copy of {} to its right, one cell apart", 1.6),
    Copy(("(i, j - d + b - 1)",), "put a copy of {} to its left, one cell apart", 1.6),
    Copy(("(i + c - a + 1, j)",), "put a copy of {} below it, one cell apart", 1.6),
    Copy(("(i - c + a - 1, j)",), "put a copy of {} above it, one cell apart", 1.6),
    Copy(("(i, b + d - 1 - j)",), "add to {} its mirror image from left to right", 1.3),
    Copy(("(a + c - 1 - i, j)",), "add to {} its mirror image from top to bottom", 1.3),
    Copy(("(i, b + d - 1 - j)", "(a + c - 1 - i, j)", "(a + c - 1 - i, b + d - 1 - j)"), "make {} symmetric in both directions", 1.5),
    Copy(("(a + j - b, b + c - 1 - i)", "(a + c - 1 - i, b + d - 1 - j)", "(a + d - 1 - j, b + i - a)"), "make {} look alike when turned by a quarter", 1.7),
    Copy(("(i, j + k * (d - b))",), "repeat {} to the right up to the border", 1.6, on=True),
    Copy(("(i, j - k * (d - b))",), "repeat {} to the left up to the border", 1.6, on=True),
    Copy(("(i + k * (c - a), j)",), "repeat {} downwards up to the border", 1.6, on=True),
    Copy(("(i - k * (c - a), j)",), "repeat {} upwards up to the border", 1.6, on=True),
    Copy(("(i, j + k * (d - b + 1))",), "repeat {} to the right, one cell apart, up to the border", 1.8, on=True),
    Copy(("(i, j - k * (d - b + 1))",), "repeat {} to the left, one cell apart, up to the border", 1.8, on=True),
    Copy(("(i + k * (c - a + 1), j)",), "repeat {} downwards, one cell apart, up to the border", 1.8, on=True),
    Copy(("(i - k * (c - a + 1), j)",), "repeat {} upwards, one cell apart, up to the border", 1.8, on=True),
    Copy(("(i, j + 2 * k)",), "repeat {} to the right in every second column", 1.7, on=True),
    Copy(("(i + 2 * k, j)",), "repeat {} downwards in every second row", 1.7, on=True),
    Copy(("(i + k * (c - a), j + k * (d - b))",), "repeat {} diagonally down right", 1.8, on=True),
    Copy(("(i - k * (c - a), j - k * (d - b))",), "repeat {} diagonally up left", 1.8, on=True),
    Copy(("(i + k * (c - a), j - k * (d - b))",), "repeat {} diagonally down left", 1.8, on=True),
    Copy(("(i - k * (c - a), j + k * (d - b))",), "repeat {} diagonally up right", 1.8, on=True),
)  # fmt: skip


def copy_objects(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that copy the objects that meet a condition to other positions.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if not goal.has_shapes(state.grids):
        return
    before = [np.array(g, dtype=np.int64) for g in state.grids]
    after = [np.array(g, dtype=np.int64) for g in goal.outputs]
    changed = [a != b for a, b in zip(before, after, strict=True)]
    for view in VIEWS:
        if view.text.startswith(("regions", "row", "column", "layers")):
            continue
        look = view_objects(view, state.grids)
        if look is None or len(look.flat) > 60:
            continue
        if not look.charge(budget):
            return
        given = 0
        cells = [np.array(o, dtype=np.int64) for o in look.flat]
        first = min(range(len(before)), key=lambda k: len(look.objects[k]))
        for one in COPIES:
            if not budget.charge(3.0 * len(look.objects[first]) * len(one.places) + 1):
                return
            if not _plausible(look, cells, one, first, before, changed):
                continue
            budget.charge(5.0 * len(cells))
            made = [
                _find_copied_cells(cells[n], one, before[of])
                for n, of in enumerate(look.of.tolist())
            ]
            for colour in (None, *goal.made_colours):
                if colour is not None and (one.instead or given or not colour):
                    continue
                for condition in _conditions(
                    look, cells, made, one, colour, before, after, changed
                ):
                    step = build_step(view, condition, one, colour)
                    budget.charge(50.0)
                    if apply(step, state.grids) == goal.outputs:
                        yield step
                        given += 1
            if given >= MAX_STEPS:
                break


def _plausible(
    look: ViewedObjects,
    cells: list[IntArray],
    one: Copy,
    first: int,
    before: list[IntArray],
    changed: list[NDArray[np.bool_]],
) -> bool:
    """Return whether copies can explain what has changed in one grid, whatever their colour."""
    left = changed[first].copy()
    for n in np.flatnonzero(look.of == first):
        there, _ = _find_copied_cells(cells[n], one, before[first])
        left[tuple(there.T)] = False
        if one.instead:
            left[tuple(cells[n].T)] = False
        if not left.any():
            return True
    return not left.any()


def _conditions(
    look: ViewedObjects,
    cells: list[IntArray],
    made: list[tuple[IntArray, IntArray]],
    one: Copy,
    colour: int | None,
    before: list[IntArray],
    after: list[IntArray],
    changed: list[NDArray[np.bool_]],
) -> list[Condition]:
    """Return up to three of the cheapest conditions whose objects' copies explain all changes."""
    right = np.zeros(len(look.flat), bool)
    for n, (there, ink) in enumerate(made):
        of = look.of[n]
        at = tuple(there.T)
        new, old = after[of][at], before[of][at]
        fits = new == (ink if colour is None else colour)
        if not one.instead:
            fits |= (old == new) & (new != 0)
        right[n] = fits.all()
    if not right.any() or not _explained(look, cells, made, one, right, changed):
        return []
    conditions, holds = look.compute_conditions()
    found = []
    for k in np.flatnonzero((~holds | right).all(axis=1))[:20]:
        if _explained(look, cells, made, one, holds[k], changed):
            found.append(conditions[k])
        if len(found) == 3:
            break
    return found


def _explained(
    look: ViewedObjects,
    cells: list[IntArray],
    made: list[tuple[IntArray, IntArray]],
    one: Copy,
    which: BoolArray,
    changed: list[NDArray[np.bool_]],
) -> bool:
    """Return whether copies of these objects explain all changed cells.

    If the copies replace the objects, their old places are explained too.
    """
    left = [c.copy() for c in changed]
    for n in np.flatnonzero(which):
        grid = left[look.of[n]]
        grid[tuple(made[n][0].T)] = False
        if one.instead:
            grid[tuple(cells[n].T)] = False
    return not any(grid.any() for grid in left)


def _find_copied_cells(own: IntArray, one: Copy, grid: IntArray) -> tuple[IntArray, IntArray]:
    """Return the cells of a copy that lie in the grid, of shape (cells, 2), and their colours."""
    height, width = grid.shape
    (a, b), (c, d) = own.min(axis=0), own.max(axis=0) + 1
    i, j = own.T
    times = np.arange(1, max(height, width) + 1 if one.on else 2)[:, None]
    there, ink = [], []
    for text in one.places:
        x, y = compile_expression(text, "i, j, a, b, c, d, k")(i, j, a, b, c, d, times)
        x, y = np.broadcast_arrays(x, y, times + 0 * i)[:2]
        inside = (x >= 0) & (x < height) & (y >= 0) & (y < width)
        there.append(np.stack([x[inside], y[inside]], axis=1))
        ink.append(np.broadcast_to(grid[i, j], inside.shape)[inside])
    return np.concatenate(there), np.concatenate(ink)


def build_step(view: View, condition: Condition, one: Copy, colour: int | None) -> Step:
    """Return the step that copies all objects of `view` that meet `condition`.

    Args:
        view: How objects are recognised in the grid.
        condition: The condition on an object.
        one: How an object is copied.
        colour: Colour of all copies, or None if the copies keep the colours of the object.
    """
    uses_many = "many" in condition.text
    lines = ["r = [row[:] for row in g]"]
    if uses_many:
        lines.append(f"many = {view.text}")
    chosen = "many" if uses_many else view.text
    if one.instead:
        chosen = "chosen"
        test = f" if {condition.text}" if condition.text else ""
        lines.append(f"chosen = [o for o in {'many' if uses_many else view.text}{test}]")
        lines += ["for o in chosen:", "    for i, j in o:", "        r[i][j] = 0"]
    lines.append(f"for o in {chosen}:")
    pad = "    "
    if condition.text and not one.instead:
        lines.append(f"    if {condition.text}:")
        pad += "    "
    lines += [f"{pad}a, b, c, d = box(o)", f"{pad}for i, j in o:"]
    pad += "    "
    if one.on:
        lines.append(f"{pad}for k in range(1, 30):")
        pad += "    "
    if len(one.places) == 1:
        lines.append(f"{pad}x, y = {one.places[0][1:-1]}")
    else:
        lines.append(f"{pad}for x, y in ({', '.join(one.places)}):")
        pad += "    "
    empty = "" if one.instead else " and not g[x][y]"  # fmt: skip
    lines.append(f"{pad}if 0 <= x < len(g) and 0 <= y < len(g[0]){empty}:")
    lines.append(f"{pad}    r[x][y] = {'g[i][j]' if colour is None else colour}")
    lines.append("g = r")
    noun = describe_objects(view, condition)
    said = one.says.format(noun) + (f", in {colour_name(colour)}" if colour is not None else "")
    price = 1.6 + view.cost + condition.cost + one.cost + 0.8 * (colour is not None)
    return Step("\n".join(lines), said, price)


FINDERS = ((2.2, copy_objects),)
