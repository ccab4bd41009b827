"""Steps that mirror or turn the grid."""

from __future__ import annotations

from collections.abc import Iterator

from ..goal import Facts
from ..grammar import Step

KEEPING = [
    Step("g = [row[::-1] for row in g]", "mirror the grid from left to right", 2.0),
    Step("g = g[::-1]", "mirror the grid from top to bottom", 2.0),
    Step("g = [row[::-1] for row in g[::-1]]", "turn the grid by half a turn", 2.2),
]
TRANSPOSING = [
    Step("g = [list(row) for row in zip(*g)]", "make the columns rows", 2.2),
    Step("g = [list(row) for row in zip(*g[::-1])]", "turn the grid clockwise", 2.2),
    Step("g = [list(row) for row in zip(*g)][::-1]", "turn the grid anticlockwise", 2.2),
    Step(
        "g = [list(row)[::-1] for row in zip(*g)][::-1]",
        "mirror the grid on its other diagonal",
        2.4,
    ),
]


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the steps that mirror or turn the grid.

    Steps that cannot help in the state that `facts` describes are left out.
    """
    yield from KEEPING
    if facts.first or facts.square or facts.turned or not facts.fits:
        yield from TRANSPOSING
