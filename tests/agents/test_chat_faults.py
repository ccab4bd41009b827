"""Checks each fault that an endpoint can have over real HTTP on the loopback: which are asked again, how
often and after what wait, and which end at once.

Internals: the reading of Retry-After and the patience of a call are compared value by value.
"""

import asyncio
import email.utils
import json
import time

import pytest
from asking import ASK, QUICK, SECRET, VIEW, ask, fails
from chat_server import Answer, ChatServer, calls, completion, cut, raw, says, slow, status
from peirce.agents import EndpointRefused, open_model
from peirce.agents.endpoint.faults import retry_after_s
from peirce.agents.endpoint.limits import RetrySettings
from peirce.records import RETRY_LISTENER, Unavailable, Usage


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


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


PAID = b'{"id": "x", "choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 400}}'


def test_reported_tokens_of_answers_without_choices_count():
    reply, _ = ask(raw(PAID), raw(PAID), says("at last"))
    alone, _ = ask(says("at last"))
    assert reply.usage == alone.usage + Usage(60, 800) and reply.retries == 2
    error, _ = fails(raw(PAID), retries=1)
    assert error.usage == Usage(60, 800)


def test_of_several_choices_the_one_with_the_first_index_is_the_answer():
    def sent(*choices):
        body = json.loads(completion({"content": ""}).body)
        told = [
            {"message": {"role": "assistant", "content": text}, **more} for text, more in choices
        ]
        return ask(raw(json.dumps({**body, "choices": told}).encode()), retries=0)[0]

    reply = sent(("second", {"index": 1}), ("third", {"index": 2}), ("first", {"index": 0}))
    assert (reply.text, reply.meta["other_answers"]) == ("first", ["second", "third"])
    reply = sent(("first", {}), ("second", {"index": 0}))  # no order without every index
    assert (reply.text, reply.meta["other_answers"]) == ("first", ["second"])


def test_each_retry_asks_the_same():
    _, server = ask(status(500), says("x"))
    first, second = ({k: v for k, v in r.items() if k != "headers"} for r in server.requests)
    assert first == second


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
def test_a_fault_that_stays_is_unavailable_after_the_retries(fault):
    error, server = fails(fault, retries=2)
    assert len(server.requests) == 3 and "3 requests" in str(error)
    assert not isinstance(error, EndpointRefused)


def test_a_web_page_for_an_answer_asks_about_the_url():
    error, _ = fails(raw(b"<html>log in</html>", "text/html"), retries=1)
    assert str(error).endswith("the answer is a web page; is the URL right? Mostly it ends in /v1")
    reply, _ = ask(raw(completion({"content": "fine"}).body, "text/html"), retries=0)
    assert reply.text == "fine"


def test_whoever_calls_hears_why_a_request_is_made_again():
    heard: list[str] = []
    token = RETRY_LISTENER.set(heard.append)
    try:
        reply, _ = ask(status(500), status(429), says("x"))
    finally:
        RETRY_LISTENER.reset(token)
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


def test_a_local_server_that_is_not_there_comes_with_the_command_that_starts_it(monkeypatch):
    with ChatServer([says("x")]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url.removesuffix("/v1"))

    async def call():
        proposer = await open_model("ollama:x", {**QUICK, "retries": 0})
        await proposer.propose(VIEW, ASK, (), 5)

    with pytest.raises(Unavailable, match=r"is it running there\? Start it with `ollama serve`"):
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
        assert isinstance(error, EndpointRefused) and "need a new `peirce run`" in str(error)


def test_a_refused_key_is_told_from_none(monkeypatch):
    monkeypatch.delenv("PEIRCE_API_KEY", raising=False)
    assert "it wants a key: set PEIRCE_API_KEY" in str(fails(status(401))[0])
    monkeypatch.setenv("PEIRCE_API_KEY", SECRET)
    assert "is the key in PEIRCE_API_KEY right?" in str(fails(status(401))[0])


@pytest.mark.parametrize("code", [401, 403, 404])
def test_a_refusal_of_every_request_ends_at_once(code):
    error, server = fails(status(code))
    assert (
        isinstance(error, EndpointRefused) and len(server.requests) == 1 and str(code) in str(error)
    )


