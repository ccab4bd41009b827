"""Control of a running session: the gate that its calls pass, and the answers to control messages.

Internals: no public module has the gate, whose order under cancellation a session cannot show.
"""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from peirce.graphs.runtime.budget import Budget
from peirce.graphs.runtime.call_gate import CallGate, SessionStopped
from peirce.graphs.runtime.control import SessionControl
from peirce.graphs.runtime.hints import Mailbox
from peirce.records import SessionPrices, StoreError, UsageError
from peirce.store import Store


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


class Calls:
    """Calls that pass a gate and then wait until they are told to end."""

    def __init__(self, gate):
        self.gate, self.made, self.ends = gate, [], {}

    def start(self, name, is_request=True):
        self.ends[name] = asyncio.Event()

        async def call():
            async with self.gate.passing(is_request):
                self.made.append(name)
                await self.ends[name].wait()

        return asyncio.create_task(call())


def test_requests_pass_in_order_up_to_the_limit_and_tools_always():
    async def check():
        gate = CallGate(2)
        calls = Calls(gate)
        tasks = [calls.start(n) for n in range(4)] + [calls.start("tool", is_request=False)]
        await settle()
        assert calls.made == [0, 1, "tool"] and (gate.requests, gate.tool_calls) == (2, 1)
        calls.ends[1].set()
        await settle()
        assert calls.made == [0, 1, "tool", 2]
        for end in calls.ends.values():
            end.set()
        await asyncio.gather(*tasks)
        assert calls.made == [0, 1, "tool", 2, 3] and (gate.requests, gate.tool_calls) == (0, 0)

    asyncio.run(check())


def test_a_pause_holds_new_calls_of_both_kinds_and_a_smaller_limit_counts_after_it():
    async def check():
        gate = CallGate(3)
        calls = Calls(gate)
        first = calls.start("first")
        await settle()
        gate.is_paused = True
        tasks = [first, *(calls.start(n) for n in range(3)), calls.start("tool", is_request=False)]
        await settle()
        calls.ends["first"].set()
        await settle()
        assert calls.made == ["first"] and gate.requests == 0
        gate.limit = 1
        gate.wake()
        await settle()
        assert calls.made == ["first"]
        gate.is_paused = False
        gate.wake()
        await settle()
        assert calls.made == ["first", 0, "tool"] and gate.requests == 1
        gate.limit = 3
        gate.wake()
        await settle()
        assert calls.made == ["first", 0, "tool", 1, 2]
        for end in calls.ends.values():
            end.set()
        await asyncio.gather(*tasks)

    asyncio.run(check())


def test_a_stop_in_a_pause_ends_held_calls_and_later_ones_but_not_those_in_flight():
    async def check():
        stopping = asyncio.Event()
        gate = CallGate(2, stopping)
        calls = Calls(gate)
        running = calls.start("running")
        await settle()
        gate.is_paused = True
        held = [calls.start(n) for n in range(2)]
        await settle()
        stopping.set()
        gate.wake()
        for task in [*held, calls.start("late")]:
            with pytest.raises(SessionStopped):
                await task
        calls.ends["running"].set()
        await running
        assert calls.made == ["running"]

    asyncio.run(check())


def test_a_stop_without_a_pause_lets_waiting_requests_pass():
    async def check():
        stopping = asyncio.Event()
        gate = CallGate(1, stopping)
        calls = Calls(gate)
        tasks = [calls.start(n) for n in range(2)]
        await settle()
        stopping.set()
        gate.wake()
        for end in calls.ends.values():
            end.set()
        await asyncio.gather(*tasks)
        assert calls.made == [0, 1]

    asyncio.run(check())


@pytest.mark.parametrize("moment", ["waiting", "admitted"])
def test_a_cancelled_call_gives_its_turn_to_the_next(moment):
    async def check():
        gate = CallGate(1)
        calls = Calls(gate)
        tasks = [calls.start(n) for n in range(3)]
        await settle()
        if moment == "admitted":
            calls.ends[0].set()
            await asyncio.sleep(0)  # the call ends now, and the next is admitted but does not run
        tasks[1].cancel()
        for end in calls.ends.values():
            end.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(done[1], asyncio.CancelledError) or 1 in calls.made
        assert {0, 2} <= set(calls.made) and gate.requests == 0

    asyncio.run(check())


# --- Messages.


def controlled(tmp_path, check, prices=None):
    """Run `check(control, store, stopping, events)` in the event loop of a session that is open."""

    async def work():
        with Store.open(tmp_path / "s.duckdb", write=True) as store:
            name = store.create_session({"seed": 0, "task": "t", "method": "m"}, [])
            stopping, events = asyncio.Event(), []
            control = SessionControl(
                store, name, concurrency=2, budget=Budget(prices=prices), stopping=stopping,
                mailbox=Mailbox(), emit=events.append,
            )  # fmt: skip
            await check(control, store, stopping, events)

    asyncio.run(work())


PRICES = SessionPrices.from_settings({"price_in": 1.0, "price_out": 2.0})


def send(control, verb, **arguments):
    return control.answer({"control": verb, "session": control._session, **arguments})


