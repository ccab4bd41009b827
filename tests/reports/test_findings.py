"""Findings: what a reader of an ended session sees first, and never what exploration favours.

Internals: a ranking of a few hypotheses with chosen predictions needs no session.
"""

from __future__ import annotations

import numpy as np
import pytest
from peirce.records import (
    Agreement,
    Hypothesis,
    InputSet,
    JudgedHypothesis,
    Observation,
    Predictions,
    Problem,
    Verdict,
)
from peirce.reports.findings import (
    consensus,
    find_disagreement,
    proposed_likeliest_first,
    rank_hypotheses,
)

PROBLEM = Problem(
    "p", "examples", "programs", tuple(Observation([n], n) for n in range(4)), (), {}, {}, ""
)
SPACE = InputSet("s", ([1, 2, 3], [5], [7, 8]))


def judged(
    body: str, codes: list[int], marks: str = "1111", verdict: Verdict = Verdict.ACCEPTED
) -> JudgedHypothesis:
    """A program with its predictions on S; 0 is undefined there."""
    values = np.array(codes, np.int64)
    space = Predictions(values, (values == 0).astype(np.uint8), ("error",))
    told = {"1": True, "0": False, "-": None}
    shown = Agreement(tuple(told[mark] for mark in marks), ({"value": 0},) * len(marks))
    return JudgedHypothesis(
        verdict, "", Hypothesis(f"def f(x):\n    return {body}", body), 0.0, shown, None, space
    )


def order(*some: JudgedHypothesis) -> list[str]:
    return [one.hypothesis.description for one in rank_hypotheses(PROBLEM, some)]


def test_of_consistent_hypotheses_the_simplest_comes_first_whenever_it_was_found() -> None:
    simple, modulo = judged("sum(x)", [1, 2, 3]), judged("sum(x) % 20", [1, 2, 4])
    assert order(simple, modulo) == order(modulo, simple) == ["sum(x)", "sum(x) % 20"]


def test_a_proposer_of_likely_hypotheses_first_decides_the_order_of_equally_good_ones() -> None:
    likely, short = judged("sum(x) % 20 + 0", [1, 2, 4]), judged("sum(x)", [1, 2, 3])
    wrong = judged("x[0]", [1, 2, 3], "1101", Verdict.INCONSISTENT)
    ranked = rank_hypotheses(PROBLEM, [wrong, likely, short], in_order=True)
    assert [one.judged for one in ranked] == [likely, short, wrong]


@pytest.mark.parametrize(
    ("family", "model", "expected"),
    [
        ("programs", {"model": "search"}, True),
        ("programs", {"scheme": "recorded", "recorded": {"model": "search"}}, True),
        ("programs", {"model": "other", "recorded": {}}, False),
        ("programs", None, False),
        ("text", {"model": "search"}, False),
    ],
)
def test_only_the_search_on_programs_proposes_likely_hypotheses_first(
    family: str, model: dict[str, object] | None, expected: bool
) -> None:
    settings = {"family": family, "model_settings": model}
    assert proposed_likeliest_first(settings) is expected


def test_an_inconsistent_hypothesis_comes_after_every_consistent_one() -> None:
    wrong = judged("x[0]", [1, 2, 3], "1101", Verdict.INCONSISTENT)
    long = judged("sorted(x)[0] * 3 + len(x) - max(x)", [4, 5, 6])
    assert order(wrong, long) == ["sorted(x)[0] * 3 + len(x) - max(x)", "x[0]"]


def test_of_inconsistent_hypotheses_the_one_that_explains_more_comes_first() -> None:
    less = judged("x[0]", [1, 2, 3], "1000", Verdict.INCONSISTENT)
    more = judged("x[1]", [1, 2, 4], "1110", Verdict.INCONSISTENT)
    assert order(less, more) == ["x[1]", "x[0]"]


def test_of_hypotheses_with_equal_predictions_the_simplest_is_kept() -> None:
    long = judged("sum(sorted(x))", [1, 2, 3], verdict=Verdict.REDUNDANT)
    assert order(long, judged("sum(x)", [1, 2, 3])) == ["sum(x)"]


def test_equally_long_hypotheses_are_ranked_by_their_likelihood_on_the_sample_space() -> None:
    odd, first, second = (judged(f"x[{n}]", codes) for n, codes in
                          ((0, [9, 9, 9]), (0, [1, 2, 3]), (0, [1, 2, 4])))  # fmt: skip
    agreed = consensus([odd, first, second], [10.0, 10.0, 10.0])
    assert agreed[1] == agreed[2] > agreed[0]


def test_the_disagreement_is_the_shortest_input_on_which_both_predict_something() -> None:
    ranked = rank_hypotheses(
        PROBLEM, [judged("sum(x)", [1, 2, 3]), judged("sum(x) % 20", [4, 0, 5])]
    )
    assert find_disagreement(ranked[0], ranked[1], SPACE) == 2  # [7, 8], not [5], nor [1, 2, 3]


def test_an_inconsistent_hypothesis_has_no_disagreement_because_its_codes_are_not_read() -> None:
    wrong = judged("x[0]", [7, 7, 7], verdict=Verdict.INCONSISTENT)
    ranked = rank_hypotheses(PROBLEM, [judged("sum(x)", [1, 2, 3]), wrong])
    assert find_disagreement(ranked[0], ranked[1], SPACE) is None


def test_a_text_that_python_cannot_read_is_ranked_by_its_letters() -> None:
    (only,) = rank_hypotheses(PROBLEM, [judged("sum(x", [1, 2, 3])])
    assert only.bits == 5 * (len(only.hypothesis.text) + 1)


def test_equal_predictions_have_no_disagreement() -> None:
    one, other = judged("sum(x)", [1, 2, 3]), judged("sum(x) + 0", [1, 2, 3])
    ranked = rank_hypotheses(PROBLEM, [one, other], distinct=False)
    assert find_disagreement(ranked[0], ranked[1], SPACE) is None


def rows(text: str, right: int, of: int) -> JudgedHypothesis:
    agreement = Agreement((True,) * right + (False,) * (of - right), ({"value": "yes"},) * of)
    return JudgedHypothesis(Verdict.ACCEPTED, "", Hypothesis(text), 0.0, agreement, None, None)


def labelled(of: int) -> Problem:
    public = {
        "labels": ["no", "yes"], "label_name": "label", "shape": "fields",
        "columns": {"age": {"kind": "number"}, "sum": {"kind": "number"}},
    }  # fmt: skip
    shown = tuple(Observation({"age": n, "sum": n}, "yes") for n in range(of))
    return Problem("t", "labels", "text", shown, (), public, {}, "")


SHORT = 'If age is more than 30, the label is "yes"; otherwise, the label is "no".'
LONG = 'If age is more than 30 and sum is at most 12.5, the label is "yes"; otherwise, the label is "no".'


def first_of(short: int, long: int, of: int = 100) -> str:
    ranked = rank_hypotheses(labelled(of), [rows(LONG, long, of), rows(SHORT, short, of)])
    return ranked[0].hypothesis.text


def test_an_advantage_within_one_standard_error_does_not_beat_a_simpler_sentence() -> None:
    assert first_of(short=88, long=90) == SHORT  # one standard error of 90 of 100 is 3 rows
    assert first_of(short=80, long=90) == LONG


def test_nothing_equals_a_sentence_that_is_right_everywhere() -> None:
    assert first_of(short=99, long=100) == LONG
