"""How a session went, counted by hand.

Internals: the course of a session is counted from marks that are written by hand.
"""

from __future__ import annotations

import pytest
from peirce.records import Verdict
from peirce.reports.page.curves import MAX_REGIONS, REGION_POINTS, SessionCurves, regions
from peirce.tools import beta_bounds

A, R, I, M = Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED  # noqa: E741


@pytest.fixture
def course(write):
    """Three problems: one of three answers, one of an answer with three hypotheses, one of none."""
    made = SessionCurves()
    made.add(write.steps(write.judged(A, [1]), write.judged(I), write.judged(A, [2])))
    made.add(write.steps((write.judged(R, [1]), write.judged(M), write.judged(A, [1]))))
    made.add([])
    return made


def test_verdicts_are_counted_by_step(course):
    assert course.as_json()["verdicts"] == [
        {"step": 1, "accepted": 2, "redundant": 1, "inconsistent": 0, "malformed": 1},
        {"step": 2, "accepted": 0, "redundant": 0, "inconsistent": 1, "malformed": 0},
        {"step": 3, "accepted": 1, "redundant": 0, "inconsistent": 0, "malformed": 0},
    ]


def test_a_problem_that_has_ended_stays_at_its_last_value(course):
    assert course.as_json()["found"] == [
        {"answers": 1, "accepted": 0.6667, "solved": 0.6667, "asked": 2},
        {"answers": 2, "accepted": 0.6667, "solved": 0.6667, "asked": 1},
        {"answers": 3, "accepted": 1.0, "solved": 0.6667, "asked": 1},
    ]


def test_a_bank_holds_what_it_had_until_it_grows(course):
    course.add_bank_growth([
        {"problem": "p", "step": 1, "size": 2, "accuracy": 0.5},
        {"problem": "p", "step": 3, "size": 4, "accuracy": 0.75},
        {"problem": "q", "step": 2, "size": 1, "accuracy": None},
    ])  # fmt: skip
    assert course.as_json()["bank"] == [
        {"step": 1, "size": 1.0, "accuracy": 0.5},
        {"step": 2, "size": 1.5, "accuracy": 0.5},
        {"step": 3, "size": 2.5, "accuracy": 0.75},
    ]


def test_a_session_without_steps_has_no_course():
    assert SessionCurves().as_json() == {"verdicts": [], "found": [], "bank": []}


def test_regions_are_those_of_the_most_frequent_numbers_between_their_bounds():
    told = regions([5, 2, 5, 3, 3, 3, 9, 9, 2, 2])
    assert len(told) == MAX_REGIONS and [one["k"] for one in told] == [2, 3, 5]
    for one in told:
        assert (len(one["gamma"]), one["gamma"][0], one["gamma"][-1]) == (
            REGION_POINTS,
            1,
            one["k"],
        )
        for gamma, low, high in zip(one["gamma"], one["low"], one["high"], strict=True):
            bounds = beta_bounds(min(max(gamma, 1), one["k"]), one["k"], integral=True)
            assert (low, high) == pytest.approx(bounds, abs=1e-4)
    assert regions([]) == []
