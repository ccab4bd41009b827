"""Proposers of a user's own that say what cannot be: one sentence before anything is written, and
the session goes on with the mended one. What such an object raises is the user's to read.

Internals: the ways in which an answer may finish are a list of the room.
"""

from __future__ import annotations

import asyncio

import peirce
import pytest
from peirce.config import MethodSettings
from peirce.graphs import find_method
from peirce.graphs.runtime.memory import SessionSettings, make_case
from peirce.graphs.runtime.queries import FINISHES
from peirce.graphs.runtime.steps import START_STATE
from peirce.records import Reply, ToolCall, Usage, UsageError

SHOWN = [([3], [3]), ([5], [5])]
IDENTITY = "def f(x):\n    return x"


class Own:
    """Says `given` when it is asked, or raises it."""

    def __init__(self, given, told=None, answers=()):
        self.given = given
        self.told = {"model": "mine"} if told is None else told
        self.answers = answers  # texts of each problem before `given`
        self.asked = []

    def settings(self):
        return None if self.told == "nothing" else self.told

    async def propose(self, view, messages, tools, seed, schema=None):
        self.asked.append((view.problem, len(view.past_answers)))
        if len(view.past_answers) < len(self.answers):
            return Reply(self.answers[len(view.past_answers)])
        if isinstance(self.given, Exception):
            raise self.given
        return self.given

    async def close(self):
        return None


def calling(arguments, name="execute"):
    return Reply(tool_calls=(ToolCall("a", name, arguments),), finish="tool_calls")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "gave None: it must be a peirce.records.Reply"),
        ("hi", "gave 'hi': it must be a peirce.records.Reply"),
        (Reply(None), "text None: it must be a string"),
        (Reply(b"x"), "text b'x': it must be a string"),
        (Reply("x", tool_calls=None), "tool_calls None: it must be a tuple of ToolCall"),
        (Reply("x", tool_calls=("y",)), "tool_calls ('y',): it must be a tuple of ToolCall"),
        (calling(5), "arguments 5: it must be a mapping of JSON, or a string"),
        (calling({"code": {1}}), "arguments {'code': {1}}: it must be a mapping of JSON"),
        (calling({}, name=None), "it must be one whose id and name are texts"),
        (Reply("x", finish="weird"), f"finish 'weird': it must be one of {', '.join(FINISHES)}"),
        (Reply("x", finish=None), "finish None: it must be one of"),
        (Reply("x", usage=None), "usage None: it must be a Usage"),
        (Reply("x", usage=Usage("a")), "tokens_in 'a': it must be a whole number"),
        (Reply("x", usage=Usage(0, -5)), "tokens_out -5: it must be a whole number from 0 on"),
        (Reply("x", retries="x"), "retries 'x': it must be a whole number"),
        (Reply("x", meta=None), "meta None: it must be a mapping"),
        (Reply("x", meta={"x": object}), "it must be a mapping of JSON"),
        (Reply("x", meta={"fields": 5}), "fields 5: it must be a mapping"),
    ],
)
def test_a_reply_that_cannot_be_is_one_sentence_and_nothing_is_written(make_problem, given, said):
    case = make_case(make_problem(shown=SHOWN), Own(given))
    with pytest.raises(UsageError) as caught:
        asyncio.run(find_method("abduce", "programs").graph.ainvoke(START_STATE, context=case))
    assert "propose of Own gave " in str(caught.value) and said in str(caught.value)
    assert case.journal.outcomes == {}


@pytest.mark.parametrize("told", ["nothing", [1], {"a": object()}, {5: 1}])
def test_settings_that_cannot_be_recorded_are_one_sentence_and_make_no_store(tmp_path, told):
    store = tmp_path / "s.duckdb"
    with pytest.raises(UsageError, match=r"settings\(\) of the proposer Own gave .* a mapping"):
        peirce.run("list_functions", problems=1, model=Own(None, told), workers=1, store=store)
    assert not store.exists()
    with pytest.raises(UsageError, match="has no settings"):
        peirce.run("list_functions", problems=1, model=Mute(), workers=1, store=store)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"answer_format": "zzz"},
            "answer_format is 'zzz': it must be one of tuple, json, fenced_f",
        ),
        ({"history": "zzz"}, "history is 'zzz': it must be one of descriptions, chat"),
    ],
)
def test_a_case_of_settings_that_cannot_be_is_refused(make_problem, settings, said):
    with pytest.raises(UsageError) as caught:
        course = SessionSettings(method=MethodSettings(**settings))
        make_case(make_problem(shown=SHOWN), Own(None), settings=course)
    assert said in str(caught.value)


def test_a_problem_that_shows_nothing_is_refused(make_problem):
    with pytest.raises(UsageError, match="problem 'one' shows no observation: there is nothing"):
        make_case(make_problem("one"), Own(None))


class Mute:
    async def propose(self, view, messages, tools, seed, schema=None):
        return Reply("x")


class MyBug(Exception):
    pass


@pytest.mark.parametrize("wrong", [Reply(None), MyBug("boom")])
def test_a_session_goes_on_once_the_proposer_is_mended(tmp_path, make_answer, wrong):
    store, answer = tmp_path / "s.duckdb", make_answer(IDENTITY)
    options = {"problems": 2, "workers": 1, "concurrency": 1}
    broken = Own(wrong, answers=[answer])
    with pytest.raises(MyBug if isinstance(wrong, MyBug) else UsageError) as caught:
        peirce.run("list_functions", model=broken, store=store, **options)
    if isinstance(wrong, MyBug):  # its traceback leads to the user's own line
        assert caught.traceback[-1].name == "propose"
    (first,) = {problem for problem, _ in broken.asked}
    assert len(peirce.load("last", store=store).steps) == 1

    mended = Own(Reply(finish="exhausted"), answers=[answer])
    session = peirce.resume(model=mended, store=store)
    assert session.status == "done" and session.failed == {}
    assert (first, 0) not in mended.asked and (first, 1) in mended.asked
    whole = Own(Reply(finish="exhausted"), answers=[answer])
    other = peirce.run("list_functions", model=whole, store=tmp_path / "t.duckdb", **options)
    assert session.digest == other.digest
