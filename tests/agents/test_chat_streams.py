"""Checks streamed answers over real HTTP: that they give the reply that the same answer gives
whole, whatever a server leaves out; how they break; how long they may take; who hears of them.

Internals: limits of a stream are lowered, its parsing is counted, and token estimates are recomputed.
"""

import asyncio
import contextlib
import json
import random
import sys
import time

import pytest
from asking import ASK, EXECUTE, QUICK, SECRET, VIEW, ask, fails
from chat_server import (
    Answer,
    ChatServer,
    calls,
    chunk,
    completion,
    event,
    in_pieces,
    raw,
    says,
    slow,
    status,
    streams,
)
from langchain_core.callbacks import AsyncCallbackHandler
from langgraph.graph import END, START, StateGraph
from peirce.agents import EndpointRefused, open_model
from peirce.agents.endpoint import streamed_answer
from peirce.agents.endpoint.arguments import Arguments
from peirce.agents.endpoint.limits import estimate_tokens
from peirce.agents.endpoint.replies import with_unique_ids
from peirce.records import Reply, ToolCall, Unavailable

CODE = '{"code": "def f(x):\\n    return [v for v in x if v > 3]"}'


def two_calls(request):
    made = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": CODE}}
        for n, name in enumerate(("execute", "prove"))
    ]
    return completion({"content": "I try.", "tool_calls": made}, "tool_calls")


WHOLE = {
    "text": says("an answer of some words"),
    "unicode": says("\u2028 \u2029 \x85 \x0b naïve 你好 🙂 \ud800"),
    "a megabyte": says("x" * 1_000_000),
    "empty": says(""),
    "one call": calls("execute", CODE),
    "two calls": two_calls,
    "a call without arguments": calls("execute", ""),
    "arguments that are no JSON": calls("execute", '{"code": '),
    "arguments that are no object": calls("execute", "[1]"),
    "cut text": says("half of", finish="length"),
    "cut call": calls("execute", '{"code": "x', finish="length"),
    "reasoning_content": says("answer", reasoning_content="I think and think"),
    "reasoning": says("answer", reasoning="I think and think"),
    "both fields": says("answer", reasoning="I think", reasoning_content="I think"),
    "a block of reasoning": says("<think>or not?</think>answer"),
    "reasoning and a call": calls("execute", CODE, content="<think>hm</think>"),
    "a refusal": says("", refusal="I cannot"),
    "a content filter": says("some", finish="content_filter"),
    "a strange role": says("hello", role="model"),
}


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "refusal"])
@pytest.mark.parametrize("value", [["I think"], {"text": "I think"}, 5])
def test_reasoning_and_refusals_that_are_no_text_are_kept_as_json(name, value):
    whole, _ = ask(says("answer", **{name: value}))
    streamed, _ = ask(
        streams(chunk({"content": "answer", name: value}), chunk({}, "stop")), stream=True
    )
    kept = "refusal" if name == "refusal" else "reasoning"
    assert whole.text == streamed.text == "answer"
    assert whole.meta[kept] == streamed.meta[kept] == json.dumps(value)


@pytest.mark.parametrize("stream", [False, True])
def test_numbers_that_are_not_finite_never_reach_a_reply(stream):
    """JSON that a strict reader refuses would otherwise be stored."""
    arguments = '{"code": NaN, "n": [1e999, -Infinity, 1.5]}'
    function = {"name": "execute", "arguments": arguments}
    made = [{"index": 0, "id": "a", "type": "function", "function": function}]
    message = {"content": "x", "tool_calls": made, "refusal": float("nan")}
    answer = (
        streams(chunk(message, float("inf")))
        if stream
        else lambda request: completion(message, float("inf"))
    )
    reply, _ = ask(answer, tools=[EXECUTE], stream=stream)
    (call,) = reply.tool_calls
    largest = sys.float_info.max
    assert call.arguments == {"code": None, "n": [largest, None, 1.5]} and reply.text == "x"
    json.dumps(reply.meta, allow_nan=False)


@pytest.mark.parametrize("answer", WHOLE.values(), ids=WHOLE)
def test_a_streamed_answer_gives_the_reply_of_the_whole_one(answer):
    length = 997 if answer is WHOLE["a megabyte"] else 3
    whole, _ = ask(answer, tools=[EXECUTE])
    streamed, server = ask(in_pieces(answer, length), tools=[EXECUTE], stream=True)
    assert streamed == whole
    (request,) = server.requests
    assert request["stream"] is True and request["stream_options"] == {"include_usage": True}


