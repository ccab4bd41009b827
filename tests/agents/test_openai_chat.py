"""Checks the proposer behind an OpenAI-compatible endpoint over real HTTP on the loopback: what
it sends, what it makes of answers, each fault an endpoint can have, and that no secret gets out.
Not covered: the Responses API, which it does not speak. Streams: test_chat_streams.py; optional
parts of requests: test_chat_parts.py; the size of contexts: test_context.py."""

import asyncio
import email.utils
import json
import time
import traceback

import pytest
from asking import ASK, EXECUTE, QUICK, SCHEMA, SECRET, VIEW, ask, fails
from chat_server import Answer, ChatServer, calls, completion, cut, raw, says, slow, status
from peirce.agents import Refused, open_model
from peirce.agents.chat_faults import retry_after_s
from peirce.agents.chat_replies import split_reasoning
from peirce.agents.limits import Estimated, Patience
from peirce.agents.prompts import tool_messages
from peirce.records import ASKED_AGAIN, ToolSpec, Unavailable, Usage, UsageError


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def opening(spec, **settings):
    async def both():
        proposer = await open_model(spec, settings)
        told = proposer.settings()
        await proposer.close()
        return told

    return asyncio.run(both())


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
    function = {"name": "execute", "description": "runs code", "parameters": SCHEMA}
    assert server.requests[0]["tools"] == [{"type": "function", "function": function}]
    (call,) = reply.tool_calls
    assert (call.id, call.name, call.arguments) == ("call_a", "execute", {"code": "x"})
    assert reply.finish == "tool_calls" and reply.text == ""


def test_tool_results_go_back_in_the_next_request():
    reply, _ = ask(calls("execute", '{"code": "x"}'), tools=[EXECUTE])
    turns = [*ASK, *tool_messages(reply, ["it failed"])]
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
    again, _ = ask(says("x"), messages=[*ASK, *tool_messages(reply, ["no"])], tools=[EXECUTE])
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
    assert isinstance(reply.usage, Estimated) and reply.meta == {}  # meta is part of the digest
    assert not isinstance(ask(says("x"))[0].usage, Estimated)


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
        assert isinstance(reply.usage, Estimated)
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
    turns = [*ASK, *tool_messages(called, ["no \ud800"])]
    _, server = ask(says("x"), messages=turns, tools=[strange], model_args={"stop": ["\ud800"]})
    (request,) = server.requests
    call, result = request["messages"][1:]
    assert json.loads(call["tool_calls"][0]["function"]["arguments"]) == {"code": "\udfff"}
    assert result["content"] == "no \\ud800" and request["stop"] == ["\\ud800"]
    assert request["tools"][0]["function"]["description"] == "runs \\ud800"


def test_a_request_that_cannot_be_written_is_unavailable_at_once(monkeypatch):
    monkeypatch.setattr("peirce.agents.chat_client.sendable", lambda payload: payload)
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


# --- faults ------------------------------------------------------------------


