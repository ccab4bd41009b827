"""Finder of steps that build the output from objects.

Some of the steps move all objects together in rows and columns, with at most one empty line between
them. Others repeat one object as often as there are other objects, in its colours or in the colours
of the other objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Step, apply
from .features import compile_expression

MAX_OBJECTS = 16  # maximum number of objects of a grid

_VIEWS = (
    ("objects(g, True, True)", "objects (diagonals count)", 0.0),
    ("objects(g, True, False)", "objects", 0.1),
    ("objects(g, False, True)", "objects of any colours", 0.1),
    ("layers(g)", "colours", 0.3),
)
_CUTS = (("alone(g, o)", "", 0.0), ("crop(g, o)", " with all in their boxes", 0.1))
_WIDE = (
    ("int(len(many) ** 0.5)", "as many in a row as in a column", 0.2),
    ("2", "two in a row", 0.4),
    ("3", "three in a row", 0.5),
    ("len(many)", "in one row", 0.0),
    ("1", "in one column", 0.0),
)
_MARKED = (
    ("max(many, key=len)", "the largest object", 0.0),
    ("max(many, key=lambda o: hues(g, o))", "the object of most colours", 0.3),
)
_COLOURED = (
    ("p", "", 0.0),
    ("[[v and tint(g, o) for v in row] for row in p]", ", in its colour", 0.2),
)
_RUNS = (
    ("[[p for _, p in tiles]]", "side by side", 0.1),
    ("[[p] for _, p in tiles]", "below each other", 0.1),
    (
        "[[p for k, p in tiles if k == i] for i in sorted({k for k, _ in tiles})]",
        "side by side or below each other, as these stand",
        0.2,
    ),
)


def pack(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that build the output from the objects of the grid.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if len(state.program.steps) > 1 or goal.has_shapes(state.grids):
        return
    for view, noun, dear in _VIEWS:
        found = [compile_expression(view, "g")(g) for g in state.grids]
        if not budget.charge(3.0 + goal.cells / 16):
            return
        if any(not 2 <= len(many) <= MAX_OBJECTS for many in found):
            continue
        if any(sum(map(len, many)) < 4 for many in found):
            continue
        for code, says, price in (*_laid(view, noun), *_repeated(view)):
            step = Step(code, says, 2.6 + dear + price)
            if not budget.charge(4.0 + goal.cells / 64):
                return
            if apply(step, state.grids[:1]) != goal.outputs[:1]:
                continue
            budget.charge(goal.cells / 8)
            if apply(step, state.grids) == goal.outputs:
                yield step


def _laid(view: str, noun: str) -> Iterator[tuple[str, str, float]]:
    for cut, wide, gap in product(_CUTS, _WIDE, (0, 1)):
        code = (
            f"many = sorted({view}, key=lambda o: box(o)[0] + box(o)[2])\n"
            f"n = {wide[0]}\n"
            "rows = [many[k : k + n] for k in range(0, len(many), n)]\n"
            "rows = [sorted(row, key=lambda o: box(o)[1] + box(o)[3]) for row in rows]\n"
            f"g = joined([[{cut[0]} for o in row] for row in rows], {gap})"
        )
        apart = ", one cell apart" if gap else ""
        says = f"put the {noun}{cut[1]} together by where they stand, {wide[1]}{apart}"
        yield code, says, cut[2] + wide[2] + 0.2 * gap


def _repeated(view: str) -> Iterator[tuple[str, str, float]]:
    for one, colour, run, gap in product(_MARKED, _COLOURED, _RUNS, (0, 1)):
        code = (
            f"many = {view}\n"
            f"one = {one[0]}\n"
            "p = alone(g, one)\n"
            f"tiles = [(box(o)[0], {colour[0]}) for o in many if o != one]\n"
            f"g = joined({run[0]}, {gap})"
        )
        apart = ", one cell apart" if gap else ""
        says = f"for every other object put {one[1]}{colour[1]}, {run[1]}{apart}"
        yield code, says, 0.3 + one[2] + colour[2] + run[2] + 0.2 * gap


FINDERS = ((2.6, pack),)