def test_events_may_come_in_any_pieces_of_bytes():
    whole, _ = ask(two_calls, tools=[EXECUTE])
    told = b"".join(in_pieces(two_calls)({"stream_options": True}).pieces)
    for cut_at in (5, 64):
        behaviour = streams(
            *[told[at : at + cut_at] for at in range(0, len(told), cut_at)], done=False
        )
        reply, _ = ask(behaviour, tools=[EXECUTE], stream=True)
        assert reply == whole


def test_raw_line_separators_in_an_event_do_not_end_it():
    text = json.dumps(chunk({"content": "a\u2028b\x85c\u2029"}), ensure_ascii=False).encode()
    reply, _ = ask(streams(event(text), chunk({}, "stop")), stream=True)
    assert reply.text == "a\u2028b\x85c\u2029"


def test_what_servers_put_between_events_is_skipped():
    noise = [b": OPENROUTER PROCESSING\n\n", b"\n", b"event: ping\nid: 4\nretry: 10\n\n", b"\r\n"]
    hello = b"data:" + json.dumps(chunk({"content": "hello"})).encode() + b"\r\n\r\n"
    empty = [chunk({}), {**chunk({}), "choices": None}, {"choices": [], "prompt_filter_results": 1}]
    stop = {**chunk({}, "stop"), "choices": [{"delta": None, "finish_reason": "stop"}]}
    second = {**chunk({}), "choices": [{"index": 1, "delta": {"content": "another"}}]}
    reply, _ = ask(streams(*noise, *empty, hello, second, *noise, stop), stream=True)
    assert (reply.text, reply.finish) == ("hello", "stop")


ESTIMATED = (estimate_tokens(ASK, {}, 0), 1)
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@pytest.mark.parametrize(
    ("chunks", "counted"),
    [
        ([chunk({"content": "x"}), chunk({}, "stop")], ESTIMATED),
        ([chunk({"content": "x"}), chunk({}, "stop", usage=USAGE)], (11, 7)),
        ([chunk({"content": "x"}), chunk({}, "stop", x_groq={"usage": USAGE})], (11, 7)),
        (
            [
                chunk({"content": "x"}, usage={**USAGE, "completion_tokens": 1}),
                chunk({}, "stop", usage=USAGE),
                chunk({}, usage=None),
            ],
            (11, 7),
        ),
        ([chunk({"content": "x"}), chunk({}, "stop", usage="many")], ESTIMATED),
    ],
    ids=["none", "with the end", "Groq's", "counted up", "no mapping"],
)
def test_usage_is_taken_from_where_a_server_puts_it(chunks, counted):
    reply, _ = ask(streams(*chunks), stream=True)
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == counted and reply.text == "x"


def piece(**fields):
    function = {key: fields.pop(key) for key in ("name", "arguments") if key in fields}
    return chunk({"tool_calls": [{**fields, "function": function}]})


@pytest.mark.parametrize(
    "pieces",
    [
        [  # OpenAI's
            piece(index=0, id="a", name="execute", arguments=""),
            piece(index=0, arguments='{"code":'),
            piece(index=0, arguments=' "x"}'),
            piece(index=1, id="b", name="prove", arguments="{}"),
        ],
        [  # interleaved
            piece(index=0, id="a", name="execute", arguments='{"code":'),
            piece(index=1, id="b", name="prove", arguments="{"),
            piece(index=0, arguments=' "x"}'),
            piece(index=1, arguments="}"),
        ],
        [  # Gemini's: whole calls without an index
            piece(id="a", name="execute", arguments='{"code": "x"}'),
            piece(id="b", name="prove", arguments="{}"),
        ],
        [  # each call has the index 0
            piece(index=0, id="a", name="execute", arguments='{"code": "x"}'),
            piece(index=0, id="b", name="prove", arguments="{}"),
        ],
        [  # no index, arguments in pieces
            piece(id="a", name="execute", arguments='{"code":'),
            piece(arguments=' "x"}'),
            piece(id="b", name="prove", arguments="{}"),
        ],
        [  # the name and the id in every piece
            piece(index=0, id="a", name="execute", arguments='{"code":'),
            piece(index=0, id="a", name="execute", arguments=' "x"}'),
            piece(index=1, id="b", name="prove", arguments="{}"),
        ],
        [  # the id after the name; arguments as an object
            piece(index=0, name="execute"),
            piece(index=0, id="a", arguments={"code": "x"}),
            piece(index=1, id="b", name="prove", arguments=None),
        ],
    ],
    ids=[
        "OpenAI",
        "interleaved",
        "no index",
        "one index",
        "no index, pieces",
        "repeated",
        "late id",
    ],
)
def test_calls_in_pieces_are_put_together_however_they_are_numbered(pieces):
    reply, _ = ask(streams(*pieces, chunk({}, "tool_calls")), tools=[EXECUTE], stream=True)
    told = [(call.id, call.name, call.arguments) for call in reply.tool_calls]
    assert told == [("a", "execute", {"code": "x"}), ("b", "prove", {})]


