"""The cache across sessions: what one session of a store was answered, no other asks again.

The tests share one finished session: each goes on in a copy of its store."""

from __future__ import annotations

import functools
import shutil
import sys
from pathlib import Path

import peirce
import pytest
from peirce import cli

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from faulty_server import FaultyServer

SPACE = Path(__file__).with_name("twelve_lists.jsonl")  # what is claimed here does not depend on it
OPTIONS = {"problems": 4, "max_answers": 4, "workers": 1, "temperature": 0.7, "space": SPACE}


def session_on(server, store, **more):
    options = {**OPTIONS, "model": f"{server.url}#m", "store": store, **more}
    return peirce.run("list_functions", **options)


@pytest.fixture(scope="module")
def server():
    """The endpoint of the first session, which other sessions ask too."""
    with FaultyServer() as opened:
        yield opened


@pytest.fixture(scope="module")
def begun(server, tmp_path_factory):
    """The first session, its store, and how many requests it made."""
    store = tmp_path_factory.mktemp("first") / "s.duckdb"
    before = server.requests
    session = session_on(server, store, price_in=1.0, price_out=2.0)
    return session, store, server.requests - before


@pytest.fixture
def first(begun, tmp_path):
    """The first session, in a copy of its store that only this test writes to."""
    shutil.copyfile(begun[1], tmp_path / "s.duckdb")
    return begun[0]


@pytest.fixture
def run(tmp_path):
    """run(server, **options) -> a session in this test's store."""
    return functools.partial(session_on, store=tmp_path / "s.duckdb")


def test_a_second_run_of_the_same_session_makes_no_request(run, server, begun, first):
    assert begun[2] == first.usage["by_kind"]["model"]["calls"] > 8
    asked = server.requests
    second = run(server)
    assert server.requests == asked
    assert second.session != first.session
    assert second.digest == first.digest
    assert (second.steps, second.verdicts) == (first.steps, first.verdicts)
    model = second.usage["by_kind"]["model"]
    assert model["repeated"] == model["calls"] == first.usage["by_kind"]["model"]["calls"]
    assert model["tokens_in"] == model["tokens_out"] == 0
    assert first.usage["by_kind"]["model"]["repeated"] == 0


def test_rounds_ask_apart_and_another_session_asks_none_of_them(run):
    options = {"method": "t3", "rounds": 2, "max_answers": None, "problems": 2}
    with FaultyServer() as server:
        first = run(server, **options)
        assert server.requests == first.usage["by_kind"]["model"]["calls"] == 12
        second = run(server, **options)
        assert server.requests == 12
    assert first.usage["by_kind"]["model"]["repeated"] == 0
    assert second.digest == first.digest


def test_a_third_run_repeats_the_first_and_replays(run, server, first, tmp_path):
    run(server)
    third = run(server)
    trace = peirce.load(third.session, store=tmp_path / "s.duckdb")
    assert trace.digest == first.digest
    assert peirce.replay(third.session, store=tmp_path / "s.duckdb")["differences"] == []


def test_the_cost_of_calls_counts_the_models_and_their_tools_apart(run, server, first):
    second = run(server)
    roles = second.usage["by_role"]
    calls = roles["propose"]["calls"]
    assert calls == roles["propose"]["repeated"] == second.usage["by_kind"]["model"]["calls"]
    tools = roles["propose/tool"]["calls"]
    assert tools > 0 and calls + tools + roles["judge"]["calls"] == second.usage["calls"]


def test_the_command_line_says_how_many_calls_were_repeated(server, first, tmp_path, capsys):
    words = [f"--{key.replace('_', '-')}={value}" for key, value in OPTIONS.items()]
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", "list_functions", *words, "--model", f"{server.url}#m",
                  "--store", str(tmp_path / "s.duckdb")])  # fmt: skip
    calls = first.usage["by_kind"]["model"]["calls"]
    assert not ended.value.code
    assert f"cost      propose: {calls} calls, {calls} repeated\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "other", [{"cache": False}, {"seed": 5}, {"temperature": 0.8}, {"max_tokens": 9}]
)
def test_what_is_asked_otherwise_or_without_the_cache_is_asked(run, server, first, other):
    asked = server.requests
    second = run(server, problems=2, **other)
    assert server.requests > asked
    assert second.usage["repeated"] == 0


def test_another_endpoint_is_asked_though_its_model_has_the_same_name(run, begun, first):
    with FaultyServer() as two:
        second = run(two)
        assert two.requests == begun[2] > 0
    assert second.digest == first.digest  # where a model is reached shapes no answer


def test_a_longer_run_asks_for_what_is_new_alone(run, server, first):
    asked = server.requests
    longer = run(server, problems=6)
    model = longer.usage["by_kind"]["model"]
    assert model["repeated"] == first.usage["by_kind"]["model"]["calls"]
    assert server.requests == asked + model["calls"] - model["repeated"] > asked


def test_a_spent_budget_stops_no_answer_from_the_cache(run, server, first):
    second = run(server, budget_tokens=1)
    assert second.status == "done" and second.digest == first.digest


def test_a_budget_is_not_charged_for_repeated_answers(run, server, first):
    priced = run(server, price_in=1.0, price_out=2.0)
    assert priced.usage["cost_usd"] == 0 < first.usage["cost_usd"]


def test_each_call_is_accounted_for_and_names_the_session_that_it_repeats(
    run, server, first, tmp_path
):
    store = tmp_path / "s.duckdb"
    second = run(server, price_in=1.0, price_out=2.0)
    made, again = (
        [row for row in peirce.show(one.session, calls=True, store=store) if row["kind"] == "model"]
        for one in (first, second)
    )
    assert [row["path"] for row in made] == [row["path"] for row in again]
    assert {row["repeats"] for row in made} == {""}
    assert {row["repeats"] for row in again} == {first.session}
    assert {(row["tokens_in"], row["tokens_out"]) for row in made} == {(11, 7)}
    assert sum(row["cost_usd"] for row in made) == pytest.approx(first.usage["cost_usd"], abs=1e-5)
    assert sum(row["cost_usd"] for row in again) == 0
    assert all(row["seconds"] > 0 for row in made)
    one = peirce.show(first.session, made[0]["problem"], calls=True, store=store)
    assert {row["problem"] for row in one} == {made[0]["problem"]}
    assert {row["kind"] for row in one} == {"model", "tool"}
