"""An outage fails the problem that met it, says why, and is mended by a resume that retries it."""

from __future__ import annotations

import asyncio

import pytest
from one_sandbox import in_sandbox
from peirce.agents import EndpointRefused
from peirce.agents.scripted import ScriptedProposer
from peirce.graphs.runtime.runner import run_session
from peirce.records import RETRY_LISTENER, Reply, ToolCall, Unavailable

SHOWN = [([3], [3]), ([5], [5])]
IDENTITY = "def f(x):\n    return x"


def again(store, session, proposer, **options) -> dict:
    run = lambda one: run_session(store, session, proposer=proposer, oracle=one, **options)
    return in_sandbox(run)


def test_an_outage_fails_its_problem_alone_and_a_retry_goes_on(play, make_problem, make_answer):
    works, down = [make_answer(IDENTITY)], [make_answer(IDENTITY), Unavailable("It is down.")]
    problems = [make_problem("one", SHOWN), make_problem("two", SHOWN)]
    flaky = ScriptedProposer({"one": works, "two": down})
    store, session, steps = play(flaky, problems)
    assert {row.problem.id: (row.status, row.cause) for row in store.problems(session)} == {
        "one": ("done", "exhausted"), "two": ("failed", "It is down."),
    }  # fmt: skip
    assert len(steps) == 2

    mended = ScriptedProposer({"*": works})
    assert again(store, session, mended)["failed"] == {"two": "It is down."}
    outcome = again(store, session, mended, retry_failed=True)
    assert outcome == {"status": "done", "problems": 2, "done": 2, "failed": {}, "cause": ""}
    assert len(list(store.steps(session))) == 2


def test_no_more_tools_run_than_the_limit_even_where_one_reply_calls_many(
    play, make_problem, make_answer
):
    call = ToolCall("a", "execute", {"code": IDENTITY})
    many = Reply(tool_calls=(call,) * 9, finish="tool_calls")
    replies = [[many, make_answer(IDENTITY)]]
    store, session, _ = play(ScriptedProposer(replies), [make_problem("one", SHOWN)], tool_calls=3)
    paths = [one["path"] for one in store.calls(session) if "/tool/" in one["path"]]
    assert paths == [f"step/1/propose/0/tool/{n}" for n in range(3)]


class RefusedLate(ScriptedProposer):
    """Refuses one problem while the others' answers are under way."""

    asked = 0

    async def propose(self, view, messages, tools, seed, schema=None):
        self.asked += 1
        if view.problem == "two":
            await asyncio.sleep(0.1)
            raise EndpointRefused("The key is wrong.")
        await asyncio.sleep(0.5)
        return await super().propose(view, messages, tools, seed, schema)


def test_calls_in_flight_when_a_session_is_refused_are_let_finish_and_kept(
    play, make_problem, make_answer
):
    """As with a spent budget: no further call begins, and what is not done is left open."""
    answers = [make_answer(f"def f(x):\n    return x if x[0] > {n} else [{n}]") for n in range(3)]
    problems = [make_problem(name, SHOWN) for name in ("one", "two", "three", "four")]
    store, session, _ = play(ScriptedProposer({"*": [Unavailable("later")]}), problems)
    late, events = RefusedLate({"*": answers}), []
    with pytest.raises(EndpointRefused, match=r"The key is wrong\."):
        again(store, session, late, retry_failed=True, concurrency=3, on_event=events.append)
    assert late.asked == 3
    paths = {
        (one["problem"], one["path"]) for one in store.calls(session) if one["kind"] == "model"
    }
    assert paths == {(name, "step/1/propose/0") for name in ("one", "three")}
    assert len(list(store.steps(session))) == 2
    assert store.session(session)["status"] == "failed" and events[-1]["status"] == "failed"
    assert "done" not in {row.status for row in store.problems(session)}
    assert again(store, session, ScriptedProposer({"*": answers}), retry_failed=True)["done"] == 4


class AskedAgain(ScriptedProposer):
    """One request gave no answer before the one that did."""

    async def propose(self, *given, **more) -> Reply:
        RETRY_LISTENER.get()("it was busy")
        return await super().propose(*given, **more)


def test_why_a_request_is_made_again_is_an_event_of_its_call(play, make_problem, make_answer):
    events: list[dict] = []
    down = ScriptedProposer([[Unavailable("It is down.")]])
    store, session, _ = play(down, [make_problem("one", SHOWN)])
    busy = AskedAgain([[make_answer(IDENTITY)]])
    again(store, session, busy, retry_failed=True, on_event=events.append)
    heard = [one for one in events if one["type"] == "asked_again"]
    assert heard[0] == {
        "type": "asked_again", "problem": "one", "path": "step/1/propose/0", "cause": "it was busy",
    }  # fmt: skip
