"""Several tool calls of one reply run at the same time, under the same paths and with their results in
the order of the calls; and a model's reasoning is in no later prompt."""

from __future__ import annotations

import asyncio
from typing import Any

import one_sandbox
import pytest
from peirce.agents.scripted import ScriptedProposer
from peirce.graphs.runtime.replay import replay_session
from peirce.graphs.runtime.runner import run_session
from peirce.records import InputSet, Reply, ToolCall
from peirce.store import Store
from test_asking import IDENTITY, PLUS_ONE, SHOWN, WRONG, Spy

SPACE = InputSet("singletons", tuple([n] for n in range(10)))
SOURCES = (IDENTITY, WRONG, PLUS_ONE)


class MeetingOracle:
    """An oracle whose first calls wait for one another, so they end only if they run together."""

    def __init__(self, oracle: Any, parties: int) -> None:
        self._oracle = oracle
        self._left = parties
        self._met = asyncio.Event()

    def layers(self) -> Any:
        return self._oracle.layers()

    def with_limits(self, limits: Any) -> Any:
        apply = self._oracle.with_limits(limits)

        async def meet(*args: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                self._met.set()
            await asyncio.wait_for(self._met.wait(), 30)
            return await apply(*args)

        return meet


def several_calls() -> Reply:
    calls = tuple(ToolCall(f"c{n}", "execute", {"code": one}) for n, one in enumerate(SOURCES))
    return Reply(tool_calls=calls, finish="tool_calls")


def test_the_tool_calls_of_one_reply_run_together_and_their_results_keep_their_order(
    tmp_path, make_problem, make_answer
):
    spy = Spy(ScriptedProposer([[several_calls(), make_answer(IDENTITY)]]))
    settings = {"task": "examples", "method": "abduce", "model": "scripted", "seed": 0,
                "max_answers": 1, "model_settings": spy.settings()}  # fmt: skip
    with Store.open(tmp_path / "a.duckdb", write=True) as store:
        session = store.create_session(settings, [(make_problem(shown=SHOWN), SPACE)])

        async def run(oracle: Any) -> None:
            meeting = MeetingOracle(oracle, len(SOURCES))
            await run_session(store, session, proposer=spy, oracle=meeting)

        one_sandbox.in_sandbox(run)
        paths = sorted(one["path"] for one in store.calls(session) if "/tool/" in one["path"])
        found = one_sandbox.in_sandbox(lambda oracle: replay_session(store, session))
    turns = [one for one in spy.asked[1][1] if one["role"] == "tool"]
    assert [one["tool_call_id"] for one in turns] == ["c0", "c1", "c2"]
    assert ['"got":[4]' in one["content"] for one in turns] == [False, True, False]
    assert [path for path in paths if path.count("/") == 5] == [
        f"step/1/propose/0/tool/{n}" for n in range(3)
    ]
    assert found["differences"] == []


def thoughtful(text: str, thought: str) -> Reply:
    return Reply(text, meta={"reasoning": thought})


@pytest.mark.parametrize("history", ["descriptions", "chat"])
def test_reasoning_is_in_no_later_prompt(play, make_problem, make_answer, history):
    first = Reply("I try.", (ToolCall("c", "execute", {"code": WRONG}),), "tool_calls",
                  meta={"reasoning": "secret thought one"})  # fmt: skip
    replies = [
        [first, thoughtful(make_answer(WRONG), "secret thought two")],
        thoughtful(make_answer(IDENTITY), "secret thought three"),
        thoughtful("no form at all", "secret thought four"),
        make_answer(PLUS_ONE),
    ]
    spy = Spy(ScriptedProposer(replies))
    store, session, _ = play(spy, [make_problem(shown=SHOWN)], history=history, lenient=True)
    assert len(spy.asked) > 4
    assert "secret thought" not in str([messages for _, messages, _ in spy.asked])
    kept = [str(one["response"]) for one in store.calls(session) if one["kind"] == "model"]
    assert sum("secret thought" in one for one in kept) == 4


def test_what_a_provider_wants_back_stays_within_the_turns_of_one_answer(
    play, make_problem, make_answer
):
    returned = {"message": {"reasoning_content": "signed thought"}}
    first = Reply("", (ToolCall("c", "execute", {"code": WRONG}),), "tool_calls",
                  meta={"returned": returned})  # fmt: skip
    spy = Spy(ScriptedProposer([[first, make_answer(WRONG)], make_answer(IDENTITY)]))
    play(spy, [make_problem(shown=SHOWN)], history="chat")
    seen = ["signed thought" in str(messages) for _, messages, _ in spy.asked]
    assert seen[:3] == [False, True, False] and not any(seen[3:])
    (turn,) = [one for one in spy.asked[1][1] if one.get("tool_calls")]
    assert turn["returned"] == returned
