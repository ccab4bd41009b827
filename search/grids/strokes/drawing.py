"""Steps that draw on a grid and keep its size, or remove noise from the grid.

They draw fillings, lines, rays, borders and outlines. If the outputs have colours that the grids do
not have, the steps paint in those colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ..goal import Facts
from ..grammar import Step, colour_name
from ..rows import TURN, row_and_column_steps


def _cells(value: str, says: str, price: float) -> Step:
    code = f"g = [[{value} for j, v in enumerate(row)]\n     for i, row in enumerate(g)]"
    return Step(code, says, price)


_WAYS = [
    ("[(0, 1)]", "to the right"),
    ("[(0, -1)]", "to the left"),
    ("[(1, 0)]", "down"),
    ("[(-1, 0)]", "up"),
    ("[(0, 1), (0, -1)]", "to both sides"),
    ("[(1, 0), (-1, 0)]", "up and down"),
    ("[(0, 1), (0, -1), (1, 0), (-1, 0)]", "in all four directions"),
    ("[(1, 1), (-1, -1), (1, -1), (-1, 1)]", "in all diagonal directions"),
    ("[(1, 1)]", "down and right"),
    ("[(-1, 1)]", "up and right"),
    ("[(1, -1)]", "down and left"),
    ("[(-1, -1)]", "up and left"),
    ("[(1, 1), (-1, -1)]", "along the main diagonal"),
    ("[(1, -1), (-1, 1)]", "along the other diagonal"),
]
_OWN = [
    Step("g = connect(g, 0)", "connect equal colours that follow each other in a row", 2.9),
    Step(
        f"{TURN}\ng = connect(g, 0)\n{TURN}",
        "connect equal colours that follow each other in a column",
        2.9,
    ),
    Step(
        f"lines = connect(g, 0)\n{TURN}\ng = connect(g, 0)\n{TURN}\n"
        "g = [[v or w for v, w in zip(r, s)] for r, s in zip(lines, g)]",
        "connect equal colours that follow each other in a row or column",
        3.0,
    ),
    Step(
        f"g = connect(g, 0)\n{TURN}\ng = connect(g, 0)\n{TURN}",
        "connect equal colours in rows, then in columns",
        3.2,
    ),
    _cells(
        "v if v in encircling(g, i, j) else 0",
        "delete every cell that touches none of its colour",
        3.0,
    ),
    _cells(
        "v if v in flanking(g, i, j) else 0",
        "delete every cell that has none of its colour beside it",
        3.1,
    ),
    _cells("v if any(encircling(g, i, j)) else 0", "delete every cell that touches no other", 3.1),
    _cells("0 if v in encircling(g, i, j) else v", "keep only cells that touch none of their colour", 3.2),
    _cells(
        "0 if flanking(g, i, j) == [v] * 4 else v",
        "clear cells that are surrounded, so that outlines stay",
        3.1,
    ),
    _cells("v or max(flanking(g, i, j))", "let colours grow by one cell to their four sides", 3.1),
    _cells("v or max(encircling(g, i, j))", "let colours grow by one cell all around", 3.2),
    _cells(
        "v if v in encircling(g, i, j) else crowd(g, i, j)",
        "give cells that touch none of their colour the colour around them",
        3.5,
    ),
    Step(
        "for cells in objects(g, False, True):\n"
        "    top, left, bottom, right = box(cells)\n"
        "    paint = most([[g[i][j] for i, j in cells]])\n"
        "    g = [[v or paint if top <= i < bottom and left <= j < right else v\n"
        "          for j, v in enumerate(row)] for i, row in enumerate(g)]",
        "fill the box of every object with its colour",
        3.2,
    ),
    *(
        Step(
            f"r = [row[:] for row in g]\nfor o in {order}:\n    for i, j in boxed(o):\n"
            "        r[i][j] = tint(g, o)\ng = r",
            f"fill the box of every colour with it, {says}",
            3.4,
        )
        for order, says in (
            ("sorted(layers(g))", "from above, so that the lowest is in front"),
            ("sorted(layers(g))[::-1]", "from below, so that the highest is in front"),
            ("sorted(layers(g), key=len)", "the smallest first, so that the largest is in front"),
            ("sorted(layers(g), key=len)[::-1]", "the largest first, so that the smallest is in front"),
        )
    ),
    Step(
        "found = objects(g, True, True)\nkept = set(max(found, key=len)) if found else set()\n"
        "g = [[v if (i, j) in kept else 0 for j, v in enumerate(row)] for i, row in enumerate(g)]",
        "keep only the largest object",
        3.1,
    ),
    Step(
        "found = objects(g, True, True)\nkept = set(min(found, key=len)) if found else set()\n"
        "g = [[v if (i, j) in kept else 0 for j, v in enumerate(row)] for i, row in enumerate(g)]",
        "keep only the smallest object",
        3.2,
    ),
    Step(
        "rows, columns = [max(row) for row in g], [max(column) for column in zip(*g)]\n"
        "g = [[rows[i] or columns[j] for j in range(len(columns))] for i in range(len(rows))]",
        "draw a line through every coloured cell, along its row and its column",
        3.2,
    ),
]  # fmt: skip


def _by_size() -> list[Step]:
    made = []
    for largest, which in ((True, "largest"), (False, "smallest")):
        code = f"chosen = extreme(g, {largest})\n"
        kept = _cells("v if (i, j) in chosen else 0", f"keep only the {which} objects", 3.1)
        gone = _cells("0 if (i, j) in chosen else v", f"delete the {which} objects", 3.1)
        made += [kept._replace(code=code + kept.code), gone._replace(code=code + gone.code)]
    return made


BY_SIZE = _by_size()
_SPANS = row_and_column_steps(
    "g = spanned(g, 0)", "fill each {row} between its outermost colours, in the first one's", 3.1
)


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the steps that draw or remove noise.

    Steps that cannot help in the state that `facts` describes are left out.
    """
    if not facts.may_keep_size:
        return
    yield from _OWN
    yield from BY_SIZE
    yield from _SPANS
    for ways, says in _WAYS:
        price = 3.1 if says[:2] in ("to", "do", "up") else 3.2
        yield Step(f"g = shoot(g, 0, {ways})", f"draw lines from every coloured cell {says}", price)
    for c in facts.usual_colours:
        name = colour_name(c)
        row = f"g = [[{c}] * len(row) if {c} in row else row for row in g]"
        yield Step(row, f"paint each row that holds {name} with it", 3.1)
        yield Step(f"{TURN}\n{row}\n{TURN}", f"paint each column that holds {name} with it", 3.1)
        code = (
            f"down = [{c} in column for column in zip(*g)]\n"
            f"g = [[{c} if {c} in row or down[j] else v for j, v in enumerate(row)] for row in g]"
        )
        yield Step(code, f"paint the row and the column of each {name} cell with it", 3.2)
        if len(facts.any_colour) > 2:
            for ways, says in _WAYS if facts.first else _WAYS[:6]:
                code = f"g = shoot(g, {c}, {ways})"
                yield Step(code, f"draw lines from the {colour_name(c)} cells {says}", 3.7)
    for k in facts.paint_colours[:3]:
        yield from _painted(k)


