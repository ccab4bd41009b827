"""Checks what an endpoint may send without harm: bodies without end, odd events of a stream, tool
calls that share an id; and that a listener's own error stays its own.

Internals: the bound on a stream and the repair of tool call ids are constants and functions of
the client.
"""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from asking import ASK, EXECUTE, QUICK, VIEW, ask, fails
from chat_server import Answer, ChatServer, chunk, completion, event, says, streams
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.runnables.config import RunnableConfig, set_config_context
from peirce.agents import open_model
from peirce.agents.endpoint.replies import with_unique_ids
from peirce.agents.endpoint.streamed_answer import MAX_CHARACTERS
from peirce.agents.prompts.protocol import build_tool_messages
from peirce.records import Reply, ToolCall

HERE = str(Path(__file__).parent)


# --- size --------------------------------------------------------------------

BOMB = """
import gzip, resource, sys
sys.path.insert(0, {here!r})
from asking import fails
from chat_server import Answer, event
blob = gzip.compress(b" " * (200 << 20), 1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
error, server = fails(lambda request: Answer(blob, {status}, {{"Content-Encoding": "gzip"}}), retries=0)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) // 1024, len(server.requests), error)
"""


@pytest.mark.parametrize("status", [200, 400])
def test_a_body_that_unpacks_to_200_megabytes_does_not_fill_the_memory(status):
    code = BOMB.format(here=HERE, status=status)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    grown_mb, requests, *said = done.stdout.split()
    assert int(grown_mb) < 150 and requests == "1"  # the libraries come to half of that
    assert status == 400 or "not over after 32,000,000" in " ".join(said)


@pytest.mark.parametrize("start", [b"data: ", b"data: {}\ndata: [", b" "])
def test_a_stream_of_one_line_without_end_is_left_in_linear_time(start):
    piece = b"x" * 20_000
    endless = Answer(
        kind="text/event-stream", pieces=(start, *[piece] * (2 * MAX_CHARACTERS // 20_000))
    )
    begin = time.monotonic()
    error, _ = fails(lambda request: endless, stream=True, retries=0)
    assert "not over after 32,000,000" in str(error) and time.monotonic() - begin < 20


# --- events of a stream --------------------------------------------------------


def sent(*pieces):
    return lambda request: Answer(kind="text/event-stream", pieces=pieces)


def data(value):
    return b"data: " + json.dumps(value).encode()


END = [data(chunk({}, "stop")), b"data: [DONE]"]


def test_empty_data_lines_say_nothing():
    reply, _ = ask(sent(b"data:\n\ndata: \n\n", *(e + b"\n\n" for e in [data(chunk({"content": "x"})), *END])), stream=True)  # fmt: skip
    assert (reply.text, reply.retries) == ("x", 0)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_an_event_may_stand_in_several_data_lines(ending):
    lines = json.dumps(chunk({"content": "x"}), indent=1).encode().split(b"\n")
    whole = ending.join(b"data: " + line for line in lines) + 2 * ending
    reply, _ = ask(sent(whole, *(e + 2 * ending for e in END)), stream=True)
    assert (reply.text, reply.retries) == ("x", 0)


def test_events_may_stand_in_lines_without_empty_ones_between():
    events = [data(chunk({"content": text})) for text in "xyz"]
    reply, _ = ask(sent(*(one + b"\n" for one in [*events, *END])), stream=True)
    assert (reply.text, reply.retries) == ("xyz", 0)


def test_a_character_cut_into_two_surrogates_is_joined():
    high, low = (event(json.dumps(chunk({"content": half})).encode()) for half in "\ud83d\ude00")
    assert rb"\ud83d" in high
    reply, _ = ask(
        streams(high, low, chunk({"content": "\ud800!"}), chunk({}, "stop")), stream=True
    )
    assert reply.text == "\N{GRINNING FACE}\ud800!"


def call(index, arguments, name=None, told=None):
    function = {"name": name, "arguments": arguments}
    return chunk({"tool_calls": [{"index": index, "id": told, "function": function}]})


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([call(0, '{"a": 1}', "f"), call(0, '{"a": 2}', "f")], [("f", 1), ("f", 2)]),
        ([call(0, "", "f"), call(0, '{"a": 1}'), call(0, '{"a": 2}', "g")], [("f", 1), ("g", 2)]),
        ([call(0, '{"a"', "f"), call(0, ": 1}", "f")], [("f", 1)]),
        ([call(0, '{"a"', "f", "i"), call(0, ": 1}", "f", "i")], [("f", 1)]),
    ],
    ids=["whole ones", "in pieces", "a name in each piece", "a name and an id in each piece"],
)
def test_streamed_calls_of_one_index_are_told_apart(pieces, calls):
    reply, _ = ask(streams(*pieces, chunk({}, "tool_calls")), stream=True, tools=[EXECUTE])
    assert [(one.name, one.arguments["a"]) for one in reply.tool_calls] == calls
    assert len({one.id for one in reply.tool_calls}) == len(calls)


# --- ids of tool calls ---------------------------------------------------------


def asked_for(*ids):
    function = {"name": "execute", "arguments": "{}"}
    told = [{"id": one, "type": "function", "function": function} for one in ids]
    return lambda request: completion({"content": None, "tool_calls": told}, "tool_calls")


def test_calls_without_ids_have_others_than_those_of_earlier_turns():
    reply, _ = ask(asked_for(None, None), tools=[EXECUTE])
    assert [one.id for one in reply.tool_calls] == ["call_0", "call_1"]
    turns = build_tool_messages(reply, ["one", "two"])
    again, _ = ask(asked_for(None), tools=[EXECUTE], messages=[*ASK, *turns])
    assert [one.id for one in again.tool_calls] == ["call_0_2"]


def test_ids_that_an_endpoint_repeats_are_made_unique():
    reply, _ = ask(asked_for("a", "a", "a_2", "a"), tools=[EXECUTE])
    assert [one.id for one in reply.tool_calls] == ["a", "a_2", "a_2_2", "a_3"]
    same = Reply(tool_calls=(ToolCall("a", "f", {}), ToolCall("b", "f", {})))
    assert with_unique_ids(same, ASK) == same


# --- listeners ---------------------------------------------------------------


class Broken(AsyncCallbackHandler):
    raise_error = True

    def __init__(self, where, error):
        self.where, self.error = where, error

    async def on_chat_model_start(self, *told, **more):
        if self.where == "start":
            raise self.error

    async def on_llm_new_token(self, *told, **more):
        if self.where == "piece":
            raise self.error

    async def on_llm_end(self, *told, **more):
        if self.where == "end":
            raise self.error


@pytest.mark.parametrize("where", ["start", "piece", "end"])
@pytest.mark.parametrize(
    "error", [ValueError("mine"), TimeoutError("mine"), RecursionError("mine")]
)
def test_an_error_of_a_listener_is_its_own_and_costs_one_request(where, error):
    behaviour = (
        streams(chunk({"content": "x"}), chunk({}, "stop")) if where == "piece" else says("x")
    )
    with ChatServer([behaviour]) as server:

        async def asked():
            proposer = await open_model(f"{server.url}#m", {**QUICK, "stream": where == "piece"})
            config = RunnableConfig(callbacks=[Broken(where, error)])
            try:
                with set_config_context(config) as context:
                    return await asyncio.create_task(
                        proposer.propose(VIEW, ASK, (), 1), context=context
                    )
            finally:
                await proposer.close()

        with pytest.raises(type(error), match="mine"):
            asyncio.run(asked())
    assert len(server.requests) <= 1
