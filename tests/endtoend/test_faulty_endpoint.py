"""Whole sessions over real HTTP against an endpoint that fails: what it found does not change."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from peirce.agents import open_model
from peirce.graphs.runner import run_session
from peirce.records import InputSet, Observation, Problem
from peirce.sandbox import open_sandbox
from peirce.store import Store
from peirce.verbs.settings import split_model

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from faulty_server import FAULTS, FaultyServer, made_up

SPACE = InputSet("lists", tuple([n] * length for n in range(3) for length in range(4)))
SHOWN = (Observation([3], [3]), Observation([5, 1], [5, 1]))
QUICK = {"backoff_s": 0.01, "timeout_s": 5.0}


def session_over(server, path, problems, concurrency, **settings):
    """(outcome, digest, usage, verdicts) of a session on so many problems."""
    named = [Problem(f"p{n}", "examples", "programs", SHOWN) for n in range(problems)]

    async def whole():
        proposer = await open_model(f"{server.url}#m", {**QUICK, **settings})
        sandbox = await open_sandbox("process", workers=2)
        try:
            with Store.open(path, write=True) as store:
                known = {"task": "examples", "method": "abduce", "model": "m", "seed": 0,
                         "max_answers": 2, "tool_calls": 2,
                         "model_settings": split_model(proposer.settings())[0]}  # fmt: skip
                session = store.create_session(known, [(one, SPACE) for one in named])
                outcome = await run_session(
                    store, session, proposer=proposer, sandbox=sandbox, concurrency=concurrency
                )
                verdicts = {str(judged.verdict) for step in store.steps(session)
                            for answer in step.answers for judged in answer.judged}  # fmt: skip
                return outcome, store.digest(session), store.usage(session), verdicts
        finally:
            await sandbox.close()
            await proposer.close()

    return asyncio.run(whole())


def test_200_problems_with_20_percent_faults_have_the_digest_of_a_run_without(tmp_path):
    with FaultyServer() as server:
        clean = session_over(server, tmp_path / "clean.duckdb", 200, 32)
        asked = server.requests
    with FaultyServer(seed=1, rate=0.2) as server:
        faulty = session_over(server, tmp_path / "faulty.duckdb", 200, 32)
        assert set(server.faults) == set(FAULTS)
        assert 0.15 < server.faults.total() / server.requests < 0.25
        assert server.requests >= asked + server.faults.total()
    assert clean[0] == faulty[0] and clean[0]["done"] == 200
    assert clean[1] == faulty[1]
    assert {"accepted", "redundant", "malformed"} <= clean[3] == faulty[3]
    assert faulty[2]["retries"] >= server.faults.total()
    assert clean[2]["tokens_in"] == faulty[2]["tokens_in"] > 0


def test_the_server_streams_the_same_answer_as_it_sends_whole():
    import openai

    request = {"model": "m", "messages": [{"role": "user", "content": "seven"}], "seed": 4}
    with FaultyServer() as server:
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        whole = client.chat.completions.create(**request)
        parts = client.chat.completions.create(**request, stream=True)
        text = "".join(part.choices[0].delta.content or "" for part in parts if part.choices)
    assert text == whole.choices[0].message.content == made_up(request)["content"]