@lru_cache(maxsize=16)
def _painted(k: int) -> tuple[Step, ...]:
    return tuple(_painting_steps(k))


def _painting_steps(k: int) -> Iterator[Step]:
    name = colour_name(k)
    for largest, which in ((True, "largest"), (False, "smallest")):
        made = _cells(f"{k} if (i, j) in chosen else v", f"make the {which} objects {name}", 3.2)
        yield made._replace(code=f"chosen = extreme(g, {largest})\n{made.code}")
    yield from row_and_column_steps(
        f"g = spanned(g, {k})", f"fill each {{row}} between its outermost colours with {name}", 3.3
    )
    yield _cells(
        f"{k} if v and not any(flanking(g, i, j)) else v",
        f"make cells that stand alone {name}",
        3.2,
    )
    yield Step(
        "free = reachable(g)\n"
        f"g = [[v or (0 if (i, j) in free else {k}) for j, v in enumerate(row)]\n"
        "     for i, row in enumerate(g)]",
        f"fill what is enclosed with {name}",
        2.9,
    )
    yield Step(
        "free = reachable(g)\n"
        f"g = [[{k} if (i, j) in free else v for j, v in enumerate(row)]\n"
        "     for i, row in enumerate(g)]",
        f"paint what is connected to the edge {name}",
        3.1,
    )
    yield Step(f"g = connect(g, {k})", f"connect equal colours in a row with {name}", 3.1)
    yield Step(
        f"{TURN}\ng = connect(g, {k})\n{TURN}",
        f"connect equal colours in a column with {name}",
        3.1,
    )
    yield Step(
        f"lines = connect(g, {k})\n{TURN}\ng = connect(g, {k})\n{TURN}\n"
        "g = [[v or w for v, w in zip(r, s)] for r, s in zip(lines, g)]",
        f"connect equal colours in rows and columns with {name}",
        3.2,
    )
    yield _cells(f"v or ({k} if any(encircling(g, i, j)) else 0)", f"put {name} around all", 3.1)
    yield _cells(f"v or ({k} if any(flanking(g, i, j)) else 0)", f"put {name} beside all", 3.2)
    yield _cells(f"v and ({k} if 0 in encircling(g, i, j) else v)", f"make outlines {name}", 3.4)
    yield _cells(
        f"v and ({k} if 0 not in flanking(g, i, j) else v)", f"make what is inside {name}", 3.4
    )
    yield Step(
        "for cells in objects(g, False, True):\n"
        "    top, left, bottom, right = box(cells)\n"
        f"    g = [[v or {k} if top <= i < bottom and left <= j < right else v\n"
        "          for j, v in enumerate(row)] for i, row in enumerate(g)]",
        f"fill the box of every object with {name}",
        3.2,
    )
    yield _cells(f"{k} if not any(row) else v", f"paint the empty rows {name}", 3.3)
    yield _cells(f"{k} if not any(r[j] for r in g) else v", f"paint the empty columns {name}", 3.3)
    yield _cells(
        f"v or ({k} if not any(row) or not any(r[j] for r in g) else 0)",
        f"paint the empty rows and columns {name}",
        3.4,
    )
