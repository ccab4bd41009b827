"""Finders of steps that paint cells near or inside objects and keep the size of the grid.

For each object that meets a condition, a step paints the object itself, its box, its holes, its
surroundings, or lines that start from it. The rules are derived from the colours that each object
must get in the outputs. Every step is run on all pairs before it is yielded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Step, apply
from .features import VIEWS, View, ViewedObjects, describe_objects, view_objects
from .rules import PLAIN_VALUES, Clause, Rule, constant_values, find_rules

MAX_STEPS = 12  # maximum number of steps for one view
MAX_PARTIAL = (
    40  # maximum number of rules explaining a part of the changes that are combined in pairs
)
# Minimum share of the changes that the first of two rules explains, if one hides the other
MIN_FIRST_SHARE = 0.25
MAX_ALIKE = 4  # maximum number of rules that explain the same cells and are combined with others
MAX_FOLLOWED = 2  # number of first rules after which a second rule is searched for
MAX_CONDITION_COST = (
    1.6  # maximum cost of the conditions of rules that explain only a part of the changes
)


class Area(NamedTuple):
    """A set of cells that is computed for each object, such as its holes.

    Attributes:
        text: Expression over `g` and an object `o` that gives the cells.
        says: Words that come before the noun for the object, such as "the corners of". They are
            empty for the object itself.
        cost: Cost of using this area.
        over: Whether cells that are not empty are painted, too.
    """

    text: str
    says: str
    cost: float
    over: bool = False


_WAYS = (
    ("[(0, 1)]", "to the right"),
    ("[(0, -1)]", "to the left"),
    ("[(1, 0)]", "downwards"),
    ("[(-1, 0)]", "upwards"),
    ("[(0, 1), (0, -1)]", "to the left and right"),
    ("[(1, 0), (-1, 0)]", "up and down"),
    ("[(0, 1), (0, -1), (1, 0), (-1, 0)]", "in the four straight directions"),
    ("[(1, 1), (-1, -1)]", "down right and up left"),
    ("[(1, -1), (-1, 1)]", "down left and up right"),
    ("[(1, 1), (1, -1), (-1, 1), (-1, -1)]", "along both diagonals"),
    ("[(1, 1)]", "down right"),
    ("[(1, -1)]", "down left"),
    ("[(-1, 1)]", "up right"),
    ("[(-1, -1)]", "up left"),
)
_RAYS = tuple(
    Area(f"rays(g, o, {ways}, {through})", f"the {'cells' if through else 'free cells'} {says} of", 0.9 + 0.2 * (k > 5))
    for k, (ways, says) in enumerate(_WAYS)
    for through in (False, True)
)  # fmt: skip
AREAS = (
    Area("o", "", 0.0, True),
    Area("shut_in(o)", "the holes of", 0.5),
    Area("shut_in(o)", "the holes of", 0.7, True),
    Area("gaps(o)", "the empty cells in the box of", 0.6),
    Area("gaps(o)", "the rest of the box of", 0.8, True),
    Area("halo(g, o)", "the empty cells around", 0.7),
    Area("sides(g, o)", "the empty cells beside", 0.8),
    *(
        Area(f"[p for p in halo(g, o) if {test}]", f"the empty cells around the {end} of", 1.0)
        for test, end in (
            ("p[0] <= o[0][0]", "top"),
            ("p[0] >= max(o)[0]", "bottom"),
            ("p[1] <= min(j for _, j in o)", "left end"),
            ("p[1] >= max(j for _, j in o)", "right end"),
        )
    ),
    Area("frame(g, o)", "the ring around the box of", 0.9),
    Area("edges(o)", "the empty cells on the edge of the box of", 0.9),
    Area(
        "bridges(g, o, [(0, 1), (0, -1)])",
        "the cells to the left and right, up to an obstacle, of",
        1.2,
    ),
    Area(
        "bridges(g, o, [(1, 0), (-1, 0)])", "the cells above and below, up to an obstacle, of", 1.2
    ),
    Area(
        "bridges(g, o, [(0, 1), (0, -1), (1, 0), (-1, 0)])",
        "the straight way to what it faces from",
        1.2,
    ),
    Area("core(o)", "the inner cells of", 0.8, True),
    Area("rim(o)", "the outer cells of", 0.8, True),
    Area("corners(o)", "the corners of", 0.9, True),
    Area("middle(o)", "the middle of the box of", 1.0, True),
    *_RAYS,
)
SIMPLE_VIEWS = ("pixels(g)", "row_cells(g)", "column_cells(g)")


def paint_objects(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that paint an area of each object, if the object meets a condition.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    yield from _painted(state, goal, budget, in_turn=False)


def paint_in_turn(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that apply two painting rules, the second rule to the result of the first.

    Each step gives the outputs of `goal`. Nothing is yielded for grids that are the result of
    earlier steps.
    """
    if not state.program.steps:
        yield from _painted(state, goal, budget, in_turn=True)


