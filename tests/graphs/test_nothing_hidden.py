"""What a problem hides reaches neither the proposer nor the journal's requests nor a tool's result:
not its secret part, and not the outputs of its hidden observations.

Marks of one line stand in each place; a mark in a shown output says that the search would find one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest
from peirce.agents.scripted import ScriptedProposer
from peirce.records import Message, Reply, ToolCall, ToolSpec, Verdict, View

SECRET, HIDDEN, SHOWN = "mark-of-the-secret-rule", "mark-of-a-hidden-output", "mark-of-a-shown-one"
WRONG = "def f(x):\n    return x"
RIGHT = f"def f(x):\n    return {SHOWN!r}"
TRY = Reply(tool_calls=(ToolCall("a", "execute", {"code": WRONG}),), finish="tool_calls")


class Spy:
    """A proposer that keeps, as JSON, all that another one is given."""

    def __init__(self, proposer: Any) -> None:
        self._proposer = proposer
        self.views: list[str] = []
        self.messages: list[str] = []
        self.tools: list[str] = []

    def settings(self) -> Any:
        return self._proposer.settings()

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Any = None,
    ) -> Reply:
        self.views.append(json.dumps(asdict(view)))
        self.messages.append(json.dumps([dict(message) for message in messages]))
        self.tools.append(json.dumps([asdict(tool) for tool in tools]))
        return await self._proposer.propose(view, messages, tools, seed, schema)

    async def close(self) -> None:
        return None


@pytest.mark.parametrize("history", ["descriptions", "chat"])
def test_no_mark_of_what_is_hidden_reaches_the_proposer_or_a_request(
    play, make_problem, make_answer, history
):
    problem = replace(
        make_problem(shown=[([3], SHOWN)], hidden=[([7], HIDDEN)]),
        secret={"rule": SECRET, SECRET: [SECRET]},
    )
    replies = [[TRY, make_answer(WRONG)], "no tuple at all", make_answer(RIGHT)]
    spy = Spy(ScriptedProposer(replies))
    store, session, steps = play(spy, [problem], history=history, feedback=True)
    calls = store.calls(session)
    tools = [call for call in calls if call["kind"] == "tool"]
    seen = {
        "views": spy.views,
        "messages": spy.messages,
        "tools": spy.tools,
        "requests": [json.dumps(call["request"]) for call in calls],
        "results of tools": [json.dumps(call["response"]) for call in tools],
    }
    for place, texts in seen.items():
        for mark in (SECRET, HIDDEN):
            assert not [text for text in texts if mark in text], f"{mark} in the {place}"
    for place in ("views", "messages", "requests", "results of tools"):
        assert any(SHOWN in text for text in seen[place]), f"nothing was found in the {place}"
    stored = json.dumps([row.problem.as_json() for row in store.problems(session)])
    assert SECRET in stored and HIDDEN in stored
    # every kind of answer has been given, and the hidden observation has been judged
    judged = [one for step in steps for answer in step.answers for one in answer.judged]
    assert [one.verdict for one in judged] == [
        Verdict.INCONSISTENT, Verdict.MALFORMED, Verdict.ACCEPTED,
    ]  # fmt: skip
    assert judged[2].hidden is not None and judged[2].hidden.marks == (False,)
    assert len(spy.views) == 5  # a call of a tool, three answers, and nothing left to say
