"""What the page is given, key by key against the store and against what `peirce eval` says.

Internals: the contents of a page are compared key by key, and the page itself is HTML.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from itertools import combinations

import peirce
import pytest
from page_sessions import judged, small_problem, steps, write
from peirce.records import CallKey, Outcome, Usage, Verdict
from peirce.reports import bootstrap
from peirce.reports.page import Contents
from peirce.reports.page.contents import MAX_COMPARED
from peirce.reports.page.findings import CheckedFindings
from peirce.reports.page.problem import MAX_TEXT_CHARS, KnownValues
from peirce.store import Store

A, R, I, M = Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED  # noqa: E741


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two sessions that share two of three problems, by hand: the second solves what the first does not."""
    path = tmp_path_factory.mktemp("contents") / "s.duckdb"
    one, two, three = map(small_problem, ("one", "two", "three"))

    def good(problem, *codes):
        return ("a", judged(problem, f"good {codes}", "told", codes=codes or (1, 2, 3, 4, 5, 6)))

    def bad(problem):
        return ("b", judged(problem, "bad", verdict=I))

    first = write(path, [(one, steps(one, good(one), good(one, 1, 2, 3, 9, 9, 9))), (two, steps(two, bad(two), ("c", judged(two, "", verdict=M, reason="no_code"))))],
                  calls=[("one", "step/1/propose/0/tool/0", {"x": 1}, {"y": 2})])  # fmt: skip
    second = write(path, [(two, steps(two, good(two))), (one, steps(one, bad(one))), (three, ())],
                   ends={"three": ("failed", "it broke")})  # fmt: skip
    return path, first, second


@pytest.fixture(scope="module")
def told(store):
    path, *sessions = store
    with Store.open(path, write=False) as opened:
        received = []
        overview = Contents(opened, sessions).build_overview(
            receive=lambda *details: received.append(details)
        )
        return overview, received


def test_a_session_says_what_was_run_and_how_it_ended(store, told):
    _path, first, second = store
    one, other = told[0]["sessions"]
    assert (one["session"], other["session"]) == (first, second)
    assert (one["status"], one["task"], one["family"], one["method"], one["model"]) == (
        "done", "list_functions", "programs", "abduce", "made up",
    )  # fmt: skip
    assert one["ends"] == {"three_bad": 2} and one["failed"] == {} and one["open"] == 0
    assert other["ends"] == {"three_bad": 2} and other["failed"] == {"three": "it broke"}
    assert one["malformed"] == {"no_code": 1}
    assert ("seed", "0") in [tuple(pair) for pair in one["settings"]]
    assert sum(row["calls"] for row in one["cost"]) == 1
    assert [row["cached_share"] for row in one["cost"]] == [None]


def test_what_was_spent_and_gained_is_that_of_compare(store, told):
    path, *sessions = store
    compared = peirce.compare(*sessions, store=path).sessions
    for one, expected in zip(told[0]["sessions"], compared, strict=True):
        assert one["effort"]["answers"] == expected.gain["answers"]
        assert one["effort"]["results"] == []  # no model was called
        assert one["effort"]["notes"] == []
    assert [row["accepted"]["mean"] for row in told[0]["sessions"][0]["effort"]["answers"]] == [
        0.5,
        0.5,
    ]


def test_results_have_their_costs_by_role_and_judges_are_described(tmp_path):
    problem = small_problem("one")
    made = judged(problem, "good", "told", codes=(1, 2, 3, 4, 5, 6))
    figures = {"questions": 10, "second": 4, "overruled": 1, "calibration": None}
    (step,) = steps(problem, ("a", made))
    path = tmp_path / "s.duckdb"
    session = write(path, [(problem, [replace(step, fields={"judging": figures})])],
                    spending={"price_in": 1.0, "price_out": 2.0})  # fmt: skip

    async def call(name: str, used: Usage) -> None:
        key = CallKey(session, "one", name)

        async def make() -> Outcome:
            return Outcome({}, usage=used, seconds=2.0)

        await opened.journal(session).record_once(key, "model", {}, make)

    with Store.open(path, write=True) as opened:
        asyncio.run(call("step/1/propose/0", Usage(100, 50, 40)))
        asyncio.run(call("text/a/judge2/b/0", Usage(60, 1)))
        (one,) = Contents(opened, [session]).build_overview()["sessions"]
    assert [(row["result"], row["number"], row["calls"], row["tokens"]) for row in one["effort"]["results"]] == [
        ("accepted hypothesis", 1, 2, 211), ("unit of gamma", 1, 2, 211), ("solved problem", 1, 2, 211),
        ("accepted hypothesis, second judge alone", 1, 1, 61), ("accepted hypothesis, proposer alone", 1, 1, 150),
    ]  # fmt: skip
    assert one["effort"]["results"][0]["cost_usd"] == pytest.approx(262e-6)
    assert one["effort"]["notes"][0].startswith("the second judge answered 4 of 10 questions")
    assert one["effort"]["notes"][1:] == ["25% of 160 input tokens were cached"]


