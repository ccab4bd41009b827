"""Finders on parts, templates, keys and pieces of grids: that each finds its kind of rule from three
pairs, that the rule holds on others, and that its steps leave their input as it was, run or fail in
known ways on any grid, and read well.

Internals: each finder is called alone, so that a miss is not covered by another finder.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable

import pytest
from peirce.search.budget import Budget
from peirce.search.grids.goal import Goal, State
from peirce.search.grids.grammar import (
    FAILURES,
    Grid,
    Program,
    Step,
    apply,
    compile_step,
    find_used_helpers,
    generate_source,
    is_grid,
)
from peirce.search.grids.objects import (
    legends,
    moving,
    packing,
    pasting,
    pieces,
    single_object,
    stamping,
    symmetry,
)
from peirce.search.grids.objects.features import NUMBERS, TRUTHS
from peirce.search.grids.objects.rules import VALUES
from peirce.search.grids.panels import block_grids, part_problems
from peirce.search.grids.search import Finder
from peirce.search.grids.step_functions import HELPERS, PARTS

Cells = list[tuple[int, int, int]]
Pair = tuple[Grid, Grid]

TEMPLATE: Cells = [(0, 0, 1), (0, 1, 3), (0, 2, 3), (1, 1, 3), (2, 1, 2)]
SHAPES: tuple[Cells, ...] = (
    [(0, 0, 1), (0, 1, 1), (1, 0, 1)],
    [(0, 0, 1), (0, 1, 1), (0, 2, 1)],
    [(0, 0, 1), (1, 0, 1), (1, 1, 1), (1, 2, 1)],
)


def empty(high: int, wide: int) -> Grid:
    return [[0] * wide for _ in range(high)]


def put(grid: Grid, cells: Cells, i: int, j: int, colour: int = 0) -> None:
    for a, b, v in cells:
        if 0 <= i + a < len(grid) and 0 <= j + b < len(grid[0]):
            grid[i + a][j + b] = colour or v


def filled(grid: Grid, i: int, j: int, high: int, wide: int, colour: int) -> None:
    put(grid, [(a, b, colour) for a in range(high) for b in range(wide)], i, j)


def panels(chance: random.Random) -> Pair:
    """Every panel is mirrored."""
    grid = [[5 if i == 4 or j in (4, 9) else 0 for j in range(14)] for i in range(9)]
    out = copy.deepcopy(grid)
    for i in (0, 5):
        for j in (0, 5, 10):
            for a in range(4):
                row = [chance.choice((0, 0, 1, 2, 3)) for _ in range(4)]
                grid[i + a][j : j + 4], out[i + a][j : j + 4] = row, row[::-1]
    return grid, out


def blocks(chance: random.Random) -> Pair:
    """Panels of one colour are connected over empty ones in their row."""
    small = empty(4, 6)
    wanted = empty(4, 6)
    for i in range(4):
        a, b = sorted(chance.sample(range(6), 2))
        colour = chance.choice((2, 3, 4))
        small[i][a] = small[i][b] = colour
        wanted[i][a : b + 1] = [colour] * (b + 1 - a)

    def large(grid: Grid) -> Grid:
        rows = [[5 if j % 3 == 2 else row[j // 3] for j in range(17)] for row in grid]
        return [[5] * 17 if i % 3 == 2 else rows[i // 3] for i in range(11)]

    return large(small), large(wanted)


def marks(chance: random.Random, out_of: Callable[[int], Cells] = lambda k: TEMPLATE) -> Pair:
    """The template is completed where its ends of two colours stand."""
    grid, out = empty(13, 13), empty(13, 13)
    places = chance.sample([(i, j) for i in (0, 5, 9) for j in (0, 5, 9)], 4)
    for k, (i, j) in enumerate(places):
        cells = out_of(k)
        put(grid, cells if not k else [c for c in cells if c[2] != 3], i, j)
        put(out, cells, i, j)
    return grid, out


def turned_marks(chance: random.Random) -> Pair:
    def pose(k: int) -> Cells:
        cells = TEMPLATE
        for _ in range(turns[k]):
            cells = [(b, 2 - a, v) for a, b, v in cells]
        return cells

    turns = [0, *(chance.randint(0, 3) for _ in range(3))]
    return marks(chance, pose)


def bare_shapes(chance: random.Random) -> Pair:
    """Bare copies of a coloured shape are coloured like it."""
    grid, out = empty(13, 13), empty(13, 13)
    places = chance.sample([(i, j) for i in (0, 4, 9) for j in (0, 5, 9)], 4)
    for k, (i, j) in enumerate(places):
        put(grid, TEMPLATE, i, j, 8 if k else 0)
        put(out, TEMPLATE, i, j)
    return grid, out


def symmetric(chance: random.Random, hide: bool = False) -> Pair:
    quarter = {(a, b): chance.choice((0, 2, 3, 3)) for a in range(3) for b in range(3)}
    quarter |= {(0, 0): 4, (1, 0): 4, (2, 0): 3, (0, 1): 4, (0, 2): 2, (1, 1): 3}
    i, j = chance.randint(3, 8), chance.randint(3, 8)
    out, grid = empty(12, 12), empty(12, 12)
    for a in range(-2, 3):
        for b in range(-2, 3):
            out[i + a][j + b] = quarter[abs(a), abs(b)]
            away = a < 0 and b > 0 and quarter[abs(a), abs(b)] in (2, 3)
            grid[i + a][j + b] = 0 if away and not hide else quarter[abs(a), abs(b)]
    if hide:
        filled(grid, i - 2 + chance.randint(0, 1), j + 1, 2, 3, 7)
    return grid, out


def hidden(chance: random.Random) -> Pair:
    return symmetric(chance, hide=True)


def key(chance: random.Random) -> Pair:
    """Pairs at the left say which colour becomes which."""
    colours = chance.sample(range(1, 10), 6)
    grid = empty(11, 13)
    for k in range(3):
        grid[1 + 3 * k][1:3] = colours[2 * k : 2 * k + 2]
    out = copy.deepcopy(grid)
    for k, (i, j) in enumerate((i, j) for i in (0, 4, 8) for j in (5, 9)):
        put(grid, SHAPES[k % 3], i, j, colours[2 * (k % 3)])
        put(out, SHAPES[k % 3], i, j, colours[2 * (k % 3) + 1])
    return grid, out


def holes(chance: random.Random) -> Pair:
    """Pieces go into the holes that they fit."""
    grid, out = empty(14, 12), empty(14, 12)
    for k, shape in enumerate(chance.sample(SHAPES, 3)):
        filled(grid, 5 * k, 0, 4, 5, 5)
        put(grid, [(a, b, 0) for a, b, _ in shape], 5 * k + 1, 1)
    for row, line in zip(grid, out, strict=True):
        line[:] = row
    for k, shape in enumerate(chance.sample(SHAPES, 3)):
        colour = chance.choice((1, 2, 3))
        put(grid, shape, 5 * k, 8, colour)
        at = next(n for n in range(3) if all(out[5 * n + 1 + a][1 + b] == 0 for a, b, _ in shape))
        put(out, shape, 5 * at + 1, 1, colour)
    return grid, out


def kin(chance: random.Random) -> Pair:
    """Single cells go beside the wall of their colour; others vanish."""
    grid = empty(12, 12)
    for row in grid:
        row[0], row[11] = 2, 3
    out = copy.deepcopy(grid)
    for i in chance.sample(range(0, 12, 2), 4):
        colour = chance.choice((2, 3, 4))
        grid[i][chance.randint(3, 8)] = colour
        if colour < 4:
            out[i][1 if colour == 2 else 10] = colour
    return grid, out


def pasted(chance: random.Random) -> Pair:
    """The cross appears at every single cell."""
    cross: Cells = [(0, 1, 3), (1, 0, 3), (1, 1, 2), (1, 2, 3), (2, 1, 3)]
    grid, out = empty(14, 14), empty(14, 14)
    places = chance.sample([(i, j) for i in (0, 5, 10) for j in (0, 5, 10)], 4)
    for k, (i, j) in enumerate(places):
        put(out, cross, i, j)
        if k:
            grid[i + 1][j + 1] = 6
        else:
            put(grid, cross, i, j)
    return grid, out


def packed(chance: random.Random) -> Pair:
    grid, out = empty(12, 13), empty(7, 7)
    for a, i in enumerate((1, 7)):
        for b, j in enumerate((1, 8)):
            cells: Cells = [(y, x, a + b + 2) for y in range(3) for x in range(3) if y == x or chance.random() < 0.6]  # fmt: skip
            put(grid, cells, i + chance.randint(-1, 1), j + chance.randint(-1, 1))
            put(out, cells, 4 * a, 4 * b)
    return grid, out


def repeated(chance: random.Random) -> Pair:
    """The shape once for every mark, in its colour."""
    grid, shape = empty(11, 8), chance.choice(SHAPES)
    put(grid, shape, 0, 0)
    colours = [chance.choice((2, 3, 6)) for _ in range(3)]
    for k, colour in enumerate(colours):
        grid[4 + 2 * k][6] = colour
    high, wide = max(a for a, _, _ in shape) + 1, max(b for _, b, _ in shape) + 1
    out = empty(3 * high, wide)
    for k, colour in enumerate(colours):
        put(out, shape, k * high, 0, colour)
    return grid, out


def pointed(chance: random.Random) -> Pair:
    """The shape that a grey cell touches."""
    grid = empty(12, 12)
    chosen = chance.randint(0, 2)
    for k, shape in enumerate(chance.sample(SHAPES, 3)):
        put(grid, shape, 1 + 4 * k, chance.randint(1, 7), 2 + k)
    cells = [(i, j) for i, row in enumerate(grid) for j, v in enumerate(row) if v == 2 + chosen]
    i, j = min(cells)
    grid[i - 1][j] = 5
    left, right = min(b for _, b in cells), max(b for _, b in cells)
    out = [[v if v == 2 + chosen else 0 for v in row[left : right + 1]] for row in grid[i : max(cells)[0] + 1]]  # fmt: skip
    return grid, out


KINDS: tuple[tuple[Callable[[random.Random], Pair], tuple[tuple[float, Finder], ...]], ...] = (
    (panels, part_problems.FINDERS),
    (blocks, block_grids.FINDERS),
    (marks, stamping.FINDERS),
    (turned_marks, stamping.FINDERS),
    (bare_shapes, stamping.FINDERS),
    (symmetric, symmetry.FINDERS),
    (hidden, symmetry.FINDERS),
    (key, legends.FINDERS),
    (holes, pieces.FINDERS),
    (kin, moving.FINDERS),
    (pasted, pasting.FINDERS),
    (packed, packing.FINDERS),
    (repeated, packing.FINDERS),
    (pointed, single_object.FINDERS),
)


def found(make: Callable[[random.Random], Pair], finders: tuple[tuple[float, Finder], ...]) -> list[Step]:  # fmt: skip
    pairs = [make(random.Random(seed)) for seed in range(3)]
    goal = Goal(tuple(g for g, _ in pairs), tuple(out for _, out in pairs))
    budget = Budget(200_000)
    state = State(goal.inputs, Program())
    steps = [step for _, finder in finders for step in finder(state, goal, budget)]
    for step in steps:
        assert apply(step, state.grids) == goal.outputs, step.code
    return sorted(steps, key=lambda step: step.cost)


@pytest.mark.parametrize(("make", "finders"), KINDS, ids=lambda x: getattr(x, "__name__", ""))
def test_a_rule_is_found_from_three_pairs_holds_on_others_and_reads_well(
    make: Callable[[random.Random], Pair], finders: tuple[tuple[float, Finder], ...]
) -> None:
    steps = found(make, finders)
    assert steps, "nothing was found"
    others = [make(random.Random(seed)) for seed in range(50, 58)]
    given, wanted = tuple(g for g, _ in others), tuple(out for _, out in others)
    assert apply(steps[0], given) == wanted, steps[0].says
    chance = random.Random(1)
    noisy = [[[chance.choice((0, 0, 0, 1, 2, 5)) for _ in range(w)] for _ in range(h)] for h, w in ((1, 1), (3, 5), (7, 6), (1, 4))]  # fmt: skip
    for step in steps:
        text = generate_source(Program((step,)))
        assert step.cost > 0 and step.says and "import" not in text and "while" not in text
        assert max(map(len, text.splitlines())) <= 100, text
        names: dict = {}
        exec(compile(text, "<test>", "exec"), names)
        for grid in (*given[:2], *noisy):
            before = copy.deepcopy(grid)
            try:
                out = compile_step(step.code)(grid)
            except FAILURES:
                continue
            finally:
                assert grid == before, step.code
            assert names["f"](grid) == out
            if is_grid(out):
                assert all(type(v) is int and 0 <= v <= 9 for row in out for v in row), step.code


def test_templates_of_several_sizes_and_symmetry_about_a_part_are_found() -> None:
    def magnified(chance: random.Random) -> Pair:
        grid, out = empty(20, 20), empty(20, 20)
        for k, (size, i, j) in enumerate(((1, 0, 0), (2, 0, 10), (chance.randint(2, 3), 9, 5))):
            cells = [(a * size + y, b * size + x, v) for a, b, v in TEMPLATE for y in range(size) for x in range(size)]  # fmt: skip
            put(grid, cells if not k else [c for c in cells if c[2] != 3], i, j)
            put(out, cells, i, j)
        return grid, out

    steps = found(magnified, stamping.FINDERS)
    assert any("magnified" in step.says for step in steps)

    def about(chance: random.Random) -> Pair:
        grid = empty(15, 15)
        filled(grid, 6, 6, 3, 3, 3)
        put(grid, [(0, 0, 8), (1, 1, 8), (0, 1, 8), (chance.randint(0, 1), 2, 8)], 4, 3)
        grid[5][5] = 8
        out = [[max(grid[y][x] for y in (i, 14 - i) for x in (j, 14 - j)) for j in range(15)] for i in range(15)]  # fmt: skip
        return grid, out

    assert found(about, symmetry.FINDERS)


def test_no_two_helpers_have_one_name():
    assert sum(map(len, PARTS)) == len(HELPERS)


def test_every_helper_that_a_feature_of_objects_names_is_found():
    texts = [
        *(v.text for v in VALUES),
        *(n[0].replace("@", "o") for n in NUMBERS),
        *(t[0] for t in TRUTHS),
    ]
    for text in texts:
        named = {word for word in re.findall("[a-z_]+", text) if word in HELPERS}
        assert named <= set(find_used_helpers(text)), text
    assert len(texts) > 30 and {"peer", "pose"} <= set(find_used_helpers("peer(g, o, many, pose)"))
