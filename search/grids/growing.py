"""Steps that make larger grids: enlarged, tiled, mirrored, repeated or padded.

The factor of the enlargement is read from the sizes of the outputs. One of the patterns repeats a
grid inside its own cells.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .goal import Array, Facts
from .grammar import Step, colour_name

# Each block of the output as a version of the grid: as code, as a numpy function, and its cost.
_BLOCKS = [
    ("g", lambda a: a, 0.0),
    ("[row[::-1] for row in g]", lambda a: a[:, ::-1], 0.1),
    ("g[::-1]", lambda a: a[::-1], 0.1),
    ("[row[::-1] for row in g[::-1]]", lambda a: a[::-1, ::-1], 0.1),
    ("[[0] * len(g[0]) for _ in g]", lambda a: a * 0, 0.1),
    ("[list(row) for row in zip(*g)]", lambda a: a.T, 0.2),
    ("[list(row) for row in zip(*g[::-1])]", lambda a: np.rot90(a, -1), 0.2),
    ("[list(row) for row in zip(*g)][::-1]", lambda a: np.rot90(a), 0.2),
    ("[list(row)[::-1] for row in zip(*g)][::-1]", lambda a: a[::-1, ::-1].T, 0.2),
]
_NAMES = ["same", "across", "upended", "turned", "blank", "flipped", "right", "left", "other"]
# Test of a cell of the large picture that decides whether the small one appears there.
_FRACTAL = [
    ("big", "where it is not black (0)"),
    ("not big", "where it is black (0)"),
    ("big == most", "where it has its most frequent colour"),
    ("big == least", "where it has its least frequent colour"),
]
# Counts of repetitions, as code and as a phrase.
COUNTS = [
    ("len(set(sum(g, [])))", "as there are colours"),
    ("len(set(sum(g, [])) - {0})", "as there are colours but black (0)"),
    ("sum(v > 0 for row in g for v in row)", "as cells are not black (0)"),
    ("sum(v == 0 for row in g for v in row)", "as cells are black (0)"),
    ("len(g)", "as there are rows"),
]


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the steps that enlarge the grids of `facts`, if the outputs are larger.

    If the outputs are smaller, the only step that may be yielded is one that shrinks the grids.
    """
    if facts.fits or not facts.smaller:
        if facts.larger and not facts.fits:
            yield from _shrunk(facts)
        return
    yield from _padded(facts)
    yield from _overlapping()
    growth = facts.growth
    if growth is not None:
        down, across = growth
        yield Step(
            f"g = [[v for v in row for _ in range({across})] for row in g for _ in range({down})]",
            f"make every cell {down} cells high and {across} wide",
            2.6,
        )
        yield Step(
            f"g = [row * {across} for row in g] * {down}",
            f"repeat the grid {down} times down and {across} times across",
            2.6,
        )
        yield from _mirrored(down, across)
        yield from _blocks(facts, down, across)
    else:
        yield from _counted()
    if all(
        (h * h, w * w) == out for (h, w), out in zip(facts.shapes, facts.goal.shapes, strict=True)
    ):
        yield from _fractal(facts)
    size = facts.common_size
    if size is not None and growth is None:
        yield Step(
            f"g = [[g[i % len(g)][j % len(g[0])] for j in range({size[1]})]"
            f" for i in range({size[0]})]",
            f"repeat the grid to {size[0]} rows and {size[1]} columns",
            3.2,
        )


def _mirrored(down: int, across: int) -> Iterator[Step]:
    """Yield the mirror pattern, which may be the first step of a longer program."""
    if (down, across) == (2, 2):
        yield Step(
            "g = [row + row[::-1] for row in g]\ng = g + g[::-1]",
            "mirror the grid to the right and then down",
            2.8,
        )


def _blocks(facts: Facts, down: int, across: int) -> Iterator[Step]:
    """Yield a step that puts turned copies side by side, if all pairs agree on every block."""
    if down * across > 25 or down * across == 1:
        return
    chosen: list[list[int]] = []
    for a in range(down):
        chosen.append([])
        for b in range(across):
            for number, (_, turn, _) in enumerate(_BLOCKS):
                if all(
                    _is_block(h, w, a, b, turn)
                    for h, w in zip(facts.arrays, facts.output_arrays, strict=True)
                ):
                    chosen[-1].append(number)
                    break
            else:
                return
    used = sorted({n for row in chosen for n in row})
    if used == [0]:
        return  # The output is a plain repetition, which another step covers.
    lines = [f"{_NAMES[n]} = {_BLOCKS[n][0]}" for n in used if n]
    names = ["g" if n == 0 else _NAMES[n] for n in range(len(_NAMES))]
    rows = []
    for row in chosen:
        parts = ", ".join(names[n] for n in row)
        rows.append(f"[sum(parts, []) for parts in zip({parts})]" if across > 1 else names[row[0]])
    if len({tuple(row) for row in chosen}) == 1 and down > 1:
        lines.append(f"g = {rows[0]} * {down}")
    elif sum(map(len, rows)) < 80:
        lines.append("g = " + " + ".join(rows))
    else:
        lines.append("g = (\n    " + "\n    + ".join(rows) + "\n)")
    said = "; ".join(", ".join(_SAID[n] for n in row) for row in chosen)
    price = 2.6 + sum(_BLOCKS[n][2] for n in used) + 0.1 * len(used)
    if 4 in used:
        price += 0.15 * sum(n == 4 for row in chosen for n in row)
    yield Step("\n".join(lines), f"put copies side by side ({said})", price)


