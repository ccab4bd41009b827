"""Support for problems whose outputs show a small grid in one corner and are empty elsewhere.

The search looks for programs that make the small grid. A final step then places the small grid in
the corner of an empty grid of the input's size.
"""

from __future__ import annotations

from .goal import shape
from .grammar import Grid, Grids, Program, Step

MAX_SHARE = 0.6  # maximum share of all output cells that the small grids cover
CORNER_COST = 1.0
SAVE_SIZE = Step("high, wide = len(g), len(g[0])", "", 0.0)
CORNERS = (
    (False, False, "upper left"),
    (False, True, "upper right"),
    (True, False, "lower left"),
    (True, True, "lower right"),
)


def find_corner(inputs: Grids, outputs: Grids) -> tuple[Grids, Step] | None:
    """Find the small grid that each output shows in one corner.

    Returns:
        The small grids, and the step that places a small grid in the corner. If several corners are
        possible, the corner with the smallest grids is used. None if an output differs from its
        input in size, if the small grids cover more than the share `MAX_SHARE` of the outputs, or
        if fewer than a quarter of the coloured cells of an input are empty in its output.
    """
    if list(map(shape, inputs)) != list(map(shape, outputs)):
        return None
    best: tuple[int, Grids, Step] | None = None
    for below, right, says in CORNERS:
        small = [_shown(out, below, right) for out in outputs]
        cells = sum(len(g) * len(g[0]) for g in small if g)
        if not all(small) or (best and best[0] <= cells):
            continue
        code = f"g = cornered(g, high, wide, {below}, {right})"
        told = f"put that into the {says} corner of an empty grid of the old size"
        best = cells, tuple(small), Step(code, told, CORNER_COST)
    every = sum(len(g) * len(g[0]) for g in outputs)
    if best is None or best[0] > MAX_SHARE * every or not _wiped(inputs, outputs):
        return None
    return best[1], best[2]


def _shown(out: Grid, below: bool, right: bool) -> Grid:
    """Return the part from the corner to the farthest coloured row and column."""
    rows = [i for i, row in enumerate(out) if any(row)]
    columns = [j for j, line in enumerate(zip(*out, strict=True)) if any(line)]
    if not rows:
        return []
    kept = out[rows[0] :] if below else out[: rows[-1] + 1]
    return [row[columns[0] :] if right else row[: columns[-1] + 1] for row in kept]


def _wiped(inputs: Grids, outputs: Grids) -> bool:
    """Return whether in every pair at least a fourth of the input's coloured cells become empty."""
    for g, out in zip(inputs, outputs, strict=True):
        pairs = [(v, w) for row, made in zip(g, out, strict=True) for v, w in zip(row, made, strict=True)]  # fmt: skip
        if 4 * sum(v > 0 and not w for v, w in pairs) < sum(v > 0 for v, _ in pairs):
            return False
    return True


def place_in_corner(program: Program, last: Step) -> Program:
    """Return `program` followed by the step `last`, which places the small grid in its corner.

    Args:
        program: A program that makes the small grid.
        last: The step that `find_corner` returned.
    """
    return Program((SAVE_SIZE, *program.steps, last))
