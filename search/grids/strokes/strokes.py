"""Finder of drawings: at most `MAX_STROKES` strokes (strokes/kinds.py), drawn one after the other.

Each stroke is evaluated separately on all pairs. The last stroke may paint no cell wrong. An
earlier stroke may paint a cell wrong only if a later stroke paints over that cell. Together the
strokes must paint all cells that change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Grids, Step, apply, colour_name
from ..objects.features import compile_expression
from ..panels.combining import flatten_grids
from .kinds import Stroke, list_strokes

MAX_STROKES = 3  # maximum number of strokes of a drawing
MAX_BRANCHES = 10  # maximum number of strokes that are tried at one position
MAX_DRAWINGS = 12  # maximum number of drawings
MAX_STARTS = 200  # maximum number of starts of lines of one kind in a grid
BUDGET_SHARE = 0.16  # maximum share of all expansions for the strokes of one state
BASE_COST = 0.9
STROKE_COST = 0.4  # added to the cost for each stroke after the first
PATCH_COST = (
    1.5  # added to the cost if a stroke is needed for one cell only, or for cells of one pair
)

Cells = NDArray[np.int8]


class PaintedStroke(NamedTuple):
    """A stroke, such as a line, together with its colour.

    Attributes:
        stroke: The stroke.
        paint: Colour of the stroke, or None if the stroke keeps the colours of its expression.
        cost: Cost of the stroke and its colour.
        cells: Colour that the stroke paints in each cell of all grids, of shape (cells,). It is -1
            where the stroke paints nothing.
    """

    stroke: Stroke
    paint: int | None
    cost: float
    cells: Cells


def draw(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that draw at most `MAX_STROKES` strokes, such as lines, one after the other.

    Each step turns the grids of `state` into the outputs of `goal`.
    """
    if not goal.has_shapes(state.grids):
        return
    before, wanted = flatten_grids(state.grids), flatten_grids(goal.outputs)
    changed = before != wanted
    if not changed.any() or 2 * changed.sum() > 1.9 * len(changed):
        return
    pairs = np.repeat(np.arange(len(state.grids)), [len(g) * len(g[0]) for g in state.grids])
    made = _useful(state.grids, goal, before, wanted, budget)
    given = 0
    for chosen in _covers(made, changed, wanted, budget):
        cost = BASE_COST + sum(one.cost for one in chosen) + STROKE_COST * (len(chosen) - 1)
        cost += PATCH_COST * _patches(chosen, changed, pairs)
        step = build_step(chosen, cost)
        budget.charge(goal.cells / Budget.CELLS)
        if apply(step, state.grids) == goal.outputs:
            yield step
            given += 1
            if given == MAX_DRAWINGS:
                return


def _useful(
    grids: Grids, goal: Goal, before: Cells, wanted: Cells, budget: Budget
) -> list[PaintedStroke]:
    """Return the strokes that paint some change right and at least half of all their cells right.

    Of strokes that paint equal cells, the first two are kept.
    """
    made: list[PaintedStroke] = []
    seen: dict[bytes, int] = {}
    inks = sorted(set(wanted[before != wanted].tolist()))
    sizes = [len(g) * len(g[0]) for g in grids]
    ends = np.cumsum(sizes).tolist()
    # Small grids come first, because a stroke that fails usually fails there already.
    order = sorted(range(len(grids)), key=lambda k: sizes[k])
    limit = budget.left - BUDGET_SHARE * budget.limit
    starts = _Starts(grids)
    for stroke in list_strokes(grids, goal):
        painted = np.full(len(before), -1, dtype=np.int8)
        for k in order:
            here = slice(ends[k] - sizes[k], ends[k])
            works, work = starts.paint(stroke, k, painted[here])
            if not budget.charge(sizes[k] / 2 / Budget.CELLS + work) or budget.left < limit:
                return made
            if not works or not _promising(painted[here], before[here], wanted[here]):
                break
        else:
            touched = painted >= 0
            for paint in [None, *inks] if stroke.own else inks:
                cells = painted if paint is None else np.where(touched, paint, -1).astype(np.int8)
                right = touched & (cells == wanted) & (wanted != before)
                if not right.any() or 2 * (touched & (cells != wanted)).sum() > touched.sum():
                    continue
                mark = cells.tobytes()
                seen[mark] = seen.get(mark, 0) + 1
                if seen[mark] <= 2:
                    price = 0.0 if paint is None else 0.4
                    made.append(PaintedStroke(stroke, paint, stroke.cost + price, cells))
    return made


