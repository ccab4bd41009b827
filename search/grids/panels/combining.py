"""Combine two grids cell by cell, for example by "and", "or", or by laying one over the other.

A combination is a Python expression over `v` and `w`, the colours of a cell in the first and the
second grid. This module also finds programs that run two programs on the input and combine the two
results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Grids, Program, Step, colour_name

Triples = frozenset[tuple[int, int, int]]

# Each combination as an expression, a phrase about "the first" and "the second", and a cost. {k} is
# a colour.
PAINTING_COMBINATIONS = [
    ("{k} if v and w else 0", "{name} where both are coloured", 0.0),
    ("{k} if v or w else 0", "{name} where either is coloured", 0.1),
    ("{k} if bool(v) != bool(w) else 0", "{name} where just one is coloured", 0.1),
    ("0 if v or w else {k}", "{name} where neither is coloured", 0.0),
    ("0 if v and w else {k}", "{name} unless both are coloured", 0.2),
    ("{k} if v and not w else 0", "{name} where only the first is coloured", 0.2),
    ("{k} if w and not v else 0", "{name} where only the second is coloured", 0.2),
    ("{k} if bool(v) == bool(w) else 0", "{name} where both or neither are coloured", 0.2),
    ("{k} if v == w else 0", "{name} where they are equal", 0.4),
    ("{k} if v != w else 0", "{name} where they differ", 0.4),
    ("{k} if v == w else v", "the first, {name} where they are equal", 0.7),
    ("{k} if v != w else v", "the first, {name} where they differ", 0.5),
    ("{k} if v and w else v", "the first, {name} where both are coloured", 0.6),
    ("{k} if v and w else v or w", "either, {name} where both are coloured", 0.6),
    ("{k} if w and not v else v", "the first, {name} where only the second is coloured", 0.5),
    ("{k} if v and not w else v", "the first, {name} where the second is not coloured", 0.6),
    ("v or w or {k}", "the first over the second over {name}", 0.6),
]
PLAIN_COMBINATIONS = [
    ("v or w", "the first over the second", 0.0),
    ("w or v", "the second over the first", 0.0),
    ("v if w else 0", "the first where the second is coloured", 0.1),
    ("w if v else 0", "the second where the first is coloured", 0.1),
    ("0 if v and w else v or w", "what just one of them shows", 0.2),
    ("v if v == w else 0", "what both show alike", 0.2),
    ("0 if v == w else v", "the first where they differ", 0.3),
    ("0 if w else v", "the first where the second is black (0)", 0.2),
    ("0 if v else w", "the second where the first is black (0)", 0.2),
    ("max(v, w)", "the larger number of the two", 0.6),
    ("min(v, w)", "the smaller number of the two", 0.6),
]


@lru_cache(maxsize=4096)
def _compile_function(text: str) -> Any:
    return eval(f"lambda v, w: {text}")


def find_combinations(triples: Triples, paints: Iterable[int]) -> Iterator[tuple[str, str, float]]:
    """Yield the combinations that give the right colour for every cell.

    Args:
        triples: For each cell, its colours in the first grid, the second grid and the output.
        paints: Colours that a combination may name.

    Yields:
        The expression, its description in English, and its cost.
    """
    candidates = list(PLAIN_COMBINATIONS)
    for k in paints:
        candidates += [
            (text.format(k=k), says.format(name=colour_name(k)), price + 0.1)
            for text, says, price in PAINTING_COMBINATIONS
        ]
    for text, says, price in candidates:
        made = _compile_function(text)
        if all(made(v, w) == o for v, w, o in triples):
            yield text, says, price


def needs_both_grids(triples: Triples) -> bool:
    """Return whether both combined grids are needed to explain the output.

    A grid is not needed if it is equal to the output or has only one colour.

    Args:
        triples: For each cell, its colours in the first grid, the second grid and the output.
    """
    return all(
        (
            any(v != o for v, _, o in triples),
            any(w != o for _, w, o in triples),
            len({v for v, _, _ in triples}) > 1,
            len({w for _, w, _ in triples}) > 1,
        )
    )


MAX_STATES = 120  # maximum number of states that are paired
COMBINATION_COST = 0.8  # added to the costs of both parts
CELLS_PER_EXPANSION = 1 << 13  # number of cells that numpy compares in the time of one expansion

Cells = NDArray[np.int8]


def flatten_grids(grids: Grids) -> Cells:
    """Return the colours of all cells as an int8 array of shape (cells,).

    Grids and their cells are in the given order, row by row.
    """
    return np.array([v for grid in grids for row in grid for v in row], dtype=np.int8)


def combine_states(states: Sequence[State], goal: Goal, budget: Budget) -> Iterator[Program]:
    """Yield programs that combine the results of two states and give the outputs of `goal`.

    Args:
        states: Search states whose grids have the sizes of the outputs, cheapest first.
        goal: The outputs that the search has to reach.
        budget: Budget to which the work is charged.
    """
    chosen = list(states[:MAX_STATES])
    if len(chosen) < 2:
        return
    cells = np.array([flatten_grids(state.grids) for state in chosen])
    wanted = flatten_grids(goal.outputs)
    paints = [c for c in goal.made_colours if c][:2]
    for n, state in enumerate(chosen):
        if not budget.charge(20 * cells.size / CELLS_PER_EXPANSION):
            return
        for other in np.flatnonzero(_may(cells[n], cells, wanted)):
            if other == n:
                continue
            triples = frozenset(
                zip(cells[n].tolist(), cells[other].tolist(), wanted.tolist(), strict=True)
            )
            if needs_both_grids(triples):
                for text, how, price in find_combinations(triples, paints):
                    yield combine_programs(state.program, chosen[other].program, text, how, price)


def _may(first: Cells, others: Cells, wanted: Cells) -> NDArray[np.bool_]:
    """Return for each state whether some combination with the first one may give the output.

    Every combination takes the first value, the second value or a fixed colour, depending on
    whether each of the two is coloured. So each of these four cases needs a single source. The
    result has shape (states,).
    """
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


def combine_programs(first: Program, second: Program, text: str, how: str, price: float) -> Program:
    """Return a program that runs two programs on the input and combines the results by cell.

    Args:
        first: Program whose result gives the colour `v` of a cell.
        second: Program whose result gives the colour `w` of a cell.
        text: Python expression over `v` and `w` that combines the two colours.
        how: Description of the combination in English.
        price: Cost of the combination.
    """
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
    cost = first.cost + second.cost + COMBINATION_COST + price
    return Program((Step("\n".join([*lines, last]), says, cost),))
