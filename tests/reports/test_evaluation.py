"""The registry of evaluations, and scoring many problems in one call."""

from __future__ import annotations

import asyncio

import pytest
from peirce.records import InputSet, UsageError, Verdict
from peirce.reports import (
    default_evaluation,
    evaluate,
    evaluate_session,
    evaluations,
    find_evaluation,
    tally,
)
from peirce.store import Store

OK, BROKEN = Verdict.ACCEPTED, Verdict.MALFORMED


def test_evaluations_are_found_by_looking():
    assert {"gear", "t3"} <= {e.name for e in evaluations()}
    assert find_evaluation("t3").name == "t3"


def test_an_unknown_evaluation_names_the_valid_ones_and_the_nearest():
    with pytest.raises(UsageError, match=r"'geer'.*gear, hypobench, t3.*did you mean gear\?"):
        find_evaluation("geer")


def test_programs_are_scored_by_gear_unless_asked_otherwise():
    assert default_evaluation("programs") == "gear"
    with pytest.raises(UsageError, match="'poems'"):
        default_evaluation("poems")


def test_an_evaluation_that_does_not_fit_names_those_that_do(write):
    with pytest.raises(UsageError, match="abd cannot score the family 'text'; use gear"):
        evaluate("abd", [write.problem(family="text")], [])


def test_steps_are_matched_to_problems_in_any_order(write):
    problems = [write.problem("a"), write.problem("b"), write.problem("c")]
    a = write.steps(write.judged(OK, [1]), write.judged(BROKEN), problem="a")
    b = write.steps(write.judged(BROKEN), problem="b")
    mixed = [a[1], b[0], a[0]]
    found = evaluate("gear", problems, mixed)
    assert [row["problem"] for row in found["by_problem"]] == ["a", "b", "c"]
    assert [row["consistency"] for row in found["by_problem"]] == [0.5, 0.0, 0.0]
    assert found["metrics"]["consistency"]["n"] == found["problems"] == 3
    lazily = evaluate("gear", problems, lambda p: [s for s in mixed if s.problem == p.id])
    assert lazily == found


def test_answers_count_in_the_order_of_their_steps(write):
    wrong, right = write.judged(OK, [1], hidden=(False, True)), write.judged(OK, [1])
    steps = write.steps(wrong, right)
    for order in (steps, steps[::-1]):
        assert evaluate("t3", [write.problem()], order)["by_problem"][0]["top1"] == 0.0


def test_a_problem_takes_the_weights_of_its_own_space(write):
    problems = [write.problem("a"), write.problem("b")]
    steps = [
        record
        for p in problems
        for record in write.steps(write.judged(OK, [1, None]), problem=p.id)
    ]
    spaces = {"a": InputSet("S", ([0], [1]), (3.0, 1.0))}
    found = evaluate("gear", problems, steps, spaces=spaces)
    assert [row["gamma"] for row in found["by_problem"]] == [0.75, 0.5]


def test_verdicts_are_counted_all_four_named(write):
    steps = write.steps(write.judged(OK, [1]), (write.judged(OK, [1]), write.judged(BROKEN)))
    assert (tally(steps).verdicts, tally(steps).steps) == (
        {"accepted": 2, "redundant": 0, "inconsistent": 0, "malformed": 1},
        2,
    )
    assert tally([]).steps == 0


def test_a_stored_session_is_scored_without_its_failed_and_open_problems(write, tmp_path):
    space = InputSet("S", ([0], [1]), (3.0, 1.0))
    problems = [write.problem(name) for name in ("a", "b", "c", "d")]
    settings = {"task": "list_functions", "method": "abduce", "model": "scripted:x", "seed": 0}

    async def record(store, session):
        ledger = store.ledger(session)
        for step in write.steps(write.judged(OK, [1, None]), write.judged(BROKEN), problem="a"):
            await ledger.record_step(step)
        for step in write.steps(write.judged(OK, [1, 2]), problem="c"):
            await ledger.record_step(step)
        await ledger.record_end("a", "done", "exhausted")
        await ledger.record_end("b", "done", "exhausted")
        await ledger.record_end("c", "failed", "no answer")

    with Store.open(tmp_path / "s.duckdb", write=True) as store:
        session = store.create_session(settings, [(p, space) for p in problems])
        asyncio.run(record(store, session))
        found = evaluate_session(store, session)
        passes = evaluate_session(store, session, "t3")
    assert (found["session"], found["model"], found["evaluation"]) == (
        session,
        "scripted:x",
        "gear",
    )
    assert found["problems"] == 2
    assert found["left_out"] == {"failed": 1, "open": 1}
    assert [row["problem"] for row in found["by_problem"]] == ["a", "b"]
    assert [row["gamma"] for row in found["by_problem"]] == [0.75, None]  # by the stored weights
    assert found["metrics"]["consistency"]["mean"] == 0.25
    assert passes["metrics"]["top1"]["mean"] == 0.5
