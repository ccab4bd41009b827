"""Catalogue of the steps that `grid_generator.py` composes into rules on grids.

A step consists of Python code and a phrase that describes the code. The code transforms a grid `g`,
which is a list of rows. Steps in `SIZE_KEEPING_STEPS` keep the size of the grid. Rules for MINI-ARC
contain only these steps, because all grids of MINI-ARC are 5 by 5. `grid_resizing.py` has the steps
that change the size. A step also names the kinds of pictures on which its effect is visible
(`grid_generator.PICTURE_KINDS`) and the colours that these pictures should contain.

Not covered: rules that read a parameter out of the picture (a legend, a marker's direction),
completion of periodic patterns, objects compared by shape, paths and mazes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SIDES = ("left", "right", "up", "down")
RAY_DIRECTIONS = {"to the left": (0, -1), "to the right": (0, 1), "up": (-1, 0), "down": (1, 0),
        "down and right": (1, 1), "up and left": (-1, -1)}  # fmt: skip
TRANSPOSE_CODE = "g = [list(row) for row in zip(*g)]"  # columns become rows

FIND_OBJECTS_CODE = """\
objects, seen = [], set()
for i in range(len(g)):
    for j in range(len(g[0])):
        if g[i][j] and (i, j) not in seen:
            seen.add((i, j))
            cells = [(i, j)]
            for a, b in cells:
                for c, d in ((a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)):
                    inside = 0 <= c < len(g) and 0 <= d < len(g[0])
                    if inside and g[c][d] and (c, d) not in seen:
                        seen.add((c, d))
                        cells.append((c, d))
            objects.append(cells)
