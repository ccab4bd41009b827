"""Accuracy and macro F1 of predicted labels against values worked by hand, and their intervals.

Internals: intervals and inferred labels are compared with values worked by hand.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import numpy as np
import pytest
from labelled import problem, rows, step
from peirce.records import InputSet, Verdict
from peirce.reports import default_evaluation, evaluate, evaluate_session
from peirce.reports.metrics.statistics import bootstrap_rows, wilson_interval
from peirce.reports.papers.hypobench.metrics import (
    EVALUATION,
    intervals,
    label_scores,
    problem_metrics,
    read_predictions,
)
from peirce.store import Store


@pytest.mark.parametrize(
    ("gold", "given", "accuracy", "f1"),
    [
        ("aabb", "a-b-", 0.5, 2 / 3),  # the vector of the notes: unread is no class
        ("aabb", "aabb", 1.0, 1.0),
        ("aabb", "----", 0.0, 0.0),
        ("aaab", "aaaa", 0.75, 3 / 7),  # a: 6/7, b: 0
        ("aabb", "ccbb", 0.5, 0.5),  # a: 0, b: 1; c is true of none
        ("aaaa", "aabb", 0.5, 2 / 3),
        ("abc", "bca", 0.0, 0.0),
        ("aabbcc", "abbbca", 4 / 6, (1 / 2 + 4 / 5 + 2 / 3) / 3),
    ],
)
def test_accuracy_and_macro_f1_are_those_worked_by_hand(gold, given, accuracy, f1):
    labels = [None if one == "-" else one for one in given]
    assert label_scores(list(gold), labels) == pytest.approx((accuracy, f1))


def test_macro_f1_is_that_of_scikit_learn():
    from sklearn import metrics

    rng = random.Random(3)
    for _ in range(50):
        n = rng.randrange(1, 30)
        gold = [rng.choice("abcd") for _ in range(n)]
        given = [rng.choice(["a", "b", "c", "e", None]) for _ in range(n)]
        wanted = metrics.f1_score(
            gold, [one or "other" for one in given], labels=sorted(set(gold)), average="macro",
            zero_division=0,
        )  # fmt: skip
        assert label_scores(gold, given)[1] == pytest.approx(wanted)


def test_each_split_is_scored_and_the_test_rows_stand_for_the_problem():
    p = problem(val=rows("ab"), ind=rows("aabb"), ood=rows("abb"))
    found = problem_metrics(p, [step(val="ab", ind="a-b-", ood="bbb")])
    assert found["accuracy"] == found["accuracy_ind"] == 0.5
    assert found["f1"] == found["f1_ind"] == pytest.approx(2 / 3)
    assert (found["accuracy_val"], found["f1_val"]) == (1.0, 1.0)
    assert (found["accuracy_ood"], found["f1_ood"]) == pytest.approx((2 / 3, 0.4))
    assert found["unlabelled"] == pytest.approx(2 / 9)
    assert found["unreadable"] == 0
    without = problem(val=rows("ab"), ood=rows("abb"))
    assert problem_metrics(without, [step(val="ab", ood="bbb")])["accuracy"] == pytest.approx(2 / 3)
    assert problem_metrics(without, [step(val="ab")])["accuracy"] == 1.0
    assert problem_metrics(without, [step(val="ab")])["accuracy_ood"] is None


def test_labels_that_are_numbers_have_a_squared_error_in_training_ranges():
    p = problem(ind=rows("0246"), val=rows("66"), labels="0246")
    given = [step(ind="026-", val="60")]
    assert problem_metrics(p, given)["mse"] is None  # labels that happen to be numbers
    p = replace(p, secret={**p.secret, "made": {"numeric": True}})
    found = problem_metrics(p, given)
    assert found["mse"] == found["mse_ind"] == pytest.approx((0 + 0 + (2 / 6) ** 2 + 1) / 4)
    assert found["mse_val"] == pytest.approx(0.5) and found["mse_ood"] is None


def test_an_answer_that_names_no_label_is_wrong_and_counted():
    p = problem(ind=rows("aabb"))
    told = {"labels": ["a", None, None, "b"], "reasons": {"unreadable": 1, "does_not_apply": 1}}
    found = problem_metrics(p, [step(ind=told)])
    assert (found["accuracy"], found["unreadable"], found["unlabelled"]) == (0.5, 0.25, 0.5)


def test_the_last_inference_counts():
    p = problem(ind=rows("ab"))
    steps = [step("best", ind="ba"), step("multi", number=2, ind="ab")]
    assert read_predictions(p, steps).strategy == "multi"
    assert problem_metrics(p, steps)["accuracy"] == 1.0


def test_only_the_rows_that_were_asked_are_scored():
    p = problem(ind=rows("abab"))
    told = {"labels": ["b", "a"], "rows": [1, 2]}
    found = intervals(p, [step(ind=told)], 0, 50)
    assert (found["accuracy"]["mean"], found["accuracy"]["n"]) == (1.0, 2)


def test_what_predicted_nothing_has_no_accuracy(write):
    p = problem(ind=rows("ab"))
    found = problem_metrics(p, write.steps(write.judged(Verdict.ACCEPTED, [1])))
    assert found["hypotheses"] == 1
    assert {v for name, v in found.items() if name != "hypotheses"} == {None}
    assert intervals(p, [], 0, 50) == {}


@pytest.mark.parametrize(
    "bad",
    [{"ind": "aba"}, {"ood": "ab"}, {"ind": {"labels": ["a"], "rows": [2]}}],
)
def test_predictions_that_are_not_of_the_problems_rows_are_refused(bad):
    with pytest.raises(ValueError, match=r"p: .*predictions"):
        problem_metrics(problem(ind=rows("ab")), [step(**bad)])


def test_one_problem_has_its_intervals_over_rows_and_several_over_problems():
    one, two = problem("a", ind=rows("ab" * 50)), problem("b", ind=rows("ab" * 50))
    steps = [step(problem="a", ind="ab" * 40 + "ba" * 10), step(problem="b", ind="ab" * 50)]
    alone = evaluate("hypobench", [one], steps[:1])
    assert alone["metrics"]["accuracy"] == wilson_interval(80, 100)
    assert alone["metrics"]["f1"]["n"] == 100
    assert alone["metrics"]["f1"]["low"] < 0.8 < alone["metrics"]["f1"]["high"]
    assert alone["metrics"]["accuracy_ood"]["n"] == 0
    both = evaluate("hypobench", [one, two], steps)
    assert both["metrics"]["accuracy"] == {"mean": 0.9, "low": 0.8, "high": 1.0, "n": 2}
    assert [row["accuracy"] for row in both["by_problem"]] == [0.8, 1.0]


def test_it_is_the_evaluation_of_labelled_text():
    assert default_evaluation("text") == "hypobench"
    assert len(set(EVALUATION.metric_names)) == len(EVALUATION.metric_names)


def test_a_stored_session_is_scored_with_its_rows(tmp_path):
    one = problem("a", val=rows("ab"), ind=rows("aabb"))

    settings = {"task": "labels", "method": "infer", "model": "scripted:x", "seed": 0}

    async def record(store, session):
        ledger = store.ledger(session)
        await ledger.record_step(step(problem="a", val="ab", ind="abbb"))
        await ledger.record_end("a", "done", "applied")

    with Store.open(tmp_path / "s.duckdb", write=True) as store:
        session = store.create_session(settings, [(one, InputSet("S", ({"text": "x"},)))])
        asyncio.run(record(store, session))
        found = evaluate_session(store, session)
    assert found["evaluation"] == "hypobench"
    (of_rows,) = found["rows"]
    assert of_rows["problem"] == "a"
    assert of_rows["accuracy_ind"] == found["metrics"]["accuracy"] == wilson_interval(3, 4)
    assert of_rows["accuracy_val"]["n"] == 2


def test_wilsons_interval_is_that_of_the_textbook():
    found = wilson_interval(81, 263)  # Newcombe 1998, table I: 0.2553 to 0.3662
    assert (found["low"], found["high"]) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(0, 20)["low"] == 0.0 and wilson_interval(0, 20)["high"] > 0.1
    assert wilson_interval(20, 20)["high"] == 1.0
    assert wilson_interval(0, 0)["mean"] is None


def test_an_interval_over_rows_draws_rows():
    kinds = np.array([0] * 30 + [1] * 70)
    share = bootstrap_rows(kinds, lambda counts: counts[:, 1] / counts.sum(axis=1), seed=1)
    assert (share["mean"], share["n"]) == (0.7, 100)
    assert (share["low"], share["high"]) == pytest.approx((0.61, 0.79), abs=0.02)
    assert share == bootstrap_rows(kinds, lambda c: c[:, 1] / c.sum(axis=1), seed=1)
    assert bootstrap_rows(np.zeros(0, np.intp), lambda c: c[:, 0])["mean"] is None
