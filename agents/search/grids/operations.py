"""The catalogue of steps that a state is expanded by, whatever the goal is."""

from __future__ import annotations

from collections.abc import Iterator

from .goal import Goal, State
from .grammar import Step

_PLAIN = [
    Step("g = [row[::-1] for row in g]", "mirror the grid from left to right", 2.0),
    Step("g = g[::-1]", "mirror the grid from top to bottom", 2.0),
    Step("g = [list(row) for row in zip(*g)]", "make the columns rows", 2.2),
    Step("g = [list(row) for row in zip(*g[::-1])]", "turn the grid clockwise", 2.2),
    Step("g = [list(row) for row in zip(*g)][::-1]", "turn the grid anticlockwise", 2.2),
    Step("g = [row[::-1] for row in g[::-1]]", "turn the grid by half a turn", 2.2),
]


def steps(state: State, goal: Goal) -> Iterator[Step]:
    """Every step that is worth a try on a state, cheapest kinds first."""
    yield from _PLAIN