PASSING = {
    "429": status(429),
    "429 with Retry-After": status(429, retry_after="0"),
    "500": status(500),
    "503": status(503),
    "408": status(408),
    "no status line": cut(0),
    "cut body": cut(40),
    "malformed JSON": raw(b'{"choices": [{"mess'),
    "HTML": raw(b"<html>busy</html>", "text/html"),
    "not UTF-8": raw(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "a call of no function": raw(
        b'{"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "a"}]}}]}'
    ),
    "empty body": raw(b""),
    "JSON that is no object": raw(b"[1]"),
    "empty choices": raw(b'{"id": "x", "choices": []}'),
    "no choices": raw(b'{"id": "x"}'),
    "null choices": raw(b'{"id": "x", "choices": null}'),
    "null message": raw(b'{"id": "x", "choices": [{"index": 0, "message": null}]}'),
    "text for a message": raw(b'{"id": "x", "choices": [{"index": 0, "message": "hi"}]}'),
    "number for content": raw(
        b'{"id": "x", "choices": [{"message": {"role": "assistant", "content": 5}}]}'
    ),
    "deep JSON": raw(b'{"choices": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
    "a number of 5000 digits": raw(b'{"choices": ' + b"1" * 5000 + b"}"),
    "deep refusal": lambda request: completion({"refusal": nested(300)}),
    "deep arguments": calls("execute", '{"a": ' + "[" * 200_000 + "]" * 200_000 + "}"),
    "arguments deeper than the journal takes": calls(
        "execute", '{"a": ' + "[" * 300 + "]" * 300 + "}"
    ),
    "error in a good status": raw(b'{"error": {"message": "overloaded"}}'),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
def test_a_passing_fault_is_asked_again_and_counted(fault):
    reply, server = ask(fault, fault, says("at last"))
    assert (reply.text, reply.retries, len(server.requests)) == ("at last", 2, 3)


def test_each_retry_asks_the_same():
    _, server = ask(status(500), says("x"))
    first, second = ({k: v for k, v in r.items() if k != "headers"} for r in server.requests)
    assert first == second


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
def test_a_fault_that_stays_is_unavailable_after_the_retries(fault):
    error, server = fails(fault, retries=2)
    assert len(server.requests) == 3 and "3 requests" in str(error)
    assert not isinstance(error, Refused)


def test_a_web_page_for_an_answer_asks_about_the_url():
    error, _ = fails(raw(b"<html>log in</html>", "text/html"), retries=1)
    assert str(error).endswith("the answer is a web page; is the URL right? Mostly it ends in /v1")
    reply, _ = ask(raw(completion({"content": "fine"}).body, "text/html"), retries=0)
    assert reply.text == "fine"


def test_whoever_calls_hears_why_a_request_is_made_again():
    heard: list[str] = []
    token = ASKED_AGAIN.set(heard.append)
    try:
        reply, _ = ask(status(500), status(429), says("x"))
    finally:
        ASKED_AGAIN.reset(token)
    assert reply.retries == len(heard) == 2 and "500" in heard[0] and "429" in heard[1]


def test_five_retries_are_the_default():
    assert len(fails(status(500))[1].requests) == 6


def test_a_slow_answer_is_asked_again():
    reply, _ = ask(slow(5.0), says("quick"), timeout_s=0.2)
    assert (reply.text, reply.retries) == ("quick", 1)


def test_an_answer_that_stays_slow_names_the_limit():
    error, _ = fails(slow(5.0), timeout_s=0.1, retries=1)
    assert "no answer within 0.1 s" in str(error)


def test_a_server_that_is_not_there_is_unavailable():
    with ChatServer([says("x")]) as server:
        url = server.url

    async def call():
        proposer = await open_model(f"{url}#m", {**QUICK, "retries": 0})
        await proposer.propose(VIEW, ASK, (), 5)

    with pytest.raises(Unavailable, match=r"1 request.*the connection failed"):
        asyncio.run(call())


def test_that_nothing_is_there_is_said_at_once_and_once():
    with ChatServer([says("x")]) as server:
        url = server.url

    async def calls_of_two():
        proposer = await open_model(f"{url}#m", {**QUICK, "outage_s": 0.2})
        asked = [proposer.propose(VIEW, ASK, (), seed) for seed in (1, 2)]
        return await asyncio.gather(*asked, return_exceptions=True)

    with pytest.warns(UserWarning) as warned:
        errors = asyncio.run(calls_of_two())
    (said,) = (str(one.message) for one in warned)
    assert "no connection" in said and said.endswith("tried again for 0.2 s")
    for error in errors:
        assert isinstance(error, Refused) and "need a new `peirce run`" in str(error)


def test_a_refused_key_is_told_from_none(monkeypatch):
    monkeypatch.delenv("PEIRCE_API_KEY", raising=False)
    assert "it wants a key: set PEIRCE_API_KEY" in str(fails(status(401))[0])
    monkeypatch.setenv("PEIRCE_API_KEY", SECRET)
    assert "is the key in PEIRCE_API_KEY right?" in str(fails(status(401))[0])


@pytest.mark.parametrize("code", [401, 403, 404])
def test_a_refusal_of_every_request_ends_at_once(code):
    error, server = fails(status(code))
    assert isinstance(error, Refused) and len(server.requests) == 1 and str(code) in str(error)


@pytest.mark.parametrize("fault", [status(429, code="insufficient_quota"), status(402)])
def test_a_spent_quota_ends_at_once(fault):
    error, server = fails(fault)
    assert isinstance(error, Refused) and len(server.requests) == 1


def test_a_bad_request_ends_at_once_with_the_endpoint_s_words():
    error, server = fails(status(400, "the context of 4096 tokens is\n  too short for 9000"))
    assert "context of 4096 tokens is too short for 9000" in str(error)
    assert len(server.requests) == 1 and not isinstance(error, Refused)
    assert "400" in str(fails(raw(b"plain words", "text/plain", 400))[0])


def test_what_is_not_found_is_told_in_the_endpoint_s_words():
    error, _ = fails(status(404, "The model `m` does not exist."))
    assert "The model `m` does not exist; are URL and model name right?" in str(error)


def test_the_wait_that_an_endpoint_asks_for_is_kept():
    begin = time.monotonic()
    reply, _ = ask(status(429, retry_after="0.3"), says("x"))
    assert reply.retries == 1 and time.monotonic() - begin >= 0.3


def test_a_wait_longer_than_the_limit_is_not_waited_for():
    error, server = fails(status(429, retry_after="3600"))
    assert len(server.requests) == 1 and "3600 s" in str(error) and "max_wait_s" in str(error)


def test_retry_after_is_read_as_seconds_milliseconds_or_date():
    soon = email.utils.formatdate(time.time() + 30, usegmt=True)
    past = email.utils.formatdate(time.time() - 30, usegmt=True)
    assert retry_after_s({"retry-after": "2.5"}) == 2.5
    assert retry_after_s({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert 25 < retry_after_s({"retry-after": soon}) <= 30
    assert retry_after_s({"retry-after": past}) == 0
    assert retry_after_s({"retry-after": "soon"}) is None and retry_after_s({}) is None


def test_waits_double_are_capped_and_spread_by_the_seed():
    patience = Patience(backoff_s=1.0, max_wait_s=10.0)
    for attempt in range(4):
        waits = [patience.wait_s(attempt, seed, None) for seed in range(50)]
        assert all(0.5 * 2**attempt <= wait <= min(10.0, 1.5 * 2**attempt) for wait in waits)
        assert len(set(waits)) > 25
    assert patience.wait_s(30, 1, None) == 10.0
    assert patience.wait_s(2, 7, None) == patience.wait_s(2, 7, None)


def test_calls_side_by_side_share_one_proposer():
    def echo(request):
        return completion({"content": request["messages"][0]["content"]})

    with ChatServer([echo]) as server:

        async def all_of_them():
            proposer = await open_model(f"{server.url}#m", QUICK)
            asked = [[{"role": "user", "content": str(n)}] for n in range(40)]
            said = await asyncio.gather(*(proposer.propose(VIEW, m, (), 1) for m in asked))
            await proposer.close()
            return [reply.text for reply in said]

        assert asyncio.run(all_of_them()) == [str(n) for n in range(40)]


# --- model strings, settings, secrets -------------------------------------------


def test_openai_takes_url_and_key_from_the_environment(monkeypatch):
    with ChatServer([says("hi")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)

        async def call():
            proposer = await open_model("openai:some/name:free", {})
            reply = await proposer.propose(VIEW, ASK, (), 1)
            await proposer.close()
            return reply

        assert asyncio.run(call()).text == "hi"
    (request,) = server.requests
    assert request["model"] == "some/name:free"
    assert request["headers"]["authorization"] == f"Bearer {SECRET}"


def test_the_key_of_openai_is_not_sent_to_another_endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert SECRET not in json.dumps(ask(says("x"))[1].requests)
    monkeypatch.setenv("PEIRCE_API_KEY", "sk-other")
    assert ask(says("x"))[1].requests[0]["headers"]["authorization"] == "Bearer sk-other"
    monkeypatch.setenv("MY_KEY", "sk-mine")
    _, server = ask(says("x"), api_key_env="MY_KEY")
    assert server.requests[0]["headers"]["authorization"] == "Bearer sk-mine"


def test_a_missing_key_names_its_variable():
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        opening("openai:gpt")
    with pytest.raises(UsageError, match="MY_KEY"):
        opening("http://127.0.0.1:9/v1#m", api_key_env="MY_KEY")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_PROXY", f"zz{SECRET}"),
        ("HTTPS_PROXY", f"foo:bar{SECRET}"),
        ("ALL_PROXY", f"gopher://{SECRET}"),
        ("SSL_CERT_FILE", "/tmp"),
        ("PEIRCE_API_KEY", f"{SECRET}\u2019"),
        ("PEIRCE_API_KEY", f"{SECRET}\nx"),
    ],
)
def test_a_variable_that_no_client_can_use_is_a_usage_error_that_names_it(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=name) as caught:
        opening("https://127.0.0.1:9/v1#m")
    told = "".join(traceback.format_exception(caught.value))
    assert SECRET not in told and "\n" not in str(caught.value)


def test_a_key_is_sent_without_the_space_around_it(monkeypatch):
    monkeypatch.setenv("PEIRCE_API_KEY", " sk-other\n")
    assert ask(says("x"))[1].requests[0]["headers"]["authorization"] == "Bearer sk-other"


@pytest.mark.parametrize(
    "spec", ["http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1#", "http://#m", "http://a:b/v1#m"]
)
def test_an_incomplete_endpoint_is_a_usage_error(spec):
    with pytest.raises(UsageError):
        opening(spec)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"temprature": 1}, "'temprature'.*did you mean temperature"),
        ({"budget_expansions": 5}, "'budget_expansions'"),
        ({"temperature": "hot"}, "temperature 'hot'"),
        ({"temperature": -1}, "temperature -1"),
        ({"max_tokens": 2.5}, "max_tokens 2.5.*whole number"),
        ({"max_tokens": 0}, "max_tokens 0"),
        ({"retries": True}, "retries True"),
        ({"timeout_s": float("nan")}, "timeout_s nan"),
        ({"model_args": [1]}, "model_args"),
        ({"model_args": {"temperature": 1}}, "'temperature'"),
        ({"model_args": {"stream": True}}, "'stream'"),
        ({"model_args": {"extra": {"api_key": SECRET}}}, "'api_key'"),
        ({"api_key_env": SECRET}, "name of an environment variable"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(settings, said):
    with pytest.raises(UsageError, match=said) as caught:
        opening("http://127.0.0.1:9/v1#m", **settings)
    assert SECRET not in str(caught.value)


def test_settings_hold_what_decides_the_answers_and_the_rest_apart(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    told = opening("openai:gpt", temperature=0.7, model_args={"top_k": 2}, retries=1)
    assert (
        told["model"] == "gpt" and told["temperature"] == 0.7 and told["model_args"] == {"top_k": 2}
    )
    assert told["endpoint"] == "https://api.openai.com/v1" and told["transport"]["retries"] == 1
    assert told == json.loads(json.dumps(told))


def test_no_secret_reaches_settings_or_errors(monkeypatch):
    monkeypatch.setenv("PEIRCE_API_KEY", SECRET)
    for code in (400, 401, 403, 404, 422, 429, 500):
        error, _ = fails(status(code, f"Incorrect API key provided: {SECRET}"), retries=0)
        told = "".join(traceback.format_exception(error))
        assert SECRET not in told and SECRET not in repr(error.__dict__)
    error, _ = fails(raw(f"key {SECRET} is wrong".encode(), "text/plain", 400))
    assert "key *** is wrong" in str(error)
    assert SECRET not in json.dumps(opening("http://127.0.0.1:9/v1#m"))
    with pytest.raises(UsageError) as caught:
        opening("http://127.0.0.1:9/v1#m", model_args={"user": f"x{SECRET}"})
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("url", [f"http://me:{SECRET}@127.0.0.1:9/v1", f"http://a/v1?key={SECRET}"])
def test_a_secret_in_a_url_is_refused_without_being_repeated(monkeypatch, url):
    with pytest.raises(UsageError, match="PEIRCE_API_KEY") as caught:
        opening(f"{url}#m")
    assert SECRET not in str(caught.value)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    with pytest.raises(UsageError, match="OPENAI_BASE_URL") as caught:
        opening("openai:m")
    assert SECRET not in str(caught.value)


def test_a_delayed_answer_within_the_limit_is_taken():
    whole = completion({"content": "late"})
    reply, _ = ask(lambda request: Answer(whole.body, delay_s=0.1), timeout_s=5)
    assert (reply.text, reply.retries) == ("late", 0)


def test_a_request_that_moderation_refuses_does_not_end_the_session():
    error, server = fails(status(403, "Your input was flagged by moderation"))
    assert not isinstance(error, Refused) and "flagged" in str(error)
    assert len(server.requests) == 1
