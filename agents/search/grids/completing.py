"""Grids that are completed: made symmetric, or repeated by the smallest period that they show."""

from __future__ import annotations

from collections.abc import Iterator

from .colours import named
from .facts import Facts
from .grammar import Step

_IMAGES = [
    ("[row[::-1] for row in g]", "its mirror image", 2.8),
    ("g[::-1]", "itself upside down", 2.8),
    ("[row[::-1] for row in g[::-1]]", "itself turned by half", 2.9),
    ("[list(row) for row in zip(*g)]", "itself with columns as rows", 3.0),
    ("[list(row)[::-1] for row in zip(*g)][::-1]", "itself mirrored on its other diagonal", 3.1),
    ("[list(row) for row in zip(*g[::-1])]", "itself turned clockwise", 3.1),
    ("[list(row) for row in zip(*g)][::-1]", "itself turned anticlockwise", 3.1),
]
_OVER = "image = {0}\ng = [[v or w for v, w in zip(r, s)] for r, s in zip(g, image)]"
SYMMETRIC = [Step(_OVER.format(text), f"lay the grid over {says}", price) for text, says, price in _IMAGES]  # fmt: skip
_ALL = [
    Step(
        "\n".join(_OVER.format(text) for text, _, _ in _IMAGES[:2]),
        "make the grid symmetric both ways",
        3.2,
    ),
    Step(
        "\n".join(_OVER.format(_IMAGES[n][0]) for n in (0, 1, 3)),
        "make the grid symmetric both ways and on its diagonals",
        3.4,
    ),
]


DISTINCT = Step(
    "g = distinct(g)",
    "give every empty cell the colour that neither its row nor its column has, again and again",
    3.0,
)


def steps(facts: Facts) -> Iterator[Step]:
    if facts.fits and facts.first:
        yield DISTINCT
    if facts.fits:
        yield from SYMMETRIC if facts.square else SYMMETRIC[:3]
        yield from _ALL if facts.square else _ALL[:1]
    if facts.fits:
        size, says = "len(g), len(g[0])", ""
    elif facts.smaller and facts.growth is not None:
        down, across = facts.growth
        size = f"len(g) * {down}, len(g[0]) * {across}"
        says = f", {down} times as high and {across} times as wide"
    elif facts.smaller and facts.one_size is not None:
        size = "{}, {}".format(*facts.one_size)
        says = ", to {} rows and {} columns".format(*facts.one_size)
    else:
        return
    for hole in facts.every_colour:
        yield Step(
            f"g = repeating(g, {hole}, {size})",
            f"repeat the pattern beneath the {named(hole)} cells{says}",
            3.3 if not hole or hole in facts.gone else 3.8,
        )
    for hole in facts.every_colour:
        for slope, way in ((1, "rising"), (-1, "falling")):
            yield Step(
                f"g = striped(g, {hole}, {slope}, {size})",
                f"repeat the {way} diagonal stripes beneath the {named(hole)} cells{says}",
                3.4 if not hole or hole in facts.gone else 3.9,
            )
    if not facts.fits:
        yield Step(f"g = repeating(g, -1, {size})", f"repeat the pattern{says}", 3.2)
