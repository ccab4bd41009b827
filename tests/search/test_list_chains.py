"""Chains of steps: what stands before a last step leads back to the goal, whole bundles of lists are
searched as one list is, branches are found on their own inputs; and what the space says of a rule.

Internals: steps that lead back from a goal are inspected before the search joins them.
"""

from __future__ import annotations

import random

import pytest
from peirce.search.budget import Budget
from peirce.search.lists.backward_search import (
    find_last_steps,
    merge_fixed_elements,
    search_backward,
    undo_last_step,
)
from peirce.search.lists.bank import create_bank
from peirce.search.lists.codegen import generate_source
from peirce.search.lists.conditionals import Bundle
from peirce.search.lists.elements import Elements
from peirce.search.lists.engine import Problem, surcharge
from peirce.search.lists.grammar import X, operation_node

INPUTS = (
    (3, 8, 1, 9, 4), (2, 2, 7), (6, 5, 11, 0, 3, 8), (10, 4), (1, 9, 9, 2, 6), (7, 3, 8, 12), (5,), (4, 6, 1, 1, 0, 9, 13),
)  # fmt: skip


def function(program):
    names: dict = {}
    exec(compile(generate_source(program), "<test>", "exec"), names)
    return names["f"]


def lists(seed: int) -> tuple[tuple[int, ...], ...]:
    pick = random.Random(seed)
    return tuple(tuple(pick.randrange(20) for _ in range(pick.randint(1, 7))) for _ in range(5))


