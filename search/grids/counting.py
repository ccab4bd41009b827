"""Finders and steps for outputs that show the result of counting.

Such outputs show the colour that occurs most often, the colours in the order of their frequency,
bars, or a grid whose size or number of filled cells is a count of objects, colours or cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..budget import Budget
from .goal import Facts, Goal, State
from .grammar import FAILURES, Step, apply, colour_name
from .objects.features import VIEWS, compile_expression, view_objects

MAX_COUNTED = 8  # maximum number of conditions whose objects are counted


class CountExpression(NamedTuple):
    """A Python expression over a grid `g` that gives a number or a colour."""

    text: str
    says: str
    cost: float


_COLOURS = (
    CountExpression("ranked(g)[0]", "the most frequent colour (but black)", 0.5),
    CountExpression("ranked(g)[-1]", "the rarest colour", 0.6),
    CountExpression("backdrop(g)", "the most frequent colour", 0.6),
    CountExpression("ranked(g)[1]", "the second most frequent colour", 0.9),
    CountExpression("tint(g, max(objects(g, True, True), key=len))", "the colour of the largest object", 0.9),
    CountExpression("tint(g, min(objects(g, True, True), key=len))", "the colour of the smallest object", 0.9),
    CountExpression("tint(g, max(objects(g, True, True), key=lambda o: len(holes(o))))", "the colour of the object with most holes", 1.3),
    CountExpression("max(ranked(g), key=lambda v: sum(tint(g, o) == v for o in objects(g, True, True)))", "the colour of most objects", 1.0),
    CountExpression("min(ranked(g), key=lambda v: sum(tint(g, o) == v for o in objects(g, True, True)))", "the colour of fewest objects", 1.3),
    CountExpression("[v for v in ranked(g) if sum(tint(g, o) == v for o in objects(g, True, True)) == 1][0]", "the colour of a single object", 1.5),
    CountExpression("tint(g, max(objects(g, True, True), key=height))", "the colour of the highest object", 1.2),
    CountExpression("tint(g, max(objects(g, True, True), key=width))", "the colour of the widest object", 1.2),
)  # fmt: skip


def colour_expressions(goal: Goal) -> Iterator[CountExpression]:
    """Yield expressions that give a colour.

    If the outputs of `goal` have at most three colours, these colours come first as constants.
    """
    if len(goal.made_colours) <= 3:
        for colour in goal.made_colours:
            yield CountExpression(str(colour), colour_name(colour), 0.4)
    yield from _COLOURS


def number_expressions(goal: Goal) -> Iterator[CountExpression]:
    """Yield expressions that give a number, such as the number of colours in a grid.

    Colours of `goal` are counted one by one, too.
    """
    yield CountExpression("len(ranked(g))", "the number of colours", 0.5)
    yield CountExpression("len(objects(g, True, False))", "the number of objects", 0.5)
    yield CountExpression(
        "len(objects(g, True, True))", "the number of objects (diagonals count)", 0.6
    )
    yield CountExpression(
        "len(objects(g, False, True))", "the number of objects of any colours", 0.7
    )
    yield CountExpression("len(pixels(g))", "the number of cells that are not empty", 0.6)
    yield CountExpression("sum(not v for row in g for v in row)", "the number of empty cells", 0.8)
    yield CountExpression("len(regions(g))", "the number of empty regions", 0.8)
    yield CountExpression(
        "sum(len(holes(o)) for o in objects(g, True, False))", "the number of holes", 0.9
    )
    yield CountExpression(
        "max(map(len, objects(g, True, False)))", "the size of the largest object", 0.9
    )
    for colour in goal.colours:
        if colour:
            yield CountExpression(f"sum(row.count({colour}) for row in g)", f"the number of {colour_name(colour)} cells", 0.9)  # fmt: skip
            yield CountExpression(
                f"sum(tint(g, o) == {colour} for o in objects(g, True, False))",
                f"the number of {colour_name(colour)} objects",
                1.0,
            )


def count_objects(wanted: list[int], state: State, budget: Budget) -> Iterator[CountExpression]:
    """Yield expressions that count objects, if the counts are equal to `wanted` on every grid.

    Each expression counts the objects that meet one condition, at most `MAX_COUNTED` in all.

    Args:
        wanted: The required number for each grid of `state`.
        state: The grids whose objects are counted.
        budget: Budget to which the work is charged.
    """
    given = 0
    for view in VIEWS[:4]:
        look = view_objects(view, state.grids)
        if look is None:
            continue
        if not look.charge(budget):
            return
        conditions, holds = look.compute_conditions()
        of = np.arange(len(state.grids))[:, None] == look.of
        for k in np.flatnonzero(((holds[:, None] & of).sum(axis=2) == wanted).all(axis=1)):
            condition = conditions[k]
            if not condition.text or given == MAX_COUNTED:
                continue
            given += 1
            if "many" in condition.text:
                text = f"(lambda many: sum({condition.text} for o in many))({view.text})"
            else:
                text = f"sum({condition.text} for o in {view.text})"
            said = f"the number of {view.several}:{condition.says}"
            yield CountExpression(text, said, 0.6 + view.cost + condition.cost)


def _kept(
    told: Iterator[CountExpression], state: State, budget: Budget
) -> list[tuple[CountExpression, list[int]]]:
    found = []
    for one in told:
        if not budget.charge(sum(len(g) * len(g[0]) for g in state.grids) / 100):
            break
        made = compile_expression(one.text, "g")
        try:
            found.append((one, [made(g) for g in state.grids]))
        except FAILURES:
            continue
    return found


def fill_uniformly(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that make a grid of a single colour.

    The size of the grid is constant, is the size of the current grid, or depends on a count.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if any(len({v for row in out for v in row}) > 1 for out in goal.outputs):
        return
    wanted = [out[0][0] for out in goal.outputs]
    heights, widths = zip(*goal.shapes, strict=True)
    filled = [c for c, values in _kept(colour_expressions(goal), state, budget) if values == wanted]
    if not filled:
        return
    if len(set(wanted)) == 1 and goal.has_shapes(state.grids):
        return
    sizes: list[tuple[str, str, float]] = []
    if len(set(goal.shapes)) == 1 and len(goal.shapes) > 1 and not filled[0].text.isdigit():
        sizes.append(("[[{c}]]" if goal.shapes[0] == (1, 1) else f"[[{{c}}] * {widths[0]} for _ in range({heights[0]})]", f"a grid of {heights[0]} by {widths[0]}", 0.3 if goal.shapes[0] != (1, 1) else 0.0))  # fmt: skip
    if goal.has_shapes(state.grids):
        sizes.append(("[[{c}] * len(g[0]) for _ in g]", "the whole grid", 0.3))
    if len(set(goal.shapes)) > 1:
        told = [
            *number_expressions(goal),
            *count_objects(list(map(max, goal.shapes)), state, budget),
        ]
        for number, values in _kept(iter(told), state, budget):
            n = f"({number.text})" if " for " in number.text and not number.text.endswith(")") else number.text  # fmt: skip
            for fits, text, says in (
                (goal.shapes == [(v, v) for v in values], f"[[{{c}}] * {n} for _ in range({n})]", "a square with sides of"),
                (goal.shapes == [(1, v) for v in values], f"[[{{c}}] * {n}]", "a row as long as"),
                (goal.shapes == [(v, 1) for v in values], f"[[{{c}}] for _ in range({n})]", "a column as high as"),
            ):  # fmt: skip
                if fits:
                    sizes.append((text, f"{says} {number.says}", 0.8 + number.cost))
        walls = "sum(len(set(row)) == 1 for row in {}) + 1"
        text = f"[[{{c}}] * ({walls.format('zip(*g)')}) for _ in range({walls.format('g')})]"
        sizes.append((text, "a cell for each panel between lines", 0.8))
    for colour in filled:
        for text, says, cost in sizes:
            short = len(colour.text) < 12
            made = text.replace("{c}", colour.text if short else "colour")
            code = f"g = {made}" if short else f"colour = {colour.text}\ng = {made}"
            step = Step(code, f"make {says}, all of it {colour.says}", 1.6 + cost + colour.cost)
            budget.charge(20.0)
            if apply(step, state.grids) == goal.outputs:
                yield step


def fill_by_count(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that make a grid of constant size and fill n of its cells, where n is a count.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if len(set(goal.shapes)) != 1 or len(goal.shapes) < 2 or len(goal.made_colours) < 2:
        return
    height, width = goal.shapes[0]
    if height * width > 36 or goal.has_shapes(state.grids):
        return
    counts = [sum(v > 0 for row in out for v in row) for out in goal.outputs]
    if any(out_colours > 2 for out_colours in (len({v for row in o for v in row}) for o in goal.outputs)):  # fmt: skip
        return
    inks = [max(v for row in out for v in row) for out in goal.outputs]
    colours_fit = [
        c for c, values in _kept(colour_expressions(goal), state, budget) if values == inks
    ]
    if not colours_fit or len(set(counts)) < 2:
        return
    told = [*number_expressions(goal), *count_objects(counts, state, budget)]
    for number, values in _kept(iter(told), state, budget):
        if [min(v, height * width) for v in values] != counts:
            continue
        for test, says, cost in (
            (f"i * {width} + j < n" if height > 1 else "j < n", "fill in reading order as many cells as", 0.5),
            (f"i + j * {height} < n", "fill column after column as many cells as", 0.9),
            ("i == j < n", "fill from the corner down the diagonal as many cells as", 1.0),
            (f"(i * {width} + j) % 2 == 0 and (i * {width} + j) // 2 < n", "fill every second cell, as many as", 1.4),
            (f"{height} - i <= n - j * {height}", "fill from below, column after column, as many cells as", 1.4),
        ):  # fmt: skip
            for colour in colours_fit:
                ink = colour.text if colour.text.isdigit() else "colour"
                code = f"n = {number.text}\n"
                if ink == "colour":
                    code += f"colour = {colour.text}\n"
                code += f"g = [[{ink} if {test} else 0 for j in range({width})] for i in range({height})]"  # fmt: skip
                step = Step(code, f"in an empty grid of {height} by {width}, {says} {number.says}, with {colour.says}", 2.2 + cost + number.cost + colour.cost)  # fmt: skip
                budget.charge(25.0)
                if apply(step, state.grids) == goal.outputs:
                    yield step


_LISTS = (
    ("ranked(g)", "the colours by frequency", 0.0),
    ("ranked(g)[::-1]", "the colours by frequency, the rarest first", 0.2),
    ("[tint(g, o) for o in sorted(objects(g, True, True), key=lambda o: -len(o))]", "the colours of the objects, the largest first", 0.4),
    ("[tint(g, o) for o in sorted(objects(g, True, True), key=len)]", "the colours of the objects, the smallest first", 0.5),
    ("[tint(g, o) for o in sorted(layers(g), key=lambda o: min(j for _, j in o))]", "the colours from left to right", 0.5),
    ("[tint(g, o) for o in sorted(layers(g))]", "the colours from top to bottom", 0.5),
    ("list(dict.fromkeys(row[0] for row in g))", "the colours of the first column without repetitions", 0.8),
    ("list(dict.fromkeys(g[0]))", "the colours of the first row without repetitions", 0.8),
)  # fmt: skip


def list_colours(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that draw colours in some order: in a line, as bars, on a diagonal or as squares.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if goal.has_shapes(state.grids):
        return
    for text, says, cost in _LISTS:
        for code, form, price in (
            (f"g = [{text}]", "a row of", 0.0),
            (f"g = [[v] for v in {text}]", "a column of", 0.0),
            (
                f"order = {text}\nmany = [sum(row.count(v) for row in g) for v in order]\n"
                "g = [[v] * n + [0] * (max(many) - n) for v, n in zip(order, many)]",
                "rows as long as each colour is frequent:",
                0.8,
            ),
            (
                f"order = {text}\nmany = [sum(row.count(v) for row in g) for v in order]\n"
                "g = [[v if i < n else 0 for v, n in zip(order, many)] for i in range(max(many))]",
                "columns as high as each colour is frequent:",
                0.8,
            ),
            (
                f"order = {text}\nmany = [sum(tint(g, o) == v for o in objects(g, True, True)) for v in order]\n"
                "g = [[v] * n + [0] * (max(many) - n) for v, n in zip(order, many)]",
                "rows as long as each colour has objects:",
                1.1,
            ),
            (
                f"order = {text}\nmany = [sum(tint(g, o) == v for o in objects(g, True, True)) for v in order]\n"
                "g = [[v if i < n else 0 for v, n in zip(order, many)] for i in range(max(many))]",
                "columns as high as each colour has objects:",
                1.1,
            ),
            (
                f"order = {text}\ng = [[v if i == j else 0 for j in range(len(order))] for i, v in enumerate(order)]",
                "a diagonal down from the left, of",
                1.0,
            ),
            (
                f"order = {text}[::-1]\ng = [[v if i + j == len(order) - 1 else 0 for j in range(len(order))] for i, v in enumerate(order)]",
                "a diagonal up from the left, of",
                1.0,
            ),
            (
                f"order = {text}\n"
                "n = 2 * len(order)\n"
                "g = [[order[min(i, j, n - 1 - i, n - 1 - j)] for j in range(n)] for i in range(n)]",
                "nested squares of",
                1.4,
            ),
            (
                f"order = {text}\n"
                "n = 2 * len(order) - 1\n"
                "g = [[order[min(i, j, n - 1 - i, n - 1 - j)] for j in range(n)] for i in range(n)]",
                "nested squares around one cell, of",
                1.4,
            ),
        ):
            if not budget.charge(15.0 + goal.cells / 32):
                return
            step = Step(code, f"make {form} {says}", 2.2 + cost + price)
            if apply(step, state.grids) == goal.outputs:
                yield step


def scale_by_count(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that enlarge or repeat the grid by a factor that is a count.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    ratios = [(h // len(g), w // len(g[0])) for g, (h, w) in zip(state.grids, goal.shapes, strict=True)]  # fmt: skip
    if len(set(ratios)) < 2 or any(a < 1 or b < 1 for a, b in ratios):
        return
    for number, values in _kept(number_expressions(goal), state, budget):
        for fits, text, says in (
            (ratios == [(v, v) for v in values], "g = [[v for v in row for _ in range(n)] for row in g for _ in range(n)]", "make every cell a square with sides of"),
            (ratios == [(v, v) for v in values], "g = [row * n for row in g] * n", "repeat the grid in both directions by"),
            (ratios == [(1, v) for v in values], "g = [row * n for row in g]", "repeat the grid to the right by"),
            (ratios == [(v, 1) for v in values], "g = g * n", "repeat the grid downwards by"),
        ):  # fmt: skip
            if fits:
                step = Step(
                    f"n = {number.text}\n{text}", f"{says} {number.says}", 2.2 + number.cost
                )
                budget.charge(20.0)
                if apply(step, state.grids) == goal.outputs:
                    yield step


FINDERS = ((1.6, fill_uniformly), (2.4, fill_by_count), (2.2, list_colours), (2.0, scale_by_count))


_COUNTS = [
    ("len(objects(g, True, False))", "objects of one colour"),
    ("len(objects(g, True, True))", "objects of one colour, diagonals connected"),
    ("len(objects(g, False, True))", "objects"),
    ("sum(v > 0 for row in g for v in row)", "coloured cells"),
    ("len(set(sum(g, [])) - {0})", "colours"),
    ("len(set(sum(g, [])))", "colours, black (0) too"),
]


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the counting steps of the catalogue.

    Steps that cannot help in the state that `facts` describes are left out.
    """
    if not facts.may_shrink or not (facts.first or facts.depth == 1):
        return
    if facts.common_size == (1, 1):
        yield from _one_cell()
    elif facts.common_size is not None and facts.common_size[0] * facts.common_size[1] <= 30:
        yield from _tallies(facts, *facts.common_size)
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
    """Yield steps that fill as many cells as a count says, in reading order or on the diagonal."""
    painted = [c for c in facts.goal.made_colours if c]
    if len(painted) > 2 or 0 not in facts.goal.made_colours:
        return
    counts = list(_COUNTS)
    for c in facts.every_colour:
        if c:
            counts.append((f"sum(row.count({c}) for row in g)", f"{colour_name(c)} cells"))
            counts.append(
                (
                    f"sum(g[c[0][0]][c[0][1]] == {c} for c in objects(g, True, False))",
                    f"{colour_name(c)} objects",
                )
            )
            counts.append(
                (
                    f"squares(g, {c})",
                    f"{colour_name(c)} squares of 2 by 2",
                )
            )
    colours = [(str(painted[0]), colour_name(painted[0]))] if len(painted) == 1 else []
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
