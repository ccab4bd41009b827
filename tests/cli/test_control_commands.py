"""The commands that control a session, on the command line: what they print, and their exit codes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from chat_server import ChatServer, completion
from scripted_run import RUN, TAIL, put_files

TIMEOUT_S = 120
KEYS = [
    "session", "status", "store", "pid", "task", "method", "model", "problems", "done", "failed",
    "open", "steps", "verdicts", "usage", "seconds", "concurrency", "budget_tokens", "budget_usd",
    "in_flight", "running", "questions", "log",
]  # fmt: skip


def await_state(peirce, holds):
    until = time.monotonic() + TIMEOUT_S
    while not holds(found := json.loads(peirce("status", "--json")[1])):
        assert time.monotonic() < until, found
        time.sleep(0.05)
    return found


def test_a_session_that_nobody_runs_has_a_state_and_takes_no_command(peirce):
    put_files()
    code, out, _ = peirce(*RUN, "--json")
    ran = json.loads(out)
    assert code == 0
    code, out, err = peirce("status", "--json")
    told = json.loads(out)
    assert (code, err, list(told)) == (0, "", KEYS)
    assert (told["session"], told["status"], told["pid"]) == (ran["session"], "done", 0)
    assert Path(told["store"]) == Path("peirce.duckdb").resolve() and told["open"] == 0
    code, out, _ = peirce("status")
    assert code == 0 and out.startswith(f"Session {ran['session']}: done\nexamples, abduce, ")
    assert "store peirce.duckdb\n1 problem: 1 done, 0 failed, 0 open;" in out
    for words in (["pause"], ["continue"], ["stop"], ["adjust", "--concurrency", "2"]):
        code, out, err = peirce(*words, "--json")
        assert (code, out, err) == (1, "", f"peirce: session {ran['session']} is done\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["adjust"], "nothing to change: set concurrency, budget_tokens or budget_usd"),
        (["adjust", "--concurrency", "0"], "concurrency is 0: it must be at least 1"),
        (["adjust", "--concurrency", "1001"], "concurrency is 1001: it must be at most 1,000"),
        (["adjust", "--budget-tokens", "-1"], "budget_tokens is -1: it must be"),
        (["adjust", "--budget-tokens", "9" * 5000], ""),
        (["adjust", "--budget-usd", "nan"], ""),
        (["adjust", "--budget-usd", "inf"], ""),
    ],
)
def test_a_value_out_of_bounds_is_a_usage_error(peirce, words, sentence):
    put_files()
    peirce(*RUN)
    code, out, err = peirce(*words)
    assert (code, out) == (2, "") and err.count("\n") == 1 and err.startswith(f"peirce: {sentence}")


def test_a_detached_session_is_paused_continued_stopped_and_resumed(peirce):
    put_files()
    with ChatServer([lambda request: completion({"content": TAIL})]) as server:
        run = [
            "run",
            "list_functions",
            "--problems",
            "3",
            "--model",
            f"{server.url}#m",
            "--workers",
            "1",
        ]
        code, out, err = peirce(*run, "--detach", "--json", "--model-arg", "requests_per_minute=60")
        told = json.loads(out)
        assert (code, err, list(told)) == (0, "", KEYS) and told["pid"]
        code, out, _ = peirce("pause")
        assert code == 0 and out.startswith(
            f"Session {told['session']}: paused, process {told['pid']}\n"
        )
        assert out.endswith(f"To go on, run: peirce continue {told['session']}\n")
        assert f"Log: {told['log']}\n" in out and "in flight" in out
        code, out, _ = peirce("adjust", "--concurrency", "2", "--json")
        assert code == 0 and json.loads(out)["concurrency"] == 2
        code, out, _ = peirce("adjust", "--budget-usd", "2")
        assert code == 1
        code, out, _ = peirce("continue", "--json")
        assert code == 0 and json.loads(out)["status"] == "running"
        code, out, _ = peirce("stop", "--json")
        assert code == 0 and json.loads(out)["status"] in ("stopping", "interrupted")
        stopped = await_state(peirce, lambda found: not found["pid"])
        assert stopped["status"] == "interrupted"
        code, out, _ = peirce("resume", "--detach")
        assert code == 0 and out.startswith(f"Session {told['session']}: ")
        ended = await_state(peirce, lambda found: not found["pid"])
        assert ended["status"] == "done" and ended["concurrency"] == 2
        log = Path(told["log"]).read_text()
        assert log.count(f"session  {told['session']}") == 2 and "Paused: " in log
        assert "Changed: concurrency 2\n" in log and "The session goes on.\n" in log


def test_a_detached_run_that_cannot_begin_ends_like_one_that_is_not_detached(peirce):
    for words in (["nosuch"], ["examples", "--data", "nosuch.jsonl"],
                  ["list_functions", "--method", "nosuch"]):  # fmt: skip
        here, detached = peirce("run", *words), peirce("run", *words, "--detach")
        assert detached[0] == here[0] and detached[1] == "" and here[2].endswith(detached[2]), words
    assert not list(Path().iterdir())


def test_a_key_goes_to_no_address_that_only_a_file_names_also_from_a_detached_run(
    peirce, monkeypatch
):
    Path("peirce.toml").write_text('model = "http://lab.invalid:8000/v1#m"\n')
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret-secret")
    monkeypatch.setenv("PEIRCE_API_KEY", "sk-secret-secret-secret")
    for more in ([], ["--detach"]):
        code, _, err = peirce("run", "list_functions", "--problems", "1", *more)
        assert (
            code != 0 and "peirce.toml of the working folder chooses http://lab.invalid:8000" in err
        )
