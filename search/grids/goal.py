"""The search goal, the states that programs reach, and facts about a state for the catalogue."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .grammar import Grid, Grids, Program

Key: TypeAlias = tuple[tuple[int, bytes], ...]


class State(NamedTuple):
    """The grids that a program makes of the shown inputs, one per pair."""

    grids: Grids
    program: Program


class Goal:
    """The outputs that a search has to reach, with their colours and sizes.

    Args:
        inputs: The shown inputs.
        outputs: The shown outputs, in the same order.

    Attributes:
        key: Key of the outputs.
        shapes: Height and width of each output.
        same_shapes: Whether every output has the size of its input.
        cells: Number of cells of all inputs and outputs together, used to charge the budget.
        colours: All colours of inputs and outputs.
        lasting: Colours other than 0 that are in every input and in every output.
        made_colours: All colours of the outputs.
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
        """Estimate the distance of the grids from the outputs, in units of cost.

        The estimate is higher if the sizes of the grids are unlikely to become the sizes of the
        outputs in one step. It is also higher if a grid has lost a colour that every input and
        output has.
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
        """Return whether the grids have the sizes of the outputs."""
        return [shape(grid) for grid in grids] == self.shapes


def shape(grid: Grid) -> tuple[int, int]:
    """Return the height and width of a grid."""
    return len(grid), len(grid[0])


def grids_key(grids: Grids) -> Key:
    """Return a hashable key that is equal for equal grids.

    Raises:
        ValueError: If a cell is no integer from 0 to 255.
        TypeError: If a cell is no number.
    """
    return tuple((len(g[0]), b"".join(map(bytes, g))) for g in grids)


# --- Facts about a state that the catalogue needs: its sizes and colours next to the outputs'.

Array = NDArray[np.int64]


class Facts:
    """Facts about one search state, computed once for all parts of the catalogue of steps."""

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
        """Return whether steps that cut out a part of the grids may help."""
        return self.first or (not self.fits and not self.smaller)

    @property
    def may_keep_size(self) -> bool:
        """Return whether steps that keep the size may help.

        It is true for the inputs and for grids that have the outputs' sizes.
        """
        return self.first or self.fits

    @cached_property
    def colours(self) -> list[set[int]]:
        """Return for each grid the set of its colours."""
        return [{v for row in g for v in row} for g in self.grids]

    @cached_property
    def any_colour(self) -> list[int]:
        """Return the colours that at least one grid has, sorted."""
        return sorted(set().union(*self.colours))

    @cached_property
    def every_colour(self) -> list[int]:
        """Return the colours that all grids have, sorted."""
        return sorted(set.intersection(*self.colours))

    @cached_property
    def usual_colours(self) -> list[int]:
        """Return the colours other than 0 that at least half of the grids have, sorted."""
        held = [c for c in self.any_colour if c]
        return [c for c in held if 2 * sum(c in one for one in self.colours) >= len(self.colours)]

    @cached_property
    def removed_colours(self) -> list[int]:
        """Return the colours other than 0 that are in a grid but in no output."""
        return [c for c in self.any_colour if c and c not in self.goal.made_colours]

    @cached_property
    def paint_colours(self) -> list[int]:
        """Return the colours that a step may paint.

        These are the colours that occur in outputs but not in the grids. If there are none, they
        are the first four colours of the outputs.
        """
        made = [c for c in self.goal.made_colours if c]
        new = [c for c in made if c not in self.any_colour]
        return new or made[:4]

    @cached_property
    def growth(self) -> tuple[int, int] | None:
        """Return the factors by which the outputs are higher and wider than the inputs.

        The result is None unless both factors are integers and equal in all pairs.
        """
        found = set()
        for (h, w), (high, wide) in zip(self.shapes, self.goal.shapes, strict=True):
            if high % h or wide % w:
                return None
            found.add((high // h, wide // w))
        return found.pop() if len(found) == 1 else None

    @cached_property
    def common_size(self) -> tuple[int, int] | None:
        """Return the height and width of the outputs if all outputs are equally large, otherwise
        None.
        """
        return self.goal.shapes[0] if len(set(self.goal.shapes)) == 1 else None

    @cached_property
    def arrays(self) -> list[Array]:
        """Return the grids as NumPy arrays."""
        return [np.array(g, dtype=np.int64) for g in self.grids]

    @cached_property
    def output_arrays(self) -> list[Array]:
        """Return the outputs as NumPy arrays."""
        return [np.array(g, dtype=np.int64) for g in self.goal.outputs]
