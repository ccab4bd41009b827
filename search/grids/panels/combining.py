"""Two grids made one, cell by cell: by and, or, xor, one over the other. Which way is read off the
pairs: a way is a text with `v` and `w`, tried on the different triples (v, w, output) there are.

Programs that work on the input twice and combine both results cell by cell (combining.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Grids, Program, Step, named

Triples = frozenset[tuple[int, int, int]]

# (text, what it says of "the first" and "the second", price); {k} is a colour.
PAINTING = [
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
PLAIN = [
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
def _made(text: str) -> Any:
    return eval(f"lambda v, w: {text}")


def ways(triples: Triples, paints: Iterable[int]) -> Iterator[tuple[str, str, float]]:
    """The texts that hold for all triples, what they say, and their prices."""
    candidates = list(PLAIN)
    for k in paints:
        candidates += [
            (text.format(k=k), says.format(name=named(k)), price + 0.1)
            for text, says, price in PAINTING
        ]
    for text, says, price in candidates:
        made = _made(text)
        if all(made(v, w) == o for v, w, o in triples):
            yield text, says, price


def different(triples: Triples) -> bool:
    """Whether both grids say something: neither is the output, and neither is of one colour."""
    return all(
        (
            any(v != o for v, _, o in triples),
            any(w != o for _, w, o in triples),
            len({v for v, _, _ in triples}) > 1,
            len({w for _, w, _ in triples}) > 1,
        )
    )


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