def test_verbs_tell_the_state_and_say_what_they_did(tmp_path: Path):
    async def check(control, store, stopping, events):
        assert send(control, "status")["status"] == "running"
        assert send(control, "pause")["status"] == send(control, "pause")["status"] == "paused"
        assert send(control, "continue")["status"] == "running"
        told = send(control, "adjust", concurrency=7, budget_tokens=50)
        assert (told["concurrency"], told["budget_tokens"]) == (7, 50)
        assert send(control, "stop")["status"] == send(control, "stop")["status"] == "stopping"
        await settle()
        assert stopping.is_set()
        assert [event["type"] for event in events] == [
            "paused",
            "continued",
            "adjusted",
            "stopping",
        ]
        for verb in ("pause", "continue", "adjust"):
            with pytest.raises(StoreError, match="is stopping"):
                send(control, verb, **({"concurrency": 1} if verb == "adjust" else {}))

    controlled(tmp_path, check)


def test_a_verb_works_in_the_thread_of_the_event_loop_and_while_the_loop_is_busy(tmp_path: Path):
    async def check(control, store, stopping, events):
        answers = []
        thread = threading.Thread(target=lambda: answers.append(send(control, "pause")))
        thread.start()
        thread.join()  # the event loop waits here, so it runs nothing
        assert answers[0]["status"] == "paused" and send(control, "continue")["status"] == "running"

    controlled(tmp_path, check)


def test_adjusted_values_are_in_the_store_at_once_and_keep_other_limits(tmp_path: Path):
    async def check(control, store, stopping, events):
        store.update_session(control._session, spending={"max_failures": 3, "budget_tokens": 9})
        send(control, "adjust", budget_usd=2.5, concurrency=5)
        record = store.session(control._session)
        assert record["spending"] == {"max_failures": 3, "budget_tokens": 9, "budget_usd": 2.5}
        assert record["concurrency"] == 5 and record["status"] == "running"

    controlled(tmp_path, check, PRICES)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"concurrency": 0}, "concurrency is 0: it must be a whole number above 0"),
        ({"concurrency": 10**5000}, "concurrency is too large"),
        ({"concurrency": True}, "concurrency is True"),
        ({"concurrency": 2.5}, "concurrency is 2.5"),
        ({"concurrency": "2"}, "concurrency is '2'"),
        ({"budget_tokens": -1}, "budget_tokens is -1"),
        ({"budget_tokens": -(10**5000)}, "budget_tokens is too large or small"),
        ({"budget_tokens": 2**63}, "budget_tokens is"),
        ({"budget_usd": float("nan")}, "budget_usd is nan"),
        ({"budget_usd": float("inf")}, "budget_usd is inf"),
        ({"budget_usd": [1]}, r"budget_usd is \[1\]"),
        ({}, "nothing to change"),
        ({"seed": 3}, "adjust does not take 'seed'"),
        ({"self": 3}, "adjust does not take 'self'"),
    ],
)
def test_a_value_out_of_bounds_changes_nothing(tmp_path: Path, arguments, sentence):
    async def check(control, store, stopping, events):
        before = control.describe(), store.session(control._session)
        with pytest.raises(UsageError, match=sentence):
            send(control, "adjust", **arguments)
        now = control.describe(), store.session(control._session)
        assert before[0] | {"seconds": 0} == now[0] | {"seconds": 0} and before[1] == now[1]

    controlled(tmp_path, check, PRICES)


def test_dollars_need_prices(tmp_path: Path):
    async def check(control, store, stopping, events):
        with pytest.raises(UsageError, match="the session has no prices"):
            send(control, "adjust", budget_usd=1)

    controlled(tmp_path, check)


@pytest.mark.parametrize("verb", ["run", "__init__", "answer", None, 3, ["stop"]])
def test_an_unknown_verb_is_refused(tmp_path: Path, verb):
    async def check(control, store, stopping, events):
        with pytest.raises(UsageError, match="is no command for a running session"):
            send(control, verb)

    controlled(tmp_path, check)


@pytest.mark.parametrize("session", ["other", None, 3, {"a": 1}])
def test_a_message_for_another_session_is_refused(tmp_path: Path, session):
    async def check(control, store, stopping, events):
        with pytest.raises(StoreError, match=f"runs session {control._session}, not"):
            control.answer({"control": "stop", "session": session})
        assert not stopping.is_set()

    controlled(tmp_path, check)


def test_running_problems_are_told_with_their_last_step(tmp_path: Path):
    async def check(control, store, stopping, events):
        control.note_event({"type": "problem_started", "problem": "a"})
        control.note_event({"type": "problem_started", "problem": "b"})
        control.note_event({"type": "step", "problem": "a", "step": 3})
        told = control.describe()
        assert told["running"] == [{"problem": "a", "step": 3}, {"problem": "b", "step": 0}]
        control.note_event({"type": "problem_ended", "problem": "a"})
        assert control.describe()["running"] == [{"problem": "b", "step": 0}]

    controlled(tmp_path, check)


def test_a_command_after_the_event_loop_has_ended_is_one_sentence(tmp_path: Path):
    kept = []

    async def check(control, store, stopping, events):
        kept.append(control)

    controlled(tmp_path, check)
    with pytest.raises(StoreError, match="has just ended"):
        kept[0].stop()
