"""Checks that scripted proposers say what the script holds, turn by turn, and that the mender
mends only what a counterexample shows it."""

import ast
import asyncio
import json

import pytest
from peirce.agents import open_model
from peirce.agents.prompts import tool_messages
from peirce.agents.scripted import Mender, Scripted
from peirce.records import (
    DataError,
    Earlier,
    InputSet,
    Reply,
    ToolCall,
    ToolSpec,
    Unavailable,
    UsageError,
    Verdict,
    View,
)

EXECUTE = ToolSpec("execute", "runs code", {"type": "object"})
WRONG, RIGHT = "def f(x):\n    return x", "def f(x):\n    return [\"a'\", x, '\U0001f600']"


def view(problem="p", earlier=0):
    before = (Earlier("x", (), Verdict.MALFORMED),) * earlier
    return View(problem, "t", "f", (), {}, InputSet("S", ()), before)


def say(proposer, seen, messages=(), tools=()):
    return asyncio.run(proposer.propose(seen, messages, tools, 0))


def opened(path):
    return asyncio.run(open_model(f"scripted:{path}", {}))


def test_answers_go_by_the_number_of_earlier_ones_and_end_exhausted():
    proposer = Scripted(["a", Reply("b", finish="length")])
    assert [say(proposer, view(earlier=n)).text for n in (1, 0, 0)] == ["b", "a", "a"]
    assert say(proposer, view(earlier=1)).finish == "length"
    assert say(proposer, view(earlier=2)).finish == "exhausted"


def test_a_mapping_answers_by_problem_and_the_star_for_all_others():
    proposer = Scripted({"p": ["mine"], "*": ["other"]})
    assert say(proposer, view("p")).text == "mine" and say(proposer, view("q")).text == "other"
    assert say(Scripted({"p": ["mine"]}), view("q")).finish == "exhausted"


def test_turns_of_one_answer_go_by_rounds_of_tool_calls_and_without_tools_the_last_is_given():
    call = Reply(tool_calls=(ToolCall("a", "execute", {"code": "c"}),), finish="tool_calls")
    proposer = Scripted([[call, "after"]])
    assert say(proposer, view(), tools=[EXECUTE]) == call
    turns = tool_messages(call, ["result"])
    assert say(proposer, view(), turns, [EXECUTE]).text == "after"
    assert say(proposer, view(), turns).text == "after"  # the limit on calls was reached
    assert say(proposer, view()).text == "after"


def test_an_outage_can_be_scripted():
    with pytest.raises(Unavailable, match="down"):
        say(Scripted([Unavailable("down")]), view())


def test_settings_tell_two_scripts_apart():
    assert Scripted(["a"]).settings() == Scripted(["a"]).settings()
    assert Scripted(["a"]).settings() != Scripted(["b"]).settings()
    json.dumps(Scripted([["a", Reply("b")], Unavailable("c")]).settings())


def mended(result):
    """What the mender answers after the tool said `result`."""
    mender = Mender(WRONG, RIGHT)
    call = say(mender, view(), tools=[EXECUTE])
    assert call.finish == "tool_calls" and call.tool_calls[0].arguments == {"code": WRONG}
    return ast.literal_eval(say(mender, view(), tool_messages(call, [result]), [EXECUTE]).text)[1]


def test_the_mender_mends_what_a_counterexample_shows():
    failing = {"consistent": False, "failing": [{"input": [1], "expected": [2], "got": [1]}]}
    assert mended(json.dumps(failing)) == RIGHT


@pytest.mark.parametrize("result", ['{"consistent": true, "failing": []}', "no JSON", "[]", "{}"])
def test_the_mender_keeps_its_answer_where_no_counterexample_is_shown(result):
    assert mended(result) == WRONG


def test_the_mender_without_tools_answers_wrong_and_once():
    mender = Mender(WRONG, RIGHT)
    assert ast.literal_eval(say(mender, view()).text)[1] == WRONG
    assert say(mender, view(earlier=1)).finish == "exhausted"


def test_the_mender_can_make_its_mend_of_what_failed():
    mender = Mender(WRONG, lambda failing: f"def f(x):\n    return {failing[0]['expected']}")
    call = say(mender, view(), tools=[EXECUTE])
    turns = tool_messages(call, ['{"failing": [{"expected": [2]}]}'])
    assert "return [2]" in say(mender, view(), turns, [EXECUTE]).text


def test_a_script_is_read_from_a_file(tmp_path):
    path = tmp_path / "script.json"
    call = {"tool": "execute", "arguments": {"code": "c"}}
    path.write_text(json.dumps({"p": ["one", [call, "two"]], "*": []}))
    proposer = opened(path)
    assert say(proposer, view()).text == "one"
    assert say(proposer, view(earlier=1), tools=[EXECUTE]).tool_calls[0].arguments == {"code": "c"}
    assert say(proposer, view("q")).finish == "exhausted"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "one object"),
        ('{"p": "a"}', "'p'.*no list"),
        ('{"p": ["a", 5]}', "'p', answer 1: 5 is neither"),
        ('{"p": [["a", {"tool": 1}]]}', "'p', answer 0"),
        ("{", "not JSON"),
    ],
)
def test_a_broken_script_is_named(tmp_path, text, said):
    path = tmp_path / "script.json"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        opened(path)


def test_a_missing_script_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        opened(tmp_path / "none.json")
