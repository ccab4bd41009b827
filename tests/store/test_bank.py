"""The bank's fold against arithmetic done by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from peirce.records import BankEvent, StepRecord
from peirce.store import Store
from peirce.store.bank import folded


def fold(log: Sequence[BankEvent], alpha: float) -> list[dict[str, Any]]:
    return folded(log, alpha).rows()


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
            asyncio.run(ledger.step(record))
    found = [(e["problem"], e["accuracy"], e["visits"], e["right"]) for e in store.bank(session)]
    assert found == [("1", 1.0, 2, [1, 2]), ("2", 0.0, 2, [])]
    assert [e["problem"] for e in store.bank(session, "2")] == ["2"]
