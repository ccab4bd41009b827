"""Finders of processes and layouts (strokes, rooms) and the steps that clean: that each finds its kind
of rule from a few pairs and that the rule holds on others; that steps and helpers leave their input
as it was, give colours only, and read well.

Internals: each finder and each stroke is called alone, on grids made for it.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

import numpy as np
import pytest
from peirce.search.budget import Budget
from peirce.search.grids import cleaning
from peirce.search.grids.goal import Facts, Goal, State
from peirce.search.grids.grammar import (
    FAILURES,
    Grid,
    Program,
    Step,
    apply,
    compile_step,
    generate_source,
    is_grid,
)
from peirce.search.grids.panels import rooms
from peirce.search.grids.strokes import strokes
from peirce.search.grids.strokes.kinds import list_strokes as every_stroke

MINE = (*strokes.FINDERS, *rooms.FINDERS)


def empty(height: int, width: int) -> Grid:
    return [[0] * width for _ in range(height)]


def marks(seed: int) -> Grid:
    """Three to five cells of blue and red, of which none touches another."""
    chance = random.Random(seed)
    height, width = chance.randint(9, 12), chance.randint(9, 12)
    g = empty(height, width)
    cells: list[tuple[int, int]] = []
    for _ in range(60):
        i, j = chance.randrange(1, height - 1), chance.randrange(1, width - 1)
        if len(cells) < 3 + seed % 3 and all(abs(i - a) > 1 and abs(j - b) > 1 for a, b in cells):
            g[i][j] = 1 + len(cells) % 2
            cells.append((i, j))
    return g


def wall(seed: int) -> Grid:
    """A grey wall on one side and single cells before it."""
    g = marks(seed)
    g = [[v and 2 for v in row] for row in g]
    g[-1] = [5] * len(g[0])
    return [[list(row) for row in zip(*g, strict=True)], g, g[::-1]][seed % 3]


def pair_of_marks(seed: int) -> Grid:
    chance = random.Random(seed)
    g = empty(10, 11)
    rows, columns = chance.sample(range(10), 2), chance.sample(range(11), 2)
    for colour, i, j in zip((3, 4), rows, columns, strict=True):
        g[i][j] = colour
    return g


def diagonal(seed: int) -> Grid:
    """A piece of a diagonal line that leads away from the lower border."""
    chance = random.Random(seed)
    g = empty(chance.randint(7, 11), chance.randint(4, 6))
    j, way = chance.choice(((0, 1), (len(g[0]) - 1, -1)))
    for k in range(3):
        g[len(g) - 1 - k][j + way * k] = 2
    return g


def noisy(seed: int) -> Grid:
    """Green and red rectangles with single cells around them."""
    chance = random.Random(seed)
    g = empty(14, 14)
    for top, left, colour in ((1, 1, 3), (8, 2, 2), (4, 8, 3)):
        high, wide = chance.randint(3, 5), chance.randint(3, 5)
        for i in range(top, top + high):
            g[i][left : left + wide] = [colour] * wide
    for _ in range(12):
        i, j = chance.randrange(14), chance.randrange(14)
        if not g[i][j] and not any(
            v in (6,) for row in g[max(i - 1, 0) : i + 2] for v in row[max(j - 1, 0) : j + 2]
        ):
            g[i][j] = 6
    return g


def panels(seed: int) -> Grid:
    """As many panels as the seed says, between grey lines, with some orange cells each."""
    chance = random.Random(seed)
    down, across, size = chance.randint(2, 3), chance.randint(2, 4), chance.randint(3, 4)
    counts = (
        chance.sample(range(1, size * size), down * across) if down * across < size * size else []
    )
    counts = counts or [k % (size * size) + 1 for k in range(down * across)]
    g = [[5] * (across * (size + 1) - 1) for _ in range(down * (size + 1) - 1)]
    for k, count in enumerate(counts):
        cells = chance.sample(range(size * size), count)
        for c in range(size * size):
            i, j = k // across * (size + 1) + c // size, k % across * (size + 1) + c % size
            g[i][j] = 7 if c in cells else 0
    return g


LINES_TO_WALL = """\
r = [row[:] for row in g]
for i, j, v in walks(g, facing(g, 2, 5, [(0, 1), (0, -1), (1, 0), (-1, 0)]), "stop"):
    r[i][j] = v
