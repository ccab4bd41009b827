"""The GEAR scores of a problem and of a session, worked by hand, with each rule that is easy to
get wrong.

Internals: scores of single problems are worked by hand from steps that are written here.
"""

from __future__ import annotations

import pytest
from peirce.records import InputSet, Verdict
from peirce.reports.papers.gear import metrics

OK, AGAIN, WRONG, BROKEN = (
    Verdict.ACCEPTED,
    Verdict.REDUNDANT,
    Verdict.INCONSISTENT,
    Verdict.MALFORMED,
)


def test_all_scores_of_a_problem_worked_by_hand(write):
    steps = write.steps(
        write.judged(OK, [1, 2, 3]),
        write.judged(BROKEN),
        write.judged(AGAIN, [1, 2, 2]),
        write.judged(WRONG, [9, 9, 9]),
    )
    found = metrics.problem_metrics(write.problem(), steps)
    assert set(found) == {metric.name for metric in metrics.METRICS}
    expected = {
        "consistency": 2 / 4,
        "generalizability": 1.0,
        "beta": 1 / 2,
        "gamma": 4 / 3,
        "hypotheses": 4,
        "instruction_following": 3 / 4,
        "consistent_hypotheses": 2,
        "accepted": 1,
        "redundant": 1,
        "inconsistent": 1,
        "malformed": 1,
    }
    assert {name: found[name] for name in expected} == expected


def test_consistency_divides_by_malformed_answers_too(write):
    steps = write.steps(write.judged(OK, [1]), write.judged(BROKEN), write.judged(BROKEN))
    assert metrics.problem_metrics(write.problem(), steps)["consistency"] == 1 / 3


def test_a_redundant_hypothesis_is_consistent_and_counts_in_beta_and_gamma(write):
    steps = write.steps(write.judged(OK, [1, 1]), write.judged(AGAIN, [1, 2]))
    found = metrics.problem_metrics(write.problem(), steps)
    assert found["consistency"] == 1.0
    assert found["gamma"] == 3 / 2
    assert found["beta"] == pytest.approx(2 / 3)


def test_a_problem_without_a_consistent_answer_counts_zero_in_consistency_and_beta(write):
    found = metrics.problem_metrics(write.problem(), write.steps(write.judged(WRONG, [1])))
    assert found["consistency"] == 0.0
    assert found["beta"] == 0.0
    assert found["gamma"] is None
    assert found["generalizability"] is None


def test_a_problem_without_any_answer_counts_zero_and_is_not_skipped(write):
    found = metrics.problem_metrics(write.problem(), [])
    assert (found["consistency"], found["hypotheses"], found["beta"]) == (0.0, 0, 0.0)
    assert found["instruction_following"] is None


def test_beta_is_zero_with_one_consistent_hypothesis_where_gamma_has_a_value(write):
    found = metrics.problem_metrics(write.problem(), write.steps(write.judged(OK, [1, None])))
    assert (found["beta"], found["gamma"], found["generalizability"]) == (0.0, 0.5, 0.5)


def test_each_hypothesis_of_an_answer_counts(write):
    steps = write.steps((write.judged(OK, [1]), write.judged(WRONG, [2]), write.judged(BROKEN)))
    found = metrics.problem_metrics(write.problem(), steps)
    assert found["hypotheses"] == 3
    assert found["consistency"] == pytest.approx(1 / 3)


def test_consistent_hypotheses_without_predictions_leave_the_scores_without_value(write):
    steps = write.steps(write.judged(OK, [1]), write.judged(OK))
    found = metrics.problem_metrics(write.problem(), steps)
    assert found["consistency"] == 1.0
    assert (found["gamma"], found["beta"], found["generalizability"]) == (None, None, None)


def test_weights_of_the_sample_space_count(write):
    steps = write.steps(write.judged(OK, [1, 2]), write.judged(OK, [1, 3]))
    space = InputSet("S", ([1], [2]), (3.0, 1.0))
    found = metrics.problem_metrics(write.problem(), steps, space)
    assert found["gamma"] == 5 / 4
    assert found["beta"] == pytest.approx(1 - 3 / 5)


def test_means_stand_over_the_problems_that_have_a_value(write):
    with_one = metrics.problem_metrics(write.problem(), write.steps(write.judged(OK, [1, 1])))
    without = metrics.problem_metrics(write.problem(), write.steps(write.judged(BROKEN)))
    found = metrics.summarize([with_one, without])
    assert (found["consistency"]["mean"], found["consistency"]["n"]) == (0.5, 2)
    assert (found["gamma"]["mean"], found["gamma"]["n"]) == (1.0, 1)
    assert (found["beta"]["mean"], found["beta"]["n"]) == (0.0, 2)


def test_every_metric_named_is_given(write):
    found = metrics.problem_metrics(write.problem(), [])
    assert tuple(found) == metrics.EVALUATION.metric_names