def test_metrics_are_those_of_eval(store, told):
    path, *sessions = store
    scored = peirce.evaluate(*sessions, store=path, by_problem=True)["sessions"]
    for one, expected in zip(told[0]["sessions"], scored, strict=True):
        names = [metric["name"] for metric in one["metrics"]]
        for metric in one["metrics"]:
            value = expected["metrics"][metric["name"]]
            for key in ("mean", "low", "high", "n"):
                assert metric[key] == pytest.approx(value[key], abs=1e-6)
        values = {row["problem"]: row for row in expected["by_problem"]}
        for problem in one["problems"]:
            for name, value in zip(names, problem["values"], strict=True):
                assert value == pytest.approx(values.get(problem["id"], {}).get(name), abs=1e-6)


def test_a_problem_of_the_list_says_how_it_ended_and_counts_verdicts(told):
    rows = told[0]["sessions"][0]["problems"]
    assert [(row["id"], row["status"], row["cause"], row["steps"], row["verdicts"]) for row in rows] == [
        ("one", "done", "three_bad", 2, [2, 0, 0, 0]), ("two", "done", "three_bad", 2, [0, 0, 1, 1]),
    ]  # fmt: skip


def test_differences_are_the_second_less_the_first_over_shared_problems(told):
    (pair,) = told[0]["differences"]
    one, other = told[0]["sessions"]
    assert (pair["first"], pair["second"], pair["problems"]) == (
        one["session"],
        other["session"],
        2,
    )
    found = {metric["name"]: metric for metric in pair["metrics"]}
    # consistency: problem one 1 and 0, problem two 0 and 1.
    assert found["consistency"]["mean"] == 0 and found["consistency"]["n"] == 2
    expected = bootstrap([-1.0, 1.0])
    assert found["consistency"]["low"] == pytest.approx(expected["low"], abs=1e-6)
    # hypotheses: 2 and 1 of one; 1 or 2 and 1 of two, by what counts as one.
    at = [metric["name"] for metric in one["metrics"]].index("hypotheses")
    values = {row["id"]: row["values"][at] for row in one["problems"]}
    after = {row["id"]: row["values"][at] for row in other["problems"]}
    apart = [after[name] - values[name] for name in values]
    assert found["hypotheses"]["mean"] == pytest.approx(sum(apart) / 2)


def test_what_was_named_twice_stands_once_and_few_are_compared(store):
    path, first, _second = store
    with Store.open(path, write=False) as opened:
        assert [
            one["session"] for one in Contents(opened, [first, first]).build_overview()["sessions"]
        ] == [first]
        assert Contents(opened, [first]).build_overview()["differences"] == []
    assert MAX_COMPARED == 6


def test_sessions_of_two_tasks_are_not_compared_though_their_problems_have_the_same_ids(tmp_path):
    """Ids are numbers in the published files: problem 0 of ACRE is not problem 0 of list functions."""
    problem, path = small_problem("0"), tmp_path / "s.duckdb"
    one, other, again = (
        write(path, [(problem, [])], settings={"task": task})
        for task in ("list_functions", "acre", "list_functions")
    )
    with Store.open(path, write=False) as opened:
        found = Contents(opened, [one, other, again]).build_overview()["differences"]
    assert [(pair["first"], pair["second"]) for pair in found] == [(one, again)]


def test_the_first_sessions_of_each_task_are_compared_wherever_they_stand(tmp_path):
    problem, path = small_problem("0"), tmp_path / "s.duckdb"
    others = [
        write(path, [(problem, [])], settings={"task": f"other{n}"}) for n in range(MAX_COMPARED)
    ]
    last = [write(path, [(problem, [])]) for _ in range(MAX_COMPARED + 1)]
    with Store.open(path, write=False) as opened:
        found = Contents(opened, [*others, *last]).build_overview()["differences"]
    pairs = [(pair["first"], pair["second"]) for pair in found]
    assert pairs == list(combinations(last[:MAX_COMPARED], 2))


def test_findings_are_ranked_from_the_store_and_count_what_supports_them(told):
    one, other = told[0]["sessions"]
    assert [found["problem"] for found in one["findings"]] == ["one", "two"]
    ranked = one["findings"][0]["hypotheses"]
    assert [(each["number"], each["text"]) for each in ranked] == [
        (1, "good ()"),
        (2, "good (1, 2, 3, 9, 9, 9)"),
    ]
    assert ranked[0]["shown"] == {"right": 2, "wrong": 0, "of": 2}
    assert ranked[0]["held_out"] == {"right": 0, "wrong": 2, "of": 2}
    assert one["findings"][0]["disagreement"] == {"input": [3], "outputs": [{}, {}]}
    assert [(found["count"], found["hypotheses"]) for found in other["findings"]][2] == (0, [])


