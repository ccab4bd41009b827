"""Grid programs on an empty canvas, in chains, by parts and by what is distinct: that a kind of rule
is found from a few pairs and holds on others.

Internals: the engine is asked in this process, and canvas helpers are compared with their text.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from peirce.search.grids.corners import find_corner
from peirce.search.grids.engine import Problem
from peirce.search.grids.grammar import FAILURES, Grid

BUDGET = 60_000


def noise(seed: int, size: int = 5, colours: tuple[int, ...] = (0, 0, 2, 3, 4)) -> Grid:
    chance = random.Random(seed)
    return [[chance.choice(colours) for _ in range(size)] for _ in range(size)]


def by_frequency(seed: int) -> tuple[Grid, Grid]:
    """Three colours, each a different number of times, in disorder."""
    chance = random.Random(seed)
    colours = chance.sample(range(1, 10), 3)
    cells = [c for c, n in zip(colours, (7, 5, 2), strict=True) for _ in range(n)]
    cells += [0] * (25 - len(cells))
    chance.shuffle(cells)
    out = [[0] * 5 for _ in range(5)]
    for k, colour in enumerate(colours):
        out[4 - k][k] = colour
    return [cells[k : k + 5] for k in range(0, 25, 5)], out


def halves(seed: int) -> tuple[Grid, Grid]:
    grid = noise(seed)
    return grid, [row[3:] + row[2:3] + row[:2] for row in grid]


def latin(seed: int) -> tuple[Grid, Grid]:
    chance = random.Random(seed)
    colours = chance.sample(range(1, 10), 5)
    full = [[colours[(i + j) % 5] for j in range(5)] for i in range(5)]
    chance.shuffle(full)
    hidden = chance.sample(range(5), 5)
    return [[0 if hidden[i] == j else v for j, v in enumerate(row)] for i, row in enumerate(full)], full  # fmt: skip


def turned_chain(seed: int) -> tuple[Grid, Grid]:
    chance = random.Random(seed)
    tile = [[chance.randint(1, 9) for _ in range(2)] for _ in range(2)]
    grid, out = ([[0] * 6 for _ in range(6)] for _ in range(2))
    for k in range(3):
        for i in range(2):
            for j in range(2):
                out[2 * k + i][2 * k + j] = tile[i][j]
                if not k:
                    grid[i][j] = tile[i][j]
        tile = [list(row) for row in zip(*tile[::-1], strict=True)]
    return grid, out


def part_in_the_corner(seed: int) -> tuple[Grid, Grid]:
    """The shape with two colours, among bars, alone in the upper left corner."""
    chance = random.Random(seed)
    grid = [[0] * 9 for _ in range(9)]
    chosen = [[2, 2], [2, 3], [2, 2]]
    for n, (i, j) in enumerate(chance.sample([(0, 1), (0, 5), (5, 1), (5, 5)], 3)):
        own = chosen if not n else [[4, 4, 4]]
        for a, row in enumerate(own):
            for b, v in enumerate(row):
                grid[i + a][j + b] = v
    out = [row + [0] * 7 for row in chosen] + [[0] * 9 for _ in range(6)]
    return grid, out


@pytest.mark.parametrize(
    "make",
    [by_frequency, halves, latin, turned_chain, part_in_the_corner],
    ids=lambda make: make.__name__,
)
def test_the_first_answer_holds_on_other_grids(make: Callable[[int], tuple[Grid, Grid]]) -> None:
    shown = [list(make(seed)) for seed in range(3)]
    answer = Problem(shown, [], BUDGET).propose([], frozenset())
    assert answer is not None
    names: dict = {}
    exec(answer.source, names)
    for seed in range(50, 60):
        given, out = make(seed)
        assert names["f"](given) == out, answer.source


def test_a_canvas_is_seen_only_where_most_of_the_outputs_is_empty() -> None:
    grids = tuple(noise(seed) for seed in range(3))
    assert find_corner(grids, grids) is None
    outs = tuple([row[:2] + [0] * 3 for row in g[:2]] + [[0] * 5 for _ in range(3)] for g in grids)
    found = find_corner(grids, outs)
    assert found is not None
    assert all(len(g) <= 2 for g in found[0])


def test_a_failed_search_of_the_next_is_a_failure_like_others() -> None:
    assert StopIteration in FAILURES
