"""Problems whose background is not black (0): seen with the two colours swapped, all that holds for
black grounds holds for theirs. Programs found so swap before and after."""

from __future__ import annotations

from .goal import shape
from .grammar import Grid, Grids, Program, Step

GROUND = 0.4  # share of an input's cells that a background has, at least
_SWAP = "g = [[0 if v == ground else ground if v == 0 else v for v in row] for row in g]"
BEFORE = Step(
    f"ground = commonest(g)\n{_SWAP}", "take the most frequent colour for the background", 0.6
)
AFTER = Step(_SWAP, "", 0.0)


def ground(grid: Grid) -> int:
    cells = [v for row in grid for v in row]
    return max(sorted(set(cells)), key=cells.count)


def swapped(inputs: Grids, outputs: Grids) -> tuple[Grids, Grids] | None:
    """The pairs with background and black swapped; None where no input, or not each, has another
    background."""
    grounds = [ground(grid) for grid in inputs]
    for grid, colour in zip(inputs, grounds, strict=True):
        height, width = shape(grid)
        if not colour or sum(row.count(colour) for row in grid) < GROUND * height * width:
            return None
    made = [
        tuple(_swap(g, c) for g, c in zip(grids, grounds, strict=True))
        for grids in (inputs, outputs)
    ]
    return made[0], made[1]


def _swap(grid: Grid, colour: int) -> Grid:
    return [[0 if v == colour else colour if v == 0 else v for v in row] for row in grid]


def wrapped(program: Program) -> Program:
    return Program((BEFORE, *program.steps, AFTER))