class _Starts:
    """The cells that strokes paint; the starts of lines are computed once for all modes."""

    def __init__(self, grids: Grids) -> None:
        self.grids = grids
        self.known: dict[tuple[str, int], list[Any]] = {}
        self.walks = compile_expression("walks(g, starts, mode)", "g, starts, mode")

    def paint(self, stroke: Stroke, k: int, part: Cells) -> tuple[bool, float]:
        """Write a stroke into the cells of grid k.

        Returns:
            Whether the stroke is usable, and the work done in expansions.
        """
        g = self.grids[k]
        if not stroke.starts:
            found = compile_expression(stroke.text, "g")(g)
        else:
            at = (stroke.starts, k)
            if at not in self.known:
                self.known[at] = compile_expression(stroke.starts, "g")(g)
            if len(self.known[at]) > MAX_STARTS:
                return False, 0.1
            found = self.walks(g, self.known[at], stroke.mode)
        for i, j, v in found:
            part[i * len(g[0]) + j] = v
        return True, 0.3 + 0.05 * len(found)


def _promising(part: Cells, before: Cells, wanted: Cells) -> bool:
    """Return whether at least a third of the painted cells change in one pair.

    It is also true if nothing is painted.
    """
    touched = part >= 0
    return bool(3 * (touched & (before != wanted)).sum() >= touched.sum())


def _covers(
    made: list[PaintedStroke], changed: NDArray[np.bool_], wanted: Cells, budget: Budget
) -> Iterator[list[PaintedStroke]]:
    """Yield drawings whose strokes together give the output, those with fewer strokes first."""
    if not made:
        return
    cells = np.array([one.cells for one in made])
    touched = cells >= 0
    wrong = touched & (cells != wanted)
    costs = np.array([one.cost for one in made])
    level: list[tuple[list[int], NDArray[np.bool_]]] = [([], np.zeros(len(wanted), bool))]
    for _ in range(MAX_STROKES):
        following = []
        for chosen, later in level:
            if not budget.charge(cells.size / 4096):
                return
            sound = ~(wrong & ~later).any(1)
            fresh = (touched & ~later & changed).sum(1)
            left = int((changed & ~later).sum())
            whole = np.flatnonzero(sound & (fresh == left))
            for k in whole[np.argsort(costs[whole], kind="stable")][:MAX_BRANCHES].tolist():
                yield [made[n] for n in (k, *chosen[::-1])]
            part = np.flatnonzero(sound & (fresh > 0) & (fresh < left))
            order = np.argsort(costs[part] - 3.0 * fresh[part] / max(left, 1), kind="stable")
            for k in part[order][:MAX_BRANCHES].tolist():
                following.append(([*chosen, k], later | touched[k]))
        level = following[: MAX_BRANCHES * MAX_BRANCHES]


def _patches(
    chosen: list[PaintedStroke], changed: NDArray[np.bool_], pairs: NDArray[np.int64]
) -> int:
    """Return how many strokes are needed for one cell only, or in one of several pairs only."""
    count = 0
    for k, one in enumerate(chosen):
        needed = changed & (one.cells >= 0)
        for n, other in enumerate(chosen):
            if n != k:
                needed &= other.cells < 0
        several = len(set(pairs.tolist())) > 1
        count += int(needed.sum()) <= 1 or (several and len(set(pairs[needed].tolist())) == 1)
    return count


def build_step(chosen: list[PaintedStroke], cost: float) -> Step:
    """Return the step that draws the strokes `chosen` in their order.

    Args:
        chosen: The strokes and their colours.
        cost: Cost of the step.
    """
    lines, said = ["r = [row[:] for row in g]"], []
    for one in chosen:
        name = "v" if one.paint is None else "_"
        ink = "v" if one.paint is None else str(one.paint)
        lines += _loop(name, one.stroke.text, ink)
        said.append(
            one.stroke.says + ("" if one.paint is None else f", in {colour_name(one.paint)}")
        )
    return Step("\n".join([*lines, "g = r"]), "; then ".join(said), cost)


def _loop(name: str, text: str, ink: str) -> list[str]:
    line = f"for i, j, {name} in {text}:"
    head = [line]
    if len(line) > 92:  # The starts get a line of their own.
        inner = text[len("walks(g, ") : text.rindex(", ")]
        head = [
            f"starts = {inner}",
            f"for i, j, {name} in walks(g, starts, {text[text.rindex(', ') + 2 :]}:",
        ]
    return [*head, f"    r[i][j] = {ink}"]


FINDERS = ((3.1, draw),)
