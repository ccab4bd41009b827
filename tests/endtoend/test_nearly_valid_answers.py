"""Whole sessions over real HTTP against a model whose answers are nearly of the right form: what is
recovered, what is malformed, and that the journal loses nothing. The server ignores the schema that it
is sent, as many do."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import Counter
from pathlib import Path

import peirce
import pytest
from peirce.store import Store

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from faulty_server import FaultyServer, draw
from forked_commands import start_command
from peirce.tests.cli.forked_command import run_command

PROBLEMS, ANSWERS = 3, 6
SPACE = Path(__file__).with_name("twelve_lists.jsonl")  # what is claimed here does not depend on it
OPTIONS = {"problems": PROBLEMS, "max_answers": ANSWERS, "answer_format": "json", "tool_calls": 2,
           "space": SPACE}  # fmt: skip


def answers(source: str) -> dict[str, str]:
    """One answer in each form, by what is wrong with it."""
    whole = json.dumps({"description": "it's one", "code": source})
    draft = json.dumps({"description": "a draft", "code": "def f(x):\n    return 0"})
    return {
        "": whole,
        "fence": f"```json\n{whole}\n```",
        "prose": f"This is it: {whole} I hope so.",
        "several_objects": f"{draft}\n{whole}",
        "trailing_comma": f"{whole[:-1]},}}",
        "unclosed": whole[:-1],
        "single_quotes": repr({"description": "it's one", "code": source}),
        "smart_quotes": whole.replace('{"', "{“").replace('": "', "”: “").replace('", "', "”, “").replace('"}', "”}"),
        "half": whole[: len(whole) // 2],
        "no answer": "I cannot say what it does.",
    }  # fmt: skip


LOST = ("half", "no answer")
READ = tuple(kind for kind in answers("") if kind and kind not in LOST)


class Model:
    """A made-up model that remembers what it said, by kind."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}  # kind by text
        self.kinds: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, request):
        number = draw(request["messages"], request.get("seed"))
        source = f"def f(x):\n    return [v + {number % 7} for v in x]"
        told = answers(source)
        kind = tuple(told)[number // 7 % len(told)]
        text = told[kind]
        asked = any(message["role"] == "tool" for message in request["messages"])
        if request.get("tools") and not asked and number % 3:
            call = json.dumps({"name": "execute", "arguments": {"code": source}})
            kind = "tool_call_text"
            text = (
                f"Let me see.\n<tool_call>{call}</tool_call>" if number % 2 else f"[{call}, {call}]"
            )
        with self._lock:
            self.kinds[kind] += text.count('"name"') if kind == "tool_call_text" else 1
            self.said[text] = kind
        return {"content": text}


def run(server, store, **options):
    return peirce.run("list_functions", model=f"{server.url}#m", store=str(store), concurrency=3,
                      workers=1, **{**OPTIONS, **options})  # fmt: skip


def journal_texts(store, session):
    """The text of every reply in the journal."""
    with Store.open(str(store), write=False) as opened:
        return [one["response"]["text"] for one in opened.calls(session) if one["kind"] == "model"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """(session, store, model) of a session that ran through."""
    store, model = tmp_path_factory.mktemp("whole") / "a.duckdb", Model()
    with FaultyServer(model=model) as server:
        return run(server, store), store, model


def test_every_form_is_recovered_and_counted_or_malformed_and_none_is_lost(undisturbed):
    session, store, model = undisturbed
    recovered = {kind: count for kind, count in model.kinds.items() if kind and kind not in LOST}
    assert session.repaired == recovered and len(recovered) >= 6
    assert session.verdicts["malformed"] == sum(model.kinds[kind] for kind in LOST)
    assert sorted(Counter(journal_texts(store, session.session))) == sorted(model.said)
    assert json.loads(json.dumps(session.to_dict()))["repaired"] == session.repaired


def test_show_and_evaluate_name_what_was_wrong(undisturbed, tmp_path):
    session, store, _ = undisturbed
    rows = peirce.show(session.session, store=str(store))
    assert sum((Counter(row.get("repaired", {})) for row in rows), Counter()) == session.repaired
    (scores,) = peirce.evaluate(session.session, store=str(store))["sessions"]
    assert scores["repaired"] == session.repaired
    listed = peirce.show(session.session, rows[0]["problem"], store=str(store))
    assert any(row.get("repaired") for row in listed)
    words = ["show", session.session, rows[0]["problem"], "--store", str(store)]
    told = run_command(words, cwd=tmp_path, check=True)
    assert "repaired 1 " in told.stdout


def test_a_written_call_runs_as_any_other_and_its_turn_is_a_tool_call(undisturbed):
    session, store, model = undisturbed
    with Store.open(str(store), write=False) as opened:
        calls = opened.calls(session.session)
    tools = [one for one in calls if one["kind"] == "tool" and "/tool/" in one["path"]]
    assert len(tools) == model.kinds["tool_call_text"]
    assert all("refused" not in one["response"] for one in tools)
    after = [one["request"]["messages"] for one in calls if one["path"].endswith("propose/1")]
    assert after
    for messages in after:
        (turn,) = [one for one in messages if one["role"] == "assistant"]
        results = [one["tool_call_id"] for one in messages if one["role"] == "tool"]
        assert results == [one["id"] for one in turn["tool_calls"]]
        assert turn["content"] in ("", "Let me see.") and len(set(results)) == len(results)


def test_a_replay_reads_every_answer_in_the_same_way(undisturbed):
    session, store, _ = undisturbed
    assert peirce.replay(session.session, store=str(store))["differences"] == []


def test_a_session_that_was_killed_comes_to_the_same_digest(undisturbed, tmp_path):
    whole_session, _, _ = undisturbed
    model, killed = Model(), []

    def deadly(request):
        told = model(request)
        if sum(model.kinds.values()) == 9:
            os.kill(killed[0].pid, signal.SIGKILL)
        return told

    with FaultyServer(model=deadly) as server:
        words = ["run", "list_functions", "--model", f"{server.url}#m", "--store",
                 str(tmp_path / "b.duckdb"), "--concurrency", "3", "--workers", "1", "--quiet"]  # fmt: skip
        for name, value in OPTIONS.items():
            words += [f"--{name.replace('_', '-')}", str(value)]
        killed.append(start_command(words, tmp_path / "said.txt"))
        killed[0].join(300)
        assert killed[0].exitcode == -signal.SIGKILL, (tmp_path / "said.txt").read_text()
        session = peirce.resume(store=str(tmp_path / "b.duckdb"), workers=1)
    assert session.status == "done" and session.digest == whole_session.digest
    assert session.repaired == whole_session.repaired


@pytest.mark.parametrize("tool_calls", [0, 2])
def test_under_the_strict_contract_each_of_them_is_malformed(tmp_path, tool_calls):
    model, store = Model(), tmp_path / "a.duckdb"
    with FaultyServer(model=model) as server:
        session = run(server, store, problems=6, strict_contract=True, tool_calls=tool_calls)
    kinds = Counter(model.said[text] for text in journal_texts(store, session.session))
    expected = {
        f"breach_{kind}": count for kind, count in kinds.items() if kind and kind not in LOST
    }
    breaches = {name: n for name, n in session.malformed.items() if name.startswith("breach_")}
    assert breaches == expected and ("breach_tool_call_text" in breaches) is (tool_calls > 0)
    with Store.open(str(store), write=False) as opened:
        assert not [one for one in opened.calls(session.session) if "/tool/" in one["path"]]


def test_without_leniency_only_what_the_families_tolerate_is_read(tmp_path):
    model = Model()
    with FaultyServer(model=model) as server:
        session = run(server, tmp_path / "a.duckdb", lenient=False, tool_calls=0)
    strict = ("trailing_comma", "unclosed", "single_quotes", "smart_quotes", *LOST)
    assert session.verdicts["malformed"] == sum(model.kinds[kind] for kind in strict)
    assert (
        peirce.load(session.session, store=str(tmp_path / "a.duckdb")).settings["lenient"] is False
    )


def test_an_answer_that_the_token_limit_cut_is_not_repaired(tmp_path):
    from chat_server import ChatServer, says

    whole = answers("def f(x):\n    return x")[""]
    with ChatServer([says(whole[:-1], finish="length")]) as server:
        session = run(server, tmp_path / "a.duckdb", problems=1, max_answers=1, tool_calls=0)
    assert session.malformed == {"cut": 1} and session.repaired == {}


def test_further_choices_of_a_completion_stay_in_the_journal(tmp_path):
    from chat_server import Answer, ChatServer, completion

    told = answers("def f(x):\n    return x")

    def several(request):
        body = json.loads(completion({"content": told[""]}).body)
        other = {"index": 1, "finish_reason": "stop", "message": {"content": told["fence"]}}
        return Answer(json.dumps({**body, "choices": [*body["choices"], other]}).encode())

    with ChatServer([several]) as server:
        session = run(server, tmp_path / "a.duckdb", problems=1, max_answers=1, tool_calls=0)
    assert session.steps == 1 and session.repaired == {}
    with Store.open(str(tmp_path / "a.duckdb"), write=False) as opened:
        (call,) = [one for one in opened.calls(session.session) if one["kind"] == "model"]
    assert call["response"]["text"] == told[""]
    assert call["response"]["meta"]["other_answers"] == [told["fence"]]
