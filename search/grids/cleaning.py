"""Steps that remove noise from grids.

Some of the steps delete small objects, cells outside of any block, or cells that differ from the
cells around them. Others give each object, row or tile its most frequent colour.
"""

from __future__ import annotations

from collections.abc import Iterator

from .goal import Facts
from .grammar import Step, colour_name

_SIZES = ((2, 2, 3.0), (3, 3, 3.3), (1, 2, 3.3), (2, 1, 3.3))
_KEEPING = [
    *(
        Step(
            f"g = in_blocks(g, {high}, {wide})",
            f"keep only blocks of {high} by {wide} cells of one colour",
            price,
        )
        for high, wide, price in _SIZES
    ),
    *(
        Step(
            f"small = {{p for o in objects(g, {same}, True) if len(o) < {least} for p in o}}\n"
            "g = [[0 if (i, j) in small else v for j, v in enumerate(row)] for i, row in enumerate(g)]",
            f"delete {what} of fewer than {least} cells",
            price,
        )
        for same, what, extra in ((True, "objects", 0.0), (False, "objects of any colours", 0.2))
        for least, price in ((2, 3.1 + extra), (3, 3.3 + extra), (4, 3.5 + extra))
    ),
    Step("g = smoothed(g)", "give every cell the colour of most of the cells around it and itself", 3.2),
    *(
        Step(
            "r = [row[:] for row in g]\n"
            f"for o in {found}:\n"
            "    for i, j in boxed(o):\n"
            "        r[i][j] = most(crop(g, o))\n"
            "g = r",
            "paint the box of every object with its most frequent colour",
            price,
        )
        for found, price in (("objects(g, False, True)", 3.3), ("objects(g, False, False)", 3.4))
    ),
    Step("g = straightened(g)", "give every row, or every column, its most frequent colour, whichever changes less", 3.3),
    Step("g = mended(g)", "make the pattern of the grid perfect: every tile like most of them", 3.2),
]  # fmt: skip


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the steps that remove noise from the shown inputs.

    Nothing is yielded for grids that are the result of earlier steps.
    """
    if not facts.first:
        return
    yield from _KEEPING
    for c in facts.usual_colours:
        if len(facts.any_colour) < 3:
            return
        yield Step(
            f"for _ in range(3):\n    g = healed(g, {c})",
            f"give every {colour_name(c)} cell the colour of most of the others around it",
            3.3,
        )
