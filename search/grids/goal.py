"""What a search has and wants: the outputs, and the grids that a program made so far has led to."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from .grammar import Grid, Grids, Program

Key: TypeAlias = tuple[tuple[int, bytes], ...]


class State(NamedTuple):
    """grids: one for each shown pair, what `program` makes of its input."""

    grids: Grids
    program: Program


class Goal:
    """The shown pairs. cells: of all inputs and outputs together, for the budget."""

    def __init__(self, inputs: Grids, outputs: Grids) -> None:
        self.inputs, self.outputs = inputs, outputs
        self.key = key(outputs)
        self.shapes = [shape(grid) for grid in outputs]
        self.same_shapes = self.shapes == [shape(grid) for grid in inputs]
        self.cells = sum(len(g) * len(g[0]) for g in (*inputs, *outputs))
        self.colours = sorted({v for g in (*inputs, *outputs) for row in g for v in row})
        every = [{v for row in g for v in row} for g in (*inputs, *outputs)]
        self.lasting = sorted(set.intersection(*every) - {0})
        self.made_colours = sorted({v for g in outputs for row in g for v in row})

    def distance(self, grids: Grids) -> float:
        """How far grids seem from the outputs: by sizes that no single step makes theirs, and by
        colours that are in all outputs and in all inputs but no longer here."""
        shapes = [shape(grid) for grid in grids]
        far = 0.0
        if shapes != self.shapes:
            pairs = list(zip(shapes, self.shapes, strict=True))
            larger = all(a[0] >= b[0] and a[1] >= b[1] for a, b in pairs)
            smaller = all(b[0] % a[0] == 0 and b[1] % a[1] == 0 for a, b in pairs)
            smaller |= len({(b[0] - a[0], b[1] - a[1]) for a, b in pairs}) == 1
            far += 0.5 if larger or smaller else 2.0
        if self.lasting and any(
            not all(any(c in row for row in grid) for c in self.lasting) for grid in grids
        ):
            far += 1.5
        return far

    def has_shapes(self, grids: Grids) -> bool:
        """Whether these grids have the sizes of the outputs."""
        return [shape(grid) for grid in grids] == self.shapes


def shape(grid: Grid) -> tuple[int, int]:
    return len(grid), len(grid[0])


def key(grids: Grids) -> Key:
    """Equal for equal grids. Raises ValueError on a cell that is no whole number from 0 to 255,
    and TypeError on one that is no number."""
    return tuple((len(g[0]), b"".join(map(bytes, g))) for g in grids)