"""
COLOUR_NAMES = [
    "black",
    "blue",
    "red",
    "green",
    "yellow",
    "grey",
    "pink",
    "orange",
    "cyan",
    "brown",
]


@dataclass(frozen=True)
class Step:
    """A step of a rule: Python code that transforms the grid `g`, and a phrase that describes it.

    Args:
        kind: the name of the catalogue function that drew the step.
        code: lines of Python that transform the grid `g`.
        phrase: the step as an instruction, for the description of the rule.
        pictures: kinds of pictures on which the effect of the step is visible.
        keeps_size: whether the step keeps the size of the grid.
        colours: colours from 1 to 9 that the pictures should contain.
    """

    kind: str
    code: str
    phrase: str
    pictures: tuple[str, ...]
    keeps_size: bool = True
    colours: tuple[int, ...] = ()


@dataclass(frozen=True)
class ParameterSampler:
    """Draws the random parameters of the steps of grid rules.

    Args:
        rng: the random number generator.
    """

    rng: random.Random

    def choice(self, choices: Sequence[str]) -> str:
        """Return one of the choices, drawn uniformly."""
        return choices[int(self.rng.random() * len(choices))]

    def randint(self, low: int, high: int) -> int:
        """Return an integer drawn uniformly from `low` to `high`, both included."""
        return low + int(self.rng.random() * (high - low + 1))

    def sample_colours(self, count: int) -> list[int]:
        """Return `count` different random colours. The background, 0, is never among them."""
        left = list(range(1, 10))
        return [left.pop(int(self.rng.random() * len(left))) for _ in range(count)]


def describe_colour(colour: int) -> str:
    """Return the name and the number of a colour, for example "red (2)"."""
    return f"{COLOUR_NAMES[colour]} ({colour})"


def _cells(value: str) -> str:
    return f"g = [[{value} for j, v in enumerate(row)]\n     for i, row in enumerate(g)]"


ANY_PICTURES = ("noise", "blobs", "full", "rectangles")
SPARSE_PICTURES = ("noise", "blobs", "dots")


def turn_step(draw: ParameterSampler) -> Step:
    """Draw a rotation or a reflection of the whole grid."""
    name = draw.choice(
        ("clockwise", "anticlockwise", "half", "left-right", "top-bottom", "diagonal", "other")
    )
    code, says = {
        "clockwise": ("g = [list(row) for row in zip(*g[::-1])]", "turn the grid clockwise"),
        "anticlockwise": (f"{TRANSPOSE_CODE}[::-1]", "turn the grid anticlockwise"),
        "half": ("g = [row[::-1] for row in g[::-1]]", "turn the grid by half a turn"),
        "left-right": ("g = [row[::-1] for row in g]", "mirror the grid from left to right"),
        "top-bottom": ("g = g[::-1]", "mirror the grid from top to bottom"),
        "diagonal": (TRANSPOSE_CODE, "make the columns rows"),
        "other": (
            "g = [list(row)[::-1] for row in zip(*g)][::-1]",
            "mirror the grid on its other diagonal",
        ),
    }[name]
    return Step("turn", code, says, ANY_PICTURES)


def roll_step(draw: ParameterSampler) -> Step:
    """Draw a shift by one or two cells that wraps around the edge."""
    count, side = draw.randint(1, 2), draw.choice(SIDES)
    code = {
        "left": f"g = [row[{count}:] + row[:{count}] for row in g]",
        "right": f"g = [row[-{count}:] + row[:-{count}] for row in g]",
        "up": f"g = g[{count}:] + g[:{count}]",
        "down": f"g = g[-{count}:] + g[:-{count}]",
    }[side]
    far = "one cell" if count == 1 else "two cells"
    return Step("roll", code, f"move all {far} {side}, round the edge", ANY_PICTURES)


def push_step(draw: ParameterSampler) -> Step:
    """Draw a step that shifts the grid by one cell. Cells that leave the grid are dropped."""
    side = draw.choice(SIDES)
    code = {
        "left": "g = [row[1:] + [0] for row in g]",
        "right": "g = [[0] + row[:-1] for row in g]",
        "up": "g = g[1:] + [[0] * len(g[0])]",
        "down": "g = [[0] * len(g[0])] + g[:-1]",
    }[side]
    return Step(
        "push", code, f"move all one cell {side}, dropping what leaves the grid", ANY_PICTURES
    )


def gravity_step(draw: ParameterSampler) -> Step:
    """Draw a step in which coloured cells fall to one edge of the grid."""
    side = draw.choice(SIDES)
    full, empty = "[v for v in row if v]", "[0] * row.count(0)"
    packed = f"{full} + {empty}" if side in ("left", "up") else f"{empty} + {full}"
    code = f"g = [{packed} for row in g]"
    if side in ("up", "down"):
        code = f"{TRANSPOSE_CODE}\n{code}\n{TRANSPOSE_CODE}"
    return Step("gravity", code, f"let every coloured cell fall {side}", SPARSE_PICTURES)


def slide_step(draw: ParameterSampler) -> Step:
    """Draw a step that moves the picture until it touches an edge of the grid."""
    side = draw.choice(SIDES)
    edge, moved = {
        "left": ("[row[0] for row in g]", "[row[1:] + [0] for row in g]"),
        "right": ("[row[-1] for row in g]", "[[0] + row[:-1] for row in g]"),
        "up": ("g[0]", "g[1:] + [[0] * len(g[0])]"),
        "down": ("g[-1]", "[[0] * len(g[0])] + g[:-1]"),
    }[side]
    code = f"while any(map(any, g)) and not any({edge}):\n    g = {moved}"
    return Step(
        "slide", code, f"move the whole picture {side} until it meets the wall", ("object",)
    )


def recolour_step(draw: ParameterSampler) -> Step:
    """Draw a step that replaces, swaps, keeps or deletes colours."""
    a, b = draw.sample_colours(2)
    kind = draw.choice(("one", "one", "swap", "all", "back", "keep", "drop"))
    value, says = {
        "one": (f"{b} if v == {a} else v", f"make {describe_colour(a)} cells {describe_colour(b)}"),
        "swap": (
            f"{b} if v == {a} else {a} if v == {b} else v",
            f"swap {describe_colour(a)} and {describe_colour(b)}",
        ),
        "all": (f"{b} if v else 0", f"make every coloured cell {describe_colour(b)}"),
        "back": (f"v or {b}", f"make the background {describe_colour(b)}"),
        "keep": (f"v if v == {a} else 0", f"keep only {describe_colour(a)} cells"),
        "drop": (f"0 if v == {a} else v", f"delete {describe_colour(a)} cells"),
    }[kind]
    wanted = () if kind in ("all", "back") else (a, b) if kind == "swap" else (a,)
    return Step(
        "recolour",
        f"g = [[{value} for v in row] for row in g]",
        says,
        ANY_PICTURES[:2],
        True,
        wanted,
    )


def pattern_step(draw: ParameterSampler) -> Step:
    """Draw a step that recolours or clears the cells of a fixed pattern, such as a chessboard."""
    (a,) = draw.sample_colours(1)
    k = draw.randint(0, 1)
    where, says = [
        (f"(i + j) % 2 == {k}", f"on the {('black', 'white')[k]} fields of a chessboard"),
        (f"i % 2 == {k}", f"in every second row, from the {('first', 'second')[k]}"),
        (f"j % 2 == {k}", f"in every second column, from the {('first', 'second')[k]}"),
        ("i > j", "below the main diagonal"),
        ("i < j", "above the main diagonal"),
        ("i == j", "on the main diagonal"),
    ][draw.randint(0, 5)]
    value, what = [
        (f"{a} if v and {where} else v", f"make the coloured cells {says} {describe_colour(a)}"),
        (f"0 if {where} else v", f"clear the cells {says}"),
        (f"v or ({a} if {where} else 0)", f"make the background {says} {describe_colour(a)}"),
    ][draw.randint(0, 2)]
    return Step("pattern", _cells(value), what, ANY_PICTURES)


def frame_step(draw: ParameterSampler) -> Step:
    """Draw a step that paints or clears the border, or keeps the border alone."""
    (a,) = draw.sample_colours(1)
    edge = "i in (0, len(g) - 1) or j in (0, len(row) - 1)"
    value, says = [
        (f"{a} if {edge} else v", f"draw a frame of {describe_colour(a)} on the border"),
        (f"0 if {edge} else v", "clear the border"),
        (f"v if {edge} else 0", "clear all but the border"),
    ][draw.randint(0, 2)]
    return Step("frame", _cells(value), says, ("noise", "full", "rectangles"))


def fill_step(draw: ParameterSampler) -> Step:
    """Draw a step that fills the background cells that coloured cells enclose."""
    (a,) = draw.sample_colours(1)
    code = f"""\
