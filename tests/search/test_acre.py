"""The embedded search on scenes (ACRE): what the first answer says of blickets, that following ones
are consistent, novel and small, that every rule of the grammar is written as Python that predicts
what the search counted on, purity of the answers, and a whole session.

Internals: each rule of the grammar is written out and compared with what the search counted on.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import peirce
import pytest
from peirce.search.acre.engine import describe_rule, generate_source, supports
from peirce.search.acre.grammar import Kind, Rule, Table, list_attribute_literals, list_literals
from peirce.search.acre.search import (
    MAX_EXTRA_COST,
    MAX_NEW_SHARE,
    MIN_NEW_SHARE,
    EarlierPredictions,
    Evidence,
    Scenes,
    Search,
)
from peirce.search.engines import SearchService
from peirce.tasks import judgeable_pairs, load_task

TASK = load_task("acre")
S = TASK.space(TASK.generate(1, 0)[0], 0)
ENTITIES = tuple(scene[0] for scene in S.inputs if len(scene) == 1)  # each alone, in order
SCENES = Scenes([list(scene) for scene in S.inputs])
BUDGET = 20_000
Pairs = list[list[Any]]


def compiled(text: str) -> Callable[[list[str]], str]:
    names: dict[str, Callable[[list[str]], str]] = {}
    exec(compile(text, "<test>", "exec"), {"__builtins__": USED}, names)
    return names["f"]


USED = {"any": any, "all": all, "sum": sum, "len": len}  # of the builtins, what rules use


def asked(shown: Pairs, earlier: list[str], skip: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "shown": shown,
        "space": S.digest,
        "inputs": S.inputs,
        "earlier": earlier,
        "skip": list(skip),
        "expansions": BUDGET,
    }


def answers(shown: Pairs, engine: Any = None) -> list[str]:
    """The engine's answers one after the other, as the protocol would take them."""
    engine, texts = engine or SearchService(), []
    while "source" in (found := engine.propose(asked(shown, texts))):
        texts.append(found["source"])
    return texts


def problems(count: int, n: int | None, seed: int = 51) -> Iterator[tuple[Pairs, Pairs]]:
    made = TASK.generate(count, seed)
    for problem in TASK.observe(made, str(n), 0) if n else made:
        judged = [
            pair for pair, can in zip(problem.hidden, judgeable_pairs(problem), strict=True) if can
        ]
        yield [[p.input, p.output] for p in problem.shown], [[p.input, p.output] for p in judged]


# --- the first answer ------------------------------------------------------------------


def test_with_all_scenes_shown_the_first_answer_is_right_on_the_rest() -> None:
    for shown, hidden in problems(60, None):
        first = compiled(SearchService().propose(asked(shown, []))["source"])
        assert all(first(scene) == light for scene, light in hidden)


def test_with_four_scenes_shown_the_first_answer_is_right_more_often_than_plain_blickets() -> None:
    first, plain = 0, 0
    for shown, hidden in problems(120, 4):
        function = compiled(SearchService().propose(asked(shown, []))["source"])
        first += all(function(scene) == light for scene, light in hidden)
        evidence = Evidence([s for s, _ in shown], [light == "on" for _, light in shown])
        few = set(evidence.few)
        plain += all(("on" if few & set(scene) else "off") == light for scene, light in hidden)
    assert first > plain and first > 0.35 * 120


def test_evidence_tells_duds_from_what_may_be_blickets() -> None:
    found = Evidence(
        [["a"], ["b", "c"], ["b", "d"], ["a", "b"], ["e", "f", "c"]],
        [True, False, True, True, True],
    )
    assert found.duds == ("b", "c")
    assert found.many == ("a", "d", "e", "f") and found.few == ("a", "d", "e")
    assert not Evidence([["a"], ["a"]], [True, False]).explained


@pytest.mark.parametrize(
    ("shown", "on"),
    [
        ([["red metal cube"], ["red metal cube", "blue rubber cube"]], [True, False]),
        ([["red metal cube"] * k for k in range(5)], [False, True, False, True, False]),
        ([[], ["red metal cube"]], [True, False]),
        ([["red metal cube", "red rubber cube"], ["red metal cube"]], [True, True]),
        ([["red metal cube"]], [False]),
    ],
)
def test_scenes_that_no_blicket_explains_get_a_consistent_rule(shown: Any, on: list[bool]) -> None:
    pairs = [[scene, "on" if lit else "off"] for scene, lit in zip(shown, on, strict=True)]
    texts = answers(pairs)
    assert texts
    for text in texts:
        assert all(compiled(text)(scene) == light for scene, light in pairs), text


