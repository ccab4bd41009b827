"""Finder of chains of copies.

From each object a row of copies leads to the border of the grid. Every copy is turned or mirrored
relative to the previous copy and touches it at a side or a corner.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Step, apply

_TURNS = (
    ("[list(row) for row in zip(*p[::-1])]", "turned clockwise"),
    ("[list(row) for row in zip(*p)][::-1]", "turned anticlockwise"),
    ("[row[::-1] for row in p[::-1]]", "turned by half a turn"),
    ("[row[::-1] for row in p]", "mirrored from left to right"),
    ("p[::-1]", "mirrored from top to bottom"),
)
_WAYS = (
    (0, 1, "to the right"),
    (0, -1, "to the left"),
    (1, 0, "downwards"),
    (-1, 0, "upwards"),
    (1, 1, "down right"),
    (-1, -1, "up left"),
    (1, -1, "down left"),
    (-1, 1, "up right"),
)


def draw_chains(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that draw a chain of copies from each object of the shown inputs.

    Each step gives the outputs of `goal`. Nothing is yielded for grids that are the result of
    earlier steps.
    """
    if state.program.steps or not goal.has_shapes(state.grids) or not budget.charge(5.0):
        return
    first, wanted = state.grids[:1], goal.outputs[:1]
    if any(
        v and v != w
        for g, out in zip(state.grids, goal.outputs, strict=True)
        for row, made in zip(g, out, strict=True)
        for v, w in zip(row, made, strict=True)
    ):
        return
    for same, kind in (("False", "shape"), ("True", "object")):
        for a, b, where in _WAYS:
            for turn, says in _TURNS:
                step = _written(same, kind, a, b, where, turn, says)
                if not budget.charge(goal.cells / len(state.grids) / Budget.CELLS + 2.0):
                    return
                if apply(step, first) == wanted and apply(step, state.grids) == goal.outputs:
                    yield step


def _written(same: str, kind: str, a: int, b: int, where: str, turn: str, says: str) -> Step:
    moved = [f"{name} += {size}" if way > 0 else f"{name} -= {size}" for name, way, size in (("i", a, "len(p)"), ("j", b, "len(p[0])")) if way]  # fmt: skip
    code = (
        "r = [row[:] for row in g]\n"
        f"for o in objects(g, {same}, True):\n"
        "    i, j, _, _ = box(o)\n"
        "    p = alone(g, o)\n"
        "    for _ in range(30):\n"
        f"        p = {turn}\n"
        + "".join(f"        {line}\n" for line in moved)
        + "        for y, row in enumerate(p):\n"
        "            for x, v in enumerate(row):\n"
        "                if v and 0 <= i + y < len(g) and 0 <= j + x < len(g[0]):\n"
        "                    r[i + y][j + x] = v\n"
        "g = r"
    )
    said = f"repeat every {kind} {where} up to the border, each time {says}"
    return Step(code, said, 4.0 + 0.3 * (kind == "object") + 0.2 * bool(a and b))


FINDERS = ((2.4, draw_chains),)
