"""Finder of steps that move objects.

Objects move by a constant distance, by their own size, as far as there is room, or towards, onto or
away from another object. An object is taken to have moved if the cells of its old place look
different in the output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Step, apply, colour_name
from .features import (
    VIEWS,
    BoolArray,
    Condition,
    View,
    ViewedObjects,
    describe_objects,
    view_objects,
)

MAX_TRIED = 120  # maximum number of steps that are tried for one view
MAX_COLOURS = 5  # maximum number of colours that each move in their own way
SLIDES = (
    (1, 0, "down", "-max(i for i, _ in o)"),
    (-1, 0, "up", "min(i for i, _ in o)"),
    (0, 1, "to the right", "-max(j for _, j in o)"),
    (0, -1, "to the left", "min(j for _, j in o)"),
)


class Move(NamedTuple):
    """A way to move objects.

    Attributes:
        code: Lines of code that draw the object `o` at its new place in the grid `r`. The object
            has already been erased from `r`. The lines run in a loop over the moved objects.
        says: The movement in English, as words that follow "move" and the objects.
        cost: Cost of moving in this way.
        order: Expression over `o` for the key by which the objects are sorted before they move. It
            is empty if the order does not matter.
    """

    code: str
    says: str
    cost: float
    order: str = ""


def move_objects(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that move the objects that meet a condition.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if not goal.has_shapes(state.grids) or not budget.charge(5.0):
        return
    if not _rearranged(state, goal):
        return
    after = [np.array(g, dtype=np.int64) for g in goal.outputs]
    before = [np.array(g, dtype=np.int64) for g in state.grids]
    told: set[str] = set()
    for view in VIEWS:
        if view.text.startswith(("regions", "row", "column", "layers")):
            continue
        look = view_objects(view, state.grids)
        if look is None or len(look.flat) > 120:
            continue
        if not look.charge(budget):
            return
        gone = np.array([
            any(after[k][p] != before[k][p] for p in o)
            for o, k in zip(look.flat, look.of.tolist(), strict=True)
        ])  # fmt: skip
        if not gone.any():
            continue
        tried = 0
        for condition, holds in _movers(look, gone):
            for one in _moves(look, holds, before, after):
                step = build_step(view, condition, one)
                if step.code in told:
                    continue
                told.add(step.code)
                tried += 1
                if not budget.charge(12.0 + goal.cells / 64) or tried > MAX_TRIED:
                    break
                if apply(step, state.grids[:1]) != goal.outputs[:1]:
                    continue
                budget.charge(30.0 + goal.cells / 16)
                if apply(step, state.grids) == goal.outputs:
                    yield step


def _rearranged(state: State, goal: Goal) -> bool:
    """Return whether the outputs can be the result of moves.

    No output may have more cells of a colour than its input, nor less than half of its coloured
    cells: moved cells may be covered or leave the grid, but are not copied.
    """
    for g, out in zip(state.grids, goal.outputs, strict=True):
        old, new = np.bincount(np.ravel(g), minlength=10), np.bincount(np.ravel(out), minlength=10)
        if (new[1:] > old[1:]).any() or (new[1:].sum() < 0.5 * old[1:].sum()):
            return False
    return True


def _movers(look: ViewedObjects, gone: BoolArray) -> Iterator[tuple[Condition, BoolArray]]:
    """Yield the cheapest conditions that hold for all moved objects.

    Conditions that also hold for other objects count as slightly more expensive.
    """
    conditions, holds = look.compute_conditions()
    fits = np.flatnonzero((holds | ~gone).all(axis=1))
    tight = sorted(fits, key=lambda k: conditions[k].cost + 0.5 * (holds[k] & ~gone).any())
    for k in tight[:5]:
        yield conditions[k], holds[k]


def _moves(
    look: ViewedObjects,
    holds: BoolArray,
    before: list[NDArray[np.int64]],
    after: list[NDArray[np.int64]],
) -> Iterator[Move]:
    for a, b in _offsets(look, holds, before, after)[:3]:
        yield Move(
            _placed(a, b), f"by {_describe_offset(a, b)}", 1.0 + 0.2 * (abs(a) > 1 or abs(b) > 1)
        )
    yield from _by_colour(look, holds, before, after)
    for a, b, says, order in SLIDES:
        yield Move(
            f"k = room(r, o, {a}, {b})\n" + _placed(f"{a} * k" if abs(a) > 1 else _times(a), _times(b)),
            f"{says} as far as there is room",
            0.9,
            order,
        )  # fmt: skip
    for size, says in (
        ("height(o)", "height"),
        ("width(o)", "width"),
        ("len(o)", "number of cells"),
    ):
        for a, b, where, _ in SLIDES:
            yield Move(
                f"k = {size}\n" + _placed(_times(a), _times(b)), f"{where} by its {says}", 1.5
            )
    colours = sorted({
        int(before[k][o[0]]) for o, k, held in zip(look.flat, look.of.tolist(), holds.tolist(), strict=True) if not held
    })  # fmt: skip
    if holds.all() or not colours:
        return
    kin = (
        "same = [x for x in many if x not in chosen and tint(g, x) == tint(g, o)]\n"
        "x = min(same, key=lambda x: gap(o, x), default=o)\n"
        "a, b = way(o, x)\n"
        "k = gap(o, x) - 1\n"
    )
    beside = _placed("a * k", "b * k")
    to_kin = "beside the nearest other object of its colour, straight"
    yield Move(kin + beside, to_kin, 1.6)
    gone = beside.replace("in o:", "in o if x != o else []:", 1)
    yield Move(kin + gone, f"{to_kin}, or away where there is none", 1.8)
    targets = [("x not in chosen", "the nearest other object", 0.6)]
    targets += [
        (f"tint(g, x) == {c}", f"the nearest {colour_name(c)} object", 1.0) for c in colours[:3]
    ]
    for test, says, cost in targets:
        near = (
            f"x = min((x for x in many if {test}), key=lambda x: gap(o, x))\n"
            "a, b = way(o, x)\n"
        )  # fmt: skip
        yield Move(near + "k = room(r, o, a, b)\n" + _placed("a * k", "b * k"), f"towards {says} until it touches", cost + 0.8)  # fmt: skip
        yield Move(near + _placed("a", "b"), f"by one step towards {says}", cost + 1.2)
        yield Move(near + _placed("-a", "-b"), f"by one step away from {says}", cost + 1.6)
        yield Move(near + "k = room(r, o, -a, -b)\n" + _placed("-a * k", "-b * k"), f"away from {says} as far as there is room", cost + 1.4)  # fmt: skip
        onto = (
            f"x = min((x for x in many if {test}), key=lambda x: gap(o, x))\n"
            "p, q = box(o), box(x)\n"
        )  # fmt: skip
        yield Move(onto + _placed("q[0] - p[0]", "q[1] - p[1]"), f"onto {says}", cost + 1.4)
        yield Move(onto + _placed("(q[0] + q[2] - p[0] - p[2]) // 2", "(q[1] + q[3] - p[1] - p[3]) // 2"), f"onto the middle of {says}", cost + 1.6)  # fmt: skip
        yield Move(onto + _placed("q[0] - p[0]", "0"), f"up or down to the height of {says}", cost + 1.6)  # fmt: skip
        yield Move(onto + _placed("0", "q[1] - p[1]"), f"sideways to the place of {says}", cost + 1.6)  # fmt: skip


def _by_colour(
    look: ViewedObjects,
    holds: BoolArray,
    before: list[NDArray[np.int64]],
    after: list[NDArray[np.int64]],
) -> Iterator[Move]:
    """Yield moves by a constant for each colour, if there are enough objects to tell."""
    tints = np.array(look.evaluate("tint(g, @)"))
    colours = sorted(set(tints[holds].tolist()))
    if not 2 <= len(colours) <= MAX_COLOURS or 2 * holds.sum() < 3 * len(colours):
        return
    ways: dict[int, tuple[int, int]] = {}
    for colour in colours:
        which = holds & (tints == colour)
        offsets = _offsets(look, which, before, after)
        if not offsets:
            return
        ways[colour] = offsets[0]
    said = ", ".join(f"{colour_name(c)} {_describe_offset(*way)}" for c, way in ways.items())
    code = f"a, b = {ways}.get(tint(g, o), (0, 0))\n" + _placed("a", "b")
    yield Move(code, f"by its colour: {said}", 1.0 + 0.6 * len(colours))


def _times(step: int) -> str:
    return {1: "k", 0: "0", -1: "-k"}[step]


def _placed(a: object, b: object) -> str:
    def plus(name: str, text: str) -> str:
        if text == "0":
            return name
        return f"{name} - {text[1:]}" if text.startswith("-") else f"{name} + {text}"

    row, column = plus("i", str(a)), plus("j", str(b))
    return (
        "for i, j in o:\n"
        f"    if 0 <= {row} < len(g) and 0 <= {column} < len(g[0]):\n"
        f"        r[{row}][{column}] = g[i][j]"
    )


def _describe_offset(a: int, b: int) -> str:
    down = f"{abs(a)} {'down' if a > 0 else 'up'}" if a else ""
    right = f"{abs(b)} to the {'right' if b > 0 else 'left'}" if b else ""
    return " and ".join(part for part in (down, right) if part)


def _offsets(
    look: ViewedObjects,
    holds: BoolArray,
    before: list[NDArray[np.int64]],
    after: list[NDArray[np.int64]],
) -> list[tuple[int, int]]:
    """Return the offsets by which all these objects can have moved, the shortest first."""
    common: set[tuple[int, int]] | None = None
    for o, k, held in zip(look.flat, look.of.tolist(), holds.tolist(), strict=True):
        if not held:
            continue
        height, width = after[k].shape
        i, j = o[0]
        if common is None:
            common = {
                (int(x) - i, int(y) - j) for x, y in np.argwhere(after[k] == before[k][o[0]])
            } - {(0, 0)}
        common = {
            (a, b)
            for a, b in common
            if all(
                after[k][p[0] + a, p[1] + b] == before[k][p]
                for p in o
                if 0 <= p[0] + a < height and 0 <= p[1] + b < width
            )
        }
        if not common:
            return []
    return sorted(common or (), key=lambda s: (abs(s[0]) + abs(s[1]), s))


def build_step(view: View, condition: Condition, one: Move) -> Step:
    """Return the step that moves all objects of `view` that meet `condition`.

    Args:
        view: How objects are recognised in the grid.
        condition: The condition on an object.
        one: How an object is moved.
    """
    chosen = f"[o for o in many if {condition.text}]" if condition.text else "many"
    slides = "room(" in one.code
    lines = ["r = [row[:] for row in g]", f"many = {view.text}", f"chosen = {chosen}"]
    if one.order:
        lines[-1:] = [f"chosen = {chosen}"] if condition.text else []
        named_so = "chosen" if condition.text else "many"
        lines.append(f"chosen = sorted({named_so}, key=lambda o: {one.order})")
    # An object that has not moved yet is in the way, so each is wiped out only when its turn comes.
    if slides:
        lines.append("for o in chosen:")
        body = one.code.splitlines()
        cut = next(k for k, line in enumerate(body) if line.startswith("for i, j"))
        wipe = ["for i, j in o:", "    r[i][j] = 0"]
        lines += ["    " + line for line in [*body[:cut], *wipe, *body[cut:]]]
    else:
        lines += ["for o in chosen:", "    for i, j in o:", "        r[i][j] = 0", "for o in chosen:"]  # fmt: skip
        lines += ["    " + line for line in one.code.splitlines()]
    lines.append("g = r")
    noun = describe_objects(view, condition)
    price = 1.6 + view.cost + condition.cost + one.cost
    return Step("\n".join(lines), f"move {noun} {one.says}", price)


FINDERS = ((2.2, move_objects),)
