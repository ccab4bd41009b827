"""Finders that take 0 for empty, on grids whose background is another colour: the most frequent one
changes places with black before a step and after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..budget import Budget
from . import copying, moving, objects, patterns
from .goal import Goal, State
from .grammar import Grid, Grids, Step, apply
from .object_features import GROUND, compiled

Finder = Callable[[State, Goal, Budget], Iterator[Step]]

_SWAP = "[[ground if v == 0 else 0 if v == ground else v for v in row] for row in g]"


def swapped(grid: Grid, ground: int) -> Grid:
    return [[ground if v == 0 else 0 if v == ground else v for v in row] for row in grid]


def on_ground(finder: Finder) -> Finder:
    """The finder, asked about grids with their background black where that is another colour in all."""

    def found(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
        grounds = [compiled(GROUND, "g")(g) for g in state.grids]
        if 0 in grounds or not budget.charge(5.0):
            return
        grids: Grids = tuple(map(swapped, state.grids, grounds))
        wanted: Grids = tuple(map(swapped, goal.outputs, grounds))
        for step in finder(State(grids, state.program), Goal(grids, wanted), budget):
            told = Step(
                f"ground = backdrop(g)\ng = {_SWAP}\n{step.code}\ng = {_SWAP}",
                f"with the most frequent colour and black in each other's place, {step.says}",
                step.cost + 0.6,
            )
            budget.charge(30.0)
            if apply(told, state.grids) == goal.outputs:
                yield told

    found.__name__ = f"{finder.__name__}_on_ground"
    return found


FINDERS = tuple(
    (price + 0.6, on_ground(finder))
    for price, finder in (
        *objects.FINDERS,
        *patterns.FINDERS[1:],
        *moving.FINDERS,
        *copying.FINDERS,
    )
)