RULES = {
    "reversed": lambda x: x[::-1],
    "twice": lambda x: x * 2,
    "its mirror": lambda x: x + x[::-1],
    "a fixed front": lambda x: [7, *x],
    "a fixed element inside": lambda x: [*x[:1], 5, *x[1:]],
    "its sum behind": lambda x: [*x, sum(x)],
    "its length in front": lambda x: [len(x), *x],
    "each and its double": lambda x: [n for v in x for n in (v, 2 * v)],
    "a multiple and more": lambda x: [3 * v + 4 for v in x],
    "its places added": lambda x: [v + i for i, v in enumerate(x)],
    "a separator": lambda x: [n for v in x for n in (v, 9)],
    "running sums": lambda x: [sum(x[: i + 1]) for i in range(len(x))],
    "its halves exchanged": lambda x: x[len(x) // 2 :] + x[: len(x) // 2],
}


@pytest.mark.parametrize("name", RULES)
def test_what_stood_before_the_last_step_leads_back_to_the_goal(name: str) -> None:
    led = 0
    for seed in range(4):
        inputs = lists(seed)
        goal = tuple(tuple(RULES[name](list(x))) for x in inputs)
        for before, back, _ in undo_last_step(goal):
            made = function(back(X))
            assert [made(list(b)) for b in before] == [list(o) for o in goal], generate_source(
                back(X)
            )
            led += before == inputs
    assert led >= 4


def test_two_last_steps_are_undone() -> None:
    goal = tuple((7, *(v + 2 for v in sorted(x))) for x in INPUTS)
    bank, budget = create_bank(INPUTS, goal), Budget(50_000)
    steps = bank.expand(budget)
    next(steps)
    found = list(search_backward(bank, goal, budget, twice=True))
    assert found
    for program in found:
        made = function(program)
        assert [made(list(x)) for x in INPUTS] == [list(o) for o in goal]


def test_last_steps_and_fixed_elements_put_in_order_are_right() -> None:
    goal = tuple(tuple(sorted([*x, 5, 17])) for x in INPUTS)
    bank = create_bank(INPUTS, goal)
    assert [function(p)([9, 2]) for p in merge_fixed_elements(bank, goal)] == [[2, 5, 9, 17]]
    goal = tuple(tuple(reversed([v for v in x if x.count(v) == 1])) for x in INPUTS)
    bank, budget = create_bank(INPUTS, goal), Budget(50_000)
    for _ in range(3):
        next(bank.expand(budget))
    found = list(find_last_steps(bank, goal, budget))
    assert found
    for program in found:
        assert [function(program)(list(x)) for x in INPUTS] == [list(o) for o in goal]


def test_lists_in_a_bundle_are_searched_as_one_is() -> None:
    bases = [
        (tuple(tuple(sorted(x)) for x in INPUTS), operation_node("sort", X)),
        (tuple(tuple(x[::-1]) for x in INPUTS), operation_node("reverse", X)),
        (tuple(tuple(x[1:]) for x in INPUTS), operation_node("tail", X)),
    ]
    goals = [
        tuple(tuple(v for v in sorted(x) if v > 3) for x in INPUTS),
        tuple(tuple(v + 7 for v in x[::-1]) for x in INPUTS),
        tuple(tuple(0 if v > 6 else v for v in x[1:]) for x in INPUTS),
    ]
    for goal in goals:
        found = list(Bundle(bases, INPUTS, Budget(1e6)).solve_lists(goal))
        assert found
        for program in found:
            made = function(program)
            assert [made(list(x)) for x in INPUTS] == [list(o) for o in goal], generate_source(
                program
            )
    some = tuple(x for x in INPUTS if len(x) > 1)
    bases = [(tuple(x[1:] for x in some), operation_node("tail", X))]
    counts = tuple(sum(v > 3 for v in x[1:]) for x in some)
    found = list(Bundle(bases, some, Budget(1e6)).solve_integers(counts))
    assert found
    assert all([function(p)(list(x)) for x in some] == [[c] for c in counts] for p in found)


def test_elements_of_some_inputs_alone_are_those_made_for_them() -> None:
    whole = Elements(X, INPUTS, INPUTS, Budget(1e6))
    whole.build_masks()
    picked = [1, 4, 6]
    part = whole.restrict(picked)
    made = Elements(X, tuple(INPUTS[k] for k in picked), INPUTS, Budget(1e6))
    assert part.flat.tolist() == made.flat.tolist()
    assert part.starts.tolist() == made.starts.tolist()
    assert part.build_masks().rows.shape[1] == part.size


CHAINS = {
    "sorted by a distance, then more": lambda x: [v + 7 for v in sorted(x, key=lambda v: abs(v - 6))],
    "places, turned": lambda x: [i for i, v in enumerate(x) if v > 3][::-1],
    "distances from the least, added up": lambda x: [sum(v - min(x) for v in x)] if x else [],
    "an element put in, then a filter": lambda x: [v for i, v in enumerate([*x[:1], 4, *x[1:]]) if v > i],
    "a branch of two steps": lambda x: sorted(x)[1:] if len(x) % 2 else [v + 2 for v in x],
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_of_this_kind_is_among_the_candidates(name: str) -> None:
    shown = [[list(x), CHAINS[name](list(x))] for x in INPUTS]
    other = [[list(x), CHAINS[name](list(x))] for x in ([4, 9, 2, 6], [1, 12, 3], [8, 5, 5, 2, 10])]
    ranked = Problem(shown, [], 150_000).rank_candidates(confident=False)
    assert any(c.is_consistent(other) for c in ranked[:5])


def test_one_pair_alone_is_answered_by_what_it_shows_only_where_nothing_else_is() -> None:
    fixed = [81, 99, 41, 23, 22, 75, 68, 30, 24, 69]
    answer = Problem([[[5, 5, 43], fixed]], [], 20_000).propose([], frozenset())
    assert answer is not None
    assert f"return {fixed}" in answer.source
    plain = Problem([[[5, 5, 43], [5, 43]]], [], 20_000).propose([], frozenset())
    assert plain is not None
    assert "return [5, 43]" not in plain.source


def test_undefined_and_exploding_rules_are_dearer_and_surprising_tests_cheaper() -> None:
    space = [[k, k + 1] for k in range(20)]
    shown = [[0, 1], [7, 2], [5, 5], [7, 9]]
    assert surcharge(lambda x: x, None, shown, space) == 0
    assert surcharge(lambda x: x[5], None, shown, space) == 5
    assert surcharge(lambda x: x * 200, None, shown, space) == 5
    held = surcharge(lambda x: x, lambda x: 7 in x, shown, space)
    usual = surcharge(lambda x: x, lambda x: x[0] % 2 == 0, shown, space)
    assert held < usual <= 0