outside = [(i, j) for i in range(len(g)) for j in range(len(g[0]))
           if not g[i][j] and (i in (0, len(g) - 1) or j in (0, len(g[0]) - 1))]
seen = set(outside)
for i, j in outside:
    for a, b in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
        inside = 0 <= a < len(g) and 0 <= b < len(g[0])
        if inside and not g[a][b] and (a, b) not in seen:
            seen.add((a, b))
            outside.append((a, b))
{_cells(f"v if v or (i, j) in seen else {a}")}"""
    return Step("fill", code, f"fill enclosed background with {describe_colour(a)}", ("boxes",))


def rays_step(draw: ParameterSampler) -> Step:
    """Draw a step that extends a line from each coloured cell up to the next obstacle."""
    way = draw.choice(tuple(RAY_DIRECTIONS))
    down, across = RAY_DIRECTIONS[way]
    (a,) = draw.sample_colours(1)
    only = draw.rng.random() < 0.5
    code = f"""\
out = [row[:] for row in g]
for i, row in enumerate(g):
    for j, v in enumerate(row):
        if {f"v == {a}" if only else "v"}:
            y, x = i + {down}, j + {across}
            while 0 <= y < len(g) and 0 <= x < len(row) and not g[y][x]:
                out[y][x] = v
                y, x = y + {down}, x + {across}
