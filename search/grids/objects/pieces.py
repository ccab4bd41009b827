"""Finder of steps for objects that fit into a hole or a notch elsewhere in the grid.

An object fits if it has the shape of the hole, in some cases after it is turned or mirrored.
Objects that fit are moved into the hole, copied into it, or painted in another colour.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import FAILURES, Step, apply, colour_name
from .features import compile_expression

MAX_OBJECTS = 40  # maximum number of objects of a grid

_SPACES = (
    ("[h for x in objects(g, True, True) for h in holes(x)]", "hole", 0.0),
    ("pockets(g)", "hole or notch", 0.3),
    ("regions(g)", "empty region", 0.3),
)
_PIECES = (
    ("objects(g, True, False)", "object", 0.0),
    ("objects(g, True, True)", "object (diagonals count)", 0.2),
)
_ALIKE = (("form", "", 0.0), ("pose", ", turned or mirrored", 0.5))


def fit_pieces(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that move, copy or recolour the objects that fit into a hole.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if len(state.program.steps) > 1 or not goal.has_shapes(state.grids):
        return
    if not all(
        1 < len(compile_expression("objects(g, True, False)", "g")(g)) <= MAX_OBJECTS
        for g in state.grids
    ):
        return
    new = [c for c in goal.made_colours if c]
    for (spaces, hole, dear), (pieces, noun, more), (like, turned, extra) in product(
        _SPACES, _PIECES, _ALIKE
    ):
        if not budget.charge(10.0 + goal.cells / 16):
            return
        try:
            some = compile_expression(
                f"any({like}(s) == {like}(o) for s in {spaces} for o in {pieces})", "g"
            )(state.grids[0])
        except FAILURES:
            continue
        if not some:
            continue
        for done, says, price in _deeds(noun, f"{hole} of its shape{turned}", new):
            for begin, rest, cost in (
                ("[row[:] for row in g]", "", 0.0),
                ("[[0] * len(row) for row in g]", ", and wipe out all else", 0.4),
            ):
                code = (
                    f"r = {begin}\n"
                    f"spaces = {spaces}\n"
                    f"for o in {pieces}:\n"
                    "    for s in spaces:\n"
                    f"        if {like}(s) == {like}(o):\n"
                    f"{done}"
                    "g = r"
                )
                if not budget.charge(8.0 + goal.cells / 16):
                    return
                step = Step(code, says + rest, 2.6 + dear + more + extra + price + cost)
                if apply(step, state.grids[:1]) != goal.outputs[:1]:
                    continue
                if apply(step, state.grids) == goal.outputs:
                    yield step


def _deeds(noun: str, hole: str, new: list[int]) -> Iterator[tuple[str, str, float]]:
    pad = "            "
    wipe = f"{pad}for i, j in o:\n{pad}    r[i][j] = 0\n"
    fill = f"{pad}for i, j in s:\n{pad}    r[i][j] = tint(g, o)\n"
    yield wipe + fill, f"move every {noun} into the {hole}", 0.4
    yield fill, f"fill the {hole} with every {noun} that fits", 0.6
    for colour in new:
        mark = f"{pad}for i, j in o:\n{pad}    r[i][j] = {colour}\n"
        yield mark, f"make every {noun} that fits into a {hole} {colour_name(colour)}", 1.0


FINDERS = ((3.2, fit_pieces),)
