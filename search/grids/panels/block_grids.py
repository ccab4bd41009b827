"""Finder for grids that consist of blocks of one colour, with or without lines between them.

Each grid is reduced to a small grid with one cell per block. A step is found for the small grids,
and the step's result is painted onto the blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import FAILURES, Grid, Grids, Step, apply
from ..objects.features import compile_expression
from .part_problems import define_as_function, find_rule_steps, find_simple_steps, has_short_lines

MAX_STEPS = 4  # maximum number of steps for one kind of block
BUDGET_SHARE = 0.15  # share of the budget that is left
BLOCK_COST = 1.4

_BLOCKS = (
    ("panes(g)", "panel", 0.0),
    ("blocks(g)", "block", 0.1),
)
# Colour of a block `o` in the small grid.
_COLOURS = (
    ("g[o[0][0]][o[0][1]]", "", 0.0),
    ("max(g[i][j] for i, j in o)", " (whose colour is the highest number in it)", 0.5),
)


def solve_on_blocks(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that change the colours of the blocks in the shown inputs.

    Each step gives the outputs of `goal`. Nothing is yielded for grids that are the result of
    earlier steps.
    """
    if state.program.steps or not goal.has_shapes(state.grids):
        return
    within = Budget(BUDGET_SHARE * budget.left)
    yield from _coarse(state, goal, within)
    budget.charge(within.spent)


def _coarse(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    for blocks, noun, dear in _BLOCKS:
        for colour, told, more in _COLOURS:
            if not budget.charge(5.0 + goal.cells / 4):
                return
            before = _small(state.grids, blocks, colour)
            after = _small(goal.outputs, blocks, _COLOURS[0][0])
            if before is None or after is None or before == after:
                continue
            given = 0
            for step in chain(
                find_simple_steps(before, after, budget), find_rule_steps(before, after, budget)
            ):
                whole = _written(blocks, noun, colour, told, step, BLOCK_COST + dear + more)
                budget.charge(10.0 + goal.cells / 4)
                if has_short_lines(whole) and apply(whole, state.grids) == goal.outputs:
                    yield whole
                    given += 1
                if given == MAX_STEPS or not budget.left:
                    break


def _small(grids: Grids, blocks: str, colour: str) -> Grids | None:
    """Return grids with one cell per block, or None if a grid has no blocks in rows and columns."""
    found = []
    for g in grids:
        try:
            many = compile_expression(blocks, "g")(g)
        except FAILURES:
            return None
        rows = sorted({o[0][0] for o in many})
        columns = sorted({o[0][1] for o in many})
        if not 4 <= len(many) == len(rows) * len(columns):
            return None
        if len(many) == len(g) * len(g[0]):
            return None
        of = compile_expression(colour, "g, o")
        at = {o[0]: of(g, o) for o in many}
        small: Grid = [[at.get((i, j), 0) for j in columns] for i in rows]
        found.append(small)
    return tuple(found)


def _written(blocks: str, noun: str, colour: str, told: str, step: Step, price: float) -> Step:
    code = (
        f"{define_as_function(step)}\n"
        f"many = {blocks}\n"
        "width = len({o[0][1] for o in many})\n"
        f"small = [{colour} for o in sorted(many)]\n"
        "small = changed([small[k : k + width] for k in range(0, len(small), width)])\n"
        "r = [row[:] for row in g]\n"
        "for o, v in zip(sorted(many), sum(small, [])):\n"
        "    for i, j in o:\n"
        "        r[i][j] = v\n"
        "g = r"
    )
    says = f"taking every {noun}{told} for one cell: {step.says}"
    return Step(code, says, price + step.cost)


FINDERS = ((2.75, solve_on_blocks),)
