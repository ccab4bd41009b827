"""Checks the proposer behind an OpenAI-compatible endpoint over real HTTP on the loopback: what
it sends, and what it makes of answers. Not covered: the Responses API, which it does not speak.
Faults: test_chat_faults.py; settings and secrets: test_chat_settings.py; streams:
test_chat_streams.py; optional parts of requests: test_chat_parts.py; the size of contexts:
test_context.py.

Internals: the reading of replies is a pure function, and the client's pool is inspected.
"""

import asyncio
import json

import pytest
from asking import ASK, EXECUTE, QUICK, SCHEMA, VIEW, ask
from chat_server import ChatServer, calls, completion, raw, says
from peirce.agents import open_model
from peirce.agents.endpoint.limits import EstimatedUsage
from peirce.agents.prompts.protocol import build_tool_messages
from peirce.agents.reasoning import split_reasoning
from peirce.records import ToolSpec, Unavailable, Usage

# --- what is sent -----------------------------------------------------------


def test_a_request_holds_model_messages_settings_seed_and_model_arguments():
    settings = {"temperature": 0.3, "top_p": 0.9, "max_tokens": 77}
    arguments = {"reasoning_effort": "low", "top_k": 4, "chat_template_kwargs": {"a": True}}
    _, server = ask(says("x"), seed=9, model_args=arguments, **settings)
    (request,) = server.requests
    assert request["path"] == "/v1/chat/completions" and request["model"] == "m"
    assert request["messages"] == ASK and request["seed"] == 9
    assert {name: request[name] for name in (*settings, *arguments)} == {**settings, **arguments}
    assert "tools" not in request and not request.get("stream")


def test_what_was_not_set_is_not_sent():
    _, server = ask(says("x"), send_seed=False, temperature=None)
    unset = {"temperature", "top_p", "max_tokens", "max_completion_tokens", "seed"}
    assert unset.isdisjoint(server.requests[0])


def test_a_tool_is_offered_with_its_schema_and_its_call_comes_back():
    reply, server = ask(calls("execute", '{"code": "x"}'), tools=[EXECUTE])
    parameters = {**SCHEMA, "additionalProperties": False}
    function = {
        "name": "execute",
        "description": "runs code",
        "parameters": parameters,
        "strict": True,
    }
    assert server.requests[0]["tools"] == [{"type": "function", "function": function}]
    (call,) = reply.tool_calls
    assert (call.id, call.name, call.arguments) == ("call_a", "execute", {"code": "x"})
    assert reply.finish == "tool_calls" and reply.text == ""


def test_tool_results_go_back_in_the_next_request():
    reply, _ = ask(calls("execute", '{"code": "x"}'), tools=[EXECUTE])
    turns = [*ASK, *build_tool_messages(reply, ["it failed"])]
    answer, server = ask(says("done"), messages=turns, tools=[EXECUTE])
    _, assistant, result = server.requests[0]["messages"]
    assert assistant["tool_calls"][0]["function"] == {
        "name": "execute",
        "arguments": '{"code": "x"}',
    }
    assert result["role"] == "tool" and result["content"] == "it failed"
    assert result["tool_call_id"] == "call_a" and answer.text == "done"


@pytest.mark.parametrize("arguments", ["{code: x", '["x"]', '"x"', "5"])
def test_arguments_that_are_no_object_come_back_raw_and_can_be_sent_again(arguments):
    reply, _ = ask(calls("execute", arguments), tools=[EXECUTE])
    assert reply.tool_calls[0].arguments == arguments
    again, _ = ask(says("x"), messages=[*ASK, *build_tool_messages(reply, ["no"])], tools=[EXECUTE])
    assert again.text == "x"


def test_a_tool_call_without_arguments_has_none():
    reply, _ = ask(calls("execute", ""), tools=[EXECUTE])
    assert reply.tool_calls[0].arguments == {}


# --- what is made of answers --------------------------------------------------


def test_a_reply_counts_its_tokens():
    reply, _ = ask(says("hello"))
    usage = reply.usage
    assert (usage.tokens_in, usage.tokens_out) == (11, 7)
    assert (usage.tokens_cached, usage.tokens_reasoning) == (3, 2)
    assert (reply.text, reply.finish, reply.retries) == ("hello", "stop", 0)


