"""What the catalogue asks about a state: sizes and colours beside those of the outputs."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .goal import Goal, State, shape

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
