"""Rules of a cell: that terms give on any grid what their text gives, that every rule found is right
on the shown pairs, total, and leaves its grid alone, that known rules are found by name, that alternates
agree on the shown pairs and not elsewhere, and that patches cost more.

Internals: terms of the cell language are computed by numpy and by their text, and compared.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from peirce.search.budget import Budget
from peirce.search.grids.cells.cell_rules import find_cell_rules
from peirce.search.grids.cells.decision_lists import Clause, DecisionListSearch, Tables
from peirce.search.grids.cells.features import (
    colour_terms,
    context_lines,
    evaluate_terms,
    general_terms,
)
from peirce.search.grids.cells.frames import list_frames
from peirce.search.grids.cells.text import Colour, Condition, write_rule
from peirce.search.grids.goal import Goal, State
from peirce.search.grids.grammar import (
    Grid,
    Program,
    Step,
    compile_step,
    describe_program,
    find_used_helpers,
    generate_source,
    is_grid,
)
from peirce.search.grids.step_functions import HELPERS

Rule = Callable[[Grid], Grid]


def grids(
    count: int, seed: int, high: int = 5, wide: int = 5, colours: str = "0001234"
) -> list[Grid]:
    rng = random.Random(seed)
    return [[[int(rng.choice(colours)) for _ in range(wide)] for _ in range(high)] for _ in range(count)]  # fmt: skip


def steps(rule: Rule, inputs: list[Grid], budget: float = 150_000) -> list[Step]:
    given = tuple(inputs)
    goal = Goal(given, tuple(rule(grid) for grid in given))
    return sorted(
        find_cell_rules(State(given, Program()), goal, Budget(budget)), key=lambda s: s.cost
    )


def compiled(step: Step) -> Any:
    names: dict[str, Any] = {}
    exec(compile(generate_source(Program((step,))), "<test>", "exec"), names)
    return names["f"]


def around(g: Grid, i: int, j: int) -> list[int]:
    return [
        g[a][b]
        for a in range(i - 1, i + 2)
        for b in range(j - 1, j + 2)
        if (a, b) != (i, j) and 0 <= a < len(g) and 0 <= b < len(g[0])
    ]


def each(colour: Callable[..., int]) -> Rule:
    """A rule from the colour of a cell, given the grid, the place and the cell's own."""
    return lambda g: [[colour(g, i, j, v) for j, v in enumerate(r)] for i, r in enumerate(g)]


