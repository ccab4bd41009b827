"""How a bank grew, against a log worked out by hand.

Internals: the growth of a bank is computed from events that no session wrote.
"""

from __future__ import annotations

from typing import Any

import pytest
from peirce.records import BankEvent
from peirce.store.bank import growth


def event(step: int, name: str, row: int, right: bool | None, t: int, kind: Any = "visit") -> Any:
    return step, BankEvent(name * 64, f"text {name}" if name else "", "", row, right, t, kind)


LOG = [
    event(1, "a", 0, True, 1), event(1, "b", 0, False, 1),
    event(3, "c", 1, True, 2), event(3, "d", 1, False, 2), event(3, "", 2, None, 2, "cut"),
    event(4, "a", 2, False, 3),
    event(5, "a", -1, None, 3, "drop"), event(5, "e", -1, None, 3, "enter"),
]  # fmt: skip


def test_each_step_says_what_came_and_went_and_the_best_after_it():
    # Without exploration a reward is the accuracy. Step 3 cuts a 1, b 0, c 1, d 0 to two: a and c, so d,
    # which came in the same step, is in neither list. In step 4 a falls to 1 of 2.
    told = growth(LOG, 0.0, 0.5)
    assert [(row["step"], row["t"], row["size"]) for row in told] == [
        (1, 1, 2), (3, 2, 2), (4, 3, 2), (5, 3, 2),
    ]  # fmt: skip
    assert [row["entered"] for row in told] == [["text a", "text b"], ["text c"], [], ["text e"]]
    assert [row["left"] for row in told] == [[], ["text b"], [], ["text a"]]
    assert [row["accuracy"] for row in told] == [1.0, 1.0, 1.0, 1.0]
    assert [row["reward"] for row in told] == [1.0, 1.0, 1.0, 1.0]


def test_a_bank_that_nobody_visited_has_no_accuracy():
    (row,) = growth([event(1, "a", -1, None, 0, "enter")], 0.5, 0.5)
    assert (row["size"], row["accuracy"], row["reward"]) == (1, None, 0.0)
    (row,) = growth([event(1, "a", 0, True, 1), event(1, "a", -1, None, 1, "drop")], 0.5, 0.5)
    assert (row["size"], row["entered"], row["accuracy"], row["reward"]) == (0, [], None, None)


def test_a_visit_that_does_not_apply_counts_as_a_guess():
    (row,) = growth([event(1, "a", 0, None, 1)], 0.0, 0.5)
    assert row["accuracy"] == pytest.approx(0.5)
