"""Tool calls that a model wrote into its text: which forms are read, and that answers are not.

Internals: the forms are compared one by one.
"""

import json

import pytest
from peirce.agents.written_calls import find_written_calls
from peirce.records import ToolCall, ToolSpec

TOOLS = (ToolSpec("execute", "runs code", {}), ToolSpec("solve", "solves", {}))
CODE = {"code": "def f(x):\n    return {'a': x}"}
CALL = json.dumps({"name": "execute", "arguments": CODE})
FORMS = {
    "tags": f"<tool_call>\n{CALL}\n</tool_call>",
    "tags without an end": f"<tool_call>{CALL}",
    "an object": CALL,
    "a fence": f"```json\n{CALL}\n```",
    "parameters": json.dumps({"name": "execute", "parameters": CODE}),
    "arguments as text": json.dumps({"name": "execute", "arguments": json.dumps(CODE)}),
    "a function": json.dumps({"type": "function", "function": {"name": "execute", "arguments": CODE}}),
    "a function's name": json.dumps({"function": "execute", "arguments": CODE}),
    "a list": f"[{CALL}]",
    "tool_calls": json.dumps({"tool_calls": [{"function": {"name": "execute", "arguments": CODE}}]}),
    "a trailing comma": f"{CALL[:-1]},}}",
    "a python tag": f"<|python_tag|>{CALL}",
    "Mistral": f"[TOOL_CALLS][{CALL}]",
    "a function tag": f"<function=execute>{json.dumps(CODE)}</function>",
    "parameter tags": f"<function=execute>\n<parameter=code>\n{CODE['code']}\n</parameter>\n</function>",
    "parameter tags within tags": (
        f"<tool_call>\n<function=execute>\n<parameter=code>\n{CODE['code']}\n</parameter>\n"
        "</function>\n</tool_call>"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_a_call_is_read_in_every_form(name):
    text, calls = find_written_calls(FORMS[name], TOOLS)
    assert calls == (ToolCall("call_0", "execute", CODE),) and text == ""


def test_what_stands_around_calls_stays_text_and_their_order_is_kept():
    other = json.dumps({"name": "solve", "arguments": {"n": 1}})
    text, calls = find_written_calls(f"First this.\n{CALL}\nThen that.\n{other}", TOOLS)
    assert [call.name for call in calls] == ["execute", "solve"]
    assert len({call.id for call in calls}) == 2
    assert "First this." in text and "Then that." in text and "arguments" not in text


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"description": "execute it", "code": "def execute(name):\n    return name"}),
        repr(("solve", "def solve(x):\n    return x")),
        json.dumps({"name": "prove", "arguments": CODE}) + " execute",
        json.dumps({"name": "execute"}),
        json.dumps({"name": ["execute"], "arguments": {}}),
        "I would execute it.",
        f"<tool_call>{json.dumps({'name': 'prove', 'arguments': {}})}</tool_call> execute",
        "",
    ],
)
def test_an_answer_or_another_tool_is_no_call(text):
    assert find_written_calls(text, TOOLS) == (text, ())


def test_without_tools_nothing_is_a_call():
    assert find_written_calls(CALL, ()) == (CALL, ())


def test_arguments_that_are_no_object_stay_text():
    text = json.dumps({"name": "execute", "arguments": "code"})
    assert find_written_calls(text, TOOLS)[1][0].arguments == "code"
    assert (
        find_written_calls("<tool_call>execute(</tool_call>", TOOLS[:1])[1][0].arguments
        == "execute("
    )