@pytest.mark.parametrize(
    "usage",
    [None, [], 5, {}, "many", {"prompt_tokens": "many", "completion_tokens": [7]},
     {"prompt_tokens": 0, "prompt_tokens_details": "none", "completion_tokens_details": 3}],
)  # fmt: skip
def test_what_an_endpoint_does_not_count_is_estimated_and_marked(usage):
    long = [{"role": "user", "content": "word " * 800}]
    reply, _ = ask(lambda request: completion({"content": "x" * 400}, usage=usage), messages=long)
    assert 1000 <= reply.usage.tokens_in <= 1020 and reply.usage.tokens_out == 100
    assert (
        isinstance(reply.usage, EstimatedUsage) and reply.meta == {}
    )  # meta is part of the digest
    assert not isinstance(ask(says("x"))[0].usage, EstimatedUsage)


def test_one_side_that_is_not_counted_is_estimated_alone():
    usage = {"prompt_tokens": 0, "completion_tokens": 7}  # Ollama, of a request that it had cached
    reply, _ = ask(lambda request: completion({"content": "x"}, usage=usage))
    assert reply.usage.tokens_in > 0 and reply.usage.tokens_out == 7
    details = {
        "prompt_tokens_details": "odd",
        "completion_tokens_details": {"reasoning_tokens": None},
    }
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": "odd", **details}
    reply, _ = ask(lambda request: completion({"content": "x"}, usage=usage))
    assert reply.usage == Usage(5, 7)


def test_an_answer_cut_at_the_token_limit_says_so():
    assert ask(says("half of", finish="length"))[0].finish == "length"
    cut_call, _ = ask(calls("execute", '{"code": "x', finish="length"), tools=[EXECUTE])
    assert cut_call.finish == "length" and cut_call.tool_calls == ()


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_in_a_field_of_its_own_is_kept_apart(field):
    reply, _ = ask(says("answer", **{field: "I think"}))
    assert reply.text == "answer" and reply.meta["reasoning"] == "I think"


def test_reasoning_blocks_are_split_off_the_text():
    reply, _ = ask(says("<think>\nor ('wrong', 'x')?\n</think>\n\nanswer"))
    assert reply.text == "answer" and reply.meta["reasoning"] == "or ('wrong', 'x')?"


NO_COUNT = {"prompt_tokens": 11, "completion_tokens": 100, "total_tokens": 111}


@pytest.mark.parametrize(
    ("message", "reasoning"),
    [
        ({"content": "<think>" + "x" * 30 + "</think>" + "y" * 10}, 75),
        ({"content": "y" * 10, "reasoning_content": "x" * 30}, 75),
        ({"content": "y" * 10}, 0),
        ({"content": "<think>cut"}, 100),
        ({"content": ""}, 0),
    ],
)
def test_reasoning_that_the_endpoint_does_not_count_is_counted_by_its_share(message, reasoning):
    reply, _ = ask(lambda request: completion(message, usage=NO_COUNT))
    assert (reply.usage.tokens_out, reply.usage.tokens_reasoning) == (100, reasoning)
    none = {**NO_COUNT, "completion_tokens_details": {"reasoning_tokens": 0}}
    assert ask(lambda request: completion(message, usage=none))[0].usage == reply.usage


def test_reasoning_before_a_call_is_counted_and_the_endpoint_s_own_count_stays():
    function = {"name": "execute", "arguments": '{"code": "x"}'}
    message = {"reasoning": "x" * 12, "tool_calls": [{"id": "a", "function": function}]}
    reply, _ = ask(lambda request: completion(message, "tool_calls", usage=NO_COUNT))
    assert reply.usage.tokens_reasoning == 50
    told = {**NO_COUNT, "completion_tokens_details": {"reasoning_tokens": 7}}
    assert ask(lambda request: completion(message, usage=told))[0].usage.tokens_reasoning == 7


def test_content_in_typed_blocks_is_joined_and_its_thinking_split_off():
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "answer"}]
    reply, _ = ask(lambda request: completion({"content": blocks}))
    assert reply.text == "answer" and reply.meta["reasoning"] == "hm"


