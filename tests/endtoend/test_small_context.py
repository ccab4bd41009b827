"""Whole runs over HTTP with models of small contexts: whichever way the size becomes known, the
session goes on with shorter prompts, and a replay finds the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import peirce
import pytest
from peirce import cli
from peirce.store import Store

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from chat_server import ChatServer, completion, status

ROOM = 1_500  # tokens of four characters
ANSWER = repr(("keeps the first two", "def f(x):\n    return x[:2]"))


def size_of(request):
    return sum(len(str(one)) for one in request["messages"]) // 4


def answers(request, most=10**6):
    """Counts what it reads: at most so many tokens, half of them from its cache."""
    size = min(size_of(request), most)
    usage = {
        "prompt_tokens": size, "completion_tokens": 7, "total_tokens": size + 7,
        "prompt_tokens_details": {"cached_tokens": size // 2},
    }  # fmt: skip
    return completion({"content": ANSWER}, usage=usage)


def refuses(request):
    """As OpenAI does."""
    if size_of(request) <= ROOM:
        return answers(request)
    text = (
        f"This model's maximum context length is {ROOM} tokens. However, your messages resulted in "
        f"{size_of(request)} tokens. Please reduce the length of the messages."
    )
    return status(400, text, code="context_length_exceeded")(request)


def refuses_without_a_number(request):
    """As llama.cpp did."""
    wrong = status(400, "the request exceeds the available context size, try increasing it")
    return answers(request) if size_of(request) <= ROOM else wrong(request)


def cuts(request):
    """As Ollama does: drops what is too long, and counts what is left."""
    return answers(request, ROOM)


@pytest.fixture
def data(tmp_path):
    pairs = [{"input": [n] * (30 + n), "output": [n, n]} for n in range(1, 61)]
    file = tmp_path / "long.jsonl"
    file.write_text(json.dumps({"id": "long", "train": pairs, "test": []}) + "\n")
    return file


LISTED = {"data": [{"id": "m", "max_model_len": ROOM}]}


@pytest.mark.parametrize(
    ("behaviour", "gets", "settings"),
    [
        (refuses, {}, {}),
        (refuses_without_a_number, {}, {}),
        (cuts, {"/v1/models": LISTED}, {}),
        (answers, {}, {"context_tokens": ROOM}),
    ],
    ids=["refused with the size", "refused without it", "cut", "set by the user"],
)
def test_a_run_goes_on_with_the_observations_that_fit(tmp_path, data, behaviour, gets, settings):
    store = tmp_path / "store.duckdb"
    with ChatServer([behaviour], gets) as server:
        done = peirce.run(
            "examples", data=data, model=f"{server.url}#m", store=store, tool_calls=0,
            max_answers=3, model_arg={"retries": 0, **settings},
        )  # fmt: skip
        last = server.requests[-1]
    assert done.status == "done" and not done.failed and sum(done.verdicts.values()) == 3
    assert "of 60; a hypothesis is judged on all 60" in last["messages"][0]["content"]
    assert size_of(last) <= ROOM
    assert peirce.replay(done.session, store=store).differences == []
    with Store.open(store, write=False) as opened:
        calls = [one for one in opened.calls(done.session) if one["kind"] == "model"]
        assert calls[0]["response"]["finish"] == "too_long"
        assert all(one.fields["listed"] < 60 for one in opened.steps(done.session))


def test_with_refuse_the_problem_fails_in_one_sentence(tmp_path, data):
    with ChatServer([refuses]) as server:
        done = peirce.run(
            "examples", data=data, model=f"{server.url}#m", store=tmp_path / "s", tool_calls=0,
            fit="refuse",
        )  # fmt: skip
    (cause,) = done.failed.values()
    assert f"maximum context length is {ROOM} tokens" in cause and "\n" not in cause


def test_the_summary_says_how_much_of_the_input_was_cached(tmp_path, data, capsys):
    with ChatServer([answers]) as server:
        run = ("run", "examples", "--data", str(data), "--model", f"{server.url}#m", "--store",
               str(tmp_path / "s"), "--tool-calls", "0", "--max-answers", "2", "--quiet",
               "--problem-tokens", "10", "--patience", "5")  # fmt: skip
        with pytest.raises(SystemExit) as ended:
            cli.main(list(run))
    shown = capsys.readouterr().out
    assert not ended.value.code
    assert "tokens cached (50% of the input)" in shown
    assert "used the tokens allowed for one problem" in shown
