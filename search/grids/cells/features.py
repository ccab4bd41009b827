"""Terms: the Python expressions about a cell that rules use in conditions and as colours.

An expression may use the position `i, j` of the cell, its colour `v`, its `row`, the grid `g`, and
names that context lines define once per grid. The same expressions are executed during the search
and written into answers, so both give the same values. They are defined on every grid of integers.
Terms do not describe the position of a cell relative to an object. Terms about objects assume that
the background is 0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..grammar import Grid, colour_name, find_used_helpers
from ..step_functions import HELPERS

TermValues = NDArray[np.int16]  # shape (terms, cells)


class Term(NamedTuple):
    """A Python expression about one cell of a grid.

    Attributes:
        kind: Whether the value is a colour, a number or a truth value.
        text: The expression.
        says: The expression in English. It is a noun phrase for a colour or a number, and the words
            after "it is" for a truth value.
        cost: Cost of using this term in a rule.
        context: Lines of code that define the names in `text`, in the order in which they must run.
        usable: Whether a rule may paint cells with the value of this term. The search does not read
            this field.
    """

    kind: Literal["colour", "number", "truth"]
    text: str
    says: str
    cost: float
    context: tuple[str, ...] = ()
    usable: bool = True


COLUMNS = ("columns = list(zip(*g))",)
CELLS = ("cells = [w for row in g for w in row]",)
COLOURED = ("coloured = [w for row in g for w in row if w]",)
OUTSIDE = ("open_air = outside(g)",)
SIDES = {
    "left of it": ("row[:j]", "row[:j][::-1]", ()),
    "right of it": ("row[j + 1 :]", "row[j + 1 :]", ()),
    "above it": ("columns[j][:i]", "columns[j][:i][::-1]", COLUMNS),
    "below it": ("columns[j][i + 1 :]", "columns[j][i + 1 :]", COLUMNS),
}
DIAGONALS = {
    "up and left of it": "diagonal(g, i, j, -1, -1)",
    "up and right of it": "diagonal(g, i, j, -1, 1)",
    "down and left of it": "diagonal(g, i, j, 1, -1)",
    "down and right of it": "diagonal(g, i, j, 1, 1)",
}
# Expressions that are computed once per cell if several terms contain them.
SHARED = (
    "surrounding(g, i, j)",
    "next_to(g, i, j)",
    *DIAGONALS.values(),
    *(nearest for _, nearest, _ in SIDES.values()),
    "(i, j)",
)


def first_colour_code(cells: str) -> str:
    """Return a Python expression for the first colour other than 0 in a list of colours.

    Args:
        cells: Python expression for the list of colours.
    """
    return f"next(filter(None, {cells}), 0)"


def general_terms(square: bool) -> Iterator[Term]:
    """Yield the terms that do not mention a specific colour.

    Args:
        square: Whether all grids are square. Some terms are defined on square grids only.
    """
    yield Term("colour", "v", "it", 0.2)
    yield from _places(square)
    yield from _positions(square)
    yield from _lines()
    yield from _neighbours()
    for same, around, name, what, dear in (
        (True, True, "shapes", "its shape", 0.0),
        (True, False, "pieces", "its piece", 0.3),
        (False, True, "clusters", "its cluster", 0.4),
    ):
        yield from _objects(same, around, name, what, dear)


def colour_terms(c: int) -> Iterator[Term]:
    """Yield the terms that mention the colour `c`, such as the number of its cells in a row."""
    name = colour_name(c)
    yield Term(
        "number", f"surrounding(g, i, j).count({c})", f"the number of {name} cells around it", 0.9
    )
    yield Term(
        "number", f"next_to(g, i, j).count({c})", f"the number of {name} cells beside it", 0.9
    )
    yield Term("truth", f"{c} in row", f"in a row with {name}", 1.0)
    yield Term("truth", f"{c} in columns[j]", f"in a column with {name}", 1.0, COLUMNS)
    yield Term("number", f"row.count({c})", f"the number of {name} cells in its row", 1.3)
    yield Term(
        "number",
        f"columns[j].count({c})",
        f"the number of {name} cells in its column",
        1.3,
        COLUMNS,
    )
    for side, (cells, _, context) in SIDES.items():
        away = side.removesuffix(" of it").removesuffix(" it")
        opposite = {"left": "right of", "right": "left of", "above": "below", "below": "above"}
        yield Term("truth", f"{c} in {cells}", f"{opposite[away]} {name}", 1.1, context)
    for side, cells in DIAGONALS.items():
        yield Term("truth", f"{c} in {cells}", f"on a diagonal with {name} {side}", 1.3)
    diagonals = " + ".join(DIAGONALS.values())
    yield Term("truth", f"{c} in {diagonals}", f"on a diagonal with {name}", 1.3)
    yield Term("number", f"cells.count({c})", f"the number of {name} cells in the grid", 2.0, CELLS)


def _places(square: bool) -> Iterator[Term]:
    """Yield terms for the colours of other cells."""
    yield Term("colour", "row[-1 - j]", "its mirror image from left to right", 1.0)
    yield Term("colour", "g[-1 - i][j]", "its mirror image from top to bottom", 1.0)
    yield Term("colour", "g[-1 - i][-1 - j]", "its image after half a turn", 1.1)
    if square:
        yield Term("colour", "g[j][i]", "its mirror image in the main diagonal", 1.1)
        yield Term("colour", "g[-1 - j][-1 - i]", "its mirror image in the other diagonal", 1.2)
        yield Term("colour", "g[-1 - j][i]", "its image after a quarter turn clockwise", 1.3)
        yield Term("colour", "g[j][-1 - i]", "its image after a quarter turn anticlockwise", 1.3)
    for a, side in ((-1, "above"), (1, "below")):
        inside = "i" if a < 0 else "i + 1 < len(g)"
        yield Term("colour", f"(g[i {a:+d}][j] if {inside} else 0)".replace("+1", "+ 1").replace("-1", "- 1"), f"the cell {side} it", 1.0)  # fmt: skip
        inside = "j" if a < 0 else "j + 1 < len(row)"
        yield Term("colour", f"(row[j {a:+d}] if {inside} else 0)".replace("+1", "+ 1").replace("-1", "- 1"), f"the cell {'left' if a < 0 else 'right'} of it", 1.0)  # fmt: skip
    yield Term("colour", "g[i - 1][j]", "the cell above it, around the edge", 1.5)
    yield Term("colour", "g[(i + 1) % len(g)][j]", "the cell below it, around the edge", 1.5)
    yield Term("colour", "row[j - 1]", "the cell left of it, around the edge", 1.5)
    yield Term("colour", "row[(j + 1) % len(row)]", "the cell right of it, around the edge", 1.5)
    yield Term("colour", "row[0]", "the first cell of its row", 1.2)
    yield Term("colour", "row[-1]", "the last cell of its row", 1.3)
    yield Term("colour", "g[0][j]", "the first cell of its column", 1.2)
    yield Term("colour", "g[-1][j]", "the last cell of its column", 1.3)
    yield Term("colour", "g[0][0]", "the first cell of the grid", 1.6)
    yield Term("colour", "g[len(g) // 2][len(row) // 2]", "the middle cell of the grid", 1.8)
    for side, (_, cells, context) in SIDES.items():
        yield Term("colour", first_colour_code(cells), f"the nearest colour {side}", 1.2, context)
    for side, cells in DIAGONALS.items():
        yield Term("colour", first_colour_code(cells), f"the nearest colour {side}", 1.4)


def _positions(square: bool) -> Iterator[Term]:
    yield Term("truth", "i in (0, len(g) - 1) or j in (0, len(row) - 1)", "at the border", 0.9)
    yield Term("truth", "i in (0, len(g) - 1) and j in (0, len(row) - 1)", "a corner", 1.1)
    if square:
        yield Term("truth", "i == j", "on the main diagonal", 1.0)
        yield Term("truth", "i + j == len(g) - 1", "on the other diagonal", 1.0)
        yield Term(
            "truth", "i == j or i + j == len(g) - 1", "on one of the two long diagonals", 1.3
        )
        yield Term("truth", "i < j", "above the main diagonal", 1.3)
        yield Term("truth", "i > j", "below the main diagonal", 1.3)
        yield Term("truth", "i + j < len(g) - 1", "above the other diagonal", 1.4)
        yield Term("truth", "i + j > len(g) - 1", "below the other diagonal", 1.4)
    yield Term("truth", "i == 0", "in the first row", 0.9)
    yield Term("truth", "j == 0", "in the first column", 0.9)
    yield Term("truth", "i == len(g) - 1", "in the last row", 0.9)
    yield Term("truth", "j == len(row) - 1", "in the last column", 0.9)
    yield Term("truth", "i == len(g) // 2", "in the middle row", 1.1)
    yield Term("truth", "j == len(row) // 2", "in the middle column", 1.1)
    yield Term("truth", "i < len(g) // 2", "in the upper half", 1.1)
    yield Term("truth", "j < len(row) // 2", "in the left half", 1.1)
    yield Term("number", "i", "the number of rows above it", 1.0)
    yield Term("number", "j", "the number of columns left of it", 1.0)
    yield Term("number", "len(g) - 1 - i", "the number of rows below it", 1.1)
    yield Term("number", "len(row) - 1 - j", "the number of columns right of it", 1.1)
    yield Term("truth", "i % 2", "in an odd row, counted from 0", 0.9)
    yield Term("truth", "j % 2", "in an odd column, counted from 0", 0.9)
    yield Term("truth", "(i + j) % 2", "where row and column add up to an odd number", 1.0)
    yield Term("number", "i % 3", "its row modulo 3", 1.5)
    yield Term("number", "j % 3", "its column modulo 3", 1.5)
    yield Term("number", "(i + j) % 3", "the sum of its row and column modulo 3", 1.7)
    ring = "min(i, j, len(g) - 1 - i, len(row) - 1 - j)"
    yield Term("number", ring, "its distance to the border", 1.2)
    yield Term("truth", f"{ring} % 2", "on an odd ring, counted from the border", 1.4)


def _lines() -> Iterator[Term]:
    """Yield terms about the row and the column of the cell, and about the grid."""
    for cells, name, context in (("row", "row", ()), ("columns[j]", "column", COLUMNS)):
        yield Term("truth", f"all({cells})", f"in a {name} without black", 1.0, context)
        yield Term("truth", f"any({cells})", f"in a {name} that holds a colour", 1.0, context)
        yield Term("truth", f"len(set({cells})) == 1", f"in a {name} of one colour", 1.1, context)
        yield Term("number", f"len(set({cells}))", f"the number of colours in its {name}", 1.4, context)  # fmt: skip
        yield Term("number", f"{cells}.count(0)", f"the number of black cells in its {name}", 1.1, context)  # fmt: skip
        yield Term("number", f"{cells}.count(v)", f"the number of its colour in its {name}", 1.2, context)  # fmt: skip
        yield Term("colour", f"max(set({cells}), key={cells}.count)", f"the most frequent colour of its {name}", 1.2, context)  # fmt: skip
        yield Term("colour", f"max(set({cells}) - {{0}}, key={cells}.count, default=0)", f"the most frequent colour but black of its {name}", 1.3, context)  # fmt: skip
        yield Term("colour", f"min(set({cells}), key={cells}.count)", f"the rarest colour of its {name}", 1.5, context)  # fmt: skip
        yield Term("colour", f"max({cells})", f"the highest colour of its {name}", 1.4, context)
    for place, line, lines, name, before in (
        ("i", "row", "g", "row", ()),
        ("j", "column", "columns", "column", COLUMNS),
    ):
        for made, pick, most in (("fullest", "min", "most"), ("emptiest", "max", "fewest")):
            test = f"{line}.count(0) == {pick}(other.count(0) for other in {lines})"
            code = (
                f"{made}_{name}s = {{{place} for {place}, {line} in enumerate({lines}) if {test}}}"
            )
            says = f"in a {name} with the {most} coloured cells"
            yield Term("truth", f"{place} in {made}_{name}s", says, 1.2, (*before, code))
    left, right, up, down = (first_colour_code(cells) for _, cells, _ in SIDES.values())
    yield Term(
        "truth", f"0 != {left} == {right}", "between two cells of one colour in its row", 1.0
    )
    yield Term("truth", f"0 != {up} == {down}", "between two cells of one colour in its column", 1.0, COLUMNS)  # fmt: skip
    yield Term("truth", f"{left} and {right}", "between two coloured cells in its row", 1.1)
    yield Term("truth", f"{up} and {down}", "between two coloured cells in its column", 1.1, COLUMNS)  # fmt: skip
    yield Term("truth", f"v == {left} or v == {right}", "in a row with its colour next to it but for black", 1.6)  # fmt: skip
    yield Term(
        "colour",
        "main_colour",
        "the most frequent colour",
        1.3,
        (*CELLS, "main_colour = common(cells)"),
    )
    yield Term(
        "colour", "rare_colour", "the rarest colour", 1.3, (*CELLS, "rare_colour = rarest(cells)")
    )
    yield Term("colour", "main_colour_but_black", "the most frequent colour but black", 1.3, (*COLOURED, "main_colour_but_black = common(coloured)"))  # fmt: skip
    yield Term("colour", "rare_colour_but_black", "the rarest colour but black", 1.3, (*COLOURED, "rare_colour_but_black = rarest(coloured)"))  # fmt: skip
    yield Term(
        "number",
        "colours_held",
        "the number of colours in the grid",
        2.0,
        (*COLOURED, "colours_held = len(set(coloured))"),
    )
    yield Term("number", "cells.count(v)", "the number of cells with its colour", 1.2, CELLS)
    yield Term("truth", "v and cells.count(v) == 1", "the only cell of its colour", 1.1, CELLS)


def _neighbours() -> Iterator[Term]:
    yield Term("number", "surrounding(g, i, j).count(v)", "the number of cells of its colour around it", 0.9)  # fmt: skip
    yield Term("number", "next_to(g, i, j).count(v)", "the number of cells of its colour beside it", 0.9)  # fmt: skip
    yield Term("number", "sum(map(bool, surrounding(g, i, j)))", "the number of coloured cells around it", 0.9)  # fmt: skip
    yield Term("number", "sum(map(bool, next_to(g, i, j)))", "the number of coloured cells beside it", 0.9)  # fmt: skip
    yield Term(
        "number", "len(set(surrounding(g, i, j)) - {0})", "the number of colours around it", 1.3
    )
    yield Term(
        "colour", "max(surrounding(g, i, j), default=0)", "the highest colour around it", 1.3
    )
    yield Term("colour", "max(next_to(g, i, j), default=0)", "the highest colour beside it", 1.3)
    near = "surrounding(g, i, j)"
    yield Term("colour", f"common({near})", "the most frequent colour around it", 1.4)  # fmt: skip
    yield Term("truth", "v == 0 and (i, j) not in open_air", "enclosed black", 0.8, OUTSIDE)
    yield Term("truth", "(i, j) in open_air", "black that reaches the border", 1.0, OUTSIDE)


def _objects(same: bool, around: bool, name: str, what: str, dear: float) -> Iterator[Term]:
    base = (f"{name} = objects(g, {same}, {around})",)

    def number(made: str, value: str, says: str, cost: float) -> Term:
        line = f"{made} = {{p: n for cells in {name} for n in [{value}] for p in cells}}"
        return Term("number", f"{made}.get((i, j), 0)", says, cost + dear, (*base, line))

    sizes = f"sizes_of_{name} = [len(cells) for cells in {name}]"

    def those(made: str, test: str, says: str, cost: float, *before: str) -> Term:
        line = f"{made} = {{p for cells in {name} if {test} for p in cells}}"
        return Term("truth", f"(i, j) in {made}", says, cost + dear, (*base, *before, line))

    one = what.removeprefix("its ")
    yield number(f"size_of_{name}", "len(cells)", f"the size of {what}", 0.9)
    yield number(f"height_of_{name}", "height(cells)", f"the height of {what}", 1.1)
    yield number(f"width_of_{name}", "width(cells)", f"the width of {what}", 1.1)
    yield number(f"holes_in_{name}", "len(holes(cells))", f"the number of holes in {what}", 1.2)
    yield those(f"largest_{name}", f"len(cells) == max(sizes_of_{name})", f"of the largest {one}", 0.8, sizes)  # fmt: skip
    yield those(f"smallest_{name}", f"len(cells) == min(sizes_of_{name})", f"of the smallest {one}", 0.9, sizes)  # fmt: skip
    yield those(f"{name}_at_border", "any(a in (0, len(g) - 1) or b in (0, len(g[0]) - 1) for a, b in cells)", f"of a {one} that touches the border", 1.0)  # fmt: skip
    yield those(f"full_{name}", "len(cells) == height(cells) * width(cells)", f"of a {one} that fills its box", 1.0)  # fmt: skip
    yield those(f"square_{name}", "height(cells) == width(cells)", f"of a {one} as high as wide", 1.1)  # fmt: skip
    yield those(f"tall_{name}", "height(cells) > width(cells)", f"of a {one} higher than wide", 1.1)
    yield those(f"even_{name}", "two_sided(cells)", f"of a {one} that is symmetric from left to right", 1.2)  # fmt: skip
    yield those(f"single_size_{name}", f"sizes_of_{name}.count(len(cells)) == 1", f"of a {one} with a size of its own", 1.2, sizes)  # fmt: skip
    line = f"boxes_of_{name} = {{p for cells in {name} for p in boxed(cells)}}"
    yield Term("truth", f"not v and (i, j) in boxes_of_{name}", f"black in the box of a {one}", 1.1 + dear, (*base, line))  # fmt: skip
    line = f"box_colours_of_{name} = {{p: g[a][b] for (a, b), *cells in {name} for p in boxed([(a, b), *cells])}}"  # fmt: skip
    yield Term("colour", f"box_colours_of_{name}.get((i, j), 0)", f"the colour of the {one} in whose box it lies", 1.3 + dear, (*base, line))  # fmt: skip
    yield Term("truth", f"v and (i, j) in boxes_of_{name} and 0 not in surrounding(g, i, j)", f"in the inside of a {one}", 1.2 + dear, (*base, f"boxes_of_{name} = {{p for cells in {name} for p in boxed(cells)}}"))  # fmt: skip
    if same:
        colours = f"colours_of_{name} = [g[a][b] for (a, b), *_ in {name}]"
        only = f"only_{name} = {{p for c, cells in zip(colours_of_{name}, {name}) if colours_of_{name}.count(c) == 1 for p in cells}}"  # fmt: skip
        yield Term("truth", f"(i, j) in only_{name}", f"of the only {one} of its colour", 1.2 + dear, (*base, colours, only))  # fmt: skip
        return
    for made, word, most in (("main", "common", "most frequent"), ("odd", "rarest", "rarest")):
        line = f"{made}_of_{name} = {{p: c for cells in {name} for c in [{word}([g[a][b] for a, b in cells])] for p in cells}}"  # fmt: skip
        yield Term("colour", f"{made}_of_{name}.get((i, j), 0)", f"the {most} colour of {what}", 1.2 + dear, (*base, line))  # fmt: skip
    yield number(f"colours_in_{name}", "len({g[a][b] for a, b in cells})", f"the number of colours in {what}", 1.1)  # fmt: skip


def context_lines(terms: Sequence[Term]) -> list[str]:
    """Return the lines of code that define all names the terms use, each line once."""
    return list(dict.fromkeys(line for term in terms for line in term.context))


def evaluate_terms(
    terms: tuple[Term, ...], grids: Sequence[Grid], prelude: tuple[str, ...] = ()
) -> TermValues:
    """Return the values of all terms on all cells of the grids.

    Args:
        terms: The terms.
        grids: The grids.
        prelude: Lines of code that run first on each grid and may replace `g`.

    Returns:
        An int16 array of shape (terms, cells). The cells of the first grid come first, in reading
        order.
    """
    made = _compiled(terms, prelude)
    rows: list[tuple[int, ...]] = []
    for grid in grids:
        rows += made(grid)
    values: TermValues = np.array(rows, dtype=np.int16).T
    return values


@lru_cache(maxsize=256)
def _compiled(terms: tuple[Term, ...], prelude: tuple[str, ...]) -> Any:
    """Return a function from a grid to the values of the terms, one tuple per cell.

    A term that depends on less than the cell is computed less often, and what several terms share
    is computed once per cell.
    """
    before = [*prelude, *context_lines(terms), "breadth = len(g[0])"]
    in_row: list[str] = []
    in_cell: list[str] = []
    texts = [f"bool({term.text})" if term.kind == "truth" else f"({term.text})" for term in terms]
    for k, shared in enumerate(SHARED):
        if any(shared in one for one in texts):
            in_cell.append(f"s{k} = {shared}")
            texts = [one.replace(shared, f"s{k}") for one in texts]
    for k, text in enumerate(texts):
        uses = _names(text)
        if any(name[0] == "s" and name[1:].isdigit() for name in uses) or len(text) < 4:
            continue
        if not uses & {"i", "j", "v", "row"}:
            before.append(f"t{k} = {text}")
        elif not uses & {"j", "v"}:
            in_row.append(f"t{k} = {text}")
        elif not uses & {"i", "v", "row"}:
            before.append(f"c{k} = [{text} for j in range(breadth)]")
        elif not uses & {"i", "j", "row"}:
            before.append(f"c{k} = {{v: {text} for v in {{w for row in g for w in row}}}}")
        else:
            continue
        by = "v" if "v" in uses else "j" if "j" in uses else ""
        texts[k] = f"c{k}[{by}]" if by else f"t{k}"
    code = "\n".join(
        [
            *(
                HELPERS[name]
                for name in find_used_helpers("\n".join([*before, *(t.text for t in terms)]))
            ),
            "def table(g):",
            *("    " + line for line in before),
            "    rows = []",
            "    for i, row in enumerate(g):",
            *("        " + line for line in in_row),
            "        for j, v in enumerate(row):",
            *("            " + line for line in in_cell),
            f"            rows.append(({', '.join(texts)},))",
            "    return rows",
        ]
    )
    names: dict[str, Any] = {}
    exec(compile(code, "<cells>", "exec"), names)
    return names["table"]


@lru_cache(maxsize=2000)
def _names(text: str) -> frozenset[str]:
    return frozenset(
        node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)
    )
