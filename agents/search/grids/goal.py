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
        self.made_colours = sorted({v for g in outputs for row in g for v in row})

    def has_shapes(self, grids: Grids) -> bool:
        """Whether these grids have the sizes of the outputs."""
        return [shape(grid) for grid in grids] == self.shapes


def shape(grid: Grid) -> tuple[int, int]:
    return len(grid), len(grid[0])


def key(grids: Grids) -> Key:
    """Equal for equal grids. Raises ValueError on a cell that is no whole number from 0 to 255,
    and TypeError on one that is no number."""
    return tuple((len(g[0]), b"".join(map(bytes, g))) for g in grids)
