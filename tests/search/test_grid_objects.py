"""Finders on objects of grids: that each finds its kind of rule from a few pairs and that the rule
holds on others; that what numpy computes of objects is what the texts say; that steps leave their
input as it was, run or fail in known ways on any grid, and read well.

Internals: each finder is called alone, so that a miss is not covered by another finder.
"""

from __future__ import annotations

import copy as copying_module
import random
from collections.abc import Callable

import pytest
from peirce.search.budget import Budget
from peirce.search.grids import counting, patterns
from peirce.search.grids.engine import Problem
from peirce.search.grids.goal import Goal, State
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
from peirce.search.grids.objects import copying, extraction, moving, painting
from peirce.search.grids.objects.features import VIEWS, ViewedObjects, compile_expression
from peirce.search.grids.panels import shrinking
from peirce.search.grids.search import FINDERS
from peirce.search.grids.step_functions import HELPERS

MINE = (
    *painting.FINDERS,
    *extraction.FINDERS,
    *counting.FINDERS,
    *patterns.FINDERS,
    *moving.FINDERS,
    *copying.FINDERS,
    *shrinking.FINDERS,
)


def scattered(seed: int, size: int = 10, ground: int = 0) -> Grid:
    """Bars and squares of several colours that touch nothing."""
    chance = random.Random(seed)
    grid = [[ground] * size for _ in range(size)]
    for _ in range(12):
        high, wide, colour = chance.randint(1, 3), chance.randint(1, 3), chance.choice((2, 3, 4))
        i, j = chance.randint(0, size - high), chance.randint(0, size - wide)
        around = [(a, b) for a in range(i - 1, i + high + 1) for b in range(j - 1, j + wide + 1)]
        if all(not (0 <= a < size and 0 <= b < size) or grid[a][b] == ground for a, b in around):
            for a in range(i, i + high):
                for b in range(j, j + wide):
                    grid[a][b] = colour
    return grid


def dots(seed: int, size: int = 9, colours: tuple[int, ...] = (1, 2)) -> Grid:
    """Single cells, none of which shares a row or a column with another."""
    chance = random.Random(seed)
    rows = chance.sample(range(1, size - 1), 3)
    columns = chance.sample(range(1, size - 1), 3)
    grid = [[0] * size for _ in range(size)]
    for k, (i, j) in enumerate(zip(rows, columns, strict=True)):
        grid[i][j] = colours[k % len(colours)]
    return grid


def written(code: str) -> Callable[[Grid], Grid]:
    return compile_step(code)


def found(rule: Callable[[Grid], Grid], shown: list[Grid]) -> list[Step]:
    goal = Goal(tuple(shown), tuple(rule(g) for g in shown))
    state = State(tuple(shown), Program())
    budget = Budget(400_000)
    steps = [step for _, finder in MINE for step in finder(state, goal, budget)]
    for step in steps:
        assert apply(step, state.grids) == goal.outputs, step.code
    return sorted(steps, key=lambda step: step.cost)


LARGEST_BLUE = """\
r = [row[:] for row in g]
many = objects(g, True, False)
for o in many:
    if len(o) == max(len(x) for x in many):
        for i, j in o:
            r[i][j] = 1
g = r"""
RED_GONE = "g = [[0 if v == 2 else v for v in row] for row in g]"
CROSSES = """\
r = [row[:] for row in g]
for o in pixels(g):
    if tint(g, o) == 1:
        for i, j in rays(g, o, [(0, 1), (0, -1)], False):
            r[i][j] = 1
    else:
        for i, j in rays(g, o, [(1, 0)], False):
            if r[i][j] == 0:
                r[i][j] = 2
g = r"""
LARGEST_CUT = "g = alone(g, max(objects(g, True, False), key=len))"
DOWN_ONE = "g = [[0] * len(g[0])] + g[:-1]"
FALLING = """\
n = len(g)
columns = [[v for v in line if v] for line in zip(*g)]
g = [list(row) for row in zip(*[[0] * (n - len(c)) + c for c in columns])]"""
STAMPED = """\
r = [row[:] for row in g]
for i, row in enumerate(g):
    for j, v in enumerate(row):
        if v == 1:
            for a, b in ((-1, 0), (1, 0)):
                r[i + a][j + b] = 7
        if v == 2:
            r[i][j - 1] = 6
g = r"""
WINNER = "g = [[ranked(g)[0]]]"
BARS = "g = [[1] * len(objects(g, True, False)) + [0] * (12 - len(objects(g, True, False)))]"
DOUBLED = "g = [row + row[::-1] for row in alone(g, max(objects(g, True, False), key=len))]"


@pytest.mark.parametrize(
    ("rule", "make"),
    [
        (LARGEST_BLUE, scattered),
        (RED_GONE, scattered),
        (CROSSES, dots),
        (LARGEST_CUT, scattered),
        (DOUBLED, scattered),
        (FALLING, dots),
        (STAMPED, dots),
        (WINNER, scattered),
        (BARS, scattered),
    ],
)
def test_a_rule_is_found_from_four_pairs_and_holds_on_others(
    rule: str, make: Callable[[int], Grid]
) -> None:
    made = written(rule)
    shown = [make(seed) for seed in range(4)]
    others = tuple(make(seed) for seed in range(100, 110))
    steps = found(made, shown)
    wanted = tuple(made(g) for g in others)
    assert steps, "nothing was found"
    assert any(apply(step, others) == wanted for step in steps[:6]), [s.says for s in steps[:6]]