def test_an_empty_answer_is_an_answer():
    assert ask(says(""))[0].text == "" and ask(lambda request: completion({}))[0].retries == 0


def test_a_refusal_is_told():
    assert ask(says("", refusal="I cannot"))[0].meta["refusal"] == "I cannot"
    reply, _ = ask(says("", finish="content_filter"))
    assert reply.finish == "stop" and reply.meta["finish_reason"] == "content_filter"


def test_an_answer_of_a_megabyte_comes_whole():
    assert len(ask(says("x" * 1_000_000))[0].text) == 1_000_000


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("plain  ", "plain  ", ""),
        ("<think>a</think>b<think>c</think>d", "bd", "a\n\nc"),
        ("<thinking>a</thinking>b", "b", "a"),
        ("a</think>b", "b", "a"),
        ("b<think>cut", "b", "cut"),
        ("<think></think>b", "b", ""),
        ("a</think>b<think>c</think>d", "bd", "a\n\nc"),
        ("x < think > y", "x < think > y", ""),
    ],
)
def test_reasoning_is_split_off_however_its_tags_stand(text, answer, reasoning):
    assert split_reasoning(text) == (answer, reasoning)


@pytest.mark.parametrize("role", ["model", "user", "tool", "", None])
def test_an_answer_in_a_strange_role_is_an_answer(role):
    reply, _ = ask(says("hello", role=role))
    assert reply.text == "hello" and reply.usage.tokens_out == 7


@pytest.mark.parametrize(
    ("told", "counted"),
    [
        ("1" + "0" * 30, 2**63 - 1),
        ("1e308", 2**63 - 1),
        ("1e999", 2**63 - 1),
        ("NaN", None),
        ("-5", None),
        ("7.0", 7),
    ],
)
def test_numbers_of_tokens_are_clamped(told, counted):
    usage = f'"usage": {{"prompt_tokens": {told}, "completion_tokens": {told}}}'
    choice = '{"index": 0, "message": {"role": "assistant", "content": "x"}}'
    reply, _ = ask(raw(f'{{"id": "x", "choices": [{choice}], {usage}}}'.encode()))
    if counted is None:
        assert isinstance(reply.usage, EstimatedUsage)
    else:
        assert (reply.usage.tokens_in, reply.usage.tokens_out) == (counted, counted)
    assert type(reply.usage.tokens_in) is int and reply.text == "x"


def test_a_lone_surrogate_comes_as_it_is_and_goes_back_escaped():
    reply, _ = ask(says("a\ud800b"))
    assert reply.text == "a\ud800b"
    turns = [*ASK, {"role": "assistant", "content": reply.text}, *ASK]
    _, server = ask(says("x"), messages=turns)
    assert server.requests[0]["messages"][1]["content"] == "a\\ud800b"
    called, _ = ask(calls("execute", json.dumps({"code": "\udfff"})), tools=[EXECUTE])
    assert called.tool_calls[0].arguments == {"code": "\udfff"}
    strange = ToolSpec("execute", "runs \ud800", SCHEMA)
    turns = [*ASK, *build_tool_messages(called, ["no \ud800"])]
    _, server = ask(says("x"), messages=turns, tools=[strange], model_args={"stop": ["\ud800"]})
    (request,) = server.requests
    call, result = request["messages"][1:]
    assert json.loads(call["tool_calls"][0]["function"]["arguments"]) == {"code": "\udfff"}
    assert result["content"] == "no \\ud800" and request["stop"] == ["\\ud800"]
    assert request["tools"][0]["function"]["description"] == "runs \\ud800"


def test_a_request_that_cannot_be_written_is_unavailable_at_once(monkeypatch):
    monkeypatch.setattr("peirce.agents.endpoint.client.escape_surrogates", lambda payload: payload)
    with ChatServer([says("x")]) as server:

        async def call():
            proposer = await open_model(f"{server.url}#m", QUICK)
            try:
                await proposer.propose(VIEW, [{"role": "user", "content": "\ud800"}], (), 5)
            finally:
                await proposer.close()

        with pytest.raises(Unavailable, match="UTF-8"):
            asyncio.run(call())
        assert server.requests == []
