"""The catalogue of steps that expand a state.

There is one module for each concept. Parameters of the steps are read off the grids of the state
and the outputs.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import canvases, cleaning, counting, cropping, growing, patterns, rows
from .cells import colouring, masking, shifting, turning
from .goal import Facts, Goal, State
from .grammar import Step
from .panels import panels
from .strokes import drawing

CONCEPTS = (
    colouring, turning, cropping, growing, panels, shifting, rows, counting, patterns, masking, drawing, cleaning, canvases,
)  # fmt: skip


def steps(state: State, goal: Goal) -> Iterator[Step]:
    """Yield every step of the catalogue that may help in a state, cheapest kinds of steps first."""
    facts = Facts(state, goal)
    for concept in CONCEPTS:
        yield from concept.steps(facts)
