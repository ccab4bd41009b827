"""The goal of a grid search, its states, and facts about a state that the catalogue uses."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .grammar import Grid, Grids, Program

Key: TypeAlias = tuple[tuple[int, bytes], ...]


class State(NamedTuple):
    """A search state: a program, and the grid that it makes from each shown input."""

    grids: Grids
    program: Program


class Goal:
    """The outputs that a search has to reach, with their colours and sizes.

    Args:
        inputs: The shown inputs.
        outputs: The shown outputs, in the same order.

    Attributes:
        key: Hashable key of the outputs (`grids_key`).
        shapes: Height and width of each output.
        same_shapes: Whether every output has the size of its input.
        cells: Total number of cells in all inputs and outputs, from which the cost of a step is
            computed.
        colours: All colours of the inputs and outputs, sorted.
        lasting: Colours other than 0 that occur in every input and in every output, sorted.
        made_colours: All colours of the outputs, sorted.
    """

    def __init__(self, inputs: Grids, outputs: Grids) -> None:
        self.inputs, self.outputs = inputs, outputs
        self.key = grids_key(outputs)
        self.shapes = [shape(grid) for grid in outputs]
        self.same_shapes = self.shapes == [shape(grid) for grid in inputs]
        self.cells = sum(len(g) * len(g[0]) for g in (*inputs, *outputs))
        self.colours = sorted({v for g in (*inputs, *outputs) for row in g for v in row})
        every = [{v for row in g for v in row} for g in (*inputs, *outputs)]
        self.lasting = sorted(set.intersection(*every) - {0})
        self.made_colours = sorted({v for g in outputs for row in g for v in row})

    def estimate_distance(self, grids: Grids) -> float:
        """Estimate how much the remaining steps cost that turn `grids` into the outputs.

        The estimate is higher if the sizes of `grids` are unlikely to become the sizes of the
        outputs in one step. It is also higher if a grid has lost a colour that occurs in every
        input and output.
        """
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
        """Return whether each of `grids` has the same size as its output."""
        return [shape(grid) for grid in grids] == self.shapes


def shape(grid: Grid) -> tuple[int, int]:
    """Return the height and width of `grid`."""
    return len(grid), len(grid[0])


def grids_key(grids: Grids) -> Key:
    """Return a hashable key for `grids`. Two sequences of equal grids have equal keys.

    Raises:
        ValueError: A cell is not an integer from 0 to 255.
        TypeError: A cell is not a number.
    """
    return tuple((len(g[0]), b"".join(map(bytes, g))) for g in grids)


# --- Facts about a state that the catalogue needs: its sizes and colours next to the outputs'.

Array = NDArray[np.int64]


class Facts:
    """Facts about one search state that the modules of the catalogue use, each computed only once.

    Args:
        state: The search state with the current grids.
        goal: The outputs that the search has to reach.
    """

    def __init__(self, state: State, goal: Goal) -> None:
        self.grids, self.goal = state.grids, goal
        self.depth = len(state.program.steps)
        self.shapes = [shape(grid) for grid in state.grids]
        both = list(zip(self.shapes, goal.shapes, strict=True))
        self.fits = self.shapes == goal.shapes
        self.turned = all(a == b[::-1] for a, b in both)
        self.larger = all(a[0] >= b[0] and a[1] >= b[1] for a, b in both)
        self.smaller = all(a[0] <= b[0] and a[1] <= b[1] for a, b in both)
        self.square = all(a == b for a, b in self.shapes)
        self.first = self.depth == 0

    @property
    def may_shrink(self) -> bool:
        """Return whether steps that cut out a region of the grids may help."""
        return self.first or (not self.fits and not self.smaller)

    @property
    def may_keep_size(self) -> bool:
        """Return whether steps that keep the size of the grids may help.

        They may help on the shown inputs, and on grids that already have the sizes of the outputs.
        """
        return self.first or self.fits

    @cached_property
    def colours(self) -> list[set[int]]:
        """Return the set of colours of each grid."""
        return [{v for row in g for v in row} for g in self.grids]

    @cached_property
    def any_colour(self) -> list[int]:
        """Return the colours that occur in at least one grid, sorted."""
        return sorted(set().union(*self.colours))

    @cached_property
    def every_colour(self) -> list[int]:
        """Return the colours that occur in every grid, sorted."""
        return sorted(set.intersection(*self.colours))

    @cached_property
    def usual_colours(self) -> list[int]:
        """Return the colours other than 0 that occur in at least half of the grids, sorted."""
        held = [c for c in self.any_colour if c]
        return [c for c in held if 2 * sum(c in one for one in self.colours) >= len(self.colours)]

    @cached_property
    def removed_colours(self) -> list[int]:
        """Return the colours other than 0 that occur in some grid but in no output, sorted."""
        return [c for c in self.any_colour if c and c not in self.goal.made_colours]

    @cached_property
    def paint_colours(self) -> list[int]:
        """Return the colours that a step should paint with.

        They are the colours other than 0 that occur in outputs but not in the grids. If there are
        no such colours, the first four colours of the outputs are returned.
        """
        made = [c for c in self.goal.made_colours if c]
        new = [c for c in made if c not in self.any_colour]
        return new or made[:4]

    @cached_property
    def growth(self) -> tuple[int, int] | None:
        """Return the two factors by which the outputs are higher and wider than the current grids.

        None is returned unless both factors are integers and equal in all pairs.
        """
        found = set()
        for (h, w), (high, wide) in zip(self.shapes, self.goal.shapes, strict=True):
            if high % h or wide % w:
                return None
            found.add((high // h, wide // w))
        return found.pop() if len(found) == 1 else None

    @cached_property
    def common_size(self) -> tuple[int, int] | None:
        """Return the height and width of the outputs, or None if the outputs differ in size."""
        return self.goal.shapes[0] if len(set(self.goal.shapes)) == 1 else None

    @cached_property
    def arrays(self) -> list[Array]:
        """Return the current grids as int64 arrays of shape (height, width)."""
        return [np.array(g, dtype=np.int64) for g in self.grids]

    @cached_property
    def output_arrays(self) -> list[Array]:
        """Return the outputs as int64 arrays of shape (height, width)."""
        return [np.array(g, dtype=np.int64) for g in self.goal.outputs]