def _painted(state: State, goal: Goal, budget: Budget, in_turn: bool) -> Iterator[Step]:
    if not goal.has_shapes(state.grids):
        return
    before = [np.array(g, dtype=np.int64) for g in state.grids]
    after = [np.array(g, dtype=np.int64) for g in goal.outputs]
    changed = [a != b for a, b in zip(before, after, strict=True)]
    if not any(c.any() for c in changed):
        return
    told: set[str] = set()
    partial: list[PartialRule] = []
    solved = False
    for view in VIEWS:
        look = view_objects(view, state.grids)
        if look is None:
            continue
        if not look.charge(budget):
            return
        given = 0
        for area in AREAS:
            if view.text in SIMPLE_VIEWS and not (
                area.text == "o" or area in _RAYS or "bridges" in area.text
            ):
                continue
            if area in _RAYS and view.text.startswith(("row", "column", "layers", "regions")):
                continue
            if not budget.charge(0.05 * look.cells + 0.5 * len(look.flat) + 1.0):
                return
            asked = _find_required_paint(look, area, before, after, changed)
            if asked is None:
                continue
            must, wanted, whole = asked
            if not whole:
                partial += _partial(look, view, area, must, wanted, changed, goal.made_colours)
                continue
            for rule in find_rules(look, must, wanted, goal.made_colours):
                step = build_step(view, area, rule)
                if step.code in told:
                    continue
                told.add(step.code)
                budget.charge(50.0 + goal.cells / 2 / Budget.CELLS)
                if apply(step, state.grids) == goal.outputs:
                    yield step
                    solved = True
                    given += 1
                if given == MAX_STEPS or not budget.left:
                    break
    if not solved:
        pairs = list(_paired(partial, changed, state, goal, budget))
        yield from pairs
        if in_turn and not pairs:
            least = MIN_FIRST_SHARE * sum(int(c.sum()) for c in changed)
            large = [one for one in partial if len(one.explains) >= least]
            yield from _in_turn(large, state, goal, budget)


def _in_turn(
    partial: list[PartialRule], state: State, goal: Goal, budget: Budget
) -> Iterator[Step]:
    """Yield rules that explain many changes, followed by one that sees what the first painted."""
    partial = sorted(partial, key=lambda one: (-len(one.explains), one.step.cost))
    done: set[frozenset[tuple[int, int, int]]] = set()
    for one in partial:
        if len(done) == MAX_FOLLOWED or not budget.left:
            return
        if one.explains in done:
            continue
        done.add(one.explains)
        grids = apply(one.step, state.grids)
        if grids is None:
            continue
        for then in paint_objects(State(grids, state.program.then(one.step)), goal, budget):
            yield Step(
                f"{one.step.code}\n{then.code}",
                f"{one.step.says}, then {then.says}",
                one.step.cost + then.cost,
            )


class PartialRule(NamedTuple):
    """A rule that explains some of the changed cells and paints no cell wrong.

    The changed cells are given as (grid, row, column).
    """

    step: Step
    explains: frozenset[tuple[int, int, int]]


def _partial(
    look: ViewedObjects,
    view: View,
    area: Area,
    must: NDArray[np.bool_],
    wanted: NDArray[np.int64],
    changed: list[NDArray[np.bool_]],
    colours: list[int],
) -> Iterator[PartialRule]:
    """Yield the plainest rules for each set of objects that a rule can be about."""
    cells = look.evaluate(area.text)
    conditions, holds = look.compute_conditions()
    if cells is None:
        return
    done: dict[bytes, int] = {}
    explained_by: dict[bytes, frozenset[tuple[int, int, int]]] = {}
    rows = [one.tolist() for one in changed]
    of = look.of.tolist()
    for value in [*constant_values(colours), *PLAIN_VALUES]:
        given = look.evaluate(value.text)
        if given is None:
            continue
        allowed = (np.array(given) == wanted) | (wanted == -2)
        for k in np.flatnonzero((~holds | allowed).all(axis=1) & (holds & must).any(axis=1)):
            if conditions[k].cost > MAX_CONDITION_COST or (holds[k] & must).sum() < 2:
                continue
            key = holds[k].tobytes()
            alike = done.get(key, 0)
            if alike == MAX_ALIKE:
                continue
            done[key] = alike + 1
            if key not in explained_by:
                explained_by[key] = frozenset(
                    (of[n], i, j)
                    for n in np.flatnonzero(holds[k]).tolist()
                    for i, j in cells[n]
                    if rows[of[n]][i][j]
                )
            yield PartialRule(
                build_step(view, area, Rule((Clause(conditions[k], value),))), explained_by[key]
            )


