"""The options, the forecast and the findings of a session with a second proposer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import peirce
import pytest
from labelled_session import PLAIN, data_set, write_lines
from peirce.agents.scripted import ScriptedProposer
from peirce.records import UsageError
from peirce.store import Store

BUDGET = {"problems": 3, "seed": 1, "observations": 4, "workers": 1}
SMALL = ["then.budget_expansions=3000"]


@pytest.fixture
def nothing(tmp_path: Path) -> str:
    """A model whose answers are never hypotheses."""
    (tmp_path / "nothing.json").write_text(json.dumps({"*": ["no idea"] * 9}))
    return f"scripted:{tmp_path / 'nothing.json'}"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "s.duckdb"


def run(store: Path, model: Any, **more: Any) -> peirce.Session:
    return peirce.run("list_functions", model=model, store=store, **BUDGET, **more)


def test_the_search_finds_what_a_model_does_not_and_findings_name_it(store, nothing):
    found = run(store, nothing, then="search", role=SMALL, max_answers=2)
    assert found.status == "done"
    assert {one.found_by for one in found.findings()} == {"search"}
    rows = json.loads(json.dumps([dict(one) for one in found.findings()], default=dict))
    assert all(row["found_by"] == "search" for row in rows)
    assert peirce.replay(store=store).differences == []


def test_a_model_is_not_asked_where_the_search_finds_something(store, nothing):
    found = run(store, "search", then=nothing, max_answers=2, budget_expansions=3_000)
    solved, asked_then = set(), set()
    for step in peirce.load(found.session, store=store).steps:
        verdicts = {str(one.verdict) for answer in step.answers for one in answer.judged}
        solved |= {step.problem} if "accepted" in verdicts else set()
        asked_then |= {step.problem} if step.fields["proposed_by"] == "then" else set()
    assert found.status == "done" and len(solved) == 2 and len(asked_then) == 1
    assert not solved & asked_then
    assert {one.found_by for one in found.findings()} == {"search"}


def test_a_session_with_one_proposer_names_nobody(store):
    found = run(store, "search", max_answers=1, budget_expansions=3_000)
    assert all("found_by" not in dict(one) for one in found.findings())


def test_a_resumed_session_keeps_its_second_proposer(store, nothing):
    whole = run(store, nothing, then="search", role=SMALL, max_answers=2)
    with pytest.raises(KeyboardInterrupt):
        run(
            store, nothing, then="search", role=SMALL, max_answers=2, on_event=interrupt_at_handover
        )
    assert peirce.resume(store=store).digest == whole.digest


def interrupt_at_handover(event: Any) -> None:
    if event["type"] == "handed_over":
        raise KeyboardInterrupt


def test_settings_alone_make_the_first_model_its_own_second(store, nothing):
    found = run(store, nothing, roles={"then": {"model_arg": {}, "model": nothing}}, max_answers=2)
    asked = [one.path for one in peirce.show(calls=True, store=store) if one.kind == "model"]
    assert found.status == "done" and len(asked) == 3 * 4


@pytest.mark.parametrize(("method", "answers"), [("abduce", 7), ("refine", 7), ("io", 1)])
def test_the_forecast_counts_both_proposers(store, nothing, method, answers):
    more = {} if method == "io" else {"max_answers": answers, "tool_calls": 0}
    calls = peirce.plan("list_functions", model=nothing, then="search", method=method, store=store,
                        **BUDGET, **more).calls  # fmt: skip
    assert calls["proposer"].most == calls["then"].most == 3 * answers
    assert calls["then"].least == 0


def test_seeds_that_may_reach_the_target_leave_no_call_for_certain(store, nothing):
    def least(**more: Any) -> int:
        calls = peirce.plan("list_functions", model=nothing, store=store, **BUDGET, **more).calls
        return calls["proposer"].least

    assert least(method="refine", seed_hypotheses=2) == 0
    assert least(method="refine", seed_hypotheses=2, problem_tokens=99) == 0
    assert least(method="refine") == least(method="abduce", seed_hypotheses=2) == 3


def test_the_forecast_counts_the_judging_of_both_proposers_answers(tmp_path, store):
    options = {"data": data_set(tmp_path), "model": "ollama:m", "method": "io", "judge": "model",
               "hypotheses": 2, "store": store}  # fmt: skip
    one = peirce.plan("labels", **options).calls
    two = peirce.plan("labels", then="ollama:n", **options).calls
    assert two["judge"].most > one["judge"].most and two["judge"].least == one["judge"].least
    assert two["then"].most == one["proposer"].most == two["proposer"].most


@pytest.fixture
def mixed(tmp_path: Path) -> dict[str, Any]:
    """Options of a session whose rows no word divides, and whose second model labels texts by
    their number."""
    place = data_set(tmp_path)
    for split in ("train", "val", "test"):
        count = len((place / f"{split}.jsonl").read_text().splitlines())
        rows = [
            {"review": f"visit {n}", "label": ("bad", "good")[n * n % 7 > 2]} for n in range(count)
        ]
        write_lines(place / f"{split}.jsonl", rows)
    good = [n for n in range(24) if n * n % 7 > 2]
    rules = [
        {
            "when": f"Input:[^:]*visit ({'|'.join(map(str, good))})\\b(?![\\s\\S]*Input:)",
            "say": "Final answer: good",
        },
        {"when": "Final answer", "say": "Final answer: bad"},
    ]
    (tmp_path / "model.json").write_text(json.dumps({"rules": rules, "otherwise": f"1. {PLAIN}"}))
    return {"data": place, "then": f"scripted:{tmp_path / 'model.json'}", "observations": 24,
            "max_answers": 1, "method": "abduce"}  # fmt: skip


def test_the_second_model_judges_texts_where_the_search_cannot(store, mixed):
    found = peirce.run("labels", model="search", store=store, **mixed)
    settings = peirce.load(found.session, store=store).settings
    players = settings["operational"]["players"]
    assert settings["text"]["judge"] == "auto" and players["judge"] == players["then"]
    assert settings["roles"]["judge"] == settings["roles"]["then"]
    assert [(one.hypothesis, one.found_by) for one in found.findings()] == [(PLAIN, mixed["then"])]
    assert found.usage["by_kind"]["model"]["calls"] > 24
    assert peirce.replay(store=store).differences == []


def test_the_judge_has_the_prices_of_the_second_model(store, mixed):
    roles = {"then": {"price_in": 2.0, "price_cached": 1.0}, "judge": {"price_in": 3.0}}
    model = mixed.pop("then")
    found = peirce.run(
        "labels", model="search", then=model, roles=roles, price_in=1.0, price_out=1.0, store=store, **mixed
    )  # fmt: skip
    opened = Store.open(store, write=False)
    try:
        priced = opened.session(found.session)["spending"]["role_prices"]
    finally:
        opened.close()
    then = {"price_in": 2.0, "price_cached": 1.0}
    assert priced == {"judge": {**then, "price_in": 3.0}, "then": then}


@pytest.mark.parametrize(
    ("more", "judge"),
    [
        ({}, "ollama:n"),
        ({"judge": "model"}, "ollama:n"),
        ({"judge_model": "ollama:j"}, "ollama:j"),
        ({"judge": "exact"}, None),
        ({"then": "search"}, None),
        ({"then": None}, None),
        ({"model": "ollama:m"}, None),
    ],
)  # fmt: skip
def test_a_dry_run_counts_and_names_the_judge(tmp_path, store, mixed, more, judge):
    options = {**mixed, "model": "search", "then": "ollama:n", "store": store, **more}
    found = peirce.plan("labels", **options)
    assert dict(found).get("judge") == judge
    asks = judge is not None or options["model"] != "search"
    assert (found.calls["judge"].most > 0) == asks
    assert (found.calls["judge"].least > 0) == (more == {"judge": "model"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"then": "serch"}, "serch"),
        ({"then": "search", "method": "t3"}, "method t3 takes no second proposer; abduce, io, refine do"),
        ({"role": ["then.temprature=1"]}, "role then has no setting 'temprature'"),
        ({"then": "search", "role": ["then.top_p=1"]}, "does not take a setting 'top_p'"),
    ],
)  # fmt: skip
def test_a_second_proposer_that_cannot_be_is_refused_in_one_sentence(store, options, said):
    with pytest.raises(UsageError, match=said):
        run(store, "search", **options)
    assert not store.exists()


def test_an_object_needs_another_model_as_its_second(store):
    with pytest.raises(UsageError, match="role then: choose its model explicitly"):
        run(store, ScriptedProposer({"*": []}), role=["then.temperature=1"])
