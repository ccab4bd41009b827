"""What a rater says, read: the traps of published readers, and what must stay unread.

Internals: the readers of ratings are called on single answers of a rater.
"""

from __future__ import annotations

import pytest
from peirce.tasks.text.rating_answers import (
    FIVE_POINT_SCALE,
    QUARTER_SCALE,
    parse_rating,
    parse_reason,
)


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("0.5", 0.5),
        ("Score: 0.5", 0.5),
        (".75", 0.75),
        ("1", 1.0),
        ("1.0.", 1.0),
        ("**Score:** 0.25", 0.25),
        ("The score is 0.75 because it misses a detail.", 0.75),
        ("<think>0.25? or 0.5</think>\n0.75", 0.75),
        ("0.5\nOne of the 2 conditions is there.", 0.5),
        ("Score: 0.5\nIt has 1 of 2 conditions, so score: 0.5", 0.5),
        ("0.6", None),
        ("0 or 1", None),
        ("-1", None),
        ("Score: -0.5", None),
        ("\u22121", None),
        ("Score: 0,75", None),
        ("Score: 0.75, a detail is off", 0.75),
        ("Score: 0.25, or rather score: 0.75", None),
        ("yes", None),
        ("", None),
    ],
)
def test_quarters(said: str, score: float | None) -> None:
    assert parse_rating(said, QUARTER_SCALE) == score


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("Score: 4\nReasoning: it adds 2 things to the 5 findings.", 4.0),
        ("Score: 4/5", 4.0),
        ("3 out of 5", 3.0),
        ("[Score]: [2]", 2.0),
        ("Rating: 5.", 5.0),
        ("score = 1", 1.0),
        ("Score: 0", None),
        ("Score: 6", None),
        ("Score: 3.5", None),
        ("Between 2 and 4.", None),
    ],
)
def test_marks(said: str, score: float | None) -> None:
    assert parse_rating(said, FIVE_POINT_SCALE) == score


def test_the_reason_is_what_follows_its_name() -> None:
    assert parse_reason("Score: 4\n**Reasoning:** It is\nnew.") == "It is new."
    assert parse_reason("Score: 2. Known long ago.") == ". Known long ago."


def test_a_long_answer_is_read_in_bounded_time() -> None:
    assert parse_rating("1 " * 500_000, QUARTER_SCALE) == 1.0
    assert parse_rating("score " * 200_000, QUARTER_SCALE) is None
