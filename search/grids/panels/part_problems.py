"""Finder of steps that are applied separately inside every part of a grid.

Parts are the boxes of objects, the panels between lines, the insides of frames, rows, and columns.
The parts of the shown inputs and the corresponding parts of the outputs are the pairs of a smaller
problem. The catalogue of steps and several finders then solve that smaller problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...budget import Budget
from .. import catalogue, patterns
from ..cells import cell_rules
from ..goal import Goal, State
from ..grammar import Grid, Grids, Program, Step, apply
from ..objects import copying, moving, painting
from ..objects.features import (
    ALWAYS,
    VIEWS,
    Condition,
    View,
    ViewedObjects,
    describe_objects,
    view_objects,
)

MAX_PARTS = 80  # maximum number of parts in all grids together
MAX_PAIRS = 12  # maximum number of pairs of the smaller problem
MIN_CHANGED_PARTS = 2  # minimum number of different parts that change
MAX_STEPS = 3  # maximum number of steps for one kind of part
BUDGET_SHARE = 0.2  # share of the budget that is left
CELL_RULES_SHARE = 0.15  # share of that budget for the rules of cells on one kind of part
PART_COST = 1.6  # cost of applying a step to every part

PART_VIEWS = (
    View("panes(g)", "panel", "panels", 0.0),
    View("insides(g)", "inside of a frame", "insides of frames", 0.2),
    *(view for view in VIEWS if view.text.startswith(("objects", "row_", "column_"))),
)


def solve_inside_parts(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that change every part of the shown inputs separately.

    Each step gives the outputs of `goal`. Nothing is yielded for grids that are the result of
    earlier steps.
    """
    if state.program.steps or not goal.has_shapes(state.grids):
        return
    within = Budget(BUDGET_SHARE * budget.left)
    yield from _inside(state, goal, within)
    budget.charge(within.spent)