g = out"""
    who = f"each {describe_colour(a)} cell" if only else "each coloured cell"
    says = f"draw a line {way} from {who} up to what stands in its way"
    return Step("rays", code, says, ("dots",), True, (a,) if only else ())


def cross_step(draw: ParameterSampler) -> Step:
    """Draw a step that paints the row or the column (or both) of each cell with a certain colour."""
    (a,) = draw.sample_colours(1)
    rows = f"g = [[{a}] * len(row) if {a} in row else row for row in g]"
    code, says = [
        (rows, f"paint each row that holds {describe_colour(a)} with it"),
        (
            f"{TRANSPOSE_CODE}\n{rows}\n{TRANSPOSE_CODE}",
            f"paint each column that holds {describe_colour(a)} with it",
        ),
        (
            f"down = [any(row[j] == {a} for row in g) for j in range(len(g[0]))]\n"
            + _cells(f"{a} if {a} in row or down[j] else v"),
            f"paint the row and the column of each {describe_colour(a)} cell with it",
        ),
    ][draw.randint(0, 2)]
    return Step("cross", code, says, ("dots",), True, (a,))


def connect_step(draw: ParameterSampler) -> Step:
    """Draw a step that fills the cells between the outermost coloured cells of each row or column."""
    code = """\
out = []
for row in g:
    at = [j for j, v in enumerate(row) if v]
    out.append([v or (row[at[0]] if at and at[0] < j < at[-1] else 0) for j, v in enumerate(row)])
