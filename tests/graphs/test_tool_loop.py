"""A scripted chat model that calls `execute`, reads the counterexample and mends its answer: it is
accepted where the same model without tools is inconsistent."""

from __future__ import annotations

import json

import pytest
from peirce.agents.scripted import RepairingProposer, ScriptedProposer
from peirce.records import Reply, ToolCall, Verdict

SHOWN = [([3], [3]), ([5], [6])]
WRONG = "def f(x):\n    return x"
MENDED = "def f(x):\n    return x if x[0] < 4 else [x[0] + 1]"


def test_a_model_that_sees_a_counterexample_mends_its_answer(play, make_problem):
    store, session, steps = play(
        RepairingProposer(WRONG, MENDED), [make_problem(shown=SHOWN)], max_answers=1
    )
    assert [one.verdict for one in steps[0].answers[0].judged] == [Verdict.ACCEPTED]
    calls = {call["path"]: call for call in store.calls(session)}
    result = json.loads(calls["step/1/propose/0/tool/0"]["response"]["text"])
    assert result["consistent"] is False
    assert result["failing"][0]["input"] == [5]
    assert result["failing"][0]["expected"] == [6]
    assert "step/1/propose/1" in calls


def test_the_same_model_without_tools_is_inconsistent(play, make_problem):
    _, _, steps = play(
        RepairingProposer(WRONG, MENDED), [make_problem(shown=SHOWN)], max_answers=1, tool_calls=0
    )
    assert [one.verdict for one in steps[0].answers[0].judged] == [Verdict.INCONSISTENT]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (ToolCall("a", "execute", {"sauce": "x"}), "do not fit"),
        (ToolCall("a", "prove", {"code": "x"}), "no tool 'prove'; the tools are: execute"),
        (ToolCall("a", "execute", "{code: x"), "not one JSON object"),
        (ToolCall("a", "execute", {"type": "tool_call"}), "do not fit"),
        (ToolCall("a", "execute", {"type": "tool_call", "args": 5, "id": "b"}), "do not fit"),
        (
            ToolCall(
                "a",
                "execute",
                {"type": "tool_call", "args": {"code": WRONG}, "id": "b", "name": "execute"},
            ),
            "do not fit",
        ),
        (
            ToolCall("a", "execute", {"config": 1, "run_manager": 2, "callbacks": 3, "v__args": 4}),
            "do not fit",
        ),
    ],
)
def test_a_call_that_cannot_be_made_is_told_to_the_model_and_the_step_goes_on(
    play, make_problem, make_answer, call, told
):
    turns = [Reply(tool_calls=(call,), finish="tool_calls"), make_answer(MENDED)]
    store, session, steps = play(ScriptedProposer([turns]), [make_problem(shown=SHOWN)])
    assert [one.verdict for one in steps[0].answers[0].judged] == [Verdict.ACCEPTED]
    (response,) = [c["response"] for c in store.calls(session) if c["path"].endswith("tool/0")]
    assert told in response["text"] and response["refused"] is True
