"""Rules for single cells that are applied until nothing changes: growth, filling, long lines.

Such a rule has the form "if condition: colour; else unchanged". A rule is tried if its first
application gives some but not all of the changing cells their final colour, and gives no cell a
wrong colour. It is found if repeated applications lead to the outputs. Rules with several clauses
are not covered, nor are rules that first paint a cell in a colour that is not final.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ..grammar import FAILURES, Grid, Grids, compile_step

LOCAL_TEXTS = (
    "surrounding(",
    "next_to(",
    "g[i ",
    "g[i][j",
    "row[j ",
    "g[(i",
    "row[(j",
)  # one condition of a repeated rule must contain one of these
MAX_SECOND = 120  # maximum number of conditions that a local one is joined with
MAX_TRIED = 60
MAX_PER_COLOUR = 12  # maximum number of growth rules that paint with one expression
REPEAT_COST = 0.8  # cost of the repetition
REPEAT_LINE = "for _ in range(len(g) + len(g[0])):"


class Growth(NamedTuple):
    """A rule that is applied repeatedly: cells that meet all conditions get the given colour.

    The fields hold indices into the lists of conditions and expressions.
    """

    conditions: tuple[int, ...]
    expression: int


def find_growths(
    texts: Sequence[str], costs: Sequence[float], masks: NDArray[np.bool_], right: NDArray[np.bool_],
    stays: NDArray[np.bool_], local: Sequence[bool],
) -> list[Growth]:  # fmt: skip
    """Return rules that are worth trying as repeated rules, cheapest first.

    The first application of such a rule paints some but not all of the changing cells, and paints
    no cell wrong.

    Args:
        texts: Expression of each condition.
        costs: Cost of each condition.
        masks: In which cells each condition holds, of shape (conditions, cells).
        right: In which cells each colour expression gives the colour of the output, of shape
            (expressions, cells).
        stays: Which cells keep their colour, of shape (cells,).
        local: For each colour expression, whether a repeated rule may paint with it.
    """
    near = [c for c, text in enumerate(texts) if any(part in text for part in LOCAL_TEXTS)]
    near = sorted(near, key=lambda c: costs[c])[: 2 * MAX_SECOND]
    second = sorted(range(len(texts)), key=lambda c: costs[c])[:MAX_SECOND]
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
        pure[:, 1:] &= ~pure[:, :1]  # A condition that is right alone needs no second one.
        a, b = np.nonzero(pure)
        prices = [costs[near[x]] + (costs[second[y - 1]] + 0.4 if y else 0.0) for x, y in zip(a, b, strict=True)]  # fmt: skip
        for k in np.argsort(prices, kind="stable")[:MAX_PER_COLOUR]:
            conditions = (near[a[k]], second[b[k] - 1])[: 2 if b[k] else 1]
            found.append((prices[k], Growth(conditions, int(e))))
    return [growth for _, growth in sorted(found)[:MAX_TRIED]]


def reaches_outputs(code: str, grids: Grids, outputs: Grids, budget: Budget) -> bool:
    """Return whether repeating a step turns all `grids` into `outputs`.

    False is also returned if the step fails, if it gives a cell a wrong colour, or if the budget
    ends.

    Args:
        code: Python code of the step.
        grids: The current grids.
        outputs: The outputs, in the same order.
        budget: Budget to which the work is charged.
    """
    step = compile_step(code)
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
    """Return whether every cell that changed now has its colour in the output."""
    return all(
        new in (old, want)
        for row, old_row, out_row in zip(following, before, out, strict=True)
        for new, old, want in zip(row, old_row, out_row, strict=True)
    )


def repeat_step(code: str) -> str:
    """Return code that runs the step `code` until the grid does not change any more."""
    lines = ["before = g", *code.splitlines(), "if g == before:", "    break"]
    return "\n".join([REPEAT_LINE, *("    " + line for line in lines)])
