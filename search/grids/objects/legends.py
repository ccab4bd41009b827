"""Finder of steps that follow a colour key inside the grid.

A key consists of small blocks with two colours each. A block may mean that one of its colours
becomes the other colour in the rest of the grid, or that the two colours are swapped. It may also
mean that cells enclosed by areas of one colour, or cells that touch these areas, get the other
colour. In the output the key is unchanged, removed, or cut off.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import FAILURES, Step, apply
from .features import compile_expression

_KEYS = (
    ("keys(g, False, False)", "two cells side by side", 0.0),
    ("keys(g, False, True)", "blocks two cells wide", 0.2),
    ("keys(g, True, True)", "blocks two cells high", 0.3),
)
_READ = (
    ("{v: w for v, w, _ in known}", "the first colour of each becomes the second", 0.0),
    ("{w: v for v, w, _ in known}", "the second colour of each becomes the first", 0.0),
    (
        "{v: w for x in known for v, w in (x[:2], x[1::-1])}",
        "the two colours of each change places",
        0.1,
    ),
)
# Lines that build `r` from the meaning of each colour.
_DONE = (
    (
        "r = [[meant.get(v, v) for v in row] for row in g]\n",
        "",
        0.0,
    ),
    (
        "r = [row[:] for row in g]\n"
        "for o in objects(g, True, True):\n"
        "    for i, j in shut_in(o):\n"
        "        r[i][j] = r[i][j] or meant.get(tint(g, o), 0)\n",
        " in the holes of objects",
        0.6,
    ),
    (
        "r = [row[:] for row in g]\n"
        "for o in objects(g, True, True):\n"
        "    for i, j in halo(g, o):\n"
        "        r[i][j] = r[i][j] or meant.get(tint(g, o), 0)\n",
        " around objects",
        0.7,
    ),
)
_ENDS = (
    ("for i, j in own:\n    r[i][j] = g[i][j]\ng = r", "", 0.0),
    ("for i, j in own:\n    r[i][j] = 0\ng = r", ", and wipe these out", 0.1),
    (
        "g = cut(r, [p for p in cells(r) if p not in own])",
        ", and take the rest",
        0.3,
    ),
)


def apply_key(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that recolour the grid according to a colour key in the grid.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if len(state.program.steps) > 1 or not budget.charge(5.0):
        return
    fits = goal.has_shapes(state.grids)
    for keys, noun, dear in _KEYS:
        known = compile_expression(keys, "g")
        try:
            if not all(known(g) for g in state.grids):
                continue
        except FAILURES:
            continue
        for (read, told, more), (done, where, extra), (end, last, cost) in product(
            _READ, _DONE, _ENDS
        ):
            if end.startswith("g = cut") == fits:
                continue
            code = (
                f"known = {keys}\n"
                "own = {p for x in known for p in x[2]}\n"
                f"meant = {read}\n"
                f"{done}{end}"
            )
            says = f"read {noun} as a key: {told}{where}{last}"
            if not budget.charge(4.0 + goal.cells / 64):
                return
            step = Step(code, says, 3.0 + dear + more + extra + cost)
            if apply(step, state.grids[:1]) != goal.outputs[:1]:
                continue
            budget.charge(goal.cells / 4)
            if apply(step, state.grids) == goal.outputs:
                yield step


FINDERS = ((3.05, apply_key),)
