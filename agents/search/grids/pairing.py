"""Programs that work on the input twice and combine both results cell by cell (combining.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..budget import Budget
from .combining import different, ways
from .goal import Goal, State
from .grammar import Grids, Program, Step

MOST = 120  # states that are paired
DEARER = 0.8  # than both parts together
CELLS = 1 << 13  # compared by numpy in the time of one expansion

Cells = NDArray[np.int8]


def flat(grids: Grids) -> Cells:
    """All cells of grids, pair after pair in reading order."""
    return np.array([v for grid in grids for row in grid for v in row], dtype=np.int8)


def pairs(states: Sequence[State], goal: Goal, budget: Budget) -> Iterator[Program]:
    """states: of the outputs' sizes, cheapest first; the input may be among them."""
    chosen = list(states[:MOST])
    if len(chosen) < 2:
        return
    cells = np.array([flat(state.grids) for state in chosen])
    wanted = flat(goal.outputs)
    paints = [c for c in goal.made_colours if c][:2]
    for n, state in enumerate(chosen):
        if not budget.charge(20 * cells.size / CELLS):
            return
        for other in np.flatnonzero(_may(cells[n], cells, wanted)):
            if other == n:
                continue
            triples = frozenset(
                zip(cells[n].tolist(), cells[other].tolist(), wanted.tolist(), strict=True)
            )
            if different(triples):
                for text, how, price in ways(triples, paints):
                    yield combined(state.program, chosen[other].program, text, how, price)


def _may(first: Cells, others: Cells, wanted: Cells) -> NDArray[np.bool_]:
    """(states,): where some way may give the output. All ways take one of two values or a colour by
    whether each of both is coloured, so each of the four cases needs one source."""
    fine = np.ones(len(others), dtype=bool)
    v, w, o = first[None, :], others, wanted[None, :]
    for a in (v > 0, v == 0):
        for b in (w > 0, w == 0):
            case = a & b
            from_first = ~(case & (v != o)).any(1)
            from_second = ~(case & (w != o)).any(1)
            largest = np.where(case, o, -1).max(1)
            least = np.where(case, o, 100).min(1)
            fine &= from_first | from_second | (largest <= least)
    return fine


def combined(first: Program, second: Program, text: str, how: str, price: float) -> Program:
    last = f"g = [[{text} for v, w in zip(*rows)] for rows in zip(earlier, g)]"
    lines = ["given = g"]
    lines += [step.code for step in first.steps]
    lines.append("earlier = g")
    if first.steps:
        lines.append("g = given")
    else:
        lines = ["earlier = g"]
    lines += [step.code for step in second.steps]
    said = [" and ".join(step.says for step in part.steps) for part in (first, second)]
    parts = [f"{'the first is:' if k == 0 else 'the second is:'} {s or 'the input'}" for k, s in enumerate(said)]  # fmt: skip
    says = f"combine two grids cell by cell, {how}; {'; '.join(parts)}"
    cost = first.cost + second.cost + DEARER + price
    return Program((Step("\n".join([*lines, last]), says, cost),))
