"""Programs on grids: what the search computes is what a written answer computes, steps change no
grid that they are given, and rules of each kind of the catalogue are found from three pairs.

Internals: steps of programs are computed by the search and by their written text, and compared.
"""

from __future__ import annotations

import copy
import random

import pytest
from peirce.search.budget import Budget
from peirce.search.grids.catalogue import steps
from peirce.search.grids.engine import Candidate, Problem
from peirce.search.grids.goal import Goal, State
from peirce.search.grids.grammar import (
    FAILURES,
    Grid,
    Program,
    Step,
    apply,
    find_used_helpers,
    generate_source,
    is_grid,
)
from peirce.search.grids.panels.combining import find_combinations
from peirce.search.grids.search import Search

FEW = 20_000


def picture(pick: random.Random, height: int, width: int, colours=(0, 0, 0, 1, 2, 3)) -> Grid:
    return [[pick.choice(colours) for _ in range(width)] for _ in range(height)]


def pictures(seed: int, count: int = 3, size: tuple[int, int] | None = None) -> tuple[Grid, ...]:
    pick = random.Random(seed)
    sizes = [size or (pick.randint(3, 7), pick.randint(3, 7)) for _ in range(count)]
    return tuple(picture(pick, *one) for one in sizes)


def pairs(rule, seed: int = 5, size: tuple[int, int] | None = (5, 5)) -> list[list[Grid]]:
    return [[g, rule(copy.deepcopy(g))] for g in pictures(seed, 3, size)]


