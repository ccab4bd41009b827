"""A model that takes no tools gets the facts of a tool call as feedback in its next prompt, and the
session replays the same."""

from __future__ import annotations

import asyncio

import pytest
from peirce.graphs.runtime.replay import replay_session
from peirce.records import Reply, ToolCall

SHOWN = [([3], [3]), ([5], [6])]
WRONG = "def f(x):\n    return x"
MENDED = "def f(x):\n    return x if x[0] < 4 else [x[0] + 1]"
FAILED = "Input [5]: expected [6], got [5]"


class WithoutTools:
    """Refuses tools as `how` says, answers WRONG first, and MENDED once a prompt names the pair
    that fails."""

    def __init__(self, how, answer):
        self.how, self.answer = how, answer
        self.asked = []  # (whether tools were offered, prompt)

    def settings(self):
        return {"model": "plain", **({"tools": False} if self.how == "by setting" else {})}

    async def propose(self, view, messages, tools, seed, schema=None):
        prompt = messages[-1]["content"]
        self.asked.append((bool(tools), prompt))
        if self.how == "always" or (tools and self.how == "by reply"):
            return Reply(finish="no_tools")
        if len(view.past_answers) > 1:
            return Reply(finish="exhausted")
        return Reply(self.answer(MENDED if FAILED in prompt else WRONG))

    async def close(self):
        return None


def verdicts(steps):
    return [str(one.verdict) for step in steps for one in step.answers[0].judged]


@pytest.mark.parametrize(("how", "offered"), [("by reply", [True]), ("by setting", [])])
def test_a_model_without_tools_mends_its_answer_by_feedback(
    play, make_problem, make_answer, how, offered
):
    model = WithoutTools(how, make_answer)
    store, session, steps = play(model, [make_problem(shown=SHOWN)])
    assert verdicts(steps) == ["inconsistent", "accepted"]
    assert [tools for tools, _ in model.asked] == [*offered, False, False, False]
    assert all(
        "you can try candidates with the tools" not in p for tools, p in model.asked if not tools
    )
    result = asyncio.run(replay_session(store, session))
    assert result["steps"] == 2 and result["differences"] == []


def test_a_refusal_holds_for_its_problem_and_is_journalled(play, make_problem, make_answer):
    model = WithoutTools("by reply", make_answer)
    problems = [make_problem("one", shown=SHOWN), make_problem("two", shown=SHOWN)]
    store, session, _ = play(model, problems)
    told = {(c["problem"], c["path"]): c["response"]["finish"] for c in store.calls(session)
            if c["kind"] == "model"}  # fmt: skip
    for name in ("one", "two"):
        assert told[name, "step/1/propose/0"] == "no_tools"
        assert told[name, "step/1/propose/1"] == "stop"
        assert told[name, "step/2/propose/0"] == "stop"


def test_without_the_tool_loop_gears_protocol_tells_no_feedback(play, make_problem, make_answer):
    model = WithoutTools("by setting", make_answer)
    _, _, steps = play(model, [make_problem(shown=SHOWN)], tool_calls=0)
    assert verdicts(steps) == ["inconsistent", "inconsistent"]
    assert not any(FAILED in prompt for _, prompt in model.asked)


def test_feedback_can_be_switched_off_and_on(play, make_problem, make_answer):
    for wanted, found in ((False, "inconsistent"), (True, "accepted")):
        model = WithoutTools("by setting", make_answer)
        settings = {"tool_calls": 0 if wanted else 4, "feedback": wanted}
        _, _, steps = play(model, [make_problem(shown=SHOWN)], **settings)
        assert verdicts(steps)[-1] == found


def test_a_model_that_refuses_even_without_tools_is_malformed_and_not_asked_for_ever(
    play, make_problem, make_answer
):
    model = WithoutTools("always", make_answer)
    _, _, steps = play(model, [make_problem(shown=SHOWN)])
    assert verdicts(steps) == ["malformed"] * 3
    assert len(model.asked) == 4


class ToolsOnce(WithoutTools):
    """Calls a tool, and refuses tools when it is asked to go on with what that told."""

    async def propose(self, view, messages, tools, seed, schema=None):
        self.asked.append((bool(tools), [message["role"] for message in messages]))
        if len(view.past_answers):
            return Reply(finish="exhausted")
        if not tools:
            return Reply(self.answer(MENDED))
        if len(self.asked) > 1:
            return Reply(finish="no_tools")
        call = ToolCall("a", "execute", {"code": WRONG})
        return Reply(tool_calls=(call,), finish="tool_calls")


def test_a_model_that_refuses_tools_later_is_asked_without_the_turns_that_called_them(
    play, make_problem, make_answer
):
    model = ToolsOnce("later", make_answer)
    store, session, steps = play(model, [make_problem(shown=SHOWN)])
    assert verdicts(steps) == ["accepted"]
    assert model.asked[:3] == [
        (True, ["user"]), (True, ["user", "assistant", "tool"]), (False, ["user"]),
    ]  # fmt: skip
    assert asyncio.run(replay_session(store, session))["differences"] == []
