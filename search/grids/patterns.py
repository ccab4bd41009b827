"""Finders and steps for patterns that repeat or are symmetric.

The finders complete a pattern by its period or symmetry, draw a pattern around all cells of a
colour, complete fragments of a shape, and draw lines between cells of equal colour. The steps of
the catalogue make a grid symmetric or repeat it with the smallest period that it shows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..budget import Budget
from .goal import Facts, Goal, State
from .grammar import Grids, Step, apply, colour_name
from .objects.features import compile_expression

RADIUS = 3  # distance up to which a stamped pattern reaches
MAX_PATTERN_CELLS = 24  # maximum number of cells of a stamped pattern


def complete_patterns(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that continue the pattern of a grid over the cells of one colour.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    hidden = _hidden(state.grids, goal)
    for colour in hidden:
        name = "the empty cells" if colour == 0 else f"the {colour_name(colour)} cells"
        for text, says, cost in (
            (f"repeated(g, {colour})", "by the period of the pattern", 2.4),
            (f"[repeated([row], {colour})[0] for row in g]", "by the period of each row", 2.6),
            (f"[list(row) for row in zip(*[repeated([list(line)], {colour})[0] for line in zip(*g)])]", "by the period of each column", 2.8),
            (f"mirrored(g, {colour})", "by symmetry from left to right", 2.6),
            (f"flipped(g, {colour})", "by symmetry from top to bottom", 2.6),
            (f"flipped(mirrored(g, {colour}), {colour})", "by symmetry in both directions", 2.8),
            (f"mirrored(flipped(across(flipped(mirrored(g, {colour}), {colour}), {colour}), {colour}), {colour})", "by symmetry in both directions and about the diagonal", 3.2),
            (f"across(g, {colour})", "by symmetry about the diagonal", 3.0),
            (f"quarters(g, {colour})", "so that it looks alike when turned by a quarter", 3.2),
        ):  # fmt: skip
            if not budget.charge(20.0 + goal.cells / 8):
                return
            code = f"g = {text}"
            says = f"fill {name} {says}"
            if not goal.has_shapes(state.grids):
                code = f"hidden = [(i, j) for i, row in enumerate(g) for j, v in enumerate(row) if v == {colour}]\ng = crop({text}, hidden)"  # fmt: skip
                says += " and take only these"
                cost += 0.3
            step = Step(code, says, cost)
            if apply(step, state.grids) == goal.outputs:
                yield step


def _hidden(grids: Grids, goal: Goal) -> list[int]:
    """Return the colours whose cells may hide a pattern.

    If the sizes agree, this is the only colour of all changed cells. Otherwise these are the
    colours whose cells span a box of the output's size.
    """
    if goal.has_shapes(grids):
        changed = {
            v
            for g, out in zip(grids, goal.outputs, strict=True)
            for row, made in zip(g, out, strict=True)
            for v, w in zip(row, made, strict=True)
            if v != w
        }
        return sorted(changed) if len(changed) == 1 else []
    found = []
    for colour in goal.colours:
        for g, (height, width) in zip(grids, goal.shapes, strict=True):
            cells = np.argwhere(np.array(g) == colour)
            if not len(cells) or tuple(np.ptp(cells, axis=0) + 1) != (height, width):
                break
        else:
            found.append(colour)
    return found


def stamp(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that draw a small pattern around every cell of a colour.

    The pattern has either constant colours or the colour of the cell in its centre. Each step turns
    the grids of `state` into the outputs of `goal`.
    """
    if not goal.has_shapes(state.grids) or not budget.charge(goal.cells / 4):
        return
    before = [np.pad(np.array(g), RADIUS, constant_values=-1) for g in state.grids]
    after = [np.pad(np.array(g), RADIUS, constant_values=-1) for g in goal.outputs]
    marks = sorted({int(v) for g in state.grids for row in g for v in row if v})
    for own in (False, True):
        patterns = {}
        for mark in marks:
            pattern = _pattern(before, after, mark, own)
            if pattern:
                patterns[mark] = pattern
        if not patterns or any(len(p) > MAX_PATTERN_CELLS for p in patterns.values()):
            continue
        if own:
            common = {p for pattern in patterns.values() for p in pattern}
            step = _own(sorted(common), sorted(patterns) if len(patterns) < len(marks) else [])
            budget.charge(40.0)
            if apply(step, state.grids) == goal.outputs:
                yield step
            continue
        for over in (False, True):
            step = _fixed(patterns, over)
            budget.charge(40.0)
            if apply(step, state.grids) == goal.outputs:
                yield step