# --- following answers -----------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 4, None])
def test_following_answers_are_consistent_and_novel_by_the_rule(n: int | None) -> None:
    counts = []
    for shown, _ in problems(4, n):
        texts = answers(shown)
        counts.append(len(texts))
        rules = [compiled(text) for text in texts]
        rows = np.array([[rule(scene) == "on" for scene in S.inputs] for rule in rules])
        for k, text in enumerate(texts):
            assert all(rules[k](scene) == light for scene, light in shown)
            covered = (rows[:k] == rows[k]).any(axis=0).mean() if k else 0.0
            assert covered < 0.8, text
    assert min(counts) >= 2 and max(counts) <= 5 and sum(counts) / len(counts) > 3


def test_the_next_rule_is_hardly_dearer_than_the_smallest_that_is_new_enough() -> None:
    shown, _ = next(problems(1, 4))
    scenes, on = [s for s, _ in shown], [light == "on" for _, light in shown]
    search = Search(scenes, on, SCENES, [])
    held = np.zeros(len(S.inputs), bool)
    found = search.choose(EarlierPredictions(SCENES, [held]), set(), BUDGET)
    assert found is not None and SCENES.table.predict(found).mean() > 0.2
    table = Table(scenes)
    for one in search.literals:
        for rule in [Rule(one), *(Rule(one, "and", two) for two in search.literals)]:
            if rule.cost < found.cost - MAX_EXTRA_COST and table.predict(rule).tolist() == on:
                assert SCENES.table.predict(rule).mean() <= 0.2, rule


def test_of_what_is_new_enough_the_farthest_that_leaves_room_comes_next() -> None:
    """Against every rule of one and two literals, worth computed from their masks alone."""
    shown, _ = next(problems(1, 3))
    scenes, on = [s for s, _ in shown], [light == "on" for _, light in shown]
    search, table = Search(scenes, on, SCENES, []), Table(scenes)
    first = SCENES.table.predict(Rule(search.literals[0]))
    found = search.choose(EarlierPredictions(SCENES, [first]), set(), BUDGET)
    assert found is not None

    def worth(rule: Rule) -> float:
        differs = float((SCENES.table.predict(rule) != first).mean())
        return 2 * differs / (1 + differs) - 2 * max(0.0, differs - MAX_NEW_SHARE)

    joined = [Rule(one, join, two) for one, two in combinations(search.literals, 2) for join in ("and", "or")]  # fmt: skip
    agree = [r for r in (*map(Rule, search.literals), *joined) if table.predict(r).tolist() == on]
    fresh = [r for r in agree if (SCENES.table.predict(r) != first).mean() > MIN_NEW_SHARE]
    least = min(r.cost for r in fresh)
    assert found.cost <= least + MAX_EXTRA_COST
    within = [r for r in fresh if r.cost <= least + MAX_EXTRA_COST]
    assert worth(found) >= max(map(worth, within)) - 1e-9


def test_every_consistent_rule_of_two_literals_is_reached_once() -> None:
    shown = [["red metal cube"], ["blue rubber sphere", "red metal cube"]]
    small = Scenes([list(scene) for scene in S.inputs[:49:4]])
    search = Search(shown, [True, False], small, [])
    reached = [
        (form, tuple(row))
        for cost in range(2, 2 * int(search.costs.max()) + 2)
        for form, rows, _ in search._agreeing(cost)
        for row in rows.tolist()
        if len(form) < 2
    ]
    assert len(reached) == len(set(reached))
    m = len(search.literals)
    expected = {((), (i,)) for i in range(m) if search.seen[i] == 1}
    for i in range(m):
        for j in range(i + 1, m):
            expected |= {(("or",), (i, j))} if search.seen[i] | search.seen[j] == 1 else set()
            expected |= {(("and",), (i, j))} if search.seen[i] & search.seen[j] == 1 else set()
    assert {(form, tuple(sorted(row))) for form, row in reached} == expected


