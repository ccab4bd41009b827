"""A session stops before it spends more than it may, leaves the rest open, and goes on from there.

Internals: the arithmetic of prices and limits is compared value by value.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from one_sandbox import in_sandbox
from peirce.agents.endpoint.limits import EstimatedUsage
from peirce.agents.scripted import ScriptedProposer
from peirce.config import BudgetConfig
from peirce.graphs.runtime.budget import Budget, add_costs
from peirce.graphs.runtime.runner import run_session
from peirce.records import BudgetSpent, InputSet, Prices, Reply, Unavailable, Usage, UsageError
from peirce.store import Store

SHOWN = [([3], [3]), ([5], [5])]
SPACE = InputSet("singletons", tuple([n] for n in range(10)))
EACH = Usage(tokens_in=60, tokens_out=40, tokens_cached=20)


class Counting:
    """A proposer that counts how often it is asked."""

    def __init__(self, replies, delay_s=0.0):
        self.inner = ScriptedProposer(replies)
        self.asked = 0
        self.delay_s = delay_s

    def settings(self):
        return {"scheme": "counting"}

    async def propose(self, view, messages, tools, seed, schema=None):
        self.asked += 1
        await asyncio.sleep(self.delay_s)
        return await self.inner.propose(view, messages, tools, seed, schema)

    async def close(self):
        return None


@pytest.fixture
def session_of(tmp_path, make_problem):
    """session_of(names) -> (store, session) in a new store."""
    opened = []

    def make(names, name="store"):
        store = Store.open(tmp_path / f"{name}.duckdb", write=True)
        opened.append(store)
        settings = {"task": "examples", "method": "abduce", "model": "m", "seed": 0,
                    "model_settings": {"scheme": "counting"}, "tool_calls": 0}  # fmt: skip
        problems = [(make_problem(one, SHOWN), SPACE) for one in names]
        return store, store.create_session(settings, problems)

    yield make
    for store in opened:
        store.close()


def go(store, session, proposer, given=None, concurrency=1, **options):
    used = store.usage(session)["by_kind"].get("model", {})
    return in_sandbox(
        lambda one: run_session(
            store, session, proposer=proposer, oracle=one, concurrency=concurrency,
            budget=Budget.from_settings(given or {}, used), **options,
        )
    )  # fmt: skip


def rules(make_answer, count):
    texts = [make_answer(f"def f(x):\n    return x if x[0] > {n} else [{n}]") for n in range(count)]
    return [Reply(text, usage=EACH) for text in texts]


def open_problems(store, session):
    return [row.problem.id for row in store.problems(session) if row.status == "open"]


def test_no_call_is_made_once_the_tokens_are_spent(session_of, make_answer):
    store, session = session_of(["one", "two"])
    proposer = Counting(rules(make_answer, 2))
    outcome = go(store, session, proposer, {"budget_tokens": 200})
    assert outcome["status"] == "budget" and outcome["failed"] == {}
    assert proposer.asked == 2 and "200 tokens is spent (200 so far)" in outcome["cause"]
    assert open_problems(store, session) == ["one", "two"]
    assert store.session(session)["status"] == "budget"


def test_what_the_journal_holds_is_counted_on_resume(session_of, make_answer):
    store, session = session_of(["one", "two"])
    go(store, session, Counting(rules(make_answer, 2)), {"budget_tokens": 200})
    again = Counting(rules(make_answer, 2))
    assert go(store, session, again, {"budget_tokens": 200})["status"] == "budget"
    assert again.asked == 0
    assert go(store, session, again, {"budget_tokens": 300})["status"] == "budget"
    assert again.asked == 2  # the third call ("exhausted") costs nothing, so one more is made


def test_a_session_that_was_stopped_by_its_budget_ends_as_one_that_was_not(session_of, make_answer):
    names = ["one", "two", "three"]
    store, session = session_of(names)
    for _ in range(12):
        spent = store.usage(session)["tokens_in"] + store.usage(session)["tokens_out"]
        outcome = go(store, session, Counting(rules(make_answer, 2)), {"budget_tokens": spent + 1},
                     concurrency=3)  # fmt: skip
        if outcome["status"] == "done":
            break
    whole_store, whole = session_of(names, "whole")
    assert go(whole_store, whole, Counting(rules(make_answer, 2)))["status"] == "done"
    assert outcome["status"] == "done" and store.digest(session) == whole_store.digest(whole)


def test_calls_in_flight_are_let_finish_and_kept(session_of, make_answer):
    store, session = session_of(["one", "two", "three"])
    proposer = Counting(rules(make_answer, 1), delay_s=0.2)
    outcome = go(store, session, proposer, {"budget_tokens": 1}, concurrency=3)
    assert outcome["status"] == "budget" and proposer.asked == 3
    assert store.usage(session)["calls"] >= 3 and len(list(store.steps(session))) == 3


def test_a_budget_binds_on_estimates_and_says_so(session_of, make_answer):
    store, session = session_of(["one"])
    replies = [replace(one, usage=EstimatedUsage(60, 40)) for one in rules(make_answer, 5)]
    proposer = Counting(replies)
    outcome = go(store, session, proposer, {"budget_tokens": 200})
    assert outcome["status"] == "budget" and proposer.asked == 2
    assert "(200 so far, 2 of the calls estimated)" in outcome["cause"]
    assert store.usage(session)["tokens_in"] == 120


def test_dollars_are_counted_by_the_given_prices(session_of, make_answer):
    store, session = session_of(["one"])
    given = {"budget_usd": 0.0003, "price_in": 1.0, "price_out": 4.0, "price_cached": 0.5}
    proposer = Counting(rules(make_answer, 5))  # each 40*1 + 20*0.5 + 40*4 = 210 millionths
    outcome = go(store, session, proposer, given)
    assert outcome["status"] == "budget" and proposer.asked == 2
    assert "0.0003 US dollars is spent (0.00042 so far)" in outcome["cause"]
    told = add_costs(store.usage(session), given)
    assert told["cost_usd"] == told["by_role"]["propose"]["cost_usd"] == pytest.approx(0.00042)


def test_the_last_call_of_a_session_may_use_up_its_budget(session_of, make_answer):
    store, session = session_of(["one"])
    cut = [make_answer("no code at all")] * 3
    replies = [Reply(text, usage=EACH) for text in cut]
    assert go(store, session, Counting(replies), {"budget_tokens": 300})["status"] == "done"


def test_a_session_stops_at_so_many_failures_and_leaves_the_rest_open(session_of, make_answer):
    names = ["one", "two", "three", "four", "five"]
    store, session = session_of(names)
    down = Counting({"one": rules(make_answer, 1), "*": [Unavailable("It is down.")]})
    outcome = go(store, session, down, max_failures=2)
    assert outcome["status"] == "failed" and "2 problems failed" in outcome["cause"]
    assert outcome["failed"] == dict.fromkeys(("two", "three"), "It is down.")
    assert open_problems(store, session) == ["four", "five"]
    mended = go(store, session, Counting(rules(make_answer, 1)), retry_failed=True)
    assert mended["status"] == "done" and mended["done"] == 5 and mended["cause"] == ""


def test_without_cached_price_cached_tokens_cost_as_all_that_go_in():
    usage = {"tokens_in": 1_000_000, "tokens_out": 0, "tokens_cached": 400_000}
    assert Prices(2.0, 9.0).cost_usd(usage) == 2.0
    assert Prices(2.0, 9.0, 0.0).cost_usd(usage) == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"budget_usd": 1.0}, "price_in and price_out"),
        ({"budget_usd": 1.0, "price_in": 1.0}, "price_out"),
        ({"price_cached": 1.0}, "price_in"),
        ({"budget_tokens": 0}, "budget_tokens"),
        ({"budget_usd": float("nan"), "price_in": 1.0, "price_out": 1.0}, "budget_usd"),
        ({"price_in": -1.0, "price_out": 1.0}, "price_in"),
        ({"max_failures": -3}, "max_failures"),
    ],
)
def test_a_budget_that_cannot_be_is_a_usage_error_by_name(given, word):
    with pytest.raises(UsageError, match=word):
        BudgetConfig(**given)


def test_a_budget_that_is_not_reached_stops_nothing():
    budget = Budget.from_settings({"budget_tokens": 100}, {"tokens_in": 50, "tokens_out": 49})
    budget.check()
    budget.count(Usage(1, 0, 0, 0))
    with pytest.raises(BudgetSpent):
        budget.check()
