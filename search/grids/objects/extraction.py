"""Finders of steps that cut a part out of the grid: an object, a panel, or an equal share.

The grid is cut into all its parts of one kind. The pairs show which part is the output, possibly
turned, mirrored or recoloured. That part is then described by a number that is computed for every
part: the part has the largest value, the smallest value, or a value that no other part has. Other
finders lay all parts over each other, or put objects next to each other in some order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import FAILURES, Grid, Grids, Step, apply, colour_name, is_grid
from .features import compile_expression

MAX_STEPS = 8  # maximum number of steps for one kind of parts
MAX_PARTS = 60  # maximum number of parts of a grid


class PartKind(NamedTuple):
    """A way to cut a grid into parts.

    Attributes:
        text: Expression over `g` that gives the list of parts. Each part is a grid.
        says: A noun phrase for the parts.
        cost: Cost of using these parts.
    """

    text: str
    says: str
    cost: float


_OBJECTS = (
    ("objects(g, True, False)", "objects", 0.1),
    ("objects(g, True, True)", "objects (diagonals count)", 0.2),
    ("objects(g, False, True)", "objects of any colours", 0.2),
    ("objects(g, False, False)", "objects of any colours", 0.5),
    ("layers(g)", "colours", 0.4),
    ("parts(g, backdrop(g), True, False)", "objects", 0.5),
    ("parts(g, backdrop(g), True, True)", "objects", 0.7),
    ("parts(g, backdrop(g), False, True)", "objects of any colours", 0.5),
)
PARTS = (
    *(PartKind(f"[crop(g, o) for o in {t}]", f"the boxes of the {s}", c) for t, s, c in _OBJECTS),
    *(PartKind(f"[alone(g, o) for o in {t}]", f"the {s}", c + 0.1) for t, s, c in _OBJECTS),
    PartKind("panels(g)", "the panels between lines", 0.0),
    *(
        PartKind(f"shares(g, {a}, {b})", f"the {a * b} equal parts", 0.2 + 0.1 * (a * b > 3))
        for a, b in ((1, 2), (2, 1), (1, 3), (3, 1), (2, 2), (1, 4), (4, 1), (3, 3), (1, 5), (5, 1))
    ),
    PartKind("solid(g)", "the insides of frames", 0.5),
)

# Numbers of a part `p` among `all_parts`, with phrases for the largest and the smallest value.
NUMBERS = (
    ("filled(p)", "most filled cells", "fewest filled cells", 0.6),
    ("len(p) * len(p[0])", "the largest area", "the smallest area", 0.5),
    ("len({v for row in p for v in row})", "most colours", "fewest colours", 0.7),
    ("sum(v == 0 for row in p for v in row)", "most empty cells", "fewest empty cells", 0.8),
    ("all_parts.count(p)", "the one most often seen", "the one seldomest seen", 0.6),
    ("p == [row[::-1] for row in p]", "the one symmetric from left to right", "the one not symmetric from left to right", 0.8),
    ("p == p[::-1]", "the one symmetric from top to bottom", "the one not symmetric from top to bottom", 0.9),
    ("p == [list(row) for row in zip(*p)]", "the one symmetric about its diagonal", "the one not symmetric about its diagonal", 1.3),
    ("len(p)", "the highest", "the lowest", 0.9),
    ("len(p[0])", "the widest", "the narrowest", 0.9),
    ("len(objects(p, True, False))", "most objects", "fewest objects", 1.0),
    ("len(regions(p))", "most empty regions", "fewest empty regions", 1.0),
    ("sum(drawn(p) == drawn(x) for x in all_parts)", "the commonest shape", "the rarest shape", 0.9),
    ("sum(ranked(p)[:1] == ranked(x)[:1] for x in all_parts)", "the commonest colour", "the rarest colour", 0.9),
    ("max(map(max, p))", "the highest colour number", "the lowest colour number", 1.8),
)  # fmt: skip
TURNS = (
    ("p", "", 0.0),
    ("[row[::-1] for row in p]", ", mirrored from left to right", 1.0),
    ("p[::-1]", ", mirrored from top to bottom", 1.0),
    ("[list(row) for row in zip(*p)]", ", with columns as rows", 1.2),
    ("[list(row) for row in zip(*p[::-1])]", ", turned clockwise", 1.2),
    ("[list(row) for row in zip(*p)][::-1]", ", turned anticlockwise", 1.2),
    ("[row[::-1] for row in p[::-1]]", ", turned by half a turn", 1.2),
    ("[row[1:-1] for row in p[1:-1]]", " without its outermost cells", 0.9),
    (
        "[[ranked(p)[0] if v else 0 for v in row] for row in p]",
        ", all of it in its main colour",
        0.9,
    ),
    (
        "[[p[0][0] if v else 0 for v in row[1:-1]] for row in p[1:-1]]",
        " without its outermost cells, in the colour of its corner",
        1.3,
    ),
    ("[[int(v > 0) * {c} for v in row] for row in p]", ", all of it {n}", 1.2),
    ("[[v or {c} for v in row] for row in p]", ", its empty cells {n}", 1.2),
    ("[row + row[::-1] for row in p]", ", and its mirror image on its right", 1.4),
    ("[row + row for row in p]", ", twice side by side", 1.4),
)


def cut_parts(parts: PartKind, grids: Grids) -> list[list[Grid]] | None:
    """Cut each grid into its parts.

    Returns:
        One list of parts per grid. None if the expression of `parts` fails on a grid, gives no part
        or more than `MAX_PARTS` parts, or gives a value that is not a grid.
    """
    made = compile_expression(parts.text, "g")
    try:
        found = [made(g) for g in grids]
    except FAILURES:
        return None
    if any(not 1 <= len(one) <= MAX_PARTS for one in found):
        return None
    return found if all(is_grid(p) for one in found for p in one) else None


def choose_part(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that cut the grid into parts and return one of the parts.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    largest = [max(len(o), len(o[0])) > max(len(g), len(g[0])) * 2 for g, o in zip(state.grids, goal.outputs, strict=True)]  # fmt: skip
    if any(largest):
        return
    told: set[str] = set()
    for parts in PARTS:
        found = cut_parts(parts, state.grids)
        if not budget.charge(3.0 + goal.cells / 20):
            return
        if found is None:
            continue
        given = 0
        for turn, says, cost in _turns(goal.outputs):
            if turn != "p" and goal.shapes == [(len(g), len(g[0])) for g in state.grids]:
                continue
            which = _which(found, turn, goal.outputs)
            budget.charge(0.1 * len(found))
            if which is None:
                continue
            for pick, said, price in _picks(found, which, budget):
                step = Step(
                    f"all_parts = {parts.text}\np = {pick}" + (f"\ng = {turn}" if turn != "p" else "\ng = p"),
                    f"take of {parts.says} {said}{says}",
                    1.6 + parts.cost + cost + price,
                )  # fmt: skip
                if turn == "p":
                    step = step._replace(
                        code=step.code.replace("\np = ", "\ng = ").removesuffix("\ng = p")
                    )
                if step.code not in told and apply(step, state.grids) == goal.outputs:
                    yield step
                    given += 1
                told.add(step.code)
                if not budget.charge(40.0) or given == MAX_STEPS:
                    break
            if given == MAX_STEPS:
                break


def _turns(outputs: Grids) -> Iterator[tuple[str, str, float]]:
    filled = {v for g in outputs for row in g for v in row}
    for text, says, cost in TURNS:
        if "{c}" not in text:
            yield text, says, cost
        elif len(filled - {0}) == 1 and "int" in text:
            (colour,) = filled - {0}
            yield text.replace("{c}", str(colour)), says.replace("{n}", colour_name(colour)), cost
        elif "or" in text and 0 not in filled:
            for colour in sorted(filled):
                yield (
                    text.replace("{c}", str(colour)),
                    says.replace("{n}", colour_name(colour)),
                    cost,
                )


def _which(found: list[list[Grid]], turn: str, outputs: Grids) -> list[set[int]] | None:
    """Return the indices of each grid's parts that are the output, or None if a grid has none."""
    made = compile_expression(turn, "p")
    chosen = []
    for all_parts, wanted in zip(found, outputs, strict=True):
        fits = {
            k
            for k, p in enumerate(all_parts)
            if (len(wanted), len(wanted[0])) in ((len(p), len(p[0])), (len(p[0]), len(p)), (len(p) - 2, len(p[0]) - 2), (len(p), 2 * len(p[0])))
            and made(p) == wanted
        }  # fmt: skip
        if not fits:
            return None
        chosen.append(fits)
    return chosen


