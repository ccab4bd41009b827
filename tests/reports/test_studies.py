"""The studies from a store: what is joined, what is left out and counted. Every figure against loops:
test_study_figures.py.

The stores hold sessions written as a run writes them, with outputs and marks of the test's own.
Not covered: the scores and draws themselves (tests/tools/test_studies.py), sessions of a real run
(tests/commands/test_study_verb.py).

Internals: sessions are joined without computing a study, and tables are compared as rows.
"""

from __future__ import annotations

import json
import random

import pytest
from peirce import tasks
from peirce.records import (
    InputSet,
    Verdict,
)
from peirce.reports.files import tables
from peirce.reports.papers.gear import study_tables
from peirce.reports.papers.gear.joined_problems import StudySources, join_problems
from peirce.reports.papers.gear.studies import StudySettings
from peirce.tools import draw_contexts, draw_hidden_sets
from study_shelf import SHOWN, Shelf, judged, problem, row_of

TABLE = "def f(x):\n    return {(0,): [0], (1,): [1]}[tuple(x)]"


@pytest.mark.parametrize("name", ["defeasible", "general"])
def test_memorising_hypotheses_are_counted_and_a_study_can_be_without_them(shelf, name):
    hidden = ((2, 2), (3, 3), (4, 4), (5, 5))
    honest = [judged(f"{i}", [*range(5), i], [True, True, i > 1, False]) for i in range(4)]
    table = judged(TABLE, [0, 1, None, None, None, None], [False] * 4)
    shelf.session((problem("p", hidden), [*honest, table]), model="able")
    shelf.session((problem("p", hidden), [table]), model="weak")
    whole, without = (shelf.study(name, without_memorising=left) for left in (False, True))
    assert (whole["memorising"], whole["hypotheses"]) == (2, 6)
    assert (without["memorising"], without["hypotheses"], without["problems"]) == (2, 4, 1)
    said = [study_tables.study_facts(result) for result in (whole, without)]
    assert any("2 hypotheses memorise what they were shown (--without" in line for line in said[0])
    assert any("memorise what they were shown and are left out" in line for line in said[1])
    other = Shelf(shelf.path.with_name("honest.duckdb"))
    other.session((problem("p", hidden), honest), model="able")
    assert other.study(name)["rows"] == without["rows"]
    other.store.close()


def test_unless_asked_five_draws_and_two_hundred_contexts_are_made():
    chosen = StudySettings()
    assert draw_hidden_sets(10, 2, chosen.draws, "").shape == (5, 2)
    assert draw_contexts(40, 2, chosen.contexts, "").shape == (200, 2)


# --- what is joined ------------------------------------------------------------


def test_sessions_are_joined_by_problem_and_shown_pairs_whatever_the_order_of_pairs(shelf):
    hidden = ((2, 2), (3, 3), (4, 4))
    one = judged("a", [0, 1, 2, 9, 9, 9], [True, False, False])
    other = judged("b", [0, 1, 9, 9, 4, 9], [True, None, False])
    shelf.session((problem("p", hidden), [one]), model="x")
    shelf.session((problem("p", hidden[::-1], SHOWN[::-1]), [other]), model="y")
    (both,) = join_problems(
        shelf.store, [r["session"] for r in shelf.store.sessions()], StudySources()
    )
    assert len(both.population) == 2
    by_row = {tuple(marks) for marks in both.population.right.tolist()}
    assert by_row == {(True, False, False), (False, False, True)}


@pytest.mark.parametrize(
    "other",
    [
        {"problem": problem("p", ((2, 2),), ((0, 0),))},
        {"problem": problem("q", ((2, 2),))},
        {"problem": problem("p", ((2, 5),))},
        {"space": InputSet("others", tuple([i + 9] for i in range(6)))},
        {"observations": 2},
        {"data": None},
    ],
)
def test_what_differs_in_shown_hidden_problem_data_or_space_stays_apart(shelf, other):
    one = judged("a", range(6), [True])
    shelf.session((problem("p", ((2, 2),)), [one]))
    apart = other.pop("problem", problem("p", ((2, 2),)))
    shelf.session((apart, [one]), **other)
    result = shelf.study("defeasible")
    assert (result["problems"], result["hypotheses"]) == (2, 2)


def test_neither_the_order_of_sessions_nor_naming_one_twice_changes_a_result(shelf):
    rng = random.Random(4)
    ids = []
    for model in "xyz":
        hypotheses = [
            judged(f"{model}{i}", [rng.randrange(3) for _ in range(6)],
                   [rng.random() < 0.5 for _ in range(6)])
            for i in range(4)
        ]  # fmt: skip
        hidden = tuple((i, i) for i in range(2, 8))
        ids.append(shelf.session((problem("p", hidden), hypotheses), model=model))
    for name in ("defeasible", "general"):
        whole = shelf.study(name, *ids)
        again = shelf.study(name, *ids[::-1], ids[0])
        assert again["rows"] == whole["rows"] and whole["hypotheses"] == 12
        assert shelf.study(name, *ids, seed=1)["rows"] != whole["rows"]