g = r"""
BOUNCING = """\
r = [row[:] for row in g]
for i, j, v in walks(g, line_ends(g, 2), "bounce"):
    r[i][j] = 8
g = r"""
JOINED = """\
r = [row[:] for row in g]
for i, j, _ in joins(g, 3, 4, "down"):
    r[i][j] = 8
g = r"""
CROSSED = """\
r = [row[:] for row in g]
for i, j, _ in walks(g, aimed(g, 1, [(0, 1), (0, -1)]), "through"):
    r[i][j] = 1
for i, j, _ in walks(g, aimed(g, 2, [(1, 0)]), "over"):
    r[i][j] = 2
g = r"""
RINGED = """\
r = [row[:] for row in g]
for i, j, v in rings(g, 1, 2, 30):
    r[i][j] = v
g = r"""
FLOWING = """\
r = [row[:] for row in g]
for i, j, _ in flows(g, 1, 1, 0):
    r[i][j] = 8
g = r"""
WIDEST = """\
r = [row[:] for row in g]
for i, j, _ in widest(g, 0, 2):
    r[i][j] = 6
g = r"""
FULLEST = """\
r = [row[:] for row in g]
every = [[row[b:d] for row in g[a:c]] for a, b, c, d in rooms(g)]
for a, b, c, d in rooms(g):
    if filled([row[b:d] for row in g[a:c]]) == max(map(filled, every)):
        for row in r[a:c]:
            row[b:d] = [7] * (d - b)
