"""Checks whole sessions on models of named providers: the stored name, other roles, resume, and that no
key of one provider reaches another or the store. Servers on the loopback play the providers."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from chat_server import ChatServer, completion
from labelled_session import Model, data_set
from peirce.records import PROVIDERS
from scripted_run import TAIL

WRITER, JUDGE = "planted-anthropic-4711", "planted-groq-0815"


@pytest.fixture
def folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ANTHROPIC_API_KEY", WRITER)
    monkeypatch.setenv("GROQ_API_KEY", JUDGE)
    return folder


def point(monkeypatch: pytest.MonkeyPatch, name: str, server: ChatServer) -> None:
    monkeypatch.setitem(PROVIDERS, name, PROVIDERS[name]._replace(url=server.url))


def keys(server: ChatServer) -> set[str]:
    return {request["headers"]["authorization"] for request in server.requests}


def test_a_session_on_a_provider_has_its_name_and_goes_on_where_its_budget_ended(
    peirce, folder, monkeypatch
):
    with ChatServer([lambda request: completion({"content": TAIL})]) as server:
        point(monkeypatch, "anthropic", server)
        run = ["run", "list_functions", "--problems", "2", "--max-answers", "2", "--workers", "1",
               "--concurrency", "1", "--model", "anthropic:claude-x", "--budget-tokens", "20"]  # fmt: skip
        code, out, err = peirce(*run)
        assert code == 3 and "model    anthropic:claude-x" in err, err
        begun = len(server.requests)
        again = re.search(r"^next +peirce (.+)$", out, re.M)[1].split()

        monkeypatch.delenv("ANTHROPIC_API_KEY")
        code, _, err = peirce(*again)
        assert code == 2 and "ANTHROPIC_API_KEY, which is not set" in err
        monkeypatch.setenv("ANTHROPIC_API_KEY", WRITER)
        assert len(server.requests) == begun

        code, out, err = peirce("resume", again[1], "--budget-tokens", "9999", "--json", "--quiet")
        assert (code, err) == (0, "") and len(server.requests) > begun
    told = json.loads(out)
    assert (told["status"], told["model"]) == ("done", "anthropic:claude-x")
    listed = peirce("sessions", "--json")[1]
    (stored,) = json.loads(listed)
    assert stored["model"] == "anthropic:claude-x"
    assert keys(server) == {f"Bearer {WRITER}"} and WRITER not in listed


@pytest.mark.parametrize("flags", [["--judge-model", "groq:judges"], ["--role", "judge.model=groq:judges"]])  # fmt: skip
def test_another_role_has_a_provider_and_a_key_of_its_own(peirce, folder, monkeypatch, flags):
    data_set(folder)
    model = Model(
        answer="1. Texts that sound pleased are good.\n2. Texts that sound cross are bad."
    )

    def answer(request):
        return completion({"content": model(request["messages"])})

    with ChatServer([answer]) as writer, ChatServer([answer]) as judge:
        point(monkeypatch, "anthropic", writer)
        point(monkeypatch, "groq", judge)
        code, out, err = peirce(
            "run", "labels", "--data", "meals", "--method", "hypogenic", "--observations", "8",
            "--problems", "1", "--model", "anthropic:writes", *flags, "--json", "--quiet",
        )  # fmt: skip
    assert code == 0, err
    assert keys(writer) == {f"Bearer {WRITER}"} and keys(judge) == {f"Bearer {JUDGE}"}
    assert {request["model"] for request in judge.requests} == {"judges"}
    assert json.loads(out)["usage"]["by_role"]["judge"]["calls"] > 0
    listed = peirce("sessions", "--json")[1]
    assert "groq:judges" in listed and WRITER not in listed and JUDGE not in listed


def test_a_local_provider_runs_without_any_key(peirce, folder, monkeypatch):
    with ChatServer([lambda request: completion({"content": TAIL})]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url.removeprefix("http://").removesuffix("/v1"))
        code, out, err = peirce(
            "run", "list_functions", "--problems", "1", "--max-answers", "1", "--workers", "1",
            "--model", "ollama:qwen3:8b", "--json", "--quiet",
        )  # fmt: skip
    assert (code, err) == (0, "") and json.loads(out)["model"] == "ollama:qwen3:8b"
    assert keys(server) == {"Bearer none"}