def _paired(
    partial: list[PartialRule],
    changed: list[NDArray[np.bool_]],
    state: State,
    goal: Goal,
    budget: Budget,
) -> Iterator[Step]:
    """Yield pairs of rules, one after the other, that together explain all changed cells."""
    wide = sum(int(c.sum()) for c in changed)
    partial = sorted(partial, key=lambda one: (one.step.cost, -len(one.explains)))
    best: dict[frozenset[tuple[int, int, int]], list[PartialRule]] = {}
    for one in partial:
        best.setdefault(one.explains, []).append(one)
    first_ones = [alike[0] for alike in best.values()]
    kept = sorted(first_ones, key=lambda one: one.step.cost - 4.0 * len(one.explains) / wide)
    kept = kept[:MAX_PARTIAL]
    budget.charge(0.5 * len(kept) ** 2)
    pairs = [
        (a.step.cost + b.step.cost, n, m)
        for n, a in enumerate(kept)
        for m, b in enumerate(kept)
        if n != m and len(a.explains | b.explains) == wide
    ]
    given = 0
    for _, n, m in sorted(pairs)[:16]:
        alike = [best[kept[k].explains][:MAX_ALIKE] for k in (n, m)]
        for first, second in ((a.step, b.step) for a in alike[0] for b in alike[1]):
            both = Step(
                f"{first.code}\n{second.code}",
                f"{first.says}, then {second.says}",
                first.cost + second.cost,
            )
            if not budget.charge(50.0 + goal.cells / 2 / Budget.CELLS) or given == MAX_STEPS:
                return
            if apply(both, state.grids) != goal.outputs:
                break  # Pairs that explain the same fail, too.
            yield both
            given += 1


def _find_required_paint(
    look: ViewedObjects,
    area: Area,
    before: list[NDArray[np.int64]],
    after: list[NDArray[np.int64]],
    changed: list[NDArray[np.bool_]],
) -> tuple[NDArray[np.bool_], NDArray[np.int64], bool] | None:
    """Return what the outputs require of the area of each object.

    Returns:
        Whether each object must be painted; the colour that it may get (-1 for none, -2 for any);
        and whether all changed cells belong to an object. None if no object has to be painted.
    """
    cells = look.evaluate(area.text)
    if cells is None:
        return None
    # Most objects have few cells, so that lists are faster than arrays.
    rows = [(old.tolist(), new.tolist(), one.tolist(), one.tolist())
            for old, new, one in zip(before, after, changed, strict=True)]  # fmt: skip
    must = np.zeros(len(cells), bool)
    wanted = np.full(len(cells), -2, dtype=np.int64)
    for k, (grid, own) in enumerate(zip(look.of.tolist(), cells, strict=True)):
        old, new, differs, left = rows[grid]
        if not area.over:
            own = [(i, j) for i, j in own if not old[i][j]]
        made = {new[i][j] for i, j in own}
        if len(made) != 1:  # The changes there belong to another object, or to none.
            wanted[k] = -1 if made else -2
            continue
        wanted[k] = made.pop()
        must[k] = any(differs[i][j] for i, j in own)
        for i, j in own:
            left[i][j] = False
    if not must.any():
        return None
    return must, wanted, not any(any(map(any, left)) for _, _, _, left in rows)


def build_step(view: View, area: Area, rule: Rule) -> Step:
    """Return the step that paints the area of all objects that meet a condition of `rule`.

    Args:
        view: How objects are recognised in the grid.
        area: Which cells are painted for each object.
        rule: Which objects are painted, and in which colours.
    """
    test = "" if area.over else "if not g[i][j]"
    uses_many = any("many" in part for c in rule.clauses for part in (c.condition.text, c.value.text))  # fmt: skip
    lines = ["r = [row[:] for row in g]"]
    if uses_many:
        lines.append(f"many = {view.text}")
    lines.append(f"for o in {'many' if uses_many else view.text}:")
    told = []
    for k, (condition, value) in enumerate(rule.clauses):
        depth = 1
        if condition.text:
            lines.append(f"    {'el' if k else ''}if {condition.text}:")
            depth = 2
        elif k:
            lines.append("    else:")
            depth = 2
        pad = "    " * depth
        colour = value.text
        if len(colour) > 3:
            lines.append(f"{pad}colour = {colour}")
            colour = "colour"
        lines.append(f"{pad}for i, j in {area.text}:")
        if test:
            lines.append(f"{pad}    {test}:")
            pad += "    "
        lines.append(f"{pad}    r[i][j] = {colour}")
        verb = "recolour" if area.text == "o" else "paint"
        target = f"{area.says} " if area.says else ""
        noun = describe_objects(view, condition) if condition.text or not k else "every other"
        told.append(f"{verb} {target}{noun} {'with ' if area.says else ''}{value.says}")
    lines.append("g = r")
    return Step("\n".join(lines), " and ".join(told), 1.6 + view.cost + area.cost + rule.cost)


FINDERS = ((2.0, paint_objects), (3.2, paint_in_turn))