Pattern = list[tuple[int, int, int]]


def _pattern(
    before: list[NDArray[np.int64]], after: list[NDArray[np.int64]], mark: int, own: bool
) -> Pattern:
    """Return the offsets and colours that surround every cell of colour `mark` in the outputs.

    An offset counts only if it can be seen at two cells or more, where the cell was empty before
    and did not have the colour yet.
    """
    at = [np.argwhere(g == mark) for g in before]
    if sum(map(len, at)) < 2:
        return []
    found = []
    for a in range(-RADIUS, RADIUS + 1):
        for b in range(-RADIUS, RADIUS + 1):
            old = np.concatenate([g[p[:, 0] + a, p[:, 1] + b] for g, p in zip(before, at, strict=True)])  # fmt: skip
            new = np.concatenate([g[p[:, 0] + a, p[:, 1] + b] for g, p in zip(after, at, strict=True)])  # fmt: skip
            inside = (old >= 0) & ((old == 0) | (a == b == 0))
            if inside.sum() < 2 or not (new[inside] == new[inside][0]).all():
                continue
            colour = int(new[inside][0])
            if (old[inside] != colour).all() and (colour == mark or not own):
                found.append((a, b, colour))
    return found


def _fixed(patterns: dict[int, Pattern], over: bool) -> Step:
    listed = "".join(f"    {mark}: {pattern},\n" for mark, pattern in patterns.items())
    code = (
        f"stamps = {{\n{listed}}}\n"
        "r = [row[:] for row in g]\n"
        "for i, row in enumerate(g):\n"
        "    for j, v in enumerate(row):\n"
        "        for a, b, w in stamps.get(v, []):\n"
        "            if 0 <= i + a < len(g) and 0 <= j + b < len(row):\n"
        + (
            "                r[i + a][j + b] = w\n"
            if over
            else "                if a == b == 0 or not g[i + a][j + b]:\n"
            "                    r[i + a][j + b] = w\n"
        )
        + "g = r"
    )
    marks = ", ".join(colour_name(mark) for mark in patterns)
    size = sum(map(len, patterns.values()))
    said = f"around every cell of {marks} stamp a pattern of {size} cells"
    return Step(
        _wrapped(code),
        said,
        2.2 + 0.8 * len(patterns) + 0.2 * min(size, 6) + 0.5 * max(0, size - 6) + 0.2 * over,
    )


def _wrapped(code: str) -> str:
    """Break long lists over several lines."""
    lines: list[str] = []
    for line in code.splitlines():
        while len(line) > 90 and "), (" in line[:90]:
            cut = line[:90].rindex("), (") + 2
            lines.append(line[:cut])
            line = "        " + line[cut:].lstrip()
        lines.append(line)
    return "\n".join(lines)


def _own(offsets: Pattern, only: list[int]) -> Step:
    places = sorted({(a, b) for a, b, _ in offsets})
    test = f" in {only}" if only else ""
    code = (
        "r = [row[:] for row in g]\n"
        "for i, row in enumerate(g):\n"
        "    for j, v in enumerate(row):\n"
        f"        if v{test}:\n"
        f"            for a, b in {places}:\n"
        "                if 0 <= i + a < len(g) and 0 <= j + b < len(row) and not g[i + a][j + b]:\n"
        "                    r[i + a][j + b] = v\n"
        "g = r"
    )
    which = " of " + ", ".join(map(colour_name, only)) if only else ""
    said = f"around every cell{which} stamp a pattern of {len(places)} cells in its colour"
    return Step(_wrapped(code), said, 2.4 + 0.6 * len(only) + 0.2 * len(places))