# --- what is left out ------------------------------------------------------------


def test_pairs_that_judge_nothing_are_left_out_and_counted_unless_all_are_asked_for(
    shelf, monkeypatch
):
    monkeypatch.setattr(
        tasks, "judgeable_pairs", lambda p: tuple(o.output != [9] for o in p.hidden)
    )
    shelf.session((problem("p", ((2, 2), (3, 9))), [judged("a", range(6), [True, False])]))
    without = shelf.study("defeasible")
    assert without["hidden_left_out"] == {"not_judgeable": 1, "repeated": 0}
    assert row_of(without, m="all")["pass_rate"]["value"] == 1.0
    assert row_of(without, m=2)["left_out"] == {"too_few_hidden": 1}
    whole = shelf.study("defeasible", all_pairs=True)
    assert whole["hidden_left_out"] == {"not_judgeable": 0, "repeated": 0}
    assert row_of(whole, m="all")["rejected"]["value"] == 1.0


def test_hidden_pairs_that_are_shown_or_stand_twice_do_not_count(shelf):
    hidden = ((2, 2), (0, 0), (2, 2))
    shelf.session((problem("p", hidden), [judged("a", range(6), [False, True, False])]))
    result = shelf.study("defeasible")
    assert result["hidden_left_out"]["repeated"] == 2
    assert row_of(result, m=1)["draws"] == 1


def test_problems_not_done_and_hypotheses_never_compared_are_left_out_and_counted(shelf):
    p = problem("p", ((2, 2),))
    shelf.session((p, [judged("a", range(6), [True])]), status="failed")
    shelf.session((p, [judged("b", range(6), None), judged("c", range(6), [True])]))
    shelf.session(
        (p, [judged("d", range(6), [True], Verdict.INCONSISTENT),
             judged("e", range(6), [False], Verdict.REDUNDANT)])
    )  # fmt: skip
    result = shelf.study("defeasible")
    assert (result["hypotheses"], result["not_judged"]) == (2, 1)
    assert [one["left_out"] for one in result["sessions"]] == [{"failed": 1}, {}, {}]
    assert row_of(result, m=1)["pass_rate"]["value"] == 0.5
    told = " ".join(study_tables.study_facts(result))
    assert "1 hypotheses not judged" in told and "1 problems failed" in told


def test_problems_that_fit_no_cell_are_left_out_and_counted_with_the_reason(shelf):
    one = judged("a", range(6), [True, True])
    shelf.session(
        (problem("none", ((2, 2), (3, 3))), []),
        (problem("nothing hidden", ()), [judged("a", range(6), [])]),
        (problem("two hidden", ((2, 2), (3, 3))), [one]),
    )
    first = shelf.study("defeasible")
    assert row_of(first, m=2)["left_out"] == {"no_consistent": 1, "too_few_hidden": 1}
    assert row_of(first, m=3)["left_out"] == {"no_consistent": 1, "too_few_hidden": 2}
    assert row_of(first, m=3)["problems"] == 0
    assert row_of(first, m=3)["pass_rate"]["value"] is None
    assert row_of(first, m="all")["left_out"] == {"no_consistent": 1, "too_few_hidden": 1}
    assert first["without_consistent"] == 1
    second = shelf.study("general")
    for k in (0, 1, 2, "all"):
        left_out = {"no_consistent": 1, "too_few_hidden": 1, "too_few_hypotheses": 1}
        assert row_of(second, m=2, k=k)["left_out"] == left_out


def test_a_store_without_anything_to_study_gives_tables_without_figures(shelf):
    shelf.session((problem("p", ()), []))
    for name in ("defeasible", "general"):
        result = shelf.study(name)
        assert "–" in tables.as_text(study_tables.short_table(result), 120)
        json.dumps(result, allow_nan=False)


@pytest.mark.parametrize("right", [True, False])
def test_ratios_are_null_and_counted_where_all_pass_or_none(shelf, right):
    some = [judged(c, [i] * (6 - i) + [None] * i, [right]) for i, c in enumerate("abcd")]
    shelf.session((problem("p", ((2, 2),)), some))
    found = row_of(shelf.study("general"), m=1, k=0)
    assert found["ratio"]["value"] == (1.0 if right else None)
    assert found["odds_ratio"]["value"] is None
    assert found["odds_ratio"]["undefined"] == 50
    assert found["problems_none_pass"] == (0 if right else 1)
    assert row_of(shelf.study("general"), m=1, k=1)["passing"] == (4 if right else 0)
    some_pass = [judged(c, [i] * (6 - i) + [None] * i, [i == 3]) for i, c in enumerate("abcd")]
    shelf.session((problem("q", ((2, 2),)), some_pass))
    assert row_of(shelf.study("general"), m=1, k=0)["problems_none_pass"] == (0 if right else 1)
    if right:  # every context has a member that passes
        assert row_of(shelf.study("general"), m=1, k=1)["left_out"] == {"nothing_to_compare": 1}