def _picks(
    found: list[list[Grid]], which: list[set[int]], budget: Budget
) -> Iterator[tuple[str, str, float]]:
    """Yield expressions that choose one of `all_parts`, with a phrase and a cost."""
    if all(len(every) == 1 for every in found):
        yield "all_parts[0]", "the only one", 0.4
        return
    for text, most, least, cost in NUMBERS:
        make = compile_expression(text, "p, all_parts")
        budget.charge(0.06 * sum(map(len, found)))
        try:
            values = [[make(p, every) for p in every] for every in found]
        except FAILURES:
            continue
        for name, says in (("max", most), ("min", least)):
            function: Callable[[Any], Any] = max if name == "max" else min
            taken = [one.index(function(one)) for one in values]
            if all(k in fits for k, fits in zip(taken, which, strict=True)):
                tie = sum(one.count(function(one)) > 1 for one in values) / len(values)
                said = says if says.startswith(("the ", "that ")) else f"the one with {says}"
                yield f"{name}(all_parts, key=lambda p: {text})", said, cost + 0.6 * tie
        if text.startswith(("p ==", "all_parts.count")):
            continue
        alone = [[one.count(v) == 1 for v in one] for one in values]
        if all(sum(one) == 1 and one.index(True) in fits for one, fits in zip(alone, which, strict=True)):  # fmt: skip
            other = text.replace("p)", "x)").replace("in p ", "in x ").replace("in p)", "in x)").replace("p[0]", "x[0]")  # fmt: skip
            if other != text and "all_parts" not in text:
                yield (
                    f"[p for p in all_parts if sum(({other}) == ({text}) for x in all_parts) == 1][0]",
                    f"the one that alone has its number of: {most.removeprefix('the ')}",
                    cost + 1.0,
                )  # fmt: skip
    colours = {v for every in found for p in every for row in p for v in row}
    for colour in sorted(colours):
        for text, says, cost in (
            (f"any({colour} in row for row in p)", f"that holds {colour_name(colour)}", 1.2),
            (f"not any({colour} in row for row in p)", f"without {colour_name(colour)}", 1.6),
            (f"sum(row.count({colour}) for row in p)", f"with most {colour_name(colour)}", 1.3),
            (f"-sum(row.count({colour}) for row in p)", f"with least {colour_name(colour)}", 1.5),
        ):
            make = compile_expression(text, "p")
            values = [[make(p) for p in every] for every in found]
            taken = [one.index(max(one)) for one in values]
            if all(k in fits for k, fits in zip(taken, which, strict=True)):
                if not all(map(max, values)):
                    continue
                tie = sum(one.count(max(one)) > 1 for one in values) / len(values)
                yield f"max(all_parts, key=lambda p: {text})", f"the one {says}", cost + 0.6 * tie
    for k, says in ((0, "first"), (-1, "last"), (1, "second"), (2, "third")):
        if all(len(every) > k and k % len(every) in fits for every, fits in zip(found, which, strict=True)):  # fmt: skip
            yield f"all_parts[{k}]", f"the {says}", 1.3 + 0.3 * (k > 0)


