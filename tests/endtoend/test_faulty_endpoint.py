"""Whole sessions over real HTTP against an endpoint that fails: what it found does not change. With
every change 40 problems meet each kind of fault, in `make soak` 200 do."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
import time
from pathlib import Path

import pytest
from peirce.agents import EndpointRefused, open_model
from peirce.graphs.runtime.runner import run_session
from peirce.records import InputSet, Observation, OracleSettings, Problem
from peirce.store import Store
from peirce.tools.execute import EXECUTE

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from faulty_server import FAULTS, FaultyServer, made_up

SPACE = InputSet("lists", tuple([n] * length for n in range(3) for length in range(4)))
SHOWN = (Observation([3], [3]), Observation([5, 1], [5, 1]))
QUICK = {"backoff_s": 0.01, "timeout_s": 5.0}


def session_over(
    server, path, problems, concurrency, *, answer_format="tuple", tool_calls=2, **settings
):
    """(outcome, digest, usage, verdicts) of a session on so many problems."""
    named = [Problem(f"p{n}", "examples", "programs", SHOWN) for n in range(problems)]

    async def whole():
        proposer = await open_model(f"{server.url}#m", {**QUICK, **settings})
        reached = ("endpoint", "transport")  # which a session records elsewhere
        shaping = {k: v for k, v in proposer.settings().items() if k not in reached}
        sandbox = await EXECUTE.open(OracleSettings(workers=2))
        try:
            with Store.open(path, write=True) as store:
                known = {"task": "examples", "method": "abduce", "model": "m", "seed": 0,
                         "max_answers": 2, "tool_calls": tool_calls, "answer_format": answer_format,
                         "model_settings": shaping}  # fmt: skip
                session = store.create_session(known, [(one, SPACE) for one in named])
                outcome = await run_session(
                    store, session, proposer=proposer, oracle=sandbox, concurrency=concurrency
                )
                verdicts = {str(judged.verdict) for step in store.steps(session)
                            for answer in step.answers for judged in answer.judged}  # fmt: skip
                return outcome, store.digest(session), store.usage(session), verdicts
        finally:
            await sandbox.close()
            await proposer.close()

    return asyncio.run(whole())


@pytest.fixture(scope="module")
def without_faults(tmp_path_factory):
    """without_faults(problems) -> what `session_over` gives at an endpoint that never fails, and its
    requests; asked for once."""
    folder, known = tmp_path_factory.mktemp("clean"), {}

    def whole(problems):
        if problems not in known:
            with FaultyServer() as server:
                found = session_over(server, folder / f"{problems}.duckdb", problems, 32)
                known[problems] = found, server.requests
        return known[problems]

    return whole


PROBLEMS = pytest.mark.parametrize("problems", [40, pytest.param(200, marks=pytest.mark.soak)])


@PROBLEMS
def test_problems_with_20_percent_faults_have_the_digest_of_a_run_without(
    without_faults, tmp_path, problems
):
    clean, asked = without_faults(problems)
    with FaultyServer(seed=2, rate=0.2) as server:
        faulty = session_over(server, tmp_path / "faulty.duckdb", problems, 32)
        assert set(server.faults) == set(FAULTS)
        assert 0.15 < server.faults.total() / server.requests < 0.25
        assert server.requests >= asked + server.faults.total()
    assert clean[0] == faulty[0] and clean[0]["done"] == problems
    assert clean[1] == faulty[1]
    assert {"accepted", "redundant", "malformed"} <= clean[3] == faulty[3]
    assert faulty[2]["retries"] >= server.faults.total()
    # Unusable answers for which the endpoint reports tokens are paid, so they count too.
    assert 0 < clean[2]["tokens_in"] <= faulty[2]["tokens_in"]


@PROBLEMS
def test_streamed_answers_have_the_same_digest_through_the_same_faults(
    without_faults, tmp_path, problems
):
    whole, _ = without_faults(problems)
    with FaultyServer(seed=2, rate=0.2) as server:
        streamed = session_over(server, tmp_path / "streamed.duckdb", problems, 32, stream=True)
        assert set(server.faults) == set(FAULTS)
        assert 0.15 < server.faults.total() / server.requests < 0.25
    assert whole[0] == streamed[0] and whole[1] == streamed[1] and whole[3] == streamed[3]
    assert streamed[2]["retries"] >= server.faults.total()
    for count in ("tokens_in", "tokens_out", "tokens_reasoning"):
        assert whole[2][count] == streamed[2][count] > 0


@pytest.mark.parametrize(
    ("code", "settings"),
    [(401, {}), (403, {}), (404, {}), (401, {"stream": True}), (404, {"tool_calls": 0}), (402, {})],
)
def test_a_session_that_is_refused_ends_in_seconds_with_one_sentence(tmp_path, code, settings):
    """Not one request more than were under way when the first refusal came."""
    begin = time.monotonic()
    with (
        FaultyServer(status=code) as server,
        pytest.raises(EndpointRefused, match=str(code)) as caught,
    ):
        session_over(server, tmp_path / "store.duckdb", 40, 32, **settings)
    assert time.monotonic() - begin < 15 and server.requests <= 32
    assert "\n" not in str(caught.value) and server.url in str(caught.value)
    with Store.open(tmp_path / "store.duckdb", write=False) as store:
        (session,) = store.sessions()
        assert {row.status for row in store.problems(session["session"])} == {"open"}


def test_an_endpoint_where_nothing_listens_ends_the_session_with_one_sentence(tmp_path):
    with FaultyServer() as server:
        gone = server
    begin = time.monotonic()
    with pytest.raises(EndpointRefused, match="could not be reached for") as caught:
        session_over(gone, tmp_path / "store.duckdb", 8, 4, outage_s=2, backoff_s=0.1)
    assert 2 <= time.monotonic() - begin < 15 and server.url in str(caught.value)
    with Store.open(tmp_path / "store.duckdb", write=False) as store:
        (session,) = store.sessions()
        assert {row.status for row in store.problems(session["session"])} == {"open"}


def test_a_session_lives_through_an_endpoint_that_starts_again(tmp_path):
    """It is away for longer than all retries of a call take, so none may be spent on that."""
    with FaultyServer() as server:
        whole = session_over(server, tmp_path / "whole.duckdb", 20, 8)

    def restart():
        with FaultyServer(delay_s=0.02) as first:
            begun.put(first)
            while first.requests < 16:
                time.sleep(0.01)
        time.sleep(2)
        with FaultyServer(port=first.port):
            over.wait()

    begun, over = queue.Queue(), threading.Event()
    thread = threading.Thread(target=restart)
    thread.start()
    try:
        begin = time.monotonic()
        back = session_over(begun.get(), tmp_path / "back.duckdb", 20, 8)
        assert time.monotonic() - begin > 2
    finally:
        over.set()
        thread.join()
    assert whole[:2] == back[:2] and back[0]["done"] == 20


@pytest.mark.parametrize("refuses", [["tools"], ["response_format"], ["tools", "response_format"]])
@pytest.mark.parametrize("stream", [False, True])
def test_a_session_goes_on_without_what_its_endpoint_does_not_take(tmp_path, refuses, stream):
    with FaultyServer(refuses=[*refuses, "stream_options"]) as server:
        outcome, _, usage, verdicts = session_over(
            server, tmp_path / "store.duckdb", 16, 8, answer_format="json", stream=stream
        )
    assert outcome["done"] == 16 and outcome["failed"] == {}
    assert "accepted" in verdicts
    assert usage["tokens_out"] > 0  # estimated, where it is told with stream_options alone
    # What was under way at the start. A response_format is tried twice: with a schema, then as
    # json_object.
    parts = len(refuses) + stream + ("response_format" in refuses)
    assert server.refusals <= 8 * parts + 2


def test_a_schema_is_honoured_where_no_tools_go_with_it(tmp_path):
    with FaultyServer() as server:
        _, _, _, verdicts = session_over(
            server, tmp_path / "store.duckdb", 16, 8, answer_format="json", tool_calls=0
        )
    assert "malformed" not in verdicts and "accepted" in verdicts


def test_a_context_that_is_too_small_fails_its_problem_with_the_figures(tmp_path):
    with FaultyServer(context_tokens=10) as server:
        outcome, *_ = session_over(server, tmp_path / "store.duckdb", 4, 2)
        assert server.requests == 0
    assert outcome["status"] == "failed" and len(outcome["failed"]) == 4
    assert all("10 tokens that the model holds" in cause for cause in outcome["failed"].values())


def test_the_server_streams_the_same_answer_as_it_sends_whole():
    import openai

    request = {"model": "m", "messages": [{"role": "user", "content": "seven"}], "seed": 4}
    with FaultyServer() as server:
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        whole = client.chat.completions.create(**request)
        parts = client.chat.completions.create(**request, stream=True)
        text = "".join(part.choices[0].delta.content or "" for part in parts if part.choices)
    assert text == whole.choices[0].message.content == made_up(request)["content"]
