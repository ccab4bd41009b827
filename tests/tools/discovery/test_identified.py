"""What rows contradict is identified only where they show it beyond noise.

Internals: whether rows identify a part of a rule is a pure function that reports call.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from peirce.tools.discovery import InputSpace
from peirce.tools.discovery.identifiability import find_identified

sys.path.insert(0, str(Path(__file__).parent))
from made import rule, students, texts

HERE, ELSEWHERE = "a red hat", "a blue hat"


@pytest.mark.parametrize(
    ("here", "elsewhere", "known"),
    [
        ((40, 0), (80, 80), True),
        ((29, 11), (80, 80), True),
        ((21, 19), (80, 80), False),  # leads by two rows of 40
        ((24, 16), (20, 140), False),  # far more than elsewhere, and no sure lead
        ((32, 8), (128, 32), False),  # leads, as everywhere: the phrase does nothing
        ((0, 40), (160, 0), False),
        ((0, 0), (80, 80), False),  # stands in no row
    ],
)
def test_a_fact_about_most_rows_is_identified_where_label_and_effect_are_beyond_noise(
    here: tuple[int, int], elsewhere: tuple[int, int], known: bool
) -> None:
    counts = [(HERE, here), (ELSEWHERE, elsewhere)]
    some = [text for text, rows in counts for _ in range(sum(rows))]
    labels = [
        label
        for _, rows in counts
        for label, n in zip(("in", "out"), rows, strict=True)
        for _ in range(n)
    ]
    problem = texts(some, ["in", "out"])
    shown = [replace(row, output=one) for row, one in zip(problem.shown, labels, strict=True)]
    true = rule('If the text mentions "red", the label is in.', problem)
    assert find_identified([true], shown, InputSpace(problem)) == [known]


def test_a_bound_that_no_row_tells_from_the_next_is_not_identified_beside_other_parts() -> None:
    """No row has one paper, so at least 2 and at least 1 say the same. Rows with F and three papers get
    two labels, of which the first part's counts."""
    counts = [(("A", 3, "admitted"), 30), (("A", 2, "admitted"), 30), (("F", 0, "rejected"), 40),
              (("F", 3, "admitted"), 2), (("B", 0, "rejected"), 30)]  # fmt: skip
    problem = students([
        ({"math": math, "english": "B", "papers": papers, "donated": False}, label)
        for (math, papers, label), count in counts
        for _ in range(count)
    ])  # fmt: skip
    bound = rule("If papers is at least 2, the label is admitted.", problem)
    f = rule("If math is F, the label is rejected.", problem)
    b = rule("If math is B, the label is rejected.", problem)
    space = InputSpace(problem)
    assert find_identified([bound, f, b], problem.shown, space) == [False, True, True]
    assert find_identified([f, bound, b], problem.shown, space) == [True, False, True]