GOALS = {
    "one size": lambda g: [[v and 4 for v in row] for row in g],
    "twice": lambda g: [row + row for row in g + g],
    "its square": lambda g: [[0] * len(g[0]) ** 2 for _ in range(len(g) ** 2)],
    "one cell": lambda g: [[4]],
    "three cells": lambda g: [[1, 0, 0]],
    "inner": lambda g: [row[1:-1] for row in g[1:-1]],
    "half": lambda g: [row[: len(row) // 2] for row in g],
    "bordered": lambda g: [[4] * (len(g[0]) + 2), *([4, *row, 4] for row in g), [4] * (len(g[0]) + 2)],
}  # fmt: skip


@pytest.mark.parametrize("name", GOALS)
@pytest.mark.parametrize("size", [None, (4, 4), (6, 3), (1, 3)])
def test_steps_change_no_grid_and_do_what_their_written_program_does(name: str, size) -> None:
    inputs = pictures(3, 3, size)
    kept = copy.deepcopy(inputs)
    try:
        goal = Goal(inputs, tuple(GOALS[name](g) for g in inputs))
    except (IndexError, ValueError):
        return  # such grids have no such part
    seen = 0
    for step in steps(State(inputs, Program()), goal):
        text = generate_source(Program((step,)))
        names: dict = {}
        exec(compile(text, "<test>", "exec"), names)
        made = apply(step, inputs)
        seen += 1
        assert inputs == kept, text
        assert "import" not in text and "while" not in text
        assert all(len(line) <= 100 for line in text.splitlines()), text
        for k, grid in enumerate(inputs):
            try:
                out = names["f"](grid)
            except FAILURES:
                out = None
            assert inputs == kept, text
            if made is not None:
                assert out == made[k], text
            elif len(inputs) == 1:
                assert not is_grid(out), text
    assert seen > 40


def first_answer(shown: list[list[Grid]], expansions: float = FEW) -> str:
    answer = Problem(shown, [], expansions).propose([], frozenset())
    assert answer is not None
    return answer.source


def fell(g: Grid) -> Grid:
    columns = [[v for v in c if v] for c in zip(*g, strict=True)]
    full = [[0] * (len(g) - len(c)) + c for c in columns]
    return [list(row) for row in zip(*full, strict=True)]


FOUND = {
    "turned": (lambda g: [list(r) for r in zip(*g[::-1], strict=True)], (5, 5)),
    "recoloured": (lambda g: [[{1: 7, 2: 8}.get(v, v) for v in row] for row in g], (5, 5)),
    "swapped": (lambda g: [[{1: 2, 2: 1}.get(v, v) for v in row] for row in g], (5, 5)),
    "fallen": (fell, (5, 5)),
    "moved round the edge": (lambda g: g[2:] + g[:2], (5, 5)),
    "kaleidoscope": (lambda g: [r + r[::-1] for r in g + g[::-1]], (3, 4)),
    "magnified": (lambda g: [[v for v in r for _ in "ab"] for r in g for _ in "ab"], None),
    "repeated by itself": (
        lambda g: [[v if big else 0 for big in r for v in s] for r in g for s in g],
        (3, 3),
    ),
    "both halves": (
        lambda g: [[4 if a and b else 0 for a, b in zip(r[:3], r[4:], strict=True)] for r in g],
        (4, 7),
    ),
    "inner": (lambda g: [row[1:-1] for row in g[1:-1]], None),
    "one colour kept, mirrored": (lambda g: [[v if v == 2 else 0 for v in r[::-1]] for r in g], (5, 5)),
    "turned and recoloured": (lambda g: [[v and 5 for v in r[::-1]] for r in g[::-1]], None),
    "over its mirror image": (lambda g: [[a or b for a, b in zip(r, r[::-1], strict=True)] for r in g], (5, 5)),
    "fallen, over its mirror image": (
        lambda g: [[a or b for a, b in zip(r, s[::-1], strict=True)] for r, s in zip(fell(g), g, strict=True)],
        (5, 5),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_a_rule_is_found_from_three_pairs_and_holds_on_others(name: str) -> None:
    rule, size = FOUND[name]
    names: dict = {}
    exec(first_answer(pairs(rule, 5, size)), names)
    for given, out in pairs(rule, 6, size):
        assert names["f"](given) == out


def test_a_grid_of_another_background_is_read_as_a_black_one() -> None:
    def rule(g: Grid) -> Grid:
        return [[7 if v == 7 else 4 for v in row] for row in g[::-1]]

    pick = random.Random(2)
    made = [picture(pick, 5, 6, (7, 7, 7, 7, 1, 2)) for _ in range(6)]
    names: dict = {}
    exec(first_answer([[g, fell_on(g, 7)] for g in made[:3]]), names)
    assert all(names["f"](g) == fell_on(g, 7) for g in made[3:])
    assert rule(made[0]) != made[0]


def fell_on(g: Grid, ground: int) -> Grid:
    swapped = [[0 if v == ground else v for v in row] for row in g]
    return [[v or ground for v in row] for row in fell(swapped)]


def test_one_problem_has_one_answer_order() -> None:
    shown = pairs(FOUND["over its mirror image"][0], 8)
    space = list(pictures(9, 40, (5, 5)))

    def answers() -> list[str]:
        problem, said = Problem(shown, space, FEW), []
        for _ in range(4):
            answer = problem.propose(said, frozenset(said))
            if answer is None:
                break
            said.append(answer.source)
        return said

    assert answers() == answers() != []


def test_every_program_found_gives_the_shown_outputs() -> None:
    shown = pairs(lambda g: [row[::-1] for row in fell(g)], 4)[:1]
    search = Search((shown[0][0],), (shown[0][1],), FEW)
    found = search.run()
    assert len(found) > 20  # one pair leaves many
    assert [p.cost for p in found] == sorted(p.cost for p in found)
    assert all(Candidate(program).is_consistent(shown) for program in found[:200])


def test_a_search_ends_at_its_budget() -> None:
    pick = random.Random(0)
    inputs = tuple(picture(pick, 8, 8) for _ in range(3))
    outputs = tuple(picture(pick, 8, 8) for _ in range(3))
    search = Search(inputs, outputs, 3_000)
    assert search.run() == []
    assert search.budget.left == 0
    assert search.budget.spent < 3_000 + 64 * Budget.CELLS


def test_ways_to_combine_hold_for_all_triples() -> None:
    triples = frozenset({(1, 2, 4), (1, 0, 0), (0, 2, 0), (0, 0, 0)})
    assert next(text for text, _, _ in find_combinations(triples, [4])) == "4 if v and w else 0"
    assert list(find_combinations(frozenset({(1, 1, 2), (1, 1, 3)}), [2, 3])) == []


def test_an_answer_holds_the_helpers_that_it_calls_and_no_others() -> None:
    assert find_used_helpers("places = 3\ng = cut(g, max(map(box, objects(g, True, False))))") == [
        "box", "cut", "objects",
    ]  # fmt: skip


class Eager(Search):
    """The search that enters each state as soon as a step leads to it."""

    def _defer(self, state: State, step: Step) -> None:
        grids = apply(step, state.grids)
        if grids is not None:
            self._enter(State(grids, state.program.then(step)))


@pytest.mark.parametrize("count", [1, 2])
def test_states_that_are_entered_late_lead_to_the_same_programs(count: int) -> None:
    """Internals: the programs of a search that defers nothing are the same, in the same order."""
    shown = pairs(lambda g: [row[::-1] for row in fell(g)], 4)[:count]
    inputs, outputs = tuple(i for i, _ in shown), tuple(o for _, o in shown)
    spent, found = [], []
    for kind in (Search, Eager):
        search = kind(inputs, outputs, FEW)
        found.append((search.run(confident=True), search.run()))
        spent.append(search.budget.spent)
    assert found[0] == found[1]
    assert found[0][1]
    assert spent[0] == spent[1]
