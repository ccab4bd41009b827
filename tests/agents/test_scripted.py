"""Checks that scripted proposers say what the script holds, turn by turn, that those of rules answer
by what they are asked, and that the mender mends only what a counterexample shows it.

Internals: tool messages of a conversation are built as the graphs build them.
"""

import ast
import asyncio
import json

import pytest
from peirce.agents import open_model
from peirce.agents.prompts.protocol import build_tool_messages
from peirce.agents.scripted import (
    FunctionProposer,
    RepairingProposer,
    RuleProposer,
    ScriptedProposer,
)
from peirce.records import (
    DataError,
    InputSet,
    PastAnswer,
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
    before = (PastAnswer("x", (), Verdict.MALFORMED),) * earlier
    return View(problem, "t", "f", (), {}, InputSet("S", ()), before)


def say(proposer, seen, messages=(), tools=()):
    return asyncio.run(proposer.propose(seen, messages, tools, 0))


def opened(path):
    return asyncio.run(open_model(f"scripted:{path}", {}))


def test_answers_go_by_the_number_of_earlier_ones_and_end_exhausted():
    proposer = ScriptedProposer(["a", Reply("b", finish="length")])
    assert [say(proposer, view(earlier=n)).text for n in (1, 0, 0)] == ["b", "a", "a"]
    assert say(proposer, view(earlier=1)).finish == "length"
    assert say(proposer, view(earlier=2)).finish == "exhausted"


def test_a_mapping_answers_by_problem_and_the_star_for_all_others():
    proposer = ScriptedProposer({"p": ["mine"], "*": ["other"]})
    assert say(proposer, view("p")).text == "mine" and say(proposer, view("q")).text == "other"
    assert say(ScriptedProposer({"p": ["mine"]}), view("q")).finish == "exhausted"


def test_turns_of_one_answer_go_by_rounds_of_tool_calls_and_without_tools_the_last_is_given():
    call = Reply(tool_calls=(ToolCall("a", "execute", {"code": "c"}),), finish="tool_calls")
    proposer = ScriptedProposer([[call, "after"]])
    assert say(proposer, view(), tools=[EXECUTE]) == call
    turns = build_tool_messages(call, ["result"])
    assert say(proposer, view(), turns, [EXECUTE]).text == "after"
    assert say(proposer, view(), turns).text == "after"  # the limit on calls was reached
    assert say(proposer, view()).text == "after"


def test_an_outage_can_be_scripted():
    with pytest.raises(Unavailable, match="down"):
        say(ScriptedProposer([Unavailable("down")]), view())


def test_settings_tell_two_scripts_apart():
    assert ScriptedProposer(["a"]).settings() == ScriptedProposer(["a"]).settings()
    assert ScriptedProposer(["a"]).settings() != ScriptedProposer(["b"]).settings()
    json.dumps(ScriptedProposer([["a", Reply("b")], Unavailable("c")]).settings())


def mended(result):
    """What the mender answers after the tool said `result`."""
    mender = RepairingProposer(WRONG, RIGHT)
    call = say(mender, view(), tools=[EXECUTE])
    assert call.finish == "tool_calls" and call.tool_calls[0].arguments == {"code": WRONG}
    return ast.literal_eval(
        say(mender, view(), build_tool_messages(call, [result]), [EXECUTE]).text
    )[1]


def test_the_mender_mends_what_a_counterexample_shows():
    failing = {"consistent": False, "failing": [{"input": [1], "expected": [2], "got": [1]}]}
    assert mended(json.dumps(failing)) == RIGHT


@pytest.mark.parametrize("result", ['{"consistent": true, "failing": []}', "no JSON", "[]", "{}"])
def test_the_mender_keeps_its_answer_where_no_counterexample_is_shown(result):
    assert mended(result) == WRONG


def test_the_mender_without_tools_answers_wrong_and_once():
    mender = RepairingProposer(WRONG, RIGHT)
    assert ast.literal_eval(say(mender, view()).text)[1] == WRONG
    assert say(mender, view(earlier=1)).finish == "exhausted"


def test_the_mender_can_make_its_mend_of_what_failed():
    mender = RepairingProposer(
        WRONG, lambda failing: f"def f(x):\n    return {failing[0]['expected']}"
    )
    call = say(mender, view(), tools=[EXECUTE])
    turns = build_tool_messages(call, ['{"failing": [{"expected": [2]}]}'])
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
        ('{"p": "a"}', "'p'.*not a list"),
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


def ask(proposer, *texts):
    return say(proposer, view(earlier=3), [{"role": "user", "content": text} for text in texts])


def test_rules_answer_by_the_whole_prompt_and_the_first_that_fits():
    rules = [("(?s)a (?P<hat>\\w+) hat.*a (x)?bag", r"\g<hat> \1\2 \\ \n"), ("hat", "other")]
    proposer = RuleProposer(rules, "else")
    assert ask(proposer, "a red hat", "a bag").text == "red red \\ \\n"
    assert ask(proposer, "a bag", "a red hat").text == "other"
    assert ask(proposer, "").text == "else"
    assert ask(RuleProposer([])).finish == "exhausted"


def test_a_function_answers_what_it_is_asked():
    proposer = FunctionProposer(lambda messages: messages[-1]["content"].upper(), "upper")
    assert ask(proposer, "a", "b").text == "B"
    assert proposer.settings() != FunctionProposer(str).settings()


def test_settings_tell_two_sets_of_rules_apart():
    one, other = RuleProposer([("a", "b")]), RuleProposer([("a", "b")], "c")
    assert one.settings() != other.settings() == RuleProposer([("a", "b")], "c").settings()


def test_rules_are_read_from_a_file(tmp_path):
    path = tmp_path / "judge.json"
    path.write_text(json.dumps({"rules": [{"when": "is (.+)", "say": "\\1!"}], "otherwise": "no"}))
    proposer = opened(path)
    assert ask(proposer, "it is late").text == "late!" and ask(proposer, "it").text == "no"
    assert proposer.settings()["answers_from"]["name"] == "judge.json"


def test_a_problem_may_be_called_rules(tmp_path):
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"rules": ["one"], "otherwise": ["two"]}))
    assert say(opened(path), view("rules")).text == "one"


def test_no_rule_and_what_is_said_otherwise_are_rules_too(tmp_path):
    path = tmp_path / "judge.json"
    path.write_text(json.dumps({"rules": [], "otherwise": "Final answer: yes"}))
    assert ask(opened(path), "anything").text == "Final answer: yes"
    path.write_text(json.dumps({"rules": [], "otherwise": ["two"]}))
    assert say(opened(path), view("other")).finish == "exhausted"  # of a problem called otherwise
    assert say(opened(path), view("otherwise")).text == "two"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"rules": [{"when": "(", "say": "a"}]}, "no regular expression"),
        ({"rules": [{"when": "a", "say": "\\1"}]}, "names group 1 of 0"),
        ({"rules": [{"when": "a", "say": "\\g<x>"}]}, "group 'x'"),
        ({"rules": [{"when": "a"}]}, "rule 0"),
        ({"rules": [{"when": "a", "say": "b"}, 5]}, "rule 1: 5"),
        ({"rules": [{"when": "a", "say": 1}]}, "rule 0"),
        ({"rules": [{"when": "a", "say": "b"}], "otherwise": 3}, "'otherwise'"),
        ({"rules": [{"when": "a", "say": "b"}], "p": []}, "'p'"),
    ],
)
def test_broken_rules_are_named(tmp_path, data, said):
    path = tmp_path / "judge.json"
    path.write_text(json.dumps(data))
    with pytest.raises(DataError, match=said):
        opened(path)
