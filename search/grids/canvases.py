"""Steps that place the grid on a larger, empty canvas, or shift each row farther than the last one.

The grid is placed in the corner or in the middle in which the outputs show it, so that later steps
can draw around it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .goal import Facts, shape
from .grammar import FAILURES, Grid, Step
from .objects.features import compile_expression

# Expressions for a size: as code, as a phrase, and their cost.
_SIZES = (
    ("len(g)", "the height of the grid", 0.0),
    ("len(g[0])", "its width", 0.0),
    ("2 * len(g)", "twice its height", 0.1),
    ("2 * len(g[0])", "twice its width", 0.1),
    ("3 * len(g)", "three times its height", 0.1),
    ("3 * len(g[0])", "three times its width", 0.1),
    ("len(g[0]) // 2", "half its width", 0.2),
    ("len(g) // 2", "half its height", 0.2),
    ("2 * len(g) - 1", "twice its height less one", 0.2),
    ("2 * len(g[0]) - 1", "twice its width less one", 0.2),
    ("len(g) + len(g[0])", "its height and width together", 0.3),
    ("len(g) * len(ranked(g))", "its height for each of its colours", 0.3),
    ("len(g[0]) * len(ranked(g))", "its width for each of its colours", 0.3),
    ("len(g) * len(pixels(g))", "its height for each of its coloured cells", 0.3),
    ("len(g[0]) * len(pixels(g))", "its width for each of its coloured cells", 0.3),
)
_PLACES = (
    ("0, 0", lambda down, right: (0, 0), "in the upper left corner", 0.0),
    ("0, wide - len(g[0])", lambda down, right: (0, right), "in the upper right corner", 0.1),
    ("high - len(g), 0", lambda down, right: (down, 0), "in the lower left corner", 0.0),
    ("high - len(g), wide - len(g[0])", lambda down, right: (down, right), "in the lower right corner", 0.1),
    ("(high - len(g)) // 2, (wide - len(g[0])) // 2", lambda down, right: (down // 2, right // 2), "in the middle", 0.1),
)  # fmt: skip
_LEANING = [
    Step(
        "g = [[0] * (len(g) - 1 - i) + row + [0] * i for i, row in enumerate(g)]",
        "move every row one cell farther to the right than the row below, in a wider grid",
        3.2,
    ),
    Step(
        "g = [[0] * i + row + [0] * (len(g) - 1 - i) for i, row in enumerate(g)]",
        "move every row one cell farther to the right than the row above, in a wider grid",
        3.2,
    ),
]


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the steps that enlarge the canvas of the shown inputs, if the outputs are larger.

    Nothing is yielded for grids that are the result of earlier steps.
    """
    if not facts.first or facts.fits or not facts.smaller:
        return
    if all(
        b == (a[0], a[0] + a[1] - 1) for a, b in zip(facts.shapes, facts.goal.shapes, strict=True)
    ):
        yield from _LEANING
    height, width = (_size(facts, axis) for axis in (0, 1))
    if height is None or width is None:
        return
    for place, where, says, price in _PLACES:
        if all(
            _stands(g, out, where) for g, out in zip(facts.grids, facts.goal.outputs, strict=True)
        ):
            code = (
                f"high, wide = {height[0]}, {width[0]}\n"
                f"a, b = {place}\n"
                "r = [[0] * wide for _ in range(high)]\n"
                "for i, row in enumerate(g):\n"
                "    r[a + i][b : b + len(row)] = row\n"
                "g = r"
            )
            told = f"put the grid {says} of an empty one as high as {height[1]} and as wide as {width[1]}"
            yield Step(code, told, 1.6 + price + height[2] + width[2])


def _size(facts: Facts, axis: int) -> tuple[str, str, float] | None:
    """Return the cheapest expression for the outputs' heights (axis 0) or widths, or None."""
    wanted = [size[axis] for size in facts.goal.shapes]
    own = sorted(_SIZES, key=lambda one: (one[2], ("[0]" in one[0]) != bool(axis)))
    for text, says, price in own:
        try:
            if list(map(compile_expression(text, "g"), facts.grids)) == wanted:
                return text, says, price
        except FAILURES:
            continue
    return None


def _stands(g: Grid, out: Grid, where) -> bool:  # type: ignore[no-untyped-def]
    """Return whether the output shows all coloured cells of the grid at this place."""
    (h, w), (high, wide) = shape(g), shape(out)
    a, b = where(high - h, wide - w)
    part = np.array(out)[a : a + h, b : b + w]
    return bool(((np.array(g) == 0) | (part == g)).all())