g = out"""
    if draw.rng.random() < 0.5:
        return Step("connect", code, "fill each row between its outermost coloured cells, in the"
                    " colour of the leftmost", ("dots", "noise"))  # fmt: skip
    return Step("connect", f"{TRANSPOSE_CODE}\n{code}\n{TRANSPOSE_CODE}", "fill each column between its outermost"
                " coloured cells, in the colour of the topmost", ("dots", "noise"))  # fmt: skip


def order_step(draw: ParameterSampler) -> Step:
    """Draw a step that sorts rows, columns or the cells within them."""
    code, says = [
        ("g = sorted(g, key=lambda row: len(row) - row.count(0))",
         "sort the rows by how many coloured cells they hold, fewest first"),
        ("g = sorted(g, key=lambda row: row.count(0))",
         "sort the rows by how many coloured cells they hold, most first"),
        (f"{TRANSPOSE_CODE}\ng = sorted(g, key=lambda row: len(row) - row.count(0))\n{TRANSPOSE_CODE}",
         "sort the columns by how many coloured cells they hold, fewest first"),
        ("g = [sorted(row) for row in g]", "sort the cells of each row by colour"),
        (f"{TRANSPOSE_CODE}\ng = [sorted(row) for row in g]\n{TRANSPOSE_CODE}",
         "sort the cells of each column by colour"),
    ][draw.randint(0, 4)]  # fmt: skip
    return Step("order", code, says, ("noise", "full"))


def object_size_step(draw: ParameterSampler) -> Step:
    """Draw a step that keeps, deletes or recolours the largest or the smallest objects."""
    (a,) = draw.sample_colours(1)
    measure, which = [("max", "largest"), ("min", "smallest")][draw.randint(0, 1)]
    chosen = (
        f"{FIND_OBJECTS_CODE}size = {measure}(map(len, objects), default=0)\n"
        "chosen = {cell for cells in objects if len(cells) == size for cell in cells}\n"
    )
    value, says = [
        ("v if (i, j) in chosen else 0", f"keep only the {which} objects"),
        ("0 if (i, j) in chosen else v", f"delete the {which} objects"),
        (f"{a} if (i, j) in chosen else v", f"make the {which} objects {describe_colour(a)}"),
    ][draw.randint(0, 2)]
    return Step("by size", chosen + _cells(value), says, ("blobs",))


def neighbour_step(draw: ParameterSampler) -> Step:
    """Draw a step that changes each cell depending on its coloured neighbours."""
    (a,) = draw.sample_colours(1)
    near = "((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1))"
    count = (
        "near = {(i, j): sum(0 <= a < len(g) and 0 <= b < len(g[0]) and g[a][b] > 0\n"
        f"                    for a, b in {near})\n"
        "        for i in range(len(g)) for j in range(len(g[0]))}\n"
    )
    value, says, pictures = [
        (f"{a} if not v and near[i, j] else v",
         f"outline what is coloured with {describe_colour(a)}", ("object", "dots")),
        ("0 if near[i, j] == 4 else v", "hollow out what is coloured", ("rectangles",)),
        (f"{a} if v and near[i, j] == 4 else v",
         f"make the inside of what is coloured {describe_colour(a)}", ("rectangles",)),
        ("v if near[i, j] else 0", "delete coloured cells that stand alone", ("noisy",)),
        (f"{a} if v and not near[i, j] else v",
         f"make coloured cells that stand alone {describe_colour(a)}", ("noisy",)),
        (f"{a} if v and near[i, j] >= 2 else v",
         f"make coloured cells with two or more coloured neighbours {describe_colour(a)}", ("blobs", "noise")),
    ][draw.randint(0, 5)]  # fmt: skip
    return Step("around", count + _cells(value), says, pictures)


def bars_step(draw: ParameterSampler) -> Step:
    """Draw a step that turns the coloured cells of each row or column into a bar."""
    (a,) = draw.sample_colours(1)
    side = draw.choice(SIDES)
    full, empty = f"[{a}] * (len(row) - row.count(0))", "[0] * row.count(0)"
    bar = f"{full} + {empty}" if side in ("left", "up") else f"{empty} + {full}"
    code = f"g = [{bar} for row in g]"
    line = "row"
    if side in ("up", "down"):
        code, line = f"{TRANSPOSE_CODE}\n{code}\n{TRANSPOSE_CODE}", "column"
    wall = {"left": "left", "right": "right", "up": "top", "down": "bottom"}[side]
    says = f"for each {line} draw a bar of {describe_colour(a)} from the {wall}, as long as its coloured cells are many"
    return Step("bars", code, says, ("noise", "dots"))


def symmetry_step(draw: ParameterSampler) -> Step:
    """Draw a step that fills background cells with the mirror image of the picture."""
    code, says = [
        ("g = [[v or w for v, w in zip(row, row[::-1])] for row in g]", "from left to right"),
        ("g = [[v or w for v, w in zip(row, other)] for row, other in zip(g, g[::-1])]",
         "from top to bottom"),
    ][draw.randint(0, 1)]  # fmt: skip
    return Step(
        "symmetry", code, f"fill the background with the picture mirrored {says}", SPARSE_PICTURES
    )


def majority_step(draw: ParameterSampler) -> Step:
    """Draw a step that paints each row or column in its most frequent colour."""
    code = "g = [[max(sorted(set(row) - {0}), key=row.count, default=0)] * len(row) for row in g]"
    what = "paint each {} with its most frequent colour, the lowest where several are"
    if draw.rng.random() < 0.5:
        return Step("majority", code, what.format("row"), ("noise", "full"))
    return Step(
        "majority",
        f"{TRANSPOSE_CODE}\n{code}\n{TRANSPOSE_CODE}",
        what.format("column"),
        ("noise", "full"),
    )


SIZE_KEEPING_STEPS: tuple[Callable[[ParameterSampler], Step], ...] = (
    turn_step, roll_step, push_step, gravity_step, slide_step, recolour_step, pattern_step, frame_step, fill_step, rays_step, cross_step, connect_step, order_step,
    object_size_step, neighbour_step, bars_step, symmetry_step, majority_step,
)  # fmt: skip
