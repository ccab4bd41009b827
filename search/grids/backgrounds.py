"""Support for problems whose grids have a background colour other than black (0).

The background colour and black are swapped in all grids, so that the rules for black backgrounds
apply. Every program that is found for the swapped grids gets one step that swaps the colours at the
start, and one that swaps them back at the end.
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
    """Return the most frequent colour of `grid`."""
    cells = [v for row in grid for v in row]
    return max(sorted(set(cells)), key=cells.count)


def swap_background(inputs: Grids, outputs: Grids) -> tuple[Grids, Grids] | None:
    """Return the shown pairs with the background colour of each input and black (0) swapped.

    Returns:
        The changed inputs and the changed outputs. None unless the most frequent colour of every
        input is not black and covers at least the share `MIN_BACKGROUND_SHARE` of that input.
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
    """Return `program` with a first and a last step that swap the background colour and black."""
    return Program((SWAP_STEP, *program.steps, SWAP_BACK_STEP))