def test_what_the_tool_refused_is_not_proposed_again() -> None:
    shown, _ = next(problems(1, 4))
    engine = SearchService()
    first = engine.propose(asked(shown, []))["source"]
    second = engine.propose(asked(shown, [], (first,)))["source"]
    third = engine.propose(asked(shown, [], (first, second)))["source"]
    assert len({first, second, third}) == 3


def test_answers_of_others_are_never_run_and_cover_nothing(tmp_path: Path) -> None:
    shown, _ = next(problems(1, 4))
    trap = tmp_path / "trap"
    foreign = f"def f(x):\n    open({str(trap)!r}, 'w')\n    return 'on'\n"
    first = SearchService().propose(asked(shown, []))["source"]
    assert SearchService().propose(asked(shown, [foreign]))["source"] == first
    assert not trap.exists()


def test_an_answer_depends_on_the_view_alone_and_not_on_what_was_asked_before() -> None:
    for shown, _ in problems(4, 4):
        engine = SearchService()
        texts = answers(shown, engine)
        for k in range(len(texts)):
            fresh = SearchService().propose(asked(shown, texts[:k]))
            assert fresh["source"] == texts[k]
            assert engine.propose(asked(shown, texts[:k])) == fresh


# --- how rules are written -----------------------------------------------------------------


def some_rules(count: int) -> list[Rule]:
    rng = random.Random(7)
    sets = [
        Kind(entities=ENTITIES[:3]),
        Kind(entities=ENTITIES[5:7]),
        Kind(entities=ENTITIES[:2], others=True),
        Kind(entities=ENTITIES[8:9], others=True),
        Kind(entities=ENTITIES[:3], others=True),
    ]
    every = list_literals([list(ENTITIES[:3])], sets) + list_attribute_literals(ENTITIES)
    rules = [Rule(one) for one in every]
    for _ in range(count):
        a, b, c = (rng.choice(every) for _ in range(3))
        joins = [rng.choice(("and", "or")) for _ in range(2)]
        rules += [Rule(a, joins[0], b), Rule(a, joins[0], b, joins[1], c)]
    return rules


def test_a_rule_as_python_predicts_what_the_search_counted_on() -> None:
    scenes = [list(scene) for scene in S.inputs[::90]] + [[ENTITIES[0]] * 2]
    table = Table(scenes)
    for rule in some_rules(300):
        function = compiled(generate_source(rule))
        assert [function(scene) == "on" for scene in scenes] == table.predict(rule).tolist(), rule


def test_a_rule_keeps_the_answer_contract_and_has_a_sentence() -> None:
    for rule in some_rules(300):
        text = generate_source(rule)
        tree = ast.parse(text)
        assert len(tree.body) == 1 and isinstance(tree.body[0], ast.FunctionDef)
        assert all(len(line) < 80 for line in text.splitlines()), text
        said = describe_rule(rule)
        assert said.startswith("A scene is on iff ") and said.endswith(".") and "  " not in said


def test_different_rules_that_are_written_alike_predict_alike() -> None:
    by_text: dict[str, Rule] = {}
    for rule in some_rules(300):
        other = by_text.setdefault(generate_source(rule), rule)
        assert (SCENES.table.predict(rule) == SCENES.table.predict(other)).all()


# --- dispatch, and a whole session -----------------------------------------------------------


def test_each_kind_of_input_meets_its_engine() -> None:
    assert supports([[["red metal cube"], "on"], [[], "off"]])
    assert not supports([]) and not supports([[["red"], "on"]]) and not supports([[[1], [1]]])
    assert not supports([[["red metal cube"], "undetermined"]])
    engine = SearchService()
    numbers = asked([[[1, 2], [2, 1]], [[5, 7, 1], [1, 7, 5]]], [])
    assert "x[::-1]" in engine.propose({**numbers, "inputs": [[1], [2, 3]], "space": "n"})["source"]
    assert "return" in engine.propose(asked([[["red metal cube"], "on"]], []))["source"]
    assert "[::-1]" in engine.propose(asked([["ab", "ba"]], []))["source"]


def test_a_whole_session_accepts_every_answer(tmp_path: Path) -> None:
    session = peirce.run("acre", problems=3, observations=4, store=str(tmp_path / "s.duckdb"))
    assert session.status == "done"
    assert set(session.verdicts) == {"accepted", *session.verdicts}
    assert sum(session.verdicts.values()) == session.verdicts["accepted"] >= 6