_SHAPES = {
    False: "[[(i, j, g[i][j]) for i, j in max(many, key=len)]]",
    True: "turns(g, max(many, key=len))",
    None: "[[(i, j, g[i][j]) for i, j in x] for x in sorted(many, key=len)[::-1] if len(x) > 1]",
}


def copy_onto_marks(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that complete fragments of the largest object to copies of that object.

    Every grid must have at least two objects, and the largest one must have several colours. Each
    step turns the grids of `state` into the outputs of `goal`.
    """
    if not goal.has_shapes(state.grids):
        return
    look = compile_expression("objects(g, False, True)", "g")
    for g in state.grids:
        many = look(g)
        budget.charge(5.0)
        if not 2 <= len(many) <= 20 or len(max(many, key=len)) > 80:
            return
        if len({g[i][j] for i, j in max(many, key=len)}) < 2:
            return
    for turned in (False, True, None):
        for many, says, cost in (
            ("objects(g, False, True)", "", 0.0),
            ("objects(g, False, False)", "", 0.3),
        ):
            if not budget.charge(30.0 + goal.cells / 4):
                return
            turns = _SHAPES[turned]
            code = (
                f"many = {many}\n"
                "r = [row[:] for row in g]\n"
                f"shapes = {turns}\n"
                "for o in many:\n"
                "    for i, j, v in onto(g, o, shapes):\n"
                "        if 0 <= i < len(g) and 0 <= j < len(g[0]):\n"
                "            r[i][j] = v\n"
                "g = r"
            )
            if turned is None:
                says = " (or another of several cells)"
            turn = ", turned or mirrored as it fits" if turned else ""
            step = Step(code, f"complete every part of the largest object{says} to a copy of it{turn}", 4.0 + cost + (0.5 if turned is None else turned))  # fmt: skip
            if apply(step, state.grids) == goal.outputs:
                yield step


_WAYS = (
    ("[(0, 1)]", "in a row"),
    ("[(1, 0)]", "in a column"),
    ("[(0, 1), (1, 0)]", "in a row or column"),
    ("[(1, 1), (1, -1)]", "on a diagonal"),
    ("[(0, 1), (1, 0), (1, 1), (1, -1)]", "in a row, in a column or on a diagonal"),
    ("[(1, 0), (0, 1)]", "in a column or row"),
)


def connect(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that draw lines between cells of equal colour.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if not goal.has_shapes(state.grids):
        return
    changed = [
        (v, w)
        for g, out in zip(state.grids, goal.outputs, strict=True)
        for row, made in zip(g, out, strict=True)
        for v, w in zip(row, made, strict=True)
        if v != w
    ]
    painted = {w for _, w in changed}
    links = compile_expression(
        "{p for _, cells in links(g, [(0, 1), (1, 0), (1, 1), (1, -1)], True) for p in cells}", "g"
    )
    for g, out in zip(state.grids, goal.outputs, strict=True):
        budget.charge(goal.cells / 8)
        between = links(g)
        if any(
            v != out[i][j] and (i, j) not in between
            for i, row in enumerate(g)
            for j, v in enumerate(row)
        ):
            return
    through_too = any(v for v, _ in changed)
    marks = sorted({v for g in state.grids for row in g for v in row if v})
    for ways, says in _WAYS:
        for mark in (0, *marks):
            colours = ["v", *map(str, painted)] if len(painted) == 1 else ["v"]
            for through in (False, True) if through_too or len(marks) > 1 else (False,):
                if not budget.charge(15.0 + goal.cells / 16):
                    return
                for colour in colours:
                    test = f"    if v == {mark}:\n" if mark else ""
                    pad = "    " if mark else ""
                    code = (
                        "r = [row[:] for row in g]\n"
                        f"for v, cells in links(g, {ways}, {through}):\n"
                        f"{test}"
                        f"    {pad}for i, j in cells:\n"
                        f"    {pad}    r[i][j] = {colour}\n"
                        "g = r"
                    )
                    noun = f"{colour_name(mark)} cells" if mark else "equal cells"
                    past = ", across others," if through else ""
                    end = f" in {colour_name(int(colour))}" if colour != "v" else ""
                    price = 2.4 + 0.7 * bool(mark) + 0.4 * through + 0.5 * (colour != "v") + 0.1 * len(ways) / 8  # fmt: skip
                    step = Step(code, f"connect {noun} {says}{past}{end}", price)
                    if apply(step, state.grids) == goal.outputs:
                        yield step


def symmetrise_about_cells(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that make the drawing symmetric about the cells of one colour.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if not goal.has_shapes(state.grids):
        return
    marks = set.intersection(*({v for row in g for v in row if v} for g in state.grids))
    for mark in sorted(marks):
        for places, says, cost in (
            ("((i, b + d - 1 - j),)", "from left to right", 0.0),
            ("((a + c - 1 - i, j),)", "from top to bottom", 0.0),
            ("((i, b + d - 1 - j), (a + c - 1 - i, j), (a + c - 1 - i, b + d - 1 - j))", "in both directions", 0.2),
            ("((a + j - b, b + c - 1 - i), (a + c - 1 - i, b + d - 1 - j), (a + d - 1 - j, b + i - a))", "under turns by a quarter", 0.4),
        ):  # fmt: skip
            if not budget.charge(15.0 + goal.cells / 16):
                return
            code = (
                f"a, b, c, d = box([(i, j) for i, row in enumerate(g) for j, v in enumerate(row) if v == {mark}])\n"
                "r = [row[:] for row in g]\n"
                "for i, row in enumerate(g):\n"
                "    for j, v in enumerate(row):\n"
                f"        for x, y in {places}:\n"
                "            if v and 0 <= x < len(g) and 0 <= y < len(row) and not g[x][y]:\n"
                "                r[x][y] = v\n"
                "g = r"
            )
            step = Step(code, f"make the drawing symmetric {says} about the {colour_name(mark)} cells", 3.4 + cost)  # fmt: skip
            if apply(step, state.grids) == goal.outputs:
                yield step


FINDERS = (
    (1.6, complete_patterns),
    (2.2, stamp),
    (3.0, copy_onto_marks),
    (2.2, connect),
    (3.0, symmetrise_about_cells),
)


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
    """Yield the steps that make grids symmetric or periodic.

    Steps that cannot help in the state that `facts` describes are left out.
    """
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
    elif facts.smaller and facts.common_size is not None:
        size = "{}, {}".format(*facts.common_size)
        says = ", to {} rows and {} columns".format(*facts.common_size)
    else:
        return
    for hole in facts.every_colour:
        yield Step(
            f"g = repeating(g, {hole}, {size})",
            f"repeat the pattern beneath the {colour_name(hole)} cells{says}",
            3.3 if not hole or hole in facts.removed_colours else 3.8,
        )
    for hole in facts.every_colour:
        for slope, way in ((1, "rising"), (-1, "falling")):
            yield Step(
                f"g = striped(g, {hole}, {slope}, {size})",
                f"repeat the {way} diagonal stripes beneath the {colour_name(hole)} cells{says}",
                3.4 if not hole or hole in facts.removed_colours else 3.9,
            )
    if not facts.fits:
        yield Step(f"g = repeating(g, -1, {size})", f"repeat the pattern{says}", 3.2)
