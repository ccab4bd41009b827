"""How much of a rule another says: the same however it is put, nothing where it contradicts or is about
something else.

Internals: the overlap of two rules is a pure function, compared with counting by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from peirce.tools.discovery import InputSpace
from peirce.tools.discovery.overlap import overlap

sys.path.insert(0, str(Path(__file__).parent))
from made import rule, students, texts

ADMITTED = "If math is A, the label is admitted."


def found(one: str, other: str) -> float:
    problem = students()
    space = InputSpace(problem)
    left, right = rule(one, problem), rule(other, problem)
    assert overlap(left, right, space) == overlap(right, left, space)
    return overlap(left, right, space)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ADMITTED, "If math is A, the label is admitted; otherwise, the label is rejected."),
        (ADMITTED, "If math is not A, the label is rejected."),
        (ADMITTED, "If math is not one of B, C, D, F, the label is admitted."),
        ("If papers is more than 2, admitted.", "If papers is at least 3, admitted."),
        ("If papers is between 3 and 4, admitted.", "If papers is at least 3, admitted."),
        (
            "If math is A and donated is true, the label is admitted.",
            "If donated is not false and math is A, the label is admitted.",
        ),
        (
            "If math is A or math is B, the label is admitted.",
            "If math is one of A, B, the label is admitted.",
        ),
    ],
)
def test_what_says_the_same_overlaps_wholly(one: str, other: str) -> None:
    assert found(one, other) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ADMITTED, "If math is A, the label is rejected."),
        (ADMITTED, "If math is F, the label is admitted."),
        (ADMITTED, "If math is not A, the label is admitted."),
        (ADMITTED, "If english is A, the label is admitted."),
        (ADMITTED, "If papers is at least 1, the label is admitted; otherwise rejected."),
    ],
)
def test_a_contradiction_and_another_variable_overlap_not_at_all(one: str, other: str) -> None:
    assert found(one, other) == 0


def test_one_of_two_conditions_is_worth_what_is_worked_by_hand() -> None:
    both = "If math is A and donated is true, the label is admitted."
    # Whole functions: p(A) .2, p(A and donated) .1; they agree on .9, by chance on .2 * .1 + .8 * .9.
    whole = (0.9 - 0.74) / (1 - 0.74)
    # Their clauses alone: J = .1 / .2, J0 = .02 / .28.
    clauses = (0.5 - 0.02 / 0.28) / (1 - 0.02 / 0.28)
    assert found(ADMITTED, both) == pytest.approx(max(whole, clauses))


def test_a_near_threshold_is_worth_more_than_a_far_one() -> None:
    true = "If papers is at least 3, the label is admitted."
    near, far = (found(true, f"If papers is at least {n}, the label is admitted.") for n in (2, 1))
    assert 1 > near > far > 0


def test_of_two_labels_alone_the_other_follows() -> None:
    assert found("If math is A, admitted; otherwise admitted.", "If math is not A, rejected.") == 0
    problem = texts(["red", "blue"], ["in", "out", "away"])
    one, other = (
        rule(f'If the text mentions "{word}", {label}.', problem)
        for word, label in (("red", "in"), ("blue", "out"))
    )
    assert overlap(one, other, InputSpace(problem)) == 0