def test_a_background_of_another_colour_is_seen_through() -> None:
    def rule(grid: Grid) -> Grid:
        black = [[0 if v == 8 else v for v in row] for row in grid]
        return [[v or 8 for v in row] for row in written(LARGEST_BLUE)(black)]

    shown = [[g, rule(g)] for g in (scattered(seed, 10, 8) for seed in range(4))]
    answer = Problem(shown, [], 60_000).propose([], frozenset())
    assert answer is not None
    names: dict = {}
    exec(answer.source, names)
    assert all(names["f"](g) == rule(g) for g in (scattered(seed, 10, 8) for seed in range(50, 58)))


def test_a_hidden_part_of_a_pattern_is_completed_or_taken_alone() -> None:
    def hidden(seed: int) -> tuple[Grid, Grid, Grid]:
        chance = random.Random(seed)
        tile = [[chance.randint(1, 4) for _ in range(3)] for _ in range(2)]
        whole = [[tile[i % 2][j % 3] for j in range(10)] for i in range(9)]
        i, j = chance.randint(0, 6), chance.randint(0, 6)
        inside = [(a, b) for a in range(i, i + 3) for b in range(j, j + 3)]
        given = [[9 if (a, b) in inside else v for b, v in enumerate(row)] for a, row in enumerate(whole)]  # fmt: skip
        return given, whole, [row[j : j + 3] for row in whole[i : i + 3]]

    problems = [hidden(seed) for seed in range(6)]
    for part in (1, 2):
        answers = {str(one[0]): one[part] for one in problems}
        steps = found(lambda g, a=answers: a[str(g)], [one[0] for one in problems[:3]])
        given = tuple(one[0] for one in problems[3:])
        assert apply(steps[0], given) == tuple(one[part] for one in problems[3:]), steps[0].says


def test_one_cell_is_left_of_each_panel() -> None:
    def rule(grid: Grid) -> Grid:
        return [[max(grid[i + a][j + b] for a in (0, 1) for b in (0, 1)) for j in (0, 3)] for i in (0, 3)]  # fmt: skip

    def make(seed: int) -> Grid:
        chance = random.Random(seed)
        grid = [[5 if 2 in (i, j) else 0 for j in range(5)] for i in range(5)]
        for i in (0, 3):
            for j in (0, 3):
                grid[i + chance.randint(0, 1)][j + chance.randint(0, 1)] = chance.choice((0, 1, 3))
        return grid

    steps = found(rule, [make(seed) for seed in range(3)])
    others = tuple(make(seed) for seed in range(20, 26))
    assert apply(steps[0], others) == tuple(map(rule, others))


def test_a_pair_alone_and_a_table_of_all_its_objects_is_no_rule() -> None:
    """Three objects of three sizes in one grid get three colours: a table would hold them all."""
    grid = [[3, 0, 3, 3, 0, 3, 3, 3]]
    steps = found(lambda g: [[1, 0, 2, 2, 0, 4, 4, 4]], [grid])
    assert not any(".get(len(o)" in step.code for step in steps)


def noise(chance: random.Random) -> Grid:
    high, wide = chance.randint(1, 7), chance.randint(1, 7)
    return [[chance.choice((0, 0, 0, 1, 2, 5)) for _ in range(wide)] for _ in range(high)]


def test_conditions_computed_at_once_are_what_their_texts_say() -> None:
    chance = random.Random(0)
    checked = 0
    for _ in range(25):
        grids = tuple(noise(chance) for _ in range(2))
        for view in VIEWS:
            look = ViewedObjects(view, grids)
            if not look.usable:
                continue
            conditions, holds = look.compute_conditions()
            for condition, row in zip(conditions, holds.tolist(), strict=True):
                if condition.text:
                    made = compile_expression(condition.text)
                    said = [
                        bool(made(g, o, many))
                        for g, many in zip(grids, look.objects, strict=True)
                        for o in many
                    ]
                    assert said == row, condition.text
                    checked += 1
    assert checked > 2000


def every_step() -> list[Step]:
    rules = [
        (LARGEST_BLUE, scattered), (RED_GONE, scattered), (CROSSES, dots), (LARGEST_CUT, scattered),
        (DOUBLED, scattered), (FALLING, dots), (STAMPED, dots), (WINNER, scattered), (BARS, scattered),
        (DOWN_ONE, dots),
    ]  # fmt: skip
    steps = []
    for rule, make in rules:
        steps += found(written(rule), [make(seed) for seed in range(3)])
    return steps


def test_steps_leave_their_input_and_read_well() -> None:
    chance = random.Random(1)
    grids = [noise(chance) for _ in range(12)]
    steps = every_step()
    assert len(steps) > 60
    for step in steps:
        assert step.cost > 0 and step.says
        assert max(map(len, generate_source(Program((step,))).splitlines())) <= 100, step.code
        made = compile_step(step.code)
        for grid in grids:
            before = copying_module.deepcopy(grid)
            try:
                out = made(grid)
            except FAILURES:
                continue
            finally:
                assert grid == before, step.code
            if is_grid(out):
                assert all(type(v) is int and 0 <= v <= 9 for row in out for v in row), step.code


def test_helpers_keep_their_lines_short_and_call_only_helpers_that_stand_before() -> None:
    for name, text in HELPERS.items():
        assert text.startswith(f"def {name}("), name
        assert max(map(len, text.splitlines())) <= 95, name


def test_a_finder_stops_where_the_budget_ends() -> None:
    grids = tuple(scattered(seed) for seed in range(3))
    goal = Goal(grids, tuple(map(written(LARGEST_BLUE), grids)))
    for _, finder in FINDERS:
        budget = Budget(30)
        list(finder(State(grids, Program()), goal, budget))
        assert budget.spent < 8_000
