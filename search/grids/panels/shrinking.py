"""Finder of steps that reduce each part of the grid to one cell.

The parts are equal parts of the grid, or the panels between lines.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import FAILURES, Step, apply, colour_name
from ..objects.features import compile_expression

_COLOURS = (
    ("backdrop(p)", "its most frequent colour", 0.4),
    ("(ranked(p) or [0])[0]", "its most frequent colour but black", 0.4),
    ("(ranked(p) or [0])[-1]", "its rarest colour", 0.7),
    ("max(map(max, p))", "its highest colour number", 0.8),
    ("p[len(p) // 2][len(p[0]) // 2]", "its middle cell", 0.8),
    ("p[0][0]", "its first cell", 0.8),
)
_TESTS = (
    ("any(map(any, p))", "that is not empty", 0.6),
    ("all(map(all, p))", "without an empty cell", 0.7),
    ("filled(p) == max(map(filled, all_parts))", "with most filled cells", 0.9),
    ("filled(p) == min(map(filled, all_parts))", "with fewest filled cells", 1.0),
    ("p == [row[::-1] for row in p]", "that is symmetric from left to right", 1.0),
    ("p == p[::-1]", "that is symmetric from top to bottom", 1.0),
    ("all_parts.count(p) > 1", "that occurs again", 1.1),
    ("len({v for row in p for v in row}) == 1", "of one colour", 1.0),
    *((f"filled(p) > {k}", f"with more than {k} filled cells", 1.4) for k in range(1, 6)),
)  # fmt: skip


def shrink(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that reduce each part of the grid to one cell.

    The colour of the cell is a colour of the part, or one of two colours that a test of the part
    selects. Each step turns the grids of `state` into the outputs of `goal`.
    """
    if len(set(goal.shapes)) != 1 or goal.has_shapes(state.grids) or goal.shapes[0] == (1, 1):
        return
    height, width = goal.shapes[0]
    for text, says, cost in (
        (f"shares(g, {height}, {width})", f"{height} by {width} equal parts", 0.2),
        ("panels(g)", "the panels between lines", 0.0),
    ):
        if not budget.charge(10.0 + goal.cells / 20):
            return
        parts = [compile_expression(text, "g")(g) for g in state.grids]
        if any(len(one) != height * width for one in parts):
            continue
        wanted = [[v for row in out for v in row] for out in goal.outputs]
        colours = goal.made_colours if len(goal.made_colours) == 2 else []
        chosen = [(made, f"for each its colour: {told}", price) for made, told, price in _COLOURS]
        chosen += [
            (
                f"{a} if {test} else {b}",
                f"{colour_name(a)} for each {told}, else {colour_name(b)}",
                price + 0.4,
            )
            for a in colours
            for b in colours
            if a != b
            for test, told, price in _TESTS
        ]
        for made, told, price in chosen:
            function = compile_expression(made, "p, all_parts")
            if not budget.charge(goal.cells / 20):
                return
            try:
                fits = all(
                    function(p, every) == v
                    for every, values in zip(parts, wanted, strict=True)
                    for p, v in zip(every, values, strict=True)
                )
            except FAILURES:
                continue
            if not fits:
                continue
            step = Step(
                f"all_parts = {text}\ncells = [{made} for p in all_parts]\n"
                f"g = [cells[k : k + {width}] for k in range(0, {height * width}, {width})]",
                f"shrink {says} to one cell each, {told}",
                2.2 + cost + price,
            )
            budget.charge(30.0)
            if apply(step, state.grids) == goal.outputs:
                yield step


FINDERS = ((1.8, shrink),)
