"""Finder of steps that cut one object out of the grid, sometimes followed by one more step.

The object is the first one that meets a condition, for example that it differs from all others or
touches a certain colour.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...budget import Budget
from .. import catalogue
from ..goal import Goal, State
from ..grammar import Grid, Grids, Program, Step, apply
from .features import (
    VIEWS,
    Condition,
    View,
    ViewedObjects,
    compile_expression,
    describe_objects,
    view_objects,
)

BUDGET_SHARE = 0.2  # share of the budget that is left
MAX_STEPS = 4  # maximum number of steps for one view and one way of cutting
MAX_CHOICES = 12  # maximum number of choices, cheapest first, to which a further step is applied
MAX_CONDITION_COST = 3.4  # maximum cost of the condition of such a choice
MAX_ALIKE = 3  # maximum number of conditions for one choice

_CUTS = (
    ("alone(g, o)", "", 0.1),
    ("crop(g, o)", " with all in its box", 0.0),
    ("[row[1:-1] for row in crop(g, o)[1:-1]]", " without the border of its box", 0.5),
)


def take_object(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that cut one object out of each shown input.

    Each step gives the outputs of `goal`. Nothing is yielded for grids that are the result of
    earlier steps.
    """
    if state.program.steps or goal.has_shapes(state.grids):
        return
    within = Budget(BUDGET_SHARE * budget.left)
    yield from _pointed(state, goal, within)
    budget.charge(within.spent)


def _pointed(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    for view in VIEWS:
        if view.text.startswith(("regions", "row", "column", "pixels")):
            continue
        look = view_objects(view, state.grids)
        if look is None or len(look.flat) > 150:
            continue
        if not look.charge(budget):
            return
        choices = list(_choices(look))
        for cut, says, dear in _CUTS:
            made = compile_expression(cut, "g, o")
            parts = [made(state.grids[k], o) for o, k in zip(look.flat, look.of.tolist(), strict=True)]  # fmt: skip
            if not budget.charge(1.0 + 0.02 * look.cells + 0.2 * len(parts)):
                return
            yield from _taken(view, look, choices, cut, says, dear, parts, state, goal, budget)
            if not cut.startswith("[row"):
                yield from _changed(view, choices, cut, says, dear, parts, state, goal, budget)


Choice = tuple[tuple[int, ...], list[Condition]]


def _choices(look: ViewedObjects) -> Iterator[Choice]:
    """Yield the choices of one object per grid, with the cheapest conditions for each choice.

    A choice is the first object of each grid that meets a condition. The empty condition counts
    only if every grid has a single object.
    """
    conditions, holds = look.compute_conditions()
    starts = np.searchsorted(look.of, np.arange(len(look.objects)))
    found: dict[tuple[int, ...], list[Condition]] = {}
    for condition, row in zip(conditions, holds, strict=True):
        within = [row[a : a + len(many)] for a, many in zip(starts, look.objects, strict=True)]
        if all(one.any() for one in within):
            if not condition.text and any(len(one) > 1 for one in within):
                continue
            unsure = float(np.mean([one.sum() > 1 for one in within]))
            chosen = tuple(int(a + one.argmax()) for a, one in zip(starts, within, strict=True))
            found.setdefault(chosen, []).append(condition._replace(cost=condition.cost + unsure))
    yield from ((k, sorted(every, key=lambda c: c.cost)[:MAX_ALIKE]) for k, every in found.items())


def _taken(
    view: View, look: ViewedObjects, choices: list[Choice], cut: str, says: str, dear: float,
    parts: list[Grid], state: State, goal: Goal, budget: Budget,
) -> Iterator[Step]:  # fmt: skip
    fits = [part == goal.outputs[k] for part, k in zip(parts, look.of.tolist(), strict=True)]
    right = [one for one in choices if all(fits[n] for n in one[0])]
    steps = [_written(view, c, cut, says, dear) for _, alike in right for c in alike]
    for step in sorted(steps, key=lambda step: step.cost)[:MAX_STEPS]:
        budget.charge(20.0)
        if apply(step, state.grids) == goal.outputs:
            yield step


def _changed(
    view: View, choices: list[Choice], cut: str, says: str, dear: float,
    parts: list[Grid], state: State, goal: Goal, budget: Budget,
) -> Iterator[Step]:  # fmt: skip
    cheap = sorted(
        (c[0].cost, k, c) for k, (_, c) in enumerate(choices) if c[0].cost <= MAX_CONDITION_COST
    )
    given = 0
    for _, k, alike in cheap[:MAX_CHOICES]:
        grids: Grids = tuple(parts[n] for n in choices[k][0])
        if not all(g and g[0] and len(g) <= 30 for g in grids) or grids == goal.outputs:
            continue
        first, wanted = grids[:1], goal.outputs[:1]
        cells = sum(len(g) * len(g[0]) for g in first)
        for step in catalogue.steps(State(grids, Program()), goal):
            if not budget.charge(0.2 + cells / 2 / Budget.CELLS):
                return
            if apply(step, first) != wanted or apply(step, grids) != goal.outputs:
                continue
            taken = _written(view, alike[0], cut, says, dear)
            whole = Step(f"{taken.code}\n{step.code}", f"{taken.says}, then {step.says}", taken.cost + step.cost)  # fmt: skip
            if apply(whole, state.grids) == goal.outputs:
                yield whole
                given += 1
            if given == MAX_STEPS:
                return


def _written(view: View, condition: Condition, cut: str, says: str, dear: float) -> Step:
    lines = [f"many = {view.text}", "o = many[0]", f"g = {cut}"]
    if condition.text:  # If no object meets the condition, the first of all is taken.
        lines[1] = f"o = ([o for o in many if {condition.text}] or many)[0]"
    noun = describe_objects(view, condition).removeprefix("every ")
    price = 1.8 + view.cost + condition.cost + dear
    return Step("\n".join(lines), f"take the first {noun}{says}", price)


FINDERS = ((2.4, take_object),)