def overlay_parts(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that lay parts of equal size over each other.

    At each cell the step takes the colour of the first part that is not empty there, or a colour
    that depends on how many parts are not empty there. Each step turns the grids of `state` into
    the outputs of `goal`.
    """
    for parts in (p for p in PARTS if p.text.startswith(("panels", "shares", "[crop"))):
        found = cut_parts(parts, state.grids)
        if not budget.charge(3.0 + goal.cells / 20):
            return
        if (
            found is None
            or min(map(len, found)) < 2
            or any(
                {(len(p), len(p[0])) for p in every} != {size}
                for every, size in zip(found, goal.shapes, strict=True)
            )
        ):
            continue
        count = {len(every) for every in found}
        for text, says, cost in _laid(found, goal, count):
            step = Step(
                f"all_parts = {parts.text}\ng = [[{text} for cell in zip(*row)] for row in map(lambda *r: r, *all_parts)]".replace("map(lambda *r: r, *all_parts)", "zip(*all_parts)"),
                f"lay {parts.says} over each other: {says}",
                1.8 + parts.cost + cost,
            )  # fmt: skip
            budget.charge(30.0)
            if apply(step, state.grids) == goal.outputs:
                yield step


def _laid(found: list[list[Grid]], goal: Goal, count: set[int]) -> Iterator[tuple[str, str, float]]:
    for back in (False, True):
        order = "cell[::-1]" if back else "cell"
        yield f"next((v for v in {order} if v), 0)", f"the {'last' if back else 'first'} that is not empty", 0.6  # fmt: skip
    yield "max(cell)", "the highest colour number", 1.4
    yield "min(cell)", "the lowest colour number", 1.4
    yield "max(cell, key=lambda v: (cell.count(v), v))", "what stands there most often", 1.2
    if len(count) > 1:
        return
    n = next(iter(count))
    orders: list[tuple[int, ...]] = list(permutations(range(n)))[1:-1] if n in (3, 4) else []
    stacks = [np.array(every) for every in found]
    for order_of in orders:
        fits = all(
            (_topmost(stack[list(order_of)]) == np.array(out)).all()
            for stack, out in zip(stacks, goal.outputs, strict=True)
        )
        if fits:
            listed = ", ".join(f"cell[{k}]" for k in order_of)
            said = ", ".join(str(k + 1) for k in order_of)
            yield f"next((v for v in ({listed}) if v), 0)", f"what is not empty, by the order {said}", 1.6  # fmt: skip
    for colour in goal.made_colours:
        for rest in goal.made_colours:
            if colour == rest:
                continue
            said = colour_name(rest)
            for text, says, cost in (
                ("all(cell)", "all are filled", 1.0),
                ("any(cell)", "one is filled", 1.0),
                ("not any(cell)", "all are empty", 1.0),
                ("not all(cell)", "one is empty", 1.0),
                ("sum(map(bool, cell)) == 1", "just one is filled", 1.2),
                ("len(set(map(bool, cell))) == 1", "all are filled or all empty", 1.3),
                ("len(set(cell)) == 1", "all are of one colour", 1.3),
                ("cell[0] and not cell[1]", "the first is filled and the second is not", 1.3),
                ("cell[1] and not cell[0]", "the second is filled and the first is not", 1.3),
            ):
                if _fits(stacks, goal, text, colour, rest):
                    yield (
                        f"{colour} if {text} else {rest}",
                        f"{colour_name(colour)} where {says}, else {said}",
                        cost,
                    )


def _topmost(stack: Any) -> Any:
    out = np.zeros(stack.shape[1:], dtype=stack.dtype)
    for layer in stack[::-1]:
        out = np.where(layer > 0, layer, out)
    return out


def _fits(stacks: list[Any], goal: Goal, text: str, colour: int, rest: int) -> bool:
    """Return whether the rule holds on the middle row of the first pair.

    This is a cheap test before the whole step is run.
    """
    made = compile_expression(text, "cell")
    middle = stacks[0].shape[1] // 2
    cells = stacks[0][:, middle].T.tolist()
    wanted = goal.outputs[0][middle]
    return all((colour if made(c) else rest) == w for c, w in zip(cells, wanted, strict=True))


ORDERS = (
    ("len(o)", "by size"),
    ("-len(o)", "by size, the largest first"),
    ("min(j for _, j in o)", "from left to right"),
    ("min(i for i, _ in o)", "from top to bottom"),
    ("tint(g, o)", "by colour number"),
    ("height(o)", "by height"),
    ("width(o)", "by width"),
)


def line_up_objects(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that put all objects next to each other in some order.

    Some of the steps put one cell of the object's colour in the place of each object.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    for text, says, cost in _OBJECTS:
        look = compile_expression(text, "g")
        many = [look(g) for g in state.grids]
        if not budget.charge(3.0 + goal.cells / 20):
            return
        if any(not 2 <= len(one) <= 30 for one in many):
            continue
        for cut, said in (
            ("alone(g, o)", "them"),
            ("[[tint(g, o)]]", "one cell of the colour of each"),
        ):
            make = compile_expression(cut, "g, o")
            sizes = [[(len(p), len(p[0])) for p in (make(g, o) for o in one)] for g, one in zip(state.grids, many, strict=True)]  # fmt: skip
            for beside in (True, False):
                if not all(
                    len({s[not beside] if False else (s[0] if beside else s[1]) for s in one}) == 1
                    and ((one[0][0], sum(s[1] for s in one)) if beside else (sum(s[0] for s in one), one[0][1])) == shape
                    for one, shape in zip(sizes, goal.shapes, strict=True)
                ):  # fmt: skip
                    continue
                for order, told in ORDERS:
                    made = f"[{cut} for o in sorted({text}, key=lambda o: {order})]"
                    join = (
                        "[[v for part in row for v in part] for row in zip(*all_parts)]"
                        if beside
                        else "[row for part in all_parts for row in part]"
                    )
                    step = Step(
                        f"all_parts = {made}\ng = {join}",
                        f"put {said} {'side by side' if beside else 'below each other'} (the {says}) {told}",
                        2.6 + cost,
                    )  # fmt: skip
                    budget.charge(30.0)
                    if apply(step, state.grids) == goal.outputs:
                        yield step


FINDERS = ((1.6, choose_part), (1.6, overlay_parts), (3.0, line_up_objects))
