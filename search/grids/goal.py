"""What a search has and wants: the outputs, and the grids that a program made so far has led to."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

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


# --- What the catalogue asks about a state: sizes and colours beside those of the outputs.

Array = NDArray[np.int64]


class Facts:
    """Of one state; made once for all parts of the catalogue."""

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
    def shrinks(self) -> bool:
        """Whether parts of the grids may be asked for."""
        return self.first or (not self.fits and not self.smaller)

    @property
    def keeps(self) -> bool:
        """Whether steps that keep the size may help: always, but early or at the right size."""
        return self.first or self.fits

    @cached_property
    def colours(self) -> list[set[int]]:
        return [{v for row in g for v in row} for g in self.grids]

    @cached_property
    def any_colour(self) -> list[int]:
        return sorted(set().union(*self.colours))

    @cached_property
    def every_colour(self) -> list[int]:
        """In each of the grids."""
        return sorted(set.intersection(*self.colours))

    @cached_property
    def usual_colours(self) -> list[int]:
        """But 0, in at least half of the grids."""
        held = [c for c in self.any_colour if c]
        return [c for c in held if 2 * sum(c in one for one in self.colours) >= len(self.colours)]

    @cached_property
    def gone(self) -> list[int]:
        """Colours but 0 that no output holds."""
        return [c for c in self.any_colour if c and c not in self.goal.made_colours]

    @cached_property
    def paints(self) -> list[int]:
        """Colours that a step may paint: first those that no grid here holds but outputs do."""
        made = [c for c in self.goal.made_colours if c]
        new = [c for c in made if c not in self.any_colour]
        return new or made[:4]

    @cached_property
    def growth(self) -> tuple[int, int] | None:
        """How many times higher and wider the outputs are, where that is one whole number each."""
        found = set()
        for (h, w), (high, wide) in zip(self.shapes, self.goal.shapes, strict=True):
            if high % h or wide % w:
                return None
            found.add((high // h, wide // w))
        return found.pop() if len(found) == 1 else None

    @cached_property
    def one_size(self) -> tuple[int, int] | None:
        """That of all outputs, where they have one."""
        return self.goal.shapes[0] if len(set(self.goal.shapes)) == 1 else None

    @cached_property
    def arrays(self) -> list[Array]:
        return [np.array(g, dtype=np.int64) for g in self.grids]

    @cached_property
    def wanted(self) -> list[Array]:
        return [np.array(g, dtype=np.int64) for g in self.goal.outputs]