def test_calls_without_ids_have_some():
    pieces = [piece(index=n, name="execute", arguments="{}") for n in range(2)]
    reply, _ = ask(streams(*pieces, chunk({}, "stop")), tools=[EXECUTE], stream=True)
    assert [call.id for call in reply.tool_calls] == ["call_0", "call_1"]


def repeated(first, more):
    """Calls in n pieces without ids, where each piece repeats the name."""

    def pieces(n):
        told = [piece(index=0, name="execute", arguments=more)] * n
        return [piece(index=0, name="execute", arguments=first), *told]

    return pieces


SHAPES = {
    "open": repeated('{"code": "', "x = 1;"),
    "brackets": repeated('{"code": [', "["),
    "no JSON": repeated("{}", "{}"),
    "no brackets": repeated("x", "yz"),
    "escapes": repeated('{"code": "', '\\"'),
    "empty": repeated("1", ""),
    "calls": repeated('{"code": "x"}', '{"code": "x"}'),
    "without an index": lambda n: [
        piece(name="execute", arguments="{"),
        *[piece(arguments="x")] * n,
    ],
    "text": lambda n: [chunk({"content": "x"})] * n,
    "reasoning": lambda n: [chunk({"reasoning": "x"})] * n,
    "blocks": lambda n: [chunk({"content": [{"type": "thinking", "thinking": "x"}] * 3})] * n,
    "one event in lines": lambda n: [b"data: [\n"] * n,
    "lines without an end": lambda n: [event(chunk({"content": "x"}))[:-1]] * n,
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_what_is_parsed_of_a_stream_grows_with_its_length_alone(shape, monkeypatch):
    parsed = []

    def count(text, *rest, **more):
        parsed.append(len(text))
        return loads(text, *rest, **more)

    loads = json.loads
    monkeypatch.setattr(json, "loads", count)

    def work(n):
        parsed.clear()
        with contextlib.suppress(Unavailable):
            ask(streams(*shape(n)), tools=[EXECUTE], stream=True, retries=0)
        return sum(parsed)

    work(1)
    assert work(1200) < 5 * work(300)


def test_arguments_are_complete_where_their_text_is_json():
    draw = random.Random(1)
    values = [{"code": 'a "b" \\ {'}, {"a": [{}, {"b": "\\"}]}, [], 'a \\" b', 5, None, "{"]
    tails = ["", " ", "x", "}", '"', "{}", "\\"]
    for _ in range(3000):
        text = " " * draw.randrange(2) + json.dumps(draw.choice(values)) + draw.choice(tails)
        arguments, at = Arguments(), 0
        while at < len(text) and not arguments.is_complete():  # another call begins there
            cut_at = at + draw.randrange(0, 6)
            arguments.add(text[at:cut_at])
            at = cut_at
            assert arguments.is_complete() == is_json(text[:at]), text[:at]


def is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_ids_of_calls_are_made_unique_in_as_many_steps_as_there_are_calls():
    class Id(str):
        steps = 0

        def __format__(self, form):
            Id.steps += 1
            return super().__format__(form)

    call = ToolCall(Id("a"), "execute", {})
    taken = [ToolCall(f"a_{n}", "execute", {}) for n in range(2, 300, 3)]
    reply = with_unique_ids(Reply(tool_calls=(*taken, *[call] * 1000)), ASK)
    assert len({one.id for one in reply.tool_calls}) == 1100 and Id.steps <= 1100


def test_thoughts_in_blocks_of_content_are_split_off():
    thought = [{"type": "thinking", "thinking": [{"type": "text", "text": part}]} for part in "hm"]
    chunks = [chunk({"content": [block]}) for block in thought]
    reply, _ = ask(streams(*chunks, chunk({"content": "answer"}), chunk({}, "stop")), stream=True)
    assert reply.text == "answer" and reply.meta["reasoning"] == "hm"


def test_a_server_that_does_not_stream_is_understood():
    assert ask(two_calls, tools=[EXECUTE], stream=True)[0] == ask(two_calls, tools=[EXECUTE])[0]


def test_a_server_that_leaves_out_the_end_but_says_done_has_answered():
    assert ask(streams(chunk({"content": "x"})), stream=True)[0].text == "x"
    assert ask(streams(chunk({"content": "x"}, "stop"), done=False), stream=True)[0].text == "x"


# --- faults ------------------------------------------------------------------

HALF = [chunk({"content": "half of"})]
BROKEN = {
    "429": status(429),
    "500": status(500),
    "no status line": lambda request: Answer(pieces=(b"x",), cut=0),
    "nothing": streams(done=False),
    "cut within": lambda request: Answer(pieces=(event(HALF[0]),) * 3, cut=2),
    "cut within an event": lambda request: Answer(pieces=(event(HALF[0])[:30],), cut=1),
    "cut in a call": lambda r: Answer(pieces=in_pieces(calls("execute", CODE))(r).pieces, cut=5),
    "a clean end in the middle": streams(*HALF, done=False),
    "only done": streams(),
    "no choices": streams({**chunk({}), "choices": []}),
    "malformed": streams(*HALF, b'data: {"choices": [{"del\n\n'),
    "not UTF-8": streams(b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n'),
    "HTML": raw(b"<html>busy</html>", "text/html"),
    "a number for content": streams(chunk({"content": 5}), chunk({}, "stop")),
    "a list for an event": streams(b"data: [1]\n\n", chunk({}, "stop")),
    "deep": streams(b"data: " + b'{"choices": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n\n"),
    "a call of no function": streams(piece(index=0, arguments="{}"), chunk({}, "stop")),
    "an error": streams(*HALF, {"error": {"message": "overloaded"}}),
    "an error of the backend": streams(*HALF, {"error": {"message": "busy", "code": 502}}),
}


@pytest.mark.parametrize("fault", BROKEN.values(), ids=BROKEN)
def test_a_stream_that_breaks_is_asked_again_and_counted(fault):
    reply, server = ask(fault, fault, in_pieces(says("at last")), stream=True)
    assert (reply.text, reply.retries, len(server.requests)) == ("at last", 2, 3)


@pytest.mark.parametrize("fault", BROKEN.values(), ids=BROKEN)
def test_a_stream_that_always_breaks_is_unavailable(fault):
    error, server = fails(fault, retries=1, stream=True)
    assert len(server.requests) == 2 and not isinstance(error, EndpointRefused)


def test_timeout_s_limits_the_whole_of_a_stream_however_it_trickles():
    """Each piece comes within the limit; all of them together take ten times as long."""
    chunks = [chunk({"content": str(n % 10)}) for n in range(100)]
    behaviour = streams(*chunks, chunk({}, "stop"), pause_s=0.1)
    begin = time.monotonic()
    error, _ = fails(behaviour, stream=True, timeout_s=1, retries=0)
    assert "no answer within 1 s" in str(error) and time.monotonic() - begin < 8


def test_a_stream_that_stalls_is_asked_again():
    stalls = streams(*HALF, chunk({}, "stop"), pause_s=5)
    reply, _ = ask(stalls, slow(5), in_pieces(says("quick")), stream=True, timeout_s=0.3)
    assert (reply.text, reply.retries) == ("quick", 2)
    error, _ = fails(stalls, stream=True, timeout_s=0.3, retries=0)
    assert "no answer within 0.3 s" in str(error)


def test_events_that_bring_nothing_do_not_keep_a_stream_alive():
    pulse = streams(*[chunk({"content": ""}), b": alive\n\n"] * 300, pause_s=0.1)
    begin = time.monotonic()
    fails(pulse, stream=True, timeout_s=0.5, retries=0)
    assert time.monotonic() - begin < 30


def test_a_stream_without_end_is_cut_off(monkeypatch):
    monkeypatch.setattr(streamed_answer, "MAX_CHARACTERS", 100_000)
    error, server = fails(streams(*[chunk({"content": "x" * 1000})] * 300), stream=True)
    assert "100,000 characters" in str(error) and len(server.requests) == 1


@pytest.mark.parametrize(
    "one",
    [
        chunk({"content": "x"}),
        piece(index=0, name="execute", arguments="x"),
        chunk({}),
        b"data: [\n",
    ],
    ids=["text", "calls", "nothing", "lines of one event"],
)
def test_a_stream_of_too_many_pieces_is_cut_off_once(monkeypatch, one):
    monkeypatch.setattr(streamed_answer, "MOST_PIECES", 100)
    error, server = fails(streams(*[one] * 300), stream=True)
    assert "in more than 100 pieces" in str(error) and len(server.requests) == 1
    reply, _ = ask(in_pieces(says("x" * 90), 1), stream=True)
    assert reply.text == "x" * 90


@pytest.mark.parametrize("one", [b": alive and well\n\n", event(b'{"a": "' + b"x" * 99 + b'"}')])
def test_a_stream_of_too_many_bytes_is_cut_off_once(monkeypatch, one):
    monkeypatch.setattr(streamed_answer, "MOST_BYTES", 10_000)
    error, server = fails(streams(*[one] * 1000), stream=True)
    assert "not over after 10,000 bytes" in str(error) and len(server.requests) == 1


def test_a_connection_is_used_again_after_a_stream():
    with ChatServer([in_pieces(says("hello"))]) as server:

        async def several():
            proposer = await open_model(f"{server.url}#m", {**QUICK, "stream": True})
            for _ in range(5):
                await proposer.propose(VIEW, ASK, (), 1)
            await proposer.close()

        asyncio.run(several())
    assert len(server.requests) == 5 and server.connections == 1


def test_no_secret_comes_out_of_a_stream(monkeypatch):
    monkeypatch.setenv("PEIRCE_API_KEY", SECRET)
    reply, _ = ask(in_pieces(says(f"my key is {SECRET}", reasoning=SECRET)), stream=True)
    assert SECRET not in repr(reply) and reply.text == "my key is ***"
    told = {"error": {"message": f"bad key {SECRET}", "code": 400}}
    error, _ = fails(streams(*HALF, told), stream=True)
    assert SECRET not in str(error) and "bad key ***" in str(error)


def test_whether_answers_are_streamed_is_recorded_as_what_decides_none():
    async def settings(**given):
        proposer = await open_model("http://127.0.0.1:9/v1#m", given)
        await proposer.close()
        return proposer.settings()

    whole, streamed = asyncio.run(settings()), asyncio.run(settings(stream=True))
    assert streamed.pop("transport")["stream"] is True
    assert whole.pop("transport")["stream"] is False and whole == streamed


# --- callbacks ---------------------------------------------------------------


class Listener(AsyncCallbackHandler):
    def __init__(self):
        self.heard = []

    async def on_chat_model_start(self, serialized, messages, **more):
        self.heard.append(("start", messages[0][0].content))

    async def on_llm_new_token(self, token, **more):
        self.heard.append(("piece", token))

    async def on_llm_end(self, response, **more):
        self.heard.append(("end", response.generations[0][0].text))

    async def on_llm_error(self, error, **more):
        self.heard.append(("error", type(error).__name__))


def graph_around(server, **settings):
    """A graph whose one node asks a proposer, knowing nothing of callbacks."""

    async def node(state):
        proposer = await open_model(f"{server.url}#m", {**QUICK, **settings})
        reply = await proposer.propose(VIEW, ASK, (), 1)
        await proposer.close()
        return {"text": reply.text}

    graph = StateGraph(dict)
    graph.add_node("ask", node)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    return graph.compile()


@pytest.mark.parametrize("stream", [False, True])
def test_a_listener_of_the_graph_hears_of_each_request(stream):
    listener = Listener()
    with ChatServer(
        [status(500), in_pieces(says("abcdef")) if stream else says("abcdef")]
    ) as server:
        graph = graph_around(server, stream=stream)
        asyncio.run(graph.ainvoke({}, config={"callbacks": [listener]}))
    heard = [kind for kind, _ in listener.heard if kind != "piece"]
    assert heard == ["start", "error", "start", "end"]
    assert listener.heard[0] == ("start", "a question") and listener.heard[-1] == ("end", "abcdef")
    pieces = [token for kind, token in listener.heard if kind == "piece"]
    assert pieces == (["abc", "def"] if stream else [])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("mode", ["messages", "events"])
def test_a_graph_that_is_streamed_itself_gives_the_same_answer(stream, mode):
    """LangChain would stream by itself for such a listener; the setting decides."""
    with ChatServer([in_pieces(says("abcdef")) if stream else says("abcdef")]) as server:
        graph = graph_around(server, stream=stream)

        async def run():
            if mode == "messages":
                return [part[0].content async for part in graph.astream({}, stream_mode="messages")]
            return [one async for one in graph.astream_events({}, version="v2")]

        told = asyncio.run(run())
    assert bool(server.requests[0].get("stream")) is stream
    if mode == "messages":
        assert told == (["abc", "def"] if stream else ["abcdef"])
    else:
        assert told[-1]["data"]["output"]["text"] == "abcdef"
        assert {"on_chat_model_start", "on_chat_model_end"} <= {one["event"] for one in told}
