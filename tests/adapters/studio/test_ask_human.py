"""A session that asks a person interrupts the run. The answer resumes the run and becomes a hint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import peirce
import pytest
from dev_server import DevServer, new_thread, stream

WRONG = repr(("nothing", "def f(x):\n    return []"))
RIGHT = repr(("the tail and 77", "def f(x):\n    return x[1:] + [77]"))


@pytest.fixture
def values(pairs: str, tmp_path: Path) -> dict[str, Any]:
    """An input of three problems. The model is right at once on one of them, and on the others only
    at its second answer, which it may give after a hint."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"one": [RIGHT], "*": [WRONG, RIGHT]}))
    return {
        "task": "examples", "data": pairs, "model": f"scripted:{script}",
        "settings": {"workers": 1, "max_answers": 1, "ask_human": True, "concurrency": 2},
    }  # fmt: skip


def solved(values: dict[str, Any]) -> set[str]:
    """The problems for which the right hypothesis was found."""
    return {one["problem"] for one in values["findings"] if "+ [77]" in one["hypothesis"]}


def questions_of(client: Any, thread: str) -> list[Any]:
    state = client.threads.get_state(thread)
    assert state["next"] == ["ask_human"]
    [interrupt] = state["interrupts"]
    return list(interrupt["value"])


def test_an_answer_resumes_the_run_and_becomes_a_hint(
    server: DevServer, client: Any, values: dict[str, Any]
) -> None:
    thread = new_thread(client)
    events, _ = stream(client, thread, "refine", values)
    assert [one["problem"] for one in events if one["type"] == "question"] != []
    assert client.threads.get(thread)["status"] == "interrupted"
    asked = questions_of(client, thread)
    assert [one["problem"] for one in asked] == ["three", "two"]
    assert all("No hypothesis for problem" in one["question"] for one in asked)
    state = client.threads.get_state(thread)["values"]
    assert state["status"] == "asking" and solved(state) == {"one"}

    answer = {"two": "Look at the last element."}
    events, last = stream(client, thread, "refine", None, command={"resume": answer})
    answered = {one["problem"]: one["text"] for one in events if one["type"] == "answered"}
    assert answered == {"two": "Look at the last element.", "three": ""}
    assert (last["status"], last["session"], last["questions"]) == ("done", state["session"], [])
    assert solved(last) == {"one", "two"}
    calls = peirce.show(last["session"], calls=True, store=server.store(thread))
    assert len({(one.problem, one.path) for one in calls}) == len(calls)
    assert sum(one.kind == "human" for one in calls) >= 2
    assert peirce.replay(last["session"], store=server.store(thread)).differences == []


def test_one_text_answers_all_questions_and_may_be_asked_again(
    client: Any, values: dict[str, Any]
) -> None:
    thread = new_thread(client)
    stream(client, thread, "refine", values)
    _, last = stream(client, thread, "refine", None, command={"resume": "Append a number."})
    assert last["status"] == "done"
    assert solved(last) == {"one", "two", "three"}


def test_a_wrong_answer_keeps_the_questions(client: Any, values: dict[str, Any]) -> None:
    thread = new_thread(client)
    stream(client, thread, "refine", values)
    events, last = stream(client, thread, "refine", None, command={"resume": {"four": "Hm."}})
    assert events[-1]["type"] == "error" and "'four'" in last["error"]
    assert [one["problem"] for one in questions_of(client, thread)] == ["three", "two"]
    _, last = stream(client, thread, "refine", None, command={"resume": "Append a number."})
    assert (last["status"], last["error"]) == ("done", "")