_SAID = [
    "the grid", "mirrored left to right", "upside down", "turned by half", "empty",
    "with rows as columns", "turned clockwise", "turned anticlockwise", "mirrored on the other diagonal",
]  # fmt: skip


def _is_block(here: Array, out: Array, a: int, b: int, turn) -> bool:  # type: ignore[no-untyped-def]
    h, w = here.shape
    part = out[a * h : a * h + h, b * w : b * w + w]
    made = turn(here)
    return made.shape == part.shape and bool((made == part).all())


def _fractal(facts: Facts) -> Iterator[Step]:
    tests = [
        *_FRACTAL,
        *((f"big == {c}", f"where it is {colour_name(c)}") for c in facts.every_colour if c),
    ]
    for price, (test, says) in enumerate(tests):
        once = test.removeprefix("big == ")
        named_once = f"colour = {once}(g)\n" if once in ("most", "least") else ""
        if named_once:
            test = "big == colour"
        yield Step(
            f"{named_once}g = [[v if {test} else 0 for big in row for v in small] for row in g for small in g]",
            f"put a copy of the grid for each of its cells, {says}",
            2.8 + 0.2 * min(price, 4),
        )
    yield Step(
        "g = [[big if v else 0 for big in row for v in small] for row in g for small in g]",
        "put a copy of the grid, in the cell's colour, for each of its cells",
        3.0,
    )
    yield Step(
        "g = [[0 if v else big for big in row for v in small] for row in g for small in g]",
        "put a negative of the grid, in the cell's colour, for each of its cells",
        3.2,
    )


def _counted() -> Iterator[Step]:
    for count, says in COUNTS:
        yield Step(
            f"n = {count}\ng = [[v for v in row for _ in range(n)] for row in g for _ in range(n)]",
            f"magnify the grid as many times {says}",
            3.4,
        )
        yield Step(
            f"n = {count}\ng = [row * n for row in g] * n",
            f"repeat the grid down and across as many times {says}",
            3.4,
        )
        yield Step(
            f"n = {count}\ng = [row * n for row in g]",
            f"repeat the grid across as many times {says}",
            3.6,
        )
        yield Step(f"n = {count}\ng = g * n", f"repeat the grid down as many times {says}", 3.6)


def _padded(facts: Facts) -> Iterator[Step]:
    both = list(zip(facts.shapes, facts.goal.shapes, strict=True))
    more = {(b[0] - a[0], b[1] - a[1]) for a, b in both}
    if len(more) != 1:
        return
    down, across = more.pop()
    if down == across and down in (2, 4):
        n = down // 2
        for c in [0, *facts.paint_colours]:
            yield Step(
                f"edge = [{c}] * {n}\n"
                f"blank = [[{c}] * (len(g[0]) + {down}) for _ in range({n})]\n"
                "g = blank + [edge + row + edge for row in g] + blank",
                f"put a border of {colour_name(c)}, {n} wide, around the grid",
                2.8 + 0.1 * bool(c),
            )
        if n == 1:
            yield Step(
                "g = [row[:1] + row + row[-1:] for row in g]\ng = g[:1] + g + g[-1:]",
                "repeat the border of the grid around it",
                3.2,
            )
    elif (down, across) in ((1, 0), (0, 1)):
        for c in [0, *facts.paint_colours]:
            line = f"[[{c}] * len(g[0])]"
            if down:
                yield Step(f"g = g + {line}", f"add a row of {colour_name(c)} below", 3.0)
                yield Step(f"g = {line} + g", f"add a row of {colour_name(c)} on top", 3.0)
            else:
                yield Step(
                    f"g = [row + [{c}] for row in g]", f"add a column of {colour_name(c)}", 3.0
                )
                yield Step(
                    f"g = [[{c}] + row for row in g]",
                    f"put a column of {colour_name(c)} in front",
                    3.0,
                )


def _overlapping() -> Iterator[Step]:
    yield Step("g = g + g[-2::-1]", "mirror the grid down, sharing the last row", 3.0)
    yield Step("g = g[:0:-1] + g", "mirror the grid up, sharing the first row", 3.0)
    yield Step(
        "g = [row + row[-2::-1] for row in g]",
        "mirror the grid to the right, sharing the last column",
        3.0,
    )
    yield Step(
        "g = [row[:0:-1] + row for row in g]",
        "mirror the grid to the left, sharing the first column",
        3.0,
    )


def _shrunk(facts: Facts) -> Iterator[Step]:
    found = set()
    for (h, w), (high, wide) in zip(facts.shapes, facts.goal.shapes, strict=True):
        if h % high or w % wide:
            return
        found.add((h // high, w // wide))
    if len(found) != 1:
        return
    down, across = found.pop()
    yield Step(
        f"g = [row[::{across}] for row in g[::{down}]]",
        f"make {down} by {across} cells one",
        3.0,
    )