@pytest.mark.parametrize("fault", [status(429, code="insufficient_quota"), status(402)])
def test_a_spent_quota_ends_at_once(fault):
    error, server = fails(fault)
    assert isinstance(error, EndpointRefused) and len(server.requests) == 1


def test_a_bad_request_ends_at_once_with_the_endpoint_s_words():
    error, server = fails(status(400, "the context of 4096 tokens is\n  too short for 9000"))
    assert "context of 4096 tokens is too short for 9000" in str(error)
    assert len(server.requests) == 1 and not isinstance(error, EndpointRefused)
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


def test_a_wait_without_an_end_is_said_in_words():
    error, server = fails(status(429, retry_after="inf"))
    assert len(server.requests) == 1
    assert "asks to wait forever, longer than max_wait_s" in str(error)


def test_retry_after_is_read_as_seconds_milliseconds_or_date():
    soon = email.utils.formatdate(time.time() + 30, usegmt=True)
    past = email.utils.formatdate(time.time() - 30, usegmt=True)
    assert retry_after_s({"retry-after": "2.5"}) == 2.5
    assert retry_after_s({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert 25 < retry_after_s({"retry-after": soon}) <= 30
    assert retry_after_s({"retry-after": past}) == 0
    assert retry_after_s({"retry-after": "soon"}) is None and retry_after_s({}) is None


ABSURD = {
    "a year beyond all dates": "Fri, 31 Dec 99999999999999999999 23:59:59 GMT",
    "a time beyond all dates": "Fri, 31 Dec 2030 99999999999999999999:00:00 GMT",
    "a zone beyond all zones": "Fri, 31 Dec 2030 23:59:59 +99999999999999999999",
    "the last date": "Fri, 31 Dec 9999 23:59:59 -2359",
    "the first date": "Mon, 01 Jan 0001 00:00:00 +2359",
    "a number of 5000 digits": "9" * 5000,
    "infinity": "inf",
    "no number": "nan",
    "negative": "-5",
    "negative infinity": "-inf",
    "a large exponent": "1e999",
    "nothing": "",
}


@pytest.mark.parametrize("value", ABSURD.values(), ids=ABSURD)
def test_an_absurd_retry_after_is_a_fault_of_one_call_alone(value):
    for name in ("Retry-After", "retry-after-ms"):
        busy = Answer(b'{"error": {"message": "busy"}}', 429, {name: value})
        with ChatServer([lambda request, busy=busy: busy, says("x")]) as server:

            async def call(url=server.url):
                proposer = await open_model(f"{url}#m", QUICK)
                try:
                    return await proposer.propose(VIEW, ASK, (), 1)
                finally:
                    await proposer.close()

            try:
                assert asyncio.run(call()).text == "x"
            except Unavailable as error:
                assert "longer than max_wait_s" in str(error)
    wait = retry_after_s({"retry-after": value})
    assert wait is None or wait >= 0


NESTED = {
    "lists": b"[" * 300 + b"]" * 300,
    "objects": b'{"message": ' * 300 + b'"x"' + b"}" * 300,
    "the place of a field": b'[{"loc": ' + b"[" * 300 + b"]" * 300 + b', "msg": "no"}]',
}


@pytest.mark.parametrize("body", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("stream", [False, True])
def test_a_deeply_nested_error_is_one_sentence(body, stream):
    for detail in (body, b'{"error": {"code": 400, "message": ' + body + b"}}"):
        for code in (200, 400, 500):
            error, _ = fails(raw(detail, code=code), retries=0, stream=stream)
            assert len(str(error)) < 600


def test_waits_double_are_capped_and_spread_by_the_seed():
    patience = RetrySettings(backoff_s=1.0, max_wait_s=10.0)
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


def test_a_delayed_answer_within_the_limit_is_taken():
    whole = completion({"content": "late"})
    reply, _ = ask(lambda request: Answer(whole.body, delay_s=0.1), timeout_s=5)
    assert (reply.text, reply.retries) == ("late", 0)


def test_a_request_that_moderation_refuses_does_not_end_the_session():
    error, server = fails(status(403, "Your input was flagged by moderation"))
    assert not isinstance(error, EndpointRefused) and "flagged" in str(error)
    assert len(server.requests) == 1
