"""The bank's fold against arithmetic done by hand.

Internals: the fold of events is compared with arithmetic by hand, event by event.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from peirce.records import BankEvent, EventKind, StepRecord
from peirce.store import Bank, Store
from peirce.store.bank import build_bank, sum_visits


def fold(log: Sequence[BankEvent], alpha: float) -> list[dict[str, Any]]:
    return build_bank(log, alpha).rows()


def event(name: str, observation: int, right: bool | None, t: int) -> BankEvent:
    return BankEvent(name * 64, f"text {name}", f"about {name}", observation, right, t)


def test_reward_follows_the_hand_worked_visits() -> None:
    # accuracy .6 after 10 visits at t = 10; then right at t = 11; then wrong at t = 12.
    log = [event("a", i, i < 6, 10) for i in range(10)]
    expected = [(0.6, 10, 0.839926)]
    steps = [(True, 11, 0.636364, 0.869811), (False, 12, 0.583333, 0.810861)]
    for right, t, accuracy, reward in steps:
        expected.append((accuracy, t, reward))
        log.append(event("a", t, right, t))
    for count, (accuracy, visits, reward) in zip((10, 11, 12), expected, strict=True):
        (entry,) = fold(log[:count], 0.5)
        assert entry["accuracy"] == pytest.approx(accuracy, abs=1e-6)
        assert entry["visits"] == visits
        assert entry["reward"] == pytest.approx(reward, abs=1e-6)
    (entry,) = fold(log, 0.5)
    assert entry["right"] == [0, 1, 2, 3, 4, 5, 11]


def test_rank_is_by_reward_and_ties_by_entry() -> None:
    log = [event("b", 0, True, 1), event("a", 0, True, 1), event("c", 0, False, 1)]
    assert [(e["rank"], e["text"]) for e in fold(log, 0.5)] == [
        (1, "text b"),
        (2, "text a"),
        (3, "text c"),
    ]


def test_alpha_weighs_what_was_seldom_visited() -> None:
    log = [event("a", i, True, i + 1) for i in range(9)] + [event("b", 9, False, 10)]
    assert fold(log, 0.0)[0]["text"] == "text a"
    assert fold(log, 2.0)[0]["text"] == "text b"


def test_the_store_folds_each_problem_apart(
    store: Store, new_session: Callable[..., str], made: SimpleNamespace
) -> None:
    session = new_session("1", "2")
    ledger = store.ledger(session)
    for name, right in (("1", True), ("2", False)):
        for t in (1, 2):
            record = StepRecord(name, t, (), {}, (event("a", t, right, t),))
            asyncio.run(ledger.record_step(record))
    found = [(e["problem"], e["accuracy"], e["visits"], e["right"]) for e in store.bank(session)]
    assert found == [("1", 1.0, 2, [1, 2]), ("2", 0.0, 2, [])]
    assert [e["problem"] for e in store.bank(session, "2")] == ["2"]


def test_twelve_updates_worked_by_hand() -> None:
    """Two labels: a visit on which a hypothesis does not apply counts 1/2. Rewards are accuracy +
    0.5 sqrt(ln t / visits); ln 1 … ln 12 are 0, .693147, 1.098612, 1.386294, 1.609438, 1.791759,
    1.945910, 2.079442, 2.197225, 2.302585, 2.397895, 2.484907."""
    right, wrong, passed = True, False, None
    table = [
        # t, of, came, accuracy, visits, reward
        (1, "a", right, 1.0, 1, 1.0),  # 1 + .5 sqrt(0)
        (2, "a", wrong, 0.5, 2, 0.794353),  # .5 + .5 sqrt(.346574) = .5 + .294353
        (3, "a", passed, 0.5, 3, 0.802574),  # (1 + .5)/3; sqrt(.366204) = .605148
        (4, "b", right, 1.0, 1, 1.588705),  # sqrt(1.386294) = 1.177410
        (5, "b", right, 1.0, 2, 1.448531),  # sqrt(.804719) = .897061
        (6, "b", wrong, 2 / 3, 3, 1.053077),  # sqrt(.597253) = .772822
        (7, "c", passed, 0.5, 1, 1.197479),  # sqrt(1.945910) = 1.394959
        (8, "c", passed, 0.5, 2, 1.009833),  # sqrt(1.039721) = 1.019667
        (9, "c", wrong, 1 / 3, 3, 0.761238),  # (0 + 2 * .5)/3; sqrt(.732408) = .855809
        (10, "a", right, 0.625, 4, 1.004357),  # (2 + .5)/4; sqrt(.575646) = .758714
        (11, "b", passed, 0.625, 4, 1.012128),  # (2 + .5)/4; sqrt(.599474) = .774257
        (12, "c", right, 0.5, 4, 0.894090),  # (1 + 1)/4; sqrt(.621227) = .788179
    ]
    log = [event(name, t, came, t) for t, name, came, *_ in table]
    for count, (t, name, _, accuracy, visits, reward) in enumerate(table, 1):
        bank = build_bank(log[:count], 0.5, 0.5)
        (row,) = (row for row in bank.rows() if row["text"] == f"text {name}")
        assert row["accuracy"] == pytest.approx(accuracy, abs=1e-12), t
        assert (row["visits"], row["t"]) == (visits, t)
        assert row["reward"] == pytest.approx(reward, abs=1e-6), t
        (entry,) = (one for one in bank.top() if one.text == f"text {name}")
        assert entry.reward == row["reward"]
    rows = build_bank(log, 0.5, 0.5).rows()
    assert [row["text"] for row in rows] == ["text b", "text a", "text c"]
    assert [row["right"] for row in rows] == [[4, 5], [1, 10], [12]]
    assert [row["covered"] for row in rows] == [3, 3, 2]
    # By accuracy alone a and b are equal, and a came first.
    assert [row["text"] for row in build_bank(log, 0.0, 0.5).rows()] == [
        "text a",
        "text b",
        "text c",
    ]


def other(kind: EventKind, name: str = "", capacity: int = -1) -> BankEvent:
    if kind == "cut":
        return BankEvent("", "", "", capacity, None, 0, "cut")
    return BankEvent(name * 64, f"text {name}", "", -1, None, 0, kind)


def names(bank: Bank) -> str:
    return "".join(entry.text[-1] for entry in bank.top())


def test_the_reward_of_what_is_not_visited_stands_still() -> None:
    log = [event("a", 0, True, 2), event("b", 1, True, 2), event("b", 2, True, 100)]
    first, second = build_bank(log).top()
    # b: 1 + .5 sqrt(ln 100 / 2) = 1.7587; a as at t = 2: 1 + .5 sqrt(ln 2) = 1.4163
    assert (first.text, second.text) == ("text b", "text a")
    assert second.reward == pytest.approx(1.416277, abs=1e-6)


def test_what_enters_without_a_visit_is_last_and_has_no_accuracy() -> None:
    log = [
        other("enter", "a"),
        event("b", 0, False, 1),
        event("c", 0, True, 3),
        other("enter", "d"),
    ]
    bank = build_bank(log)
    # b: 0 + .5 sqrt(ln 1) = 0, as a and d have without a visit: ties by insertion
    assert names(bank) == "cabd"
    told = {row["text"]: (row["accuracy"], row["visits"], row["reward"]) for row in bank.rows()}
    assert told["text a"] == told["text d"] == (None, 0, 0.0)
    assert told["text b"] == (0.0, 1, 0.0)
    bank.apply(other("enter", "c"))  # it is there: nothing changes
    assert names(bank) == "cabd" and bank.top(1)[0].visits == 1


def test_what_is_dropped_begins_anew_where_it_comes_again() -> None:
    bank = build_bank([event("a", 0, True, 1), event("b", 0, True, 1), other("drop", "a")])
    assert names(bank) == "b" and not bank.contains_text("text a") and bank.contains_text("text b")
    bank.apply(other("drop", "z"))  # it was never there
    bank.apply(event("a", 5, False, 6))
    assert names(bank) == "ba" and bank.top()[1].visits == 1 and bank.top()[1].right == set()


def test_a_cut_keeps_the_best_and_of_equals_the_newcomers() -> None:
    # alpha 0: a, b, c have 1, 1, 0 and are there when the cut to 3 comes; nothing leaves.
    bank = build_bank(
        [event("a", 0, True, 1), event("b", 0, True, 1), event("c", 0, False, 1)], 0.0
    )
    bank.apply(other("cut", capacity=3))
    assert names(bank) == "abc"
    # d equals a and b, e equals c: the order is d (new), a, b, e (new), c; the cut to 4 takes c.
    for name, right in (("d", True), ("e", False)):
        bank.apply(event(name, 1, right, 2))
    assert names(bank) == "abdce"  # no cut yet: ties by insertion
    bank.apply(other("cut", capacity=4))
    assert names(bank) == "dabe"
    # d is a newcomer no longer: f goes before it, and e leaves.
    bank.apply(event("f", 2, True, 3))
    bank.apply(other("cut", capacity=4))
    assert names(bank) == "fdab"
    bank.apply(other("cut", capacity=9))
    assert names(bank) == "fdab" and len(bank) == 4


def test_sums_of_visits_give_the_rewards_of_single_visits():
    marks = [True, None, False, True, True, False]
    single = [BankEvent("d", "t", "", n, mark, n + 1) for n, mark in enumerate(marks)]
    (one,) = build_bank(single, 0.5, 0.5).rows()
    (other,) = build_bank(sum_visits("d", "t", "", marks, len(marks)), 0.5, 0.5).rows()
    assert other == one | {"right": []}