def test_values_that_an_oracle_found_stand_in_the_disagreement_and_among_the_inputs(tmp_path):
    problem = small_problem("one")
    values = ["four", "nine"]
    codes = list(KnownValues.from_values(values).by_code)
    good = [
        ("a", judged(problem, f"good({n})", codes=(1, 2, 3, code, 5, 6)))
        for n, code in enumerate(codes)
    ]
    path = tmp_path / "s.duckdb"
    session = write(path, [(problem, steps(problem, *good))])
    checked = {session: {"one": CheckedFindings(values=values)}}
    with Store.open(path, write=False) as opened:
        contents = Contents(opened, [session], checked=checked)
        (found,) = contents.build_overview()["sessions"][0]["findings"]
        whole = contents.build_problem(session, "one")
    assert found["disagreement"]["outputs"] == [{"value": "four"}, {"value": "nine"}]
    (parted,) = whole["parting"]["inputs"]
    assert [(one["hypotheses"], one["value"]) for one in parted["groups"]] == [
        ([1], "four"),
        ([2], "nine"),
    ]


def test_problems_are_whole_and_the_same_one_by_one(store, told):
    path, first, second = store
    overview, problems = told
    assert [(session, name) for session, name, _ in problems] == [
        (one["session"], row["id"]) for one in overview["sessions"] for row in one["problems"]
    ]
    with Store.open(path, write=False) as opened:
        contents = Contents(opened, [first, second])
        for session, name, whole in problems:
            assert contents.build_problem(session, name) == whole


def test_an_opened_problem_is_that_of_the_store(told):
    whole = told[1][0][2]
    problem = small_problem("one")
    assert whole["problem"]["shown"] == [[pair.input, pair.output] for pair in problem.shown]
    assert whole["problem"]["hidden"] == [[pair.input, pair.output] for pair in problem.hidden]
    assert (whole["problem"]["space"], whole["problem"]["cause"]) == (6, "three_bad")
    first, _second = whole["hypotheses"]
    assert (first["number"], first["step"], first["answer"], first["verdict"]) == (
        1,
        1,
        0,
        "accepted",
    )
    assert (first["text"], first["description"], first["coverage"]) == ("good ()", "told", 0.5)
    assert (first["shown"]["marks"], first["hidden"]["marks"]) == ("11", "00")
    assert first["shown"]["got"] == {} and first["hidden"]["got"] == {
        "0": {"value": None},
        "1": {"value": None},
    }
    assert [one["answers"][0]["text"] for one in whole["steps"]] == ["a", "a"]
    (call,) = whole["calls"]
    assert (call["path"], call["kind"], call["said"]) == (
        "step/1/propose/0/tool/0",
        "tool",
        {"request": '{"x":1}', "response": '{"y":2}'},
    )
    (group,) = [one for one in whole["parting"]["inputs"] if one["place"] == 3]
    assert [one["hypotheses"] for one in group["groups"]] == [[1], [2]]
    assert whole["parting"]["alone"] == {"1": 0.5, "2": 0.5}
    malformed = told[1][1][2]["hypotheses"][1]
    assert (malformed["verdict"], malformed["reason"], "text" in malformed) == (
        "malformed",
        "no_code",
        False,
    )


def test_a_text_that_is_too_long_is_cut_and_says_so(tmp_path):
    problem = small_problem("p")
    path = tmp_path / "s.duckdb"
    session = write(
        path, [(problem, steps(problem, ("x" * 30_000, judged(problem, "y" * 30_000))))]
    )
    with Store.open(path, write=False) as opened:
        whole = Contents(opened, [session]).build_problem(session, "p")
    assert whole["hypotheses"][0]["text"] == "y" * MAX_TEXT_CHARS + " … (30,000 characters)"
    assert whole["steps"][0]["answers"][0]["text"].startswith("x" * MAX_TEXT_CHARS + " …")


def test_all_families_agree_with_the_store(made):
    with Store.open(made.store, write=False) as opened:
        for name, session in made.names.items():
            overview = Contents(opened, [session]).build_overview()
            (one,) = overview["sessions"]
            verdicts = Counter(
                judged.verdict.value
                for step in made.steps(name)
                for answer in step.answers
                for judged in answer.judged
            )
            names = ("accepted", "redundant", "inconsistent", "malformed")
            sums = [sum(row["verdicts"][at] for row in one["problems"]) for at in range(4)]
            assert sums == [verdicts[name] for name in names]
            course = [sum(row[name] for row in one["course"]["verdicts"]) for name in names]
            assert course == sums
            assert [row["id"] for row in one["problems"]] == [
                problem.id for problem in made.problems(name)
            ]
