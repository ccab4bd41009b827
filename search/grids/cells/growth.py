"""Rules of a cell that are repeated until nothing changes: growth, filling, lines that run on.

A rule "if condition: colour; else as it is" whose first step only makes cells what they are in the
output, and not all of them, is repeated on the shown grids; what reaches the outputs is found. Not
covered: rules of several clauses, and growth that passes through colours that do not stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ..grammar import FAILURES, Grid, Grids, function

LOCAL = (
    "surrounding(",
    "next_to(",
    "g[i ",
    "g[i][j",
    "row[j ",
    "g[(i",
    "row[(j",
)  # what growth looks at
SECOND = 120  # conditions that a local one is joined with
TRIED = 60
OF_COLOUR = 12  # of them with one colour
REPEATED = 0.8  # price of the repetition
TIMES = "for _ in range(len(g) + len(g[0])):"


class Growth(NamedTuple):
    conditions: tuple[int, ...]
    expression: int


def growths(
    texts: Sequence[str], costs: Sequence[float], masks: NDArray[np.bool_], right: NDArray[np.bool_],
    stays: NDArray[np.bool_], local: Sequence[bool],
) -> list[Growth]:  # fmt: skip
    """What is worth a try. texts, costs, masks: of the conditions, (conditions, cells). right:
    (expressions, cells), where an expression gives the output; stays: (cells,), where the cell's own
    colour does. local: which expressions growth may paint with."""
    near = [c for c, text in enumerate(texts) if any(part in text for part in LOCAL)]
    near = sorted(near, key=lambda c: costs[c])[: 2 * SECOND]
    second = sorted(range(len(texts)), key=lambda c: costs[c])[:SECOND]
    if not near:
        return []
    first = masks[near].astype(np.float32)
    other = np.concatenate([np.ones((1, masks.shape[1])), masks[second]]).astype(np.float32)
    found: list[tuple[float, Growth]] = []
    for e in np.flatnonzero(local):
        gains = (right[e] & ~stays).astype(np.float32)
        if not gains.any():
            continue
        bad = (~right[e]).astype(np.float32)
        pure = (first * bad) @ other.T == 0
        hits = (first * gains) @ other.T
        pure &= (hits > 0) & (hits < (~stays).sum())
        pure[:, 1:] &= ~pure[:, :1]  # what is pure alone needs no other
        a, b = np.nonzero(pure)
        prices = [costs[near[x]] + (costs[second[y - 1]] + 0.4 if y else 0.0) for x, y in zip(a, b, strict=True)]  # fmt: skip
        for k in np.argsort(prices, kind="stable")[:OF_COLOUR]:
            conditions = (near[a[k]], second[b[k] - 1])[: 2 if b[k] else 1]
            found.append((prices[k], Growth(conditions, int(e))))
    return [growth for _, growth in sorted(found)[:TRIED]]


def grown(code: str, grids: Grids, outputs: Grids, budget: Budget) -> bool:
    """Whether the step's code, repeated, makes the outputs of the grids."""
    step = function(code)
    for grid, out in zip(grids, outputs, strict=True):
        for _ in range(len(grid) + len(grid[0])):
            if not budget.charge(len(grid) * len(grid[0]) / Budget.CELLS):
                return False
            try:
                following = step(grid)
            except FAILURES:
                return False
            if following == grid:
                break
            if not _towards(following, grid, out):
                return False
            grid = following
        if grid != out:
            return False
    return True


def _towards(following: Grid, before: Grid, out: Grid) -> bool:
    """Whether every cell that changed has become what it is to be."""
    return all(
        new in (old, want)
        for row, old_row, out_row in zip(following, before, out, strict=True)
        for new, old, want in zip(row, old_row, out_row, strict=True)
    )


def repeated(code: str) -> str:
    lines = ["before = g", *code.splitlines(), "if g == before:", "    break"]
    return "\n".join([TIMES, *("    " + line for line in lines)])
