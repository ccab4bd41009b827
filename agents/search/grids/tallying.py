"""Small outputs that say how many there are of something, or which colour."""

from __future__ import annotations

from collections.abc import Iterator

from .colours import named
from .facts import Facts
from .grammar import Step

_COUNTS = [
    ("len(objects(g, True, False))", "objects of one colour"),
    ("len(objects(g, True, True))", "objects of one colour, diagonals connected"),
    ("len(objects(g, False, True))", "objects"),
    ("sum(v > 0 for row in g for v in row)", "coloured cells"),
    ("len(set(sum(g, [])) - {0})", "colours"),
    ("len(set(sum(g, [])))", "colours, black (0) too"),
]


def steps(facts: Facts) -> Iterator[Step]:
    if not facts.shrinks or not (facts.first or facts.depth == 1):
        return
    if facts.one_size == (1, 1):
        yield from _one_cell()
    elif facts.one_size is not None and facts.one_size[0] * facts.one_size[1] <= 30:
        yield from _tallies(facts, *facts.one_size)
    thin = all(h == 1 for h, _ in facts.goal.shapes), all(w == 1 for _, w in facts.goal.shapes)
    ordered = "sorted(set(cells) - {0}, key=lambda v: (-cells.count(v), v))"
    cells = "cells = sum(g, [])\n"
    if thin[0]:
        yield Step(f"{cells}g = [{ordered} or [0]]", "list the colours in a row, by frequency", 3.2)
        for count, says in _COUNTS[:4]:
            yield Step(f"g = [[most(g)] * {count}]", f"make a row as long as there are {says}", 3.8)
    if thin[1]:
        yield Step(
            f"{cells}g = [[v] for v in {ordered} or [0]]",
            "list the colours in a column, by frequency",
            3.2,
        )
    bars = (
        f"{cells}bars = {ordered} or [0]\nlongest = max(map(cells.count, bars))\n"
        "g = [[v] * cells.count(v) + [0] * (longest - cells.count(v)) for v in bars]"
    )
    yield Step(bars, "draw a bar for each colour, as long as it has cells, longest first", 3.6)
    turned = "\ng = [list(row) for row in zip(*g)]"
    yield Step(
        bars + turned,
        "draw a bar down for each colour, as long as it has cells, longest first",
        3.6,
    )
    by_objects = (
        "found = [g[c[0][0]][c[0][1]] for c in objects(g, True, True)]\n"
        "bars = sorted(set(found), key=lambda v: (-found.count(v), v)) or [0]\n"
        "longest = max(1, max(map(found.count, bars)))\n"
        "g = [[v] * found.count(v) + [0] * (longest - found.count(v)) for v in bars]"
    )
    yield Step(by_objects, "draw a bar for each colour, as long as it has objects", 4.0)


def _one_cell() -> Iterator[Step]:
    yield Step("g = [[most(g)]]", "give one cell of the most frequent colour", 2.8)
    yield Step("g = [[least(g)]]", "give one cell of the least frequent colour", 2.8)
    yield Step("g = [[commonest(g)]]", "give one cell of the most frequent of all colours", 3.0)
    yield Step(
        "found = [g[c[0][0]][c[0][1]] for c in objects(g, True, True)]\n"
        "g = [[max(sorted(set(found)), key=found.count, default=0)]]",
        "give one cell of the colour that has most objects",
        3.2,
    )
    yield Step(
        "found = objects(g, True, True)\n"
        "top, left = max(found, key=len)[0] if found else (0, 0)\ng = [[g[top][left]]]",
        "give one cell of the largest object's colour",
        3.2,
    )
    yield Step(
        "found = objects(g, True, True)\n"
        "top, left = min(found, key=len)[0] if found else (0, 0)\ng = [[g[top][left]]]",
        "give one cell of the smallest object's colour",
        3.3,
    )


def _tallies(facts: Facts, height: int, width: int) -> Iterator[Step]:
    """As many cells as something is there, in reading order."""
    painted = [c for c in facts.goal.made_colours if c]
    if len(painted) > 2 or 0 not in facts.goal.made_colours:
        return
    counts = list(_COUNTS)
    for c in facts.every_colour:
        if c:
            counts.append((f"sum(row.count({c}) for row in g)", f"{named(c)} cells"))
            counts.append(
                (
                    f"sum(g[c[0][0]][c[0][1]] == {c} for c in objects(g, True, False))",
                    f"{named(c)} objects",
                )
            )
            counts.append(
                (
                    f"squares(g, {c})",
                    f"{named(c)} squares of 2 by 2",
                )
            )
    colours = [(str(painted[0]), named(painted[0]))] if len(painted) == 1 else []
    colours.append(("most(g)", "the most frequent colour"))
    for count, says in counts:
        for paint, name in colours:
            if height == 1:
                code = f"n = {count}\ng = [[{paint} if j < n else 0 for j in range({width})]]"
            else:
                code = (
                    f"n, paint = {count}, {paint}\n"
                    f"g = [[paint if i * {width} + j < n else 0 for j in range({width})]"
                    f" for i in range({height})]"
                )
            yield Step(code, f"paint as many cells {name} as there are {says}", 3.8)
    if height == width:
        for count, says in counts:
            code = (
                f"n, paint = {count}, {colours[0][0]}\n"
                f"g = [[paint if i == j < n else 0 for j in range({width})] for i in range({height})]"
            )
            yield Step(code, f"paint as many cells of the diagonal as there are {says}", 4.2)
