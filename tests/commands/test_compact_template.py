"""A session in the compact template: what it records, that it replays and goes on in it, and which
methods take it."""

from __future__ import annotations

import os
import signal
from contextlib import closing
from dataclasses import replace

import peirce
import pytest
from labelled_session import Model, data_set
from peirce.agents.scripted import FunctionProposer
from peirce.records import UsageError
from peirce.store import Store


def requests(setting):
    """Every request to a model of the last session, by problem and place."""
    with closing(Store.open(setting.store, write=False)) as store:
        calls = store.calls(store.find_session("last"))
    asked = [one for one in calls if one["kind"] == "model"]
    return [one["request"] for one in sorted(asked, key=lambda one: (one["problem"], one["path"]))]


def settings_of(setting):
    with closing(Store.open(setting.store, write=False)) as store:
        return store.session(store.find_session("last"))["settings"]


def test_a_session_asks_in_few_tokens_and_without_tools(setting):
    setting.finished(template="compact")
    asked = requests(setting)
    first = asked[0]["messages"][0]["content"]
    assert first == 'Rule as ("description", "def f(x): ..."):\n[3 1 2] -> [1 2]\n[5 6] -> [6]'
    assert all(one["tools"] == [] for one in asked)
    settings = settings_of(setting)
    assert settings["template"] == "compact" and settings["tool_calls"] == 0


def test_a_full_session_records_no_template(setting):
    setting.run(template="full")
    full = settings_of(setting)
    setting.finished()
    assert "template" not in full and full["tool_calls"] == 4
    assert full["prompt"] == settings_of(setting)["prompt"]
    setting.finished(template="compact")
    assert settings_of(setting)["prompt"] != full["prompt"]


def test_tools_go_along_where_they_are_asked_for(setting):
    setting.run(template="compact", tool_calls=2)
    asked = requests(setting)
    assert asked[0]["tools"] and settings_of(setting)["tool_calls"] == 2


def test_feedback_is_given_where_it_is_asked_for(setting):
    setting.run(template="compact", feedback=True, problem=["one"])
    assert requests(setting)[-1]["messages"][0]["content"].splitlines()[-2:] == [
        "- the first alone: 0 of 2 right; [3 1 2] -> [3] is wrong",
        "another:",
    ]


def test_a_round_of_t3_begins_with_the_first_prompt_again(setting):
    setting.run(method="t3", rounds=2, template="compact", problem=["one"])
    texts = [one["messages"][0]["content"].splitlines() for one in requests(setting)]
    assert [len(text) - 3 for text in texts] == [0, 2, 3] * 2
    assert texts[:3] == texts[3:] and texts[2][-1] == "another:"


def test_it_replays_without_a_difference(setting):
    setting.finished(template="compact")
    assert peirce.replay(store=setting.store)["differences"] == []


def test_resumed_it_asks_in_the_same_template(setting):
    whole = setting.finished(template="compact")
    every = requests(setting)

    def stop(event):
        if event["type"] == "step":
            os.kill(os.getpid(), signal.SIGINT)

    other = replace(setting, store=str(setting.folder / "stopped.duckdb"))
    partly = other.run(template="compact", on_event=stop, concurrency=1)
    assert partly.status == "interrupted" and len(requests(other)) < len(every)
    resumed = peirce.resume(store=other.store)
    assert resumed.digest == whole.digest and requests(other) == every


def test_a_method_that_has_words_of_its_own_says_so(setting, tmp_path):
    said = (
        "template is 'compact': method {} does not take it; methods that do: abduce, io, refine, t3"
    )
    with pytest.raises(UsageError, match=said.format("imported")):
        setting.run(method="imported", template="compact", model="recorded:none.json")
    labelled = {"data": data_set(tmp_path), "store": setting.store, "template": "compact"}
    with pytest.raises(UsageError, match=said.format("hypogenic")):
        peirce.run("labels", method="hypogenic", **labelled)
    io = peirce.run("labels", method="io", model=FunctionProposer(Model()), **labelled)
    first, *lines, last = requests(setting)[0]["messages"][0]["content"].splitlines()
    assert io.status == "done" and first.startswith("Rule as 1. If the text")
    assert lines[0] == 'LABEL: "bad", "good"' and len(lines) == 11 and last == "5:"


def test_another_template_is_refused_with_the_valid_ones(setting):
    with pytest.raises(
        UsageError, match="template is 'short': it must be one of full, compact, gear"
    ):
        setting.run(template="short")
