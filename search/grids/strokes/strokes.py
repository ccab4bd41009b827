"""A finder of drawings: a few strokes (strokes/kinds.py), one over the other, make the output.

Each stroke is judged by itself on all pairs: the last one may paint nothing wrong, an earlier one
nothing that a later one does not paint over. What they paint between them is all that changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Grids, Step, apply, named
from ..objects.features import compiled
from ..panels.combining import flat
from .kinds import Stroke, strokes

MOST = 3  # strokes of a drawing
BRANCH = 10  # strokes that are tried in one place
GIVEN = 12  # drawings
STARTS = 200  # of lines of one kind in a grid, at most
SHARE = 0.16  # of all expansions, for the strokes of one state, at most
BASE = 0.9
EACH = 0.4  # dearer for each stroke but the first
PATCH = 1.5  # dearer where a stroke is needed for one cell, or for cells of one pair

Cells = NDArray[np.int8]


class Drawn(NamedTuple):
    """A stroke with its paint. cells: what it leaves in all pairs' cells, -1 where nothing."""

    stroke: Stroke
    paint: int | None
    cost: float
    cells: Cells


def draw(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    if not goal.has_shapes(state.grids):
        return
    before, wanted = flat(state.grids), flat(goal.outputs)
    changed = before != wanted
    if not changed.any() or 2 * changed.sum() > 1.9 * len(changed):
        return
    pairs = np.repeat(np.arange(len(state.grids)), [len(g) * len(g[0]) for g in state.grids])
    made = _useful(state.grids, goal, before, wanted, budget)
    given = 0
    for chosen in _covers(made, changed, wanted, budget):
        cost = BASE + sum(one.cost for one in chosen) + EACH * (len(chosen) - 1)
        cost += PATCH * _patches(chosen, changed, pairs)
        step = written(chosen, cost)
        budget.charge(goal.cells / Budget.CELLS)
        if apply(step, state.grids) == goal.outputs:
            yield step
            given += 1
            if given == GIVEN:
                return


def _useful(grids: Grids, goal: Goal, before: Cells, wanted: Cells, budget: Budget) -> list[Drawn]:
    """Strokes that paint something right, and more than they paint wrong; those of equal cells are
    one, the cheapest, but for the next of another text."""
    made: list[Drawn] = []
    seen: dict[bytes, int] = {}
    inks = sorted(set(wanted[before != wanted].tolist()))
    sizes = [len(g) * len(g[0]) for g in grids]
    ends = np.cumsum(sizes).tolist()
    order = sorted(range(len(grids)), key=lambda k: sizes[k])  # what fails, fails on a small one
    limit = budget.left - SHARE * budget.limit
    starts = _Starts(grids)
    for stroke in strokes(grids, goal):
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
                    made.append(Drawn(stroke, paint, stroke.cost + price, cells))
    return made


class _Starts:
    """What strokes find in some grids. Where lines start is found once for all that they may do."""

    def __init__(self, grids: Grids) -> None:
        self.grids = grids
        self.known: dict[tuple[str, int], list[Any]] = {}
        self.walks = compiled("walks(g, starts, mode)", "g, starts, mode")

    def paint(self, stroke: Stroke, k: int, part: Cells) -> tuple[bool, float]:
        """Paints in grid k; whether that makes sense, and what the work was."""
        g = self.grids[k]
        if not stroke.starts:
            found = compiled(stroke.text, "g")(g)
        else:
            at = (stroke.starts, k)
            if at not in self.known:
                self.known[at] = compiled(stroke.starts, "g")(g)
            if len(self.known[at]) > STARTS:
                return False, 0.1
            found = self.walks(g, self.known[at], stroke.mode)
        for i, j, v in found:
            part[i * len(g[0]) + j] = v
        return True, 0.3 + 0.05 * len(found)


def _promising(part: Cells, before: Cells, wanted: Cells) -> bool:
    """In one pair: nothing is painted, or a third of it changes."""
    touched = part >= 0
    return bool(3 * (touched & (before != wanted)).sum() >= touched.sum())


def _covers(
    made: list[Drawn], changed: NDArray[np.bool_], wanted: Cells, budget: Budget
) -> Iterator[list[Drawn]]:
    """Drawings whose strokes leave what is wanted, those of fewer strokes first."""
    if not made:
        return
    cells = np.array([one.cells for one in made])
    touched = cells >= 0
    wrong = touched & (cells != wanted)
    costs = np.array([one.cost for one in made])
    level: list[tuple[list[int], NDArray[np.bool_]]] = [([], np.zeros(len(wanted), bool))]
    for _ in range(MOST):
        following = []
        for chosen, later in level:
            if not budget.charge(cells.size / 4096):
                return
            sound = ~(wrong & ~later).any(1)
            fresh = (touched & ~later & changed).sum(1)
            left = int((changed & ~later).sum())
            whole = np.flatnonzero(sound & (fresh == left))
            for k in whole[np.argsort(costs[whole], kind="stable")][:BRANCH].tolist():
                yield [made[n] for n in (k, *chosen[::-1])]
            part = np.flatnonzero(sound & (fresh > 0) & (fresh < left))
            order = np.argsort(costs[part] - 3.0 * fresh[part] / max(left, 1), kind="stable")
            for k in part[order][:BRANCH].tolist():
                following.append(([*chosen, k], later | touched[k]))
        level = following[: BRANCH * BRANCH]


def _patches(chosen: list[Drawn], changed: NDArray[np.bool_], pairs: NDArray[np.int64]) -> int:
    """Strokes that are needed for one cell, or in one of several pairs."""
    count = 0
    for k, one in enumerate(chosen):
        needed = changed & (one.cells >= 0)
        for n, other in enumerate(chosen):
            if n != k:
                needed &= other.cells < 0
        several = len(set(pairs.tolist())) > 1
        count += int(needed.sum()) <= 1 or (several and len(set(pairs[needed].tolist())) == 1)
    return count


def written(chosen: list[Drawn], cost: float) -> Step:
    lines, said = ["r = [row[:] for row in g]"], []
    for one in chosen:
        name = "v" if one.paint is None else "_"
        ink = "v" if one.paint is None else str(one.paint)
        lines += _loop(name, one.stroke.text, ink)
        said.append(one.stroke.says + ("" if one.paint is None else f", in {named(one.paint)}"))
    return Step("\n".join([*lines, "g = r"]), "; then ".join(said), cost)


def _loop(name: str, text: str, ink: str) -> list[str]:
    line = f"for i, j, {name} in {text}:"
    head = [line]
    if len(line) > 92:  # the starts on a line of their own
        inner = text[len("walks(g, ") : text.rindex(", ")]
        head = [
            f"starts = {inner}",
            f"for i, j, {name} in walks(g, starts, {text[text.rindex(', ') + 2 :]}:",
        ]
    return [*head, f"    r[i][j] = {ink}"]


FINDERS = ((3.1, draw),)
