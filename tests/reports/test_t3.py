"""Pass rates and Top-1/2/3, worked by hand."""

from __future__ import annotations

import pytest
from peirce.records import Verdict
from peirce.reports import t3

OK, WRONG, BROKEN = Verdict.ACCEPTED, Verdict.INCONSISTENT, Verdict.MALFORMED
TOP = ("top1", "top2", "top3")


def test_pass_rates_are_means_over_answers_with_malformed_ones_at_zero(write):
    steps = write.steps(
        write.judged(OK, [1], shown=(True, True), hidden=(True, False)),
        write.judged(WRONG, [1], shown=(True, False), hidden=(None, False)),
        write.judged(BROKEN),
    )
    found = t3.problem_metrics(write.problem(), steps)
    assert found["train_pass"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert found["test_pass"] == pytest.approx((0.5 + 0 + 0) / 3)
    assert [found[k] for k in TOP] == [0, 0, 0]


@pytest.mark.parametrize("right", [0, 1, 2, 3])
def test_top_k_asks_for_one_of_the_first_k_answers(write, right):
    answers = [
        write.judged(OK, [1], hidden=(True, True) if i == right else (True, None)) for i in range(4)
    ]
    found = t3.problem_metrics(write.problem(), write.steps(*answers))
    assert [found[k] for k in TOP] == [float(right < k) for k in (1, 2, 3)]


def test_an_answer_right_on_the_hidden_pairs_counts_though_inconsistent(write):
    steps = write.steps(write.judged(WRONG, [1], shown=(False, False), hidden=(True, True)))
    assert t3.problem_metrics(write.problem(), steps)["top1"] == 1.0


def test_a_malformed_answer_takes_its_place_among_the_first_k(write):
    steps = write.steps(write.judged(BROKEN), write.judged(OK, [1]))
    found = t3.problem_metrics(write.problem(), steps)
    assert [found[k] for k in TOP] == [0, 1, 1]


def test_answers_of_one_step_count_in_their_order(write):
    wrong = write.judged(OK, [1], hidden=(False, False))
    steps = write.steps((wrong, write.judged(OK, [1])), wrong)
    found = t3.problem_metrics(write.problem(), steps)
    assert [found[k] for k in TOP] == [0, 1, 1]


def test_a_problem_without_hidden_pairs_is_left_out_and_counted(write):
    without = write.problem("q", hidden=0)
    steps = write.steps(write.judged(OK, [1], hidden=()))
    results = [t3.problem_metrics(without, steps), t3.problem_metrics(write.problem(), steps[:0])]
    found = t3.summary(results)
    assert [found[k]["n"] for k in (*TOP, "test_pass")] == [1, 1, 1, 1]
    assert found["top1"]["mean"] == 0.0
    assert found["without_hidden"]["mean"] == 0.5
    assert (found["train_pass"]["n"], found["train_pass"]["mean"]) == (2, 0.5)


def test_an_answer_never_compared_with_the_hidden_pairs_leaves_them_without_value(write):
    steps = write.steps(write.judged(OK, [1], hidden=None))
    found = t3.problem_metrics(write.problem(), steps)
    assert (found["train_pass"], found["test_pass"], found["top1"]) == (1.0, None, None)


def test_every_metric_named_is_given(write):
    found = t3.problem_metrics(write.problem(), [])
    assert tuple(found) == t3.EVALUATION.metric_names
