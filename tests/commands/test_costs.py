"""What results cost, in whole sessions: with two proposers, resumed, imported, failed and without tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.agents.scripted import ScriptedProposer
from peirce.records import Reply, Unavailable, Usage, UsageError

EACH = Usage(tokens_in=60, tokens_out=40, tokens_cached=20)
PRICES = {"price_in": 1.0, "price_out": 4.0, "price_cached": 0.5}
QUICK = {"problems": 2, "seed": 1, "observations": 4, "workers": 1}


def answer(body: str) -> str:
    return repr((body, f"def f(x):\n    return {body}"))


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Two problems: the sum of a list, and its length."""
    rows = [
        {"problem": name, "input": one, "output": rule(one)}
        for name, rule in (("sums", sum), ("sizes", len))
        for one in ([1, 2, 3], [5, 5], [9])
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "space.jsonl").write_text(
        "".join(f"{[n] * k}\n" for n in (1, 2) for k in range(1, 5))
    )
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "s.duckdb"


def run(pairs: Path, store: Path, model: Any, **more: Any) -> peirce.Session:
    options = {
        "data": pairs,
        "space": pairs.parent / "space.jsonl",
        "workers": 1,
        "tool_calls": 0,
        **more,
    }
    return peirce.run("examples", model=model, store=store, **options)


def counted(*bodies: str) -> ScriptedProposer:
    """A model with tokens that gives these answers to each problem."""
    return ScriptedProposer([Reply(answer(body), usage=EACH) for body in bodies])


def test_costs_follow_from_the_usage_and_the_verdicts(pairs, store):
    found = run(pairs, store, counted("sum(x)", "len(x)"), max_answers=2, **PRICES)
    costs = found.costs
    assert found.verdicts["accepted"] == costs["accepted"] == 2 and costs["solved"] == 2
    assert costs["total"]["calls"] == found.usage["by_kind"]["model"]["calls"] == 4
    assert costs["total"]["cost_usd"] == found.usage["cost_usd"] == pytest.approx(4 * 210e-6)
    assert costs["per_accepted"] == {
        "calls": 2.0, "tokens": 200.0, "seconds": pytest.approx(costs["total"]["seconds"] / 2, abs=1e-3),
        "cost_usd": pytest.approx(420e-6),
    }  # fmt: skip
    gamma = found.metrics["gamma"]
    assert costs["gamma"] == pytest.approx(gamma.mean * gamma.n)
    assert found.to_dict()["costs"] == costs and found.gain["problems"] == 2
    trace = peirce.load(store=store)
    assert (trace.costs, trace.gain, trace.judging) == (costs, found.gain, {})


def test_two_proposers_are_apart_in_usage_and_costs(pairs, store):
    found = run(pairs, store, counted("sum(x)", "[]", "[]", "[]"), then="search", max_answers=1)
    assert {role: found.usage["by_role"][role]["calls"] for role in ("propose", "then")} == {
        "propose": 2,
        "then": found.costs["by_role"]["then"]["calls"],
    }
    roles = found.costs["by_role"]
    assert (roles["proposer"]["accepted"], roles["proposer"]["solved"]) == (1, 1)
    assert (roles["then"]["accepted"], roles["then"]["solved"]) == (1, 1)
    assert roles["proposer"]["per_accepted"]["tokens"] == 200
    assert roles["then"]["per_accepted"]["tokens"] == 0
    assert found.gain["no_advice"] == "second_proposer" and found.gain["answers"][0]["answers"] == 2


def test_a_resumed_session_has_the_costs_of_the_whole(pairs, store):
    whole = run(pairs, store, counted("sum(x)", "len(x)"), max_answers=2, concurrency=1)
    steps = []

    def stop(event: Any) -> None:
        steps.extend([event] if event["type"] == "step" else [])
        if len(steps) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(pairs, store, counted("sum(x)", "len(x)"), max_answers=2, concurrency=1, on_event=stop,
            cache=False)  # fmt: skip
    part = peirce.compare(store=store).sessions[0]
    assert part.left_out and part.costs["total"]["calls"] < 4
    again = peirce.resume(store=store, model=counted("sum(x)", "len(x)"))
    assert again.digest == whole.digest
    for key in ("accepted", "solved", "gamma"):
        assert again.costs[key] == whole.costs[key]
    assert again.costs["total"]["tokens_in"] == whole.costs["total"]["tokens_in"]
    assert [row["accepted"] for row in again.gain["answers"]] == [
        row["accepted"] for row in whole.gain["answers"]
    ]


class Failing(ScriptedProposer):
    """Gives the sum for every problem, and is gone when the problem `sizes` is asked again."""

    async def propose(self, view: Any, messages: Any, *rest: Any) -> Reply:
        if view.past_answers and view.problem == "sizes":
            error = Unavailable("the model is gone")
            error.usage = EACH  # of its requests without a usable answer
            raise error
        return Reply(answer("len(x)" if view.past_answers else "sum(x)"), usage=EACH)


