"""Problems whose background is not black (0).

The two colours are swapped, so that all rules for black backgrounds apply. The programs found swap
them before their own steps and again after them.
"""

from __future__ import annotations

from .goal import shape
from .grammar import Grid, Grids, Program, Step

MIN_BACKGROUND_SHARE = 0.4  # minimum share of an input's cells that its background covers
_SWAP = "g = [[0 if v == ground else ground if v == 0 else v for v in row] for row in g]"
SWAP_STEP = Step(
    f"ground = commonest(g)\n{_SWAP}", "take the most frequent colour for the background", 0.6
)
SWAP_BACK_STEP = Step(_SWAP, "", 0.0)


def find_background(grid: Grid) -> int:
    """Return the most frequent colour of a grid."""
    cells = [v for row in grid for v in row]
    return max(sorted(set(cells)), key=cells.count)


def swap_background(inputs: Grids, outputs: Grids) -> tuple[Grids, Grids] | None:
    """Return the pairs with background and black swapped.

    Returns:
        The inputs and outputs, or None unless every input has a background other than black that
        covers at least the share `MIN_BACKGROUND_SHARE` of it.
    """
    grounds = [find_background(grid) for grid in inputs]
    for grid, colour in zip(inputs, grounds, strict=True):
        height, width = shape(grid)
        if (
            not colour
            or sum(row.count(colour) for row in grid) < MIN_BACKGROUND_SHARE * height * width
        ):
            return None
    made = [
        tuple(_swap(g, c) for g, c in zip(grids, grounds, strict=True))
        for grids in (inputs, outputs)
    ]
    return made[0], made[1]


def _swap(grid: Grid, colour: int) -> Grid:
    return [[0 if v == colour else colour if v == 0 else v for v in row] for row in grid]


def add_swaps(program: Program) -> Program:
    """Return the program with the steps that swap the colours before and after it."""
    return Program((SWAP_STEP, *program.steps, SWAP_BACK_STEP))
