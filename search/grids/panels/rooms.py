"""Finders of rules that apply to every room of a grid, however many rooms there are.

Rooms are the panels between lines, the insides of frames, the boxes of objects, or equal parts of
the grid. Depending on its content, each room is filled, cleared, turned or replaced by another
room, or it becomes one cell of a smaller grid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ..cells.text import wrap_line
from ..goal import Goal, State
from ..grammar import FAILURES, Grids, Step, apply, colour_name
from ..objects.features import compile_expression

MAX_ROOMS = 60  # maximum number of rooms of a grid
MAX_STEPS = 10  # maximum number of steps for one kind of room
BUDGET_SHARE = 0.1  # maximum share of all expansions for the rooms of one state
ONE_WAY_COST = 2.2  # cost of changing all rooms in one way
TWO_WAYS_COST = 3.2  # cost of changing rooms in one of two ways

Finder = Callable[[State, Goal, Budget], Iterator[Step]]
Boxes = list[tuple[int, int, int, int]]
BoolArray = NDArray[np.bool_]


class RoomKind(NamedTuple):
    """A kind of room: a way to divide a grid into boxes.

    Attributes:
        text: Expression over `g` that gives the boxes of the rooms.
        says: A noun phrase for every room of this kind.
        cost: Cost of using this kind.
    """

    text: str
    says: str
    cost: float


class RoomExpression(NamedTuple):
    """An expression over a room `p` and the list `all_parts` of all rooms.

    Its value is the new content of the room, the colour of a cell, or whether the room passes a
    test.
    """

    text: str
    says: str
    cost: float


KINDS = (
    RoomKind("rooms(g)", "every panel between lines", 0.0),
    RoomKind("inner_boxes(g)", "the inside of every frame", 0.3),
    RoomKind("[box(o) for o in objects(g, False, False)]", "the box of every object", 0.5),
    RoomKind("[box(o) for o in objects(g, False, True)]", "the box of every object", 0.6),
    RoomKind("[(0, 0, len(g), len(g[0]))]", "the grid", 0.2),
)
_SHARES = ((1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (3, 3), (4, 4), (5, 5))

# Values computed from all rooms of a grid, by the names that expressions use for them.
_NAMES = {
    "whole": "overlaid(all_parts)",
    "usual": "max(all_parts, key=all_parts.count)",
    "odd": "min(all_parts, key=all_parts.count)",
    "fullest": "max(all_parts, key=filled)",
    "emptiest": "min(all_parts, key=filled)",
    "richest": "max(all_parts, key=lambda x: len(set(sum(x, []))))",
    "poorest": "min(all_parts, key=lambda x: len(set(sum(x, []))))",
    "largest": "max(all_parts, key=lambda x: len(x) * len(x[0]))",
    "smallest": "min(all_parts, key=lambda x: len(x) * len(x[0]))",
}
_OTHERS = (
    ("whole", "what all of them show, one over the other", 0.7),
    ("usual", "the commonest one", 0.6),
    ("odd", "the one unlike the others", 0.8),
    ("fullest", "the fullest one", 0.6),
    ("richest", "the one of most colours", 0.8),
    ("all_parts[0]", "the first one", 0.7),
    ("all_parts[-1]", "the last one", 0.8),
)
_TURNED = (
    ("[row[::-1] for row in p]", "mirrored from left to right", 0.6),
    ("p[::-1]", "mirrored from top to bottom", 0.6),
    ("[row[::-1] for row in p[::-1]]", "turned by half a turn", 0.7),
    ("[list(row) for row in zip(*p[::-1])]", "turned clockwise", 0.8),
    ("[list(row) for row in zip(*p)][::-1]", "turned anticlockwise", 0.8),
    ("[list(row) for row in zip(*p)]", "with columns as rows", 0.8),
    ("[sorted(row) for row in p]", "sorted in its rows", 1.0),
    ("[[v if p[0][0] == 0 else 0 for v in row] for row in p]", "kept where its first cell is empty", 1.8),
    ("turned_over(p)", "with its two colours swapped", 0.8),
    ("nested(p, True)", "with the colours of its rings in the opposite order", 0.8),
    ("nested(p, False)", "with the colours of its rings moved inwards, the last to the outside", 0.9),
)  # fmt: skip
_TESTS = (
    ("any(map(any, p))", "that is not empty", 0.4),
    ("all(map(all, p))", "without an empty cell", 0.5),
    ("filled(p) == filled(fullest)", "with most filled cells", 0.6),
    ("filled(p) == filled(emptiest)", "with fewest filled cells", 0.7),
    ("len(p) * len(p[0]) == len(largest) * len(largest[0])", "of the largest area", 0.6),
    ("len(p) * len(p[0]) == len(smallest) * len(smallest[0])", "of the smallest area", 0.6),
    ("all_parts.count(p) == 1", "that does not occur again", 0.8),
    ("p == [row[::-1] for row in p]", "that is symmetric from left to right", 0.5),
    ("p == p[::-1]", "that is symmetric from top to bottom", 0.5),
    ("len(set(sum(p, []))) == 1", "of one colour", 0.8),
    ("len(set(sum(p, []))) == len(set(sum(richest, [])))", "of most colours", 0.9),
    ("len(set(sum(p, []))) == len(set(sum(poorest, [])))", "of fewest colours", 0.9),
    ("len(p) == len(p[0])", "as high as wide", 0.9),
    ("len(p) > len(p[0])", "higher than wide", 1.0),
    ("p[len(p) // 2][len(p[0]) // 2] > 0", "with a coloured middle", 1.0),
)  # fmt: skip


def _fillings(goal: Goal) -> Iterator[RoomExpression]:
    inks = [(str(k), colour_name(k), 0.0) for k in goal.made_colours if k]
    inks += [
        ("most(g)", "the grid's main colour", 0.2),
        ("least(g)", "the grid's rarest colour", 0.3),
    ]
    yield RoomExpression("p", "stays as it is", 0.0)
    yield RoomExpression("[[0] * len(row) for row in p]", "is cleared", 0.3)
    yield RoomExpression(
        "[[most(p)] * len(row) for row in p]", "is filled with its main colour", 0.3
    )
    yield RoomExpression(
        "[[least(p)] * len(row) for row in p]", "is filled with its rarest colour", 0.6
    )
    yield RoomExpression("[[commonest(p)] * len(row) for row in p]", "is filled with the colour of most of its cells", 0.5)  # fmt: skip
    yield RoomExpression("[[v or most(p) for v in row] for row in p]", "gets its main colour in its empty cells", 0.5)  # fmt: skip
    for text, says, cost in _TURNED:
        yield RoomExpression(text, f"is {says}", cost)
    for text, says, cost in _OTHERS:
        yield RoomExpression(text, f"becomes {says}", cost)
        filled = f"[[v or w for v, w in zip(*rows)] for rows in zip(p, {text})]"
        yield RoomExpression(filled, f"is laid over {says}", cost + 0.4)
        for k, name, more in inks:
            rest = f"[[v or w and {k} for v, w in zip(*rows)] for rows in zip(p, {text})]"
            yield RoomExpression(
                rest, f"gets {name} where it is empty but not {says}", cost + 0.9 + more
            )
    for k, name, more in inks:
        yield RoomExpression(
            f"[[{k}] * len(row) for row in p]", f"is filled with {name}", 0.5 + more
        )
        yield RoomExpression(f"[[v or {k} for v in row] for row in p]", f"gets {name} in its empty cells", 0.6 + more)  # fmt: skip
        yield RoomExpression(f"[[v and {k} for v in row] for row in p]", f"becomes {name} where it is coloured", 0.6 + more)  # fmt: skip


def _tests(colours: list[int]) -> Iterator[RoomExpression]:
    for text, says, cost in _TESTS:
        yield RoomExpression(text, says, cost)
    for c in colours:
        yield RoomExpression(
            f"{c} in sum(p, [])", f"that holds {colour_name(c) if c else 'an empty cell'}", 0.9
        )
        yield RoomExpression(f"p[0][0] == {c}", f"that begins with {colour_name(c)}", 1.1)
    for k in range(2, 7):
        yield RoomExpression(f"filled(p) >= {k}", f"with at least {k} filled cells", 1.1)
        yield RoomExpression(f"filled(p) == {k}", f"with {k} filled cells", 1.3)


def _cells(goal: Goal) -> Iterator[RoomExpression]:
    yield RoomExpression("most(p)", "its main colour", 0.2)
    yield RoomExpression("commonest(p)", "the colour of most of its cells", 0.4)
    yield RoomExpression("least(p)", "its rarest colour", 0.5)
    yield RoomExpression("p[0][0]", "its first cell", 0.6)
    yield RoomExpression("p[len(p) // 2][len(p[0]) // 2]", "its middle cell", 0.6)
    yield RoomExpression("filled(p)", "the number of its filled cells, as a colour", 1.6)
    for k in goal.made_colours:
        yield RoomExpression(str(k), colour_name(k) if k else "black (0)", 0.3)


def _kinds(state: State, goal: Goal) -> Iterator[RoomKind]:
    yield from KINDS
    for m, n in _SHARES:
        if all(len(g) % m == 0 and len(g[0]) % n == 0 for g in state.grids):
            yield RoomKind(f"equal_boxes(g, {m}, {n})", f"each of the {m} by {n} equal parts", 0.5)


class _ViewedRooms:
    """The rooms of one kind in all grids, and what expressions give for them."""

    def __init__(self, kind: RoomKind, grids: Grids, boxes: list[Boxes]) -> None:
        self.kind, self.grids, self.boxes = kind, grids, boxes
        self.parts = [
            [[row[b:d] for row in g[a:c]] for a, b, c, d in boxes]
            for g, boxes in zip(grids, self.boxes, strict=True)
        ]
        self.count = sum(map(len, self.boxes))
        named_ones = [compile_expression(text, "all_parts") for text in _NAMES.values()]
        self.known = [[one(parts) for one in named_ones] for parts in self.parts]

    def values(self, text: str) -> list[Any] | None:
        """Return the values of an expression for all rooms, or None if it fails on one of them."""
        made = compile_expression(text, "p, all_parts, g, " + ", ".join(_NAMES))
        try:
            return [
                made(p, parts, g, *known)
                for g, parts, known in zip(self.grids, self.parts, self.known, strict=True)
                for p in parts
            ]
        except FAILURES:
            return None

    def all_values(
        self, told: Iterator[RoomExpression], budget: Budget
    ) -> list[tuple[RoomExpression, list[Any]]]:
        """Return the expressions that work on all rooms, with their values.

        The list ends where the budget is spent.
        """
        found = []
        cells = sum(len(p) * len(p[0]) for parts in self.parts for p in parts)
        for one in told:
            if not budget.charge(cells / 40 + self.count / 20):
                break
            values = self.values(one.text)
            if values is not None:
                found.append((one, values))
        return found


def _looks(state: State, goal: Goal, budget: Budget) -> Iterator[_ViewedRooms]:
    known = []
    for kind in _kinds(state, goal):
        if not budget.charge(2.0 + goal.cells / 32):
            return
        try:
            boxes = [compile_expression(kind.text, "g")(g) for g in state.grids]
            fewest = 1 if kind.says == "the grid" else 2
            if all(fewest <= len(b) <= MAX_ROOMS for b in boxes) and boxes not in known:
                known.append(boxes)
                yield _ViewedRooms(kind, state.grids, boxes)
        except FAILURES:
            continue


def change_rooms(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that change all rooms in the same way, or in one of two ways that a test selects.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if goal.has_shapes(state.grids):
        yield from _within_share(_each, state, goal, budget)


def summarise_rooms(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that reduce each room to one cell and keep the arrangement of the rooms.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if not goal.has_shapes(state.grids):
        yield from _within_share(_summary, state, goal, budget)


def _within_share(finder: Finder, state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    own = Budget(min(budget.left, BUDGET_SHARE * budget.limit))
    steps = list(finder(state, goal, own))
    budget.charge(own.spent)
    yield from steps


def _each(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    for seen in _looks(state, goal, budget):
        if not _only_inside(seen, goal):
            continue
        wanted = [
            [row[b:d] for row in out[a:c]]
            for out, boxes in zip(goal.outputs, seen.boxes, strict=True)
            for a, b, c, d in boxes
        ]
        made = seen.all_values(_fillings(goal), budget)
        if not made:
            return
        right = np.array(
            [[v == w for v, w in zip(values, wanted, strict=True)] for _, values in made]
        )
        things = [one for one, _ in made]
        for cost, text, says in _rules(seen, things, right, goal, budget)[:MAX_STEPS]:
            step = _every(seen.kind, cost, text, says)
            budget.charge(goal.cells / Budget.CELLS)
            if apply(step, state.grids) == goal.outputs:
                yield step


def _only_inside(seen: _ViewedRooms, goal: Goal) -> bool:
    """Return whether nothing changes outside of the rooms."""
    for g, out, boxes in zip(seen.grids, goal.outputs, seen.boxes, strict=True):
        changed = np.array(g) != np.array(out)
        for a, b, c, d in boxes:
            changed[a:c, b:d] = False
        if changed.any():
            return False
    return True


def _rules(
    seen: _ViewedRooms, things: list[RoomExpression], right: BoolArray, goal: Goal, budget: Budget
) -> list[tuple[float, str, str]]:
    """Return rules as (cost, expression, phrase), cheapest first."""
    found = [
        (
            ONE_WAY_COST + seen.kind.cost + things[k].cost,
            things[k].text,
            f"{seen.kind.says} {things[k].says}",
        )
        for k in np.flatnonzero(right.all(1))
    ]
    told = seen.all_values(_tests(goal.colours), budget)
    tests = [(one, np.array([bool(v) for v in values])) for one, values in told]
    for x in np.flatnonzero(right.any(1) & ~right.all(1)):
        fits = np.flatnonzero((right | right[x]).all(1) & ~right.all(1))
        budget.charge(0.02 * len(fits) * len(tests))
        for y in fits:
            for test, holds in tests:
                if (right[x] | ~holds).all() and (right[y] | holds).all():
                    lone = 1.0 * (int((~right[y]).sum()) <= 1) + 1.0 * (int((~right[x]).sum()) <= 1)
                    cost = (
                        TWO_WAYS_COST
                        + seen.kind.cost
                        + test.cost
                        + things[x].cost
                        + things[y].cost
                        + lone
                    )
                    text = f"{things[x].text} if {test.text} else {things[y].text}"
                    says = f"{seen.kind.says} {things[x].says} if it is one {test.says}, else {things[y].says}"
                    found.append((cost, text, says))
    return sorted(found)


def _parts(kind: RoomKind, text: str) -> str:
    """Return the lines that define the rooms and the names that the expression uses."""
    lines = [
        f"boxes = {kind.text}",
        "all_parts = [[row[b:d] for row in g[a:c]] for a, b, c, d in boxes]",
    ]
    lines += [f"{name} = {one}" for name, one in _NAMES.items() if re.search(rf"\b{name}\b", text)]
    return "\n".join(lines)


def _every(kind: RoomKind, cost: float, text: str, says: str) -> Step:
    lines = "\n".join(wrap_line(f"    part = {text}"))
    code = (
        "r = [row[:] for row in g]\n"
        f"{_parts(kind, text)}\n"
        "for (a, b, c, d), p in zip(boxes, all_parts):\n"
        f"{lines}\n"
        "    for i, row in enumerate(part[: c - a]):\n"
        "        r[a + i][b:d] = (row + [0] * (d - b))[: d - b]\n"
        "g = r"
    )
    return Step(code, says, cost)


def _summary(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    for seen in _looks(state, goal, budget):
        rows = [
            [sum(a == top for a, *_ in boxes) for top in sorted({b[0] for b in boxes})]
            for boxes in seen.boxes
        ]
        if any(len(set(r)) != 1 for r in rows) or [(len(r), r[0]) for r in rows] != goal.shapes:
            continue
        wanted = [v for out in goal.outputs for row in out for v in row]
        made = seen.all_values(_cells(goal), budget)
        if not made:
            return
        right = np.array(
            [[v == w for v, w in zip(values, wanted, strict=True)] for _, values in made]
        )
        for cost, text, says in _rules(seen, [one for one, _ in made], right, goal, budget)[
            :MAX_STEPS
        ]:
            code = (
                f"{_parts(seen.kind, text)}\n"
                "cells = []\nfor p in all_parts:\n"
                + "\n".join(wrap_line(f"    colour = {text}"))
                + "\n    cells.append(colour)\n"
                "wide = sum(top == boxes[0][0] for top, *_ in boxes)\n"
                "g = [cells[k : k + wide] for k in range(0, len(cells), wide)]"
            )
            told = says.removeprefix(f"{seen.kind.says} ")
            step = Step(code, f"make one cell of {seen.kind.says}: {told}", cost)
            budget.charge(goal.cells / Budget.CELLS)
            if apply(step, state.grids) == goal.outputs:
                yield step


FINDERS = ((1.8, change_rooms), (1.8, summarise_rooms))