def _inside(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield the steps found quickly for any kind of part, then search on for the other kinds."""
    problems = list(_problems(state, goal, budget))
    told: set[str] = set()
    for ask in (find_simple_steps, find_rule_steps):
        for problem in problems[:]:
            given = 0
            for step in ask(problem.inputs, problem.outputs, budget):
                whole = build_step(problem.view, problem.condition, step)
                if whole.code in told or not budget.charge(30.0 + goal.cells / Budget.CELLS):
                    continue
                told.add(whole.code)
                if has_short_lines(whole) and apply(whole, state.grids) == goal.outputs:
                    yield whole
                    given += 1
                if given == MAX_STEPS or not budget.left:
                    break
            if given:
                problems = [one for one in problems if one.view != problem.view]


class PartProblem(NamedTuple):
    """A smaller problem whose pairs are parts of the grids.

    The pairs are made of the parts of `view` that meet `condition`, as they are in the inputs and
    in the outputs.
    """

    view: View
    condition: Condition
    inputs: Grids
    outputs: Grids


def _problems(state: State, goal: Goal, budget: Budget) -> Iterator[PartProblem]:
    for view in PART_VIEWS:
        look = view_objects(view, state.grids)
        if not budget.charge(3.0 + goal.cells / 20) or look is None or len(look.flat) > MAX_PARTS:
            continue
        boxes = [_box(o) for o in look.flat]
        if _covers(look, boxes, state.grids, goal):
            for condition, (before, after) in _chosen(look, boxes, state.grids, goal):
                yield PartProblem(view, condition, before, after)


Box = tuple[int, int, int, int]


def _box(cells: list[tuple[int, int]]) -> Box:
    rows, columns = [i for i, _ in cells], [j for _, j in cells]
    return min(rows), min(columns), max(rows) + 1, max(columns) + 1


def _cut(grid: Grid, box: Box) -> Grid:
    a, b, c, d = box
    return [row[b:d] for row in grid[a:c]]


def _covers(look: ViewedObjects, boxes: list[Box], grids: Grids, goal: Goal) -> bool:
    """Return whether all changes lie in the boxes and some box is smaller than its grid."""
    part = False
    for k, (g, out) in enumerate(zip(grids, goal.outputs, strict=True)):
        left = np.array(g) != np.array(out)
        for of, (a, b, c, d) in zip(look.of.tolist(), boxes, strict=True):
            if of == k:
                part |= (c - a) * (d - b) < left.size
                left[a:c, b:d] = False
        if left.any():
            return False
    return part


def _chosen(
    look: ViewedObjects, boxes: list[Box], grids: Grids, goal: Goal
) -> Iterator[tuple[Condition, tuple[Grids, Grids]]]:
    """Yield the parts that may all change by one rule, as a condition and the smaller problem.

    First these are all parts. If some parts do not change, the conditions follow that hold exactly
    for the parts that do.
    """
    pairs = [
        (_cut(grids[k], box), _cut(goal.outputs[k], box))
        for k, box in zip(look.of.tolist(), boxes, strict=True)
    ]
    changed = np.array([before != after for before, after in pairs])
    one_way = {str(before): after for before, after in pairs}
    if len({str(before) for before, after in pairs if before != after}) < MIN_CHANGED_PARTS:
        return
    if all(one_way[str(before)] == after for before, after in pairs):
        yield ALWAYS, _problem(pairs, np.ones(len(pairs), bool))
    if changed.all() or not look.view.text.startswith("objects"):
        return
    conditions, holds = look.compute_conditions()
    fits = [k for k in np.flatnonzero((holds | ~changed).all(axis=1)) if not (holds[k] & ~changed).any()]  # fmt: skip
    for k in fits[:2]:
        yield conditions[k], _problem(pairs, holds[k])


def _problem(pairs: list[tuple[Grid, Grid]], which: np.ndarray) -> tuple[Grids, Grids]:
    """Return the distinct pairs of the chosen parts, those that change and are small first."""
    unlike = {str(pair[0]): pair for pair, held in zip(pairs, which.tolist(), strict=True) if held}
    chosen = sorted(unlike.values(), key=lambda pair: (pair[0] == pair[1], len(str(pair[0]))))
    few = [*chosen[: MAX_PAIRS - 2], *chosen[-2:]] if len(chosen) > MAX_PAIRS else chosen
    return tuple(before for before, _ in few), tuple(after for _, after in few)


def find_simple_steps(inputs: Grids, outputs: Grids, budget: Budget) -> Iterator[Step]:
    """Yield steps of the catalogue and of the pattern finders that turn `inputs` into `outputs`."""
    goal, state = Goal(inputs, outputs), State(inputs, Program())
    first, wanted = inputs[:1], outputs[:1]
    charge = goal.cells / len(inputs) / Budget.CELLS
    for step in catalogue.steps(state, goal):
        if not budget.charge(charge):
            return
        if apply(step, first) == wanted and apply(step, inputs) == outputs:
            yield step
    for _, finder in patterns.FINDERS:
        yield from finder(state, goal, budget)


def find_rule_steps(inputs: Grids, outputs: Grids, budget: Budget) -> Iterator[Step]:
    """Yield steps from rules about objects and single cells that turn `inputs` into `outputs`."""
    goal, state = Goal(inputs, outputs), State(inputs, Program())
    for _, finder in (*painting.FINDERS[:1], *moving.FINDERS, *copying.FINDERS):
        yield from finder(state, goal, budget)
    within = Budget(CELL_RULES_SHARE * budget.left)
    yield from cell_rules.find_cell_rules(state, goal, within)
    budget.charge(within.spent)


def define_as_function(step: Step) -> str:
    """Return the code of `step` as the definition of a function `changed(g)`."""
    lines = step.code.splitlines()
    if lines[-1].startswith("g = "):
        lines[-1] = "return " + lines[-1].removeprefix("g = ")
    else:
        lines.append("return g")
    return "\n".join(["def changed(g):", *("    " + line for line in lines)])


def has_short_lines(step: Step) -> bool:
    """Return whether all code lines of `step` are short enough for an answer (96 characters)."""
    return max(map(len, step.code.splitlines())) <= 96


def build_step(view: View, condition: Condition, step: Step) -> Step:
    """Return a step that applies `step` inside every part of `view` that meets `condition`."""
    head = [define_as_function(step), "r = [row[:] for row in g]"]
    chosen, pad = view.text, "    "
    if "many" in condition.text:
        head.append(f"many = {view.text}")
        chosen = "many"
    head.append(f"for o in {chosen}:")
    if condition.text:
        head.append(f"{pad}if {condition.text}:")
        pad += "    "
    body = (
        f"{pad}a, b, _, d = box(o)",
        f"{pad}for i, row in enumerate(changed(crop(g, o))):",
        f"{pad}    r[a + i][b:d] = row",
        "g = r",
    )
    noun = describe_objects(view, condition)
    where = f"in the box of {noun}" if view.text.startswith("objects") else f"in {noun}"
    says = f"{where}: {step.says}"
    price = PART_COST + view.cost + condition.cost + step.cost
    return Step("\n".join([*head, *body]), says, price)


FINDERS = ((2.8, solve_inside_parts),)