g = r"""
SUMMARY = """\
boxes = rooms(g)
cells = [8 if filled([row[b:d] for row in g[a:c]]) >= 4 else 0 for a, b, c, d in boxes]
wide = sum(top == 0 for top, *_ in boxes)
g = [cells[k : k + wide] for k in range(0, len(cells), wide)]"""
RULES: list[tuple[str, Callable[[int], Grid]]] = [
    (LINES_TO_WALL, wall),
    (BOUNCING, diagonal),
    (JOINED, pair_of_marks),
    (CROSSED, marks),
    (RINGED, marks),
    (FLOWING, marks),
    (WIDEST, noisy),
    (FULLEST, panels),
    (SUMMARY, panels),
]


def found(rule: str, make: Callable[[int], Grid], pairs: int = 4) -> list[Step]:
    grids = tuple(make(seed) for seed in range(pairs))
    outputs = apply(Step(rule, "", 0.0), grids)
    assert outputs is not None
    goal, state, budget = Goal(grids, outputs), State(grids, Program()), Budget(400_000)
    steps = [step for _, finder in MINE for step in finder(state, goal, budget)]
    for step in steps:
        assert apply(step, grids) == outputs, step.code
    return sorted(steps, key=lambda step: step.cost)


@pytest.mark.parametrize(("rule", "make"), RULES)
def test_a_rule_is_found_from_four_pairs_and_holds_on_others(
    rule: str, make: Callable[[int], Grid]
) -> None:
    steps = found(rule, make)
    others = tuple(make(seed) for seed in range(100, 112))
    wanted = apply(Step(rule, "", 0.0), others)
    assert steps, "nothing was found"
    assert any(apply(step, others) == wanted for step in steps[:6]), [s.says for s in steps[:6]]


def test_a_spiral_leaves_one_row_or_column_between_its_turns() -> None:
    grids = tuple(empty(n, n) for n in (6, 8))
    steps = found(
        "r = [row[:] for row in g]\nfor i, j, _ in spiral(g, False, False, False):\n    r[i][j] = 3\ng = r",
        lambda k: grids[k],
        2,
    )
    made = compile_step(steps[0].code)(empty(6, 6))
    assert ["".join(map(str, row)) for row in made] == ["333333", "000003", "333303", "303303", "300003", "333333"]  # fmt: skip


def test_nothing_is_drawn_where_strokes_leave_a_cell_unexplained() -> None:
    def rule(g: Grid) -> Grid:
        made = compile_step(CROSSED)(g)
        made[0][0] = 9 - made[0][0] if sum(map(sum, g)) % 2 else 4
        return made

    grids = tuple(marks(seed) for seed in range(5))
    goal = Goal(grids, tuple(map(rule, grids)))
    assert not list(strokes.draw(State(grids, Program()), goal, Budget(400_000)))


def test_a_stroke_for_one_cell_or_one_pair_is_a_patch() -> None:
    def drawn(*cells: int) -> strokes.PaintedStroke:
        made = np.full(12, -1, dtype=np.int8)
        made[list(cells)] = 4
        return strokes.PaintedStroke(strokes.Stroke("", "", 2.0), 4, 2.0, made)

    changed, pairs = np.ones(12, dtype=bool), np.repeat(np.arange(2), 6)
    both, lone, one_pair = drawn(0, 1, 6, 7), drawn(8), drawn(2, 3, 4)
    assert strokes._patches([both], changed, pairs) == 0
    assert strokes._patches([both, lone], changed, pairs) == 1
    assert strokes._patches([both, one_pair, lone], changed, pairs) == 2


def test_noise_goes_and_rectangles_stay() -> None:
    grids = tuple(noisy(seed) for seed in range(4))
    outputs = tuple([[0 if v == 6 else v for v in row] for row in g] for g in grids)
    facts = Facts(State(grids, Program()), Goal(grids, outputs))
    made = {step.says for step in cleaning.steps(facts) if apply(step, grids) == outputs}
    assert "keep only blocks of 2 by 2 cells of one colour" in made


def test_a_pattern_with_faults_is_mended() -> None:
    tile = [[1, 2, 3], [4, 0, 2]]
    whole = [[tile[i % 2][j % 3] for j in range(12)] for i in range(9)]
    faulty = [row[:] for row in whole]
    for i, j in ((0, 4), (5, 5), (7, 1), (3, 9)):
        faulty[i][j] = 8
    assert compile_step("g = mended(g)")(faulty) == whole


def test_steps_and_strokes_leave_their_input_and_give_colours() -> None:
    chance = random.Random(3)
    grids = []
    for _ in range(10):
        height, width = chance.randint(1, 9), chance.randint(1, 9)
        full = chance.random()
        grids.append([[chance.choice((1, 2, 3)) if chance.random() < full else 0 for _ in range(width)] for _ in range(height)])  # fmt: skip
    steps = [step for rule, make in RULES for step in found(rule, make, 3)]
    state = State(tuple(grids), Program())
    steps += cleaning.steps(Facts(state, Goal(tuple(grids), tuple(grids))))
    drawn = every_stroke(tuple(noisy(k) for k in range(2)), Goal((noisy(0),), (noisy(1),)))
    steps += [
        strokes.build_step([strokes.PaintedStroke(one, 4, 1.0, strokes.flatten_grids(()))], 1.0)
        for one in drawn
    ]
    assert len(steps) > 800
    for step in steps:
        assert step.cost > 0 and step.says and "  " not in step.says
        assert max(map(len, generate_source(Program((step,))).splitlines())) <= 100, step.code
        made = compile_step(step.code)
        for grid in grids:
            before = copy.deepcopy(grid)
            try:
                out = made(grid)
            except FAILURES:
                continue
            finally:
                assert grid == before, step.code
            assert is_grid(out), step.code
            assert all(type(v) is int and 0 <= v <= 9 for row in out for v in row), step.code


def test_a_finder_stops_where_the_budget_ends() -> None:
    grids = tuple(map(panels, range(3)))
    goal = Goal(grids, tuple(compile_step(FULLEST)(g) for g in grids))
    for _, finder in MINE:
        budget = Budget(30)
        list(finder(State(grids, Program()), goal, budget))
        assert budget.spent < 200
