"""Branches that remember a single case, and answers that do not depend on what was asked before.

Internals: engines of three families are asked in one process, in an order that a pool would not
keep.
"""

from __future__ import annotations

import pytest
from peirce.search.acre import engine as acre
from peirce.search.engines import SearchService
from peirce.search.grids import engine as grids
from peirce.search.lists import engine as lists
from peirce.search.memorisation import memorises_case
from peirce.tasks import load_problems
from peirce.tests.counts import drawn

INPUTS = [[3, 1], [5, 2, 8], [7], []]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    return [9 if v == 8 else v for v in x]", True),
        ("def f(x):\n    return [9 if v > 2 else v for v in x]", False),
        ("def f(x):\n    if len(x) == 3:\n        return [1]\n    return x", True),
        ("def f(x):\n    if len(x) > 1:\n        return [1]\n    return x", False),
        ("def f(x):\n    return [x[0]] if x else []", False),  # a guard
        ("def f(x):\n    return [0] if len(x) > 9 else x", False),  # no case reaches it
        ("def f(x):\n    def g(v):\n        return 9 if v == 8 else v\n    return list(map(g, x))",
         False),  # a helper's own lines
        ("def f(x):\n    return [v for v in x if v == 8]", False),  # a filter has no branch
    ],
)  # fmt: skip
def test_a_branch_for_a_single_case_is_a_patch(text, expected):
    assert memorises_case(text, INPUTS) is expected


def test_of_a_single_pair_nothing_is_a_patch():
    assert not memorises_case("def f(x):\n    return [9 if v == 8 else v for v in x]", [[8]])


@pytest.mark.parametrize("task", ["list_functions", "mini_arc", "acre"])
def test_the_first_answer_is_the_same_after_others_were_asked(task):
    differing, answered = [], 0
    for problem, space in load_problems(task, problems=8, seed=4, observations="3"):
        shown = [[o.input, o.output] for o in problem.shown]

        def ask(engine, earlier=(), shown=shown, space=space):
            return engine.propose(
                {"shown": shown, "space": space.digest, "inputs": list(space.inputs),
                 "earlier": list(earlier), "skip": [], "expansions": drawn(6_000, soak=20_000)}
            )  # fmt: skip

        engine = SearchService()
        first = ask(engine)
        if "source" not in first:
            continue
        answered += 1
        following = ask(engine, [first["source"]])
        fresh = SearchService()
        if (
            ask(engine) != first
            or ask(fresh, [first["source"]]) != following
            or ask(fresh) != first
        ):
            differing.append(problem.id)
    assert answered > 3 and differing == []


def test_following_answers_hold_no_patch():
    seen = 0
    for task, engine in (("list_functions", lists), ("mini_arc", grids)):
        for problem, space in load_problems(task, problems=5, seed=32, observations="3"):
            shown = [[o.input, o.output] for o in problem.shown]
            asked = engine.Problem(
                shown, engine.prepare_space(list(space.inputs)), drawn(6_000, soak=20_000)
            )
            said: list[str] = []
            for _ in range(5):
                answer = asked.propose(said, frozenset(said))
                if answer is None:
                    break
                if said:
                    seen += 1
                    inputs = [given for given, _ in shown]
                    assert not memorises_case(answer.source, inputs), answer.source
                said.append(answer.source)
    assert seen > 12


def test_many_pairs_take_no_table_of_all_their_sets():
    shown = [[[k, k % 7, 3], [k % 5, (k * k) % 11]] for k in range(26)]
    # 2**26 sets would take minutes and gigabytes: that this ends is the test.
    assert lists.Problem(shown, [], 3_000).propose([], frozenset()) is None


def test_longer_lists_get_fewer_expansions():
    short = lists.Problem([[[1, 2, 3], [3, 2, 1]]] * 4, [], 20_000)
    long = lists.Problem([[list(range(200)), list(range(200))]] * 8, [], 20_000)
    assert short.search.budget.limit == 20_000 and long.search.budget.limit == 6_000
    assert len(short.searched) == 4 and len(long.searched) == 2  # with 800 elements


def test_integers_too_large_for_ranges_are_not_tried_on_the_space():
    shown = [[[3, 1, 2], [0, 1, 2]], [[2, 5], [0, 1]], [[4], [0, 1, 2, 3]]]
    asked = lists.Problem(shown, [[10**9, 2], [7, 1]] * 50, 5_000)
    assert asked.propose([], frozenset()) is not None
    assert all(max(given) <= 10_000 for given in asked.some) and asked.some


def test_a_word_that_holds_another_gives_no_wrong_rule():
    shown = [
        [["redder metal cube"], "off"], [["red metal cube"], "on"],
        [["redder metal cube", "blue metal cone"], "off"], [["red rubber cone"], "on"],
    ]  # fmt: skip
    assert acre.supports(shown)
    answer = acre.Problem(shown, acre.prepare_space([s for s, _ in shown]), 5_000).propose(
        [], frozenset()
    )
    if answer is not None:
        names: dict = {}
        exec(answer.source, names)
        assert [names["f"](scene) for scene, _ in shown] == [light for _, light in shown]
    assert not acre.supports([[['re"d metal cube'], "on"]])
