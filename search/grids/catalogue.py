"""The catalogue of steps with which the search extends a grid program.

Each module that it collects contains the steps of one concept, such as cropping or colouring. The
parameters of the steps, such as colours and distances, are read from the current grids and the
outputs.
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
    """Yield every step that may bring the grids of `state` closer to the outputs of `goal`.

    Modules with cheap steps come first.
    """
    facts = Facts(state, goal)
    for concept in CONCEPTS:
        yield from concept.steps(facts)
