"""Finders of steps that complete or recolour shapes after the example of templates.

A template is an object with several colours that is complete somewhere in the grid. Elsewhere in
the grid only some of its cells, or only its shape, can be seen. The steps complete these places
from the template, which may be turned, mirrored or enlarged. The template itself is kept or
removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Step, apply
from .features import compile_expression

MAX_CELLS = 150  # maximum number of cells of all objects of several colours in one grid

_VIEWS = (("objects(g, False, True)", 0.0), ("objects(g, False, False)", 0.3))
_KNOWN = (
    ("hues(g, o) > 1", "object of several colours", 0.0),
    ("hues(g, o) == max(hues(g, x) for x in many)", "object of most colours", 0.2),
    ("len(o) == max(map(len, many))", "largest object", 0.2),
)
_MARKS = (
    ("v in elsewhere", "the colours seen elsewhere", 0.0),
    ("v != tint(g, o)", "all but its main colour", 0.2),
)
# What happens to the rest: how `r` begins, the lines for each template, the phrase, the cost.
_RESTS = (
    ("[row[:] for row in g]", "", "", 0.0),
    (
        "[row[:] for row in g]",
        "    for i, j in o:\n        r[i][j] = 0\n",
        ", and wipe it out",
        0.2,
    ),
    ("[[0] * len(row) for row in g]", "", ", and wipe out all else", 0.3),
)
_POSES = (
    ("[[(i, j, g[i][j]) for i, j in o]]", "", 0.0),
    ("turns(g, o)", ", turned or mirrored as it fits", 0.5),
    ("sizes(g, o)", ", magnified as it fits", 0.5),
)


def complete_templates(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that copy each template to all places where some of its cells can be seen.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if not _has_templates(state, goal, budget):
        return
    rests = _RESTS if loses_cells(state, goal) else _RESTS[:1]
    for (many, dear), known, marks, poses, (begin, wipe, rest, more) in product(
        _VIEWS, _KNOWN, _MARKS, _POSES, rests
    ):
        elsewhere = "elsewhere = {g[i][j] for i, j in cells(g) if (i, j) not in own}\n"
        code = (
            f"many = {many}\n"
            f"known = [o for o in many if {known[0]}]\n"
            "own = {p for o in known for p in o}\n"
            f"{elsewhere if 'elsewhere' in marks[0] else ''}"
            f"r = {begin}\n"
            "for o in known:\n"
            f"{wipe}"
            f"    for shape in {poses[0]}:\n"
            f"        marks = [(i, j, v) for i, j, v in shape if {marks[0]}]\n"
            "        for a, b in fits(g, marks, own):\n"
            "            own |= {(i + a, j + b) for i, j, _ in marks}\n"
            "            for i, j, v in shape:\n"
            "                if 0 <= i + a < len(g) and 0 <= j + b < len(g[0]):\n"
            "                    r[i + a][j + b] = v\n"
            "g = r"
        )
        says = f"copy every {known[1]} to where its cells of {marks[1]} stand{poses[1]}{rest}"
        price = 3.0 + dear + known[2] + marks[2] + poses[2] + more
        step = Step(code, says, price)
        if not budget.charge(4.0 + goal.cells / 64 + 6.0 * bool(poses[1])):
            return
        if apply(step, state.grids[:1]) == goal.outputs[:1]:
            budget.charge(10.0 + goal.cells / 4)
            if apply(step, state.grids) == goal.outputs:
                yield step


def colour_like_templates(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that give each object with the shape of a template the colours of the template.

    The object and the template may have different sizes. Each step turns the grids of `state` into
    the outputs of `goal`.
    """
    if not _has_templates(state, goal, budget):
        return
    for (many, dear), known, poses, gone in product(_VIEWS, _KNOWN, _POSES[:2], (False, True)):
        turned = bool(poses[1])
        wipe = "for o in known:\n    for i, j in o:\n        r[i][j] = 0\n" if gone else ""
        code = (
            f"many = {many}\n"
            f"known = [o for o in many if {known[0]}]\n"
            "r = [row[:] for row in g]\n"
            f"{wipe}"
            f"shapes = [shape for o in known for shape in {poses[0]}]\n"
            "for o in many:\n"
            "    if o not in known:\n"
            "        for i, j, v in dressed(o, shapes):\n"
            "            r[i][j] = v\n"
            "g = r"
        )
        says = f"paint every object that has the shape of some {known[1]} like it, whatever their sizes"
        if gone:
            says += ", which goes"
        price = 3.0 + dear + known[2] + poses[2] + 0.2 * gone
        step = Step(code, says + ", turned or mirrored as it fits" * turned, price)
        if not budget.charge(4.0 + goal.cells / 64 + 6.0 * turned):
            return
        if apply(step, state.grids[:1]) == goal.outputs[:1] and apply(step, state.grids) == goal.outputs:  # fmt: skip
            yield step


def loses_cells(state: State, goal: Goal) -> bool:
    """Return whether some coloured cell of the grids of `state` is empty (0) in the output."""
    return any(
        v and not w
        for g, out in zip(state.grids, goal.outputs, strict=True)
        for row, made in zip(g, out, strict=True)
        for v, w in zip(row, made, strict=True)
    )


def _has_templates(state: State, goal: Goal, budget: Budget) -> bool:
    """Return whether every grid has objects of several colours, not too large, and another one."""
    if not goal.has_shapes(state.grids):
        return False
    look = compile_expression("objects(g, False, True)", "g")
    for g in state.grids:
        many = look(g)
        budget.charge(2.0 + len(g) * len(g[0]) / Budget.CELLS)
        several = [o for o in many if len({g[i][j] for i, j in o}) > 1]
        if not several or len(many) < 2 or sum(map(len, several)) > MAX_CELLS:
            return False
    return bool(budget.left)


FINDERS = ((2.7, complete_templates), (2.75, colour_like_templates))