RULES: dict[str, Rule] = {
    "recoloured": each(lambda g, i, j, v: 4 if v == 2 else v),
    "mirrored": each(lambda g, i, j, v: g[i][-1 - j]),
    "many red around": each(lambda g, i, j, v: 5 if around(g, i, j).count(2) > 1 else v),
    "enclosed or red": each(lambda g, i, j, v: 7 if v == 0 and i in (0, len(g) - 1) else v),
    "two clauses": each(lambda g, i, j, v: 6 if v == 1 else g[i][-1 - j] if i == j else v),
    "shift": each(lambda g, i, j, v: g[i - 1][j] if i else 0),
    "nearest": each(lambda g, i, j, v: v or next(filter(None, g[i][j + 1 :]), 0)),
    "row of colour": each(lambda g, i, j, v: 3 if 2 in g[i] and not v else v),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_of_the_language_is_found_first_and_holds_elsewhere(name: str) -> None:
    best = steps(RULES[name], grids(4, 11))[0]
    f = compiled(best)
    fresh = grids(40, 12)
    assert np.mean([f(grid) == RULES[name](grid) for grid in fresh]) > 0.9, best.code


def test_a_term_is_computed_as_its_text_says_on_random_grids() -> None:
    helpers: dict[str, Any] = {}
    exec("\n".join(HELPERS.values()), helpers)
    for high, wide, seed in ((5, 5, 1), (1, 1, 2), (1, 6, 3), (7, 4, 4), (6, 6, 5)):
        square = high == wide
        terms = (*general_terms(square), *colour_terms(1), *colour_terms(4))
        cases = [*grids(3, seed, high, wide), [[0] * wide for _ in range(high)]]
        values = evaluate_terms(terms, cases)
        for term, row in zip(terms, values, strict=True):
            lines = context_lines([term])
            lines.append(
                f"out = [{term.text} for i, row in enumerate(g) for j, v in enumerate(row)]"
            )
            whole = compile("\n".join(lines), "term", "exec")
            own: list[int] = []
            for grid in cases:
                names = helpers | {"g": grid}
                exec(whole, names)
                own += [bool(x) if term.kind == "truth" else x for x in names["out"]]
            assert own == row.tolist(), term.text


@pytest.mark.parametrize("name", RULES)
def test_every_step_is_right_total_readable_and_leaves_its_grid_alone(name: str) -> None:
    shown = grids(3, 21)
    strange = [
        *grids(3, 22, 1, 1),
        *grids(3, 23, 2, 7),
        *grids(2, 24, 9, 3),
        [[0] * 4] * 3,
        [[9] * 3] * 3,
    ]
    for step in steps(RULES[name], shown)[::7]:
        f = compiled(step)
        assert [f(grid) for grid in shown] == [RULES[name](grid) for grid in shown], step.code
        turned = "g[j]" in step.code or "g[-1 - j]" in step.code  # for square grids alone
        for grid in shown if turned else strange:
            before = copy.deepcopy(grid)
            assert is_grid(f(grid)) and grid == before, step.code
        text = generate_source(Program((step,)))
        assert max(map(len, text.splitlines())) < 100
        assert not any(
            isinstance(node, ast.While | ast.Import) for node in ast.walk(ast.parse(text))
        )
        assert describe_program(Program((step,))).startswith("Colour each cell ")


def test_alternates_agree_on_the_shown_pairs_and_not_elsewhere() -> None:
    shown, fresh = grids(3, 31), grids(60, 32)
    found_steps = steps(RULES["many red around"], shown)
    predicted = {repr([compiled(step)(grid) for grid in fresh]) for step in found_steps[:40]}
    assert len(predicted) > 25


def test_what_serves_one_cell_costs_more() -> None:
    once = grids(3, 41, colours="0012")
    odd = copy.deepcopy(once)
    odd[0][2][2] = 3
    plain = each(lambda g, i, j, v: 4 if v == 2 else v)
    patched = each(lambda g, i, j, v: 4 if v == 2 else 7 if v == 3 else v)
    assert steps(patched, odd)[0].cost > steps(plain, once)[0].cost + 3.0


def test_cells_of_panels_blocks_and_tiles_are_coloured() -> None:
    def panels(g: Grid) -> Grid:
        return [[8 if a and b else 0 for a, b in zip(row[:3], row[4:], strict=True)] for row in g]

    def blocks(g: Grid) -> Grid:
        return [[max(g[i][j : j + 2] + g[i + 1][j : j + 2]) for j in (0, 2, 4)] for i in (0, 2)]

    def tiles(g: Grid) -> Grid:
        return [[g[i % 3][j % 3] if g[i // 3][j // 3] else 0 for j in range(9)] for i in range(9)]

    for rule, inputs in (
        (panels, grids(4, 51, 4, 7)),
        (blocks, grids(4, 52, 4, 6)),
        (tiles, grids(3, 53, 3, 3)),
    ):
        best = steps(rule, inputs)[0]
        f = compiled(best)
        fresh = grids(20, 54, len(inputs[0]), len(inputs[0][0]))
        assert np.mean([f(grid) == rule(grid) for grid in fresh]) > 0.9, best.code


def test_every_frame_makes_grids_of_the_outputs_size() -> None:
    cases = [
        ((7, 3), (3, 3)),
        ((6, 6), (3, 2)),
        ((3, 3), (9, 9)),
        ((4, 5), (8, 15)),
        ((7, 7), (3, 3)),
    ]
    for given, out in cases:
        state = State(tuple(grids(3, 61, *given)), Program())
        goal = Goal(state.grids, tuple(grids(3, 62, *out)))
        for frame in list_frames(state, goal, [1, 2]):
            values = evaluate_terms(frame.terms, state.grids, frame.prelude)
            assert values.shape[1] == 3 * out[0] * out[1], frame.says


def test_growth_is_repeated_to_its_end() -> None:
    def flooded(g: Grid) -> Grid:
        """Blue runs through black until it meets the border or a colour."""
        g = [list(row) for row in g]
        for _ in range(20):
            g = [
                [1 if v == 0 and 1 in [g[a][b] for a, b in ((i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j)) if 0 <= a < len(g) and 0 <= b < len(g[0])] else v for j, v in enumerate(row)]
                for i, row in enumerate(g)
            ]  # fmt: skip
        return g

    shown = grids(3, 71, 7, 7, colours="0022")
    for k, grid in enumerate(shown):
        grid[2 * k][3] = 1
    programs = steps(flooded, shown)
    assert any("for _ in range" in step.code for step in programs)
    fresh = grids(20, 72, 7, 7, colours="0022")
    for grid in fresh:
        grid[3][3] = 1
    assert [compiled(programs[0])(grid) for grid in fresh] == [flooded(grid) for grid in fresh]


def test_lists_are_right_and_cheapest_first() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        masks = rng.random((12, 30)) < 0.5
        values = rng.integers(0, 3, (4, 30))
        target = np.where(masks[3], values[1], np.where(masks[5], values[2], values[0]))
        tables = Tables(
            masks,
            [1.0] * 12,
            values != target,
            [0.5] * 4,
            np.arange(30) // 10,
            np.ones(30, np.float32),
        )
        rules = DecisionListSearch(tables, lambda _: True, (12, 4)).run()
        assert rules and [r.cost for r in rules] == sorted(r.cost for r in rules)
        for rule in rules:
            out = values[rule.other]
            for clause in reversed(rule.clauses):
                out = np.where(
                    masks[list(clause.conditions)].all(axis=0), values[clause.expression], out
                )
            assert (out == target).all()
        assert all(isinstance(c, Clause) for rule in rules for c in rule.clauses)


def test_the_budget_ends_the_work_and_the_same_question_has_the_same_answer() -> None:
    shown = grids(3, 81)
    one, two = (steps(RULES["two clauses"], shown) for _ in range(2))
    assert one == two
    given = tuple(shown)
    goal = Goal(given, tuple(RULES["two clauses"](grid) for grid in given))
    small = Budget(500.0)
    list(find_cell_rules(State(given, Program()), goal, small))
    assert small.spent < 5_000


def test_steps_run_alike_in_search_and_in_answers() -> None:
    for step in steps(RULES["nearest"], grids(3, 91))[:30]:
        f, made = compiled(step), compile_step(step.code)
        for grid in grids(10, 92):
            assert f(grid) == made(grid)


def test_no_word_of_a_rule_draws_in_a_helper_that_it_does_not_call() -> None:
    codes = ["\n".join([*t.context, t.text]) for t in (*general_terms(True), *colour_terms(1))]
    sizes = [
        ((7, 3), (3, 3)),
        ((6, 6), (3, 3)),
        ((3, 3), (9, 9)),
        ((7, 7), (3, 3)),
        ((7, 7), (2, 2)),
    ]
    for given, out in sizes:
        state = State(tuple(grids(3, 61, *given)), Program())
        goal = Goal(state.grids, tuple(grids(3, 62, *out)))
        for frame in list_frames(state, goal, [1]):
            codes += ["\n".join([*frame.prelude, *t.context, t.text]) for t in frame.terms]
    for code in codes:
        text = "\n".join([code, *(HELPERS[name] for name in find_used_helpers(code))])
        for name in find_used_helpers(code):
            assert text.count(f"{name}(") > 1, (name, code)


def test_or_within_and_is_written_in_brackets() -> None:
    edge = Condition("i or j", "it is off the corner", "not (i or j)", "it is the corner", 1.0, V)
    blue = Condition("v == 1", "it is blue (1)", "v != 1", "it is not blue (1)", 1.0, V)
    red, own = Colour("2", "red (2)", 0.5, None), Colour("v", "as it is", 0.2, V)
    for conditions in ([edge, blue], [edge.negate(), blue], [blue, edge]):
        code, _ = write_rule([(conditions, red)], own)
        assert compile_step(code)([[1, 1], [0, 1]]) == (
            [[2, 1], [0, 1]] if conditions[0].text.startswith("not") else [[1, 2], [0, 2]]
        )
    for first, then in ((edge, blue), (edge.negate(), blue), (blue, edge)):
        code, _ = write_rule([([first], own), ([then], red)], own)
        want = [
            [
                (2 if holds(then, i, j, v) and not holds(first, i, j, v) else v)
                for j, v in enumerate(row)
            ]
            for i, row in enumerate([[1, 1], [0, 1]])
        ]
        assert compile_step(code)([[1, 1], [0, 1]]) == want, code


V = next(general_terms(True))


def holds(condition: Condition, i: int, j: int, v: int) -> bool:
    return bool(eval(condition.text, {"i": i, "j": j, "v": v}))