def test_failed_problems_cost_and_find_nothing_more(pairs, store):
    found = run(pairs, store, Failing([]), max_answers=2)
    assert list(found.failed) == ["sizes"] and found.costs["problems"] == 2
    assert found.costs["total"]["calls"] == 3 and found.costs["accepted"] == 1
    assert found.costs["total"]["tokens_in"] == 3 * EACH.tokens_in  # none of the failed call
    assert (found.gain["problems"], found.gain["left_out"]) == (1, 1)


def test_imported_answers_have_no_tokens(pairs, store, tmp_path):
    lines = [
        {"problem": "sums", "step": n, "answer": f"```python\ndef f(x):\n    return {body}\n```"}
        for n, body in enumerate(("sum(x)", "0"), 1)
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    found = peirce.import_recorded(
        tmp_path / "answers.jsonl", task="examples", data=pairs, store=store, workers=1,
        space=tmp_path / "space.jsonl",
    )  # fmt: skip
    costs = found.costs
    assert costs["accepted"] == 1 and costs["per_accepted"]["tokens"] == 0
    assert costs["total"]["tokens_in"] == 0 and "cost_usd" not in costs["total"]
    assert found.gain["no_advice"] == "method"


def test_the_search_costs_seconds_only(pairs, store):
    found = run(pairs, store, "search", max_answers=2, **PRICES)
    assert found.costs["per_accepted"]["seconds"] > 0 == found.costs["per_accepted"]["tokens"]
    assert found.costs["per_accepted"]["cost_usd"] == 0
    page = peirce.report(store=store, out=store.parent / "report.html")
    assert page.bytes > 0


def test_a_session_that_found_nothing_compares_with_one_that_did(pairs, store):
    nothing = run(pairs, store, counted("[]", "[]", "[]"), max_answers=3)
    found = run(pairs, store, counted("sum(x)", "len(x)"), max_answers=2)
    told = peirce.compare(nothing.session, found.session, "last", store=store)
    first, second = told.sessions  # a session that is named twice stands once
    assert (first.session, second.session) == (nothing.session, found.session)
    assert (
        first.costs["per_accepted"] is first.costs["per_solved"] is first.costs["per_gamma"] is None
    )
    assert first.costs["gamma"] == 0 and second.costs["accepted"] == 2
    assert set(second.metrics) >= {"gamma", "consistency"} and second.costs == found.costs
    assert "judging" not in first.to_dict() and "files" not in told.to_dict()
    assert json.loads(json.dumps(told.to_dict()))["sessions"][1]["gain"] == found.gain


def test_costs_are_written_as_csv_and_markdown(pairs, store, tmp_path):
    run(pairs, store, counted("sum(x)", "len(x)"), max_answers=2, **PRICES)
    for name in ("costs.csv", "costs.md"):
        assert peirce.compare(store=store, out=tmp_path / name).files == [str(tmp_path / name)]
    assert "tokens for each accepted hypothesis,200" in (tmp_path / "costs.csv").read_text()
    with pytest.raises(UsageError, match=r"must end in \.csv or \.md"):
        peirce.compare(store=store, out=tmp_path / "costs.txt")


def test_a_role_may_have_prices_of_its_own_also_after_a_resume(pairs, store):
    with pytest.raises(
        UsageError, match=r"then\.price_in is the price of one role: also set price_in"
    ):
        run(pairs, store, counted("[]"), then="search", role=["then.price_in=7"])
    with pytest.raises(UsageError, match=r"then\.price_in is a price, but the session has no model in the role then"):  # fmt: skip
        run(pairs, store, counted("[]"), role=["then.price_in=7"], **PRICES)
    assert not store.exists()
    roles = {"then": {"model": "search", "price_in": 7.0}}
    found = run(pairs, store, counted("[]", "[]", "[]"), roles=roles, max_answers=1, **PRICES)
    assert found.costs["by_role"]["then"]["cost_usd"] == 0  # a search has no tokens
    with peirce.store.Store.open(store, write=False) as opened:
        spending = opened.session(found.session)["spending"]
    assert spending == {**PRICES, "role_prices": {"then": {"price_in": 7.0}}}
    model = counted("[]", "[]", "[]")
    again = peirce.resume(found.session, store=store, model=model, price_in=2.0)
    fresh = found.usage["tokens_in"] - found.usage["tokens_cached"]
    assert again.usage["cost_usd"] == pytest.approx(found.usage["cost_usd"] + fresh * 1e-6)
    with peirce.store.Store.open(store, write=False) as opened:
        assert opened.session(found.session)["spending"] == {**spending, "price_in": 2.0}
