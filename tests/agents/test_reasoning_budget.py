"""Checks the limit on reasoning tokens by provider, and that reasoning goes back to an endpoint only
where the endpoint needs it, within the tool turns of one answer.

Internals: tool turns are built as a session builds them.
"""

import asyncio

import pytest
from asking import ASK, EXECUTE, QUICK, VIEW, ask, fails
from chat_server import ChatServer, completion, in_pieces, says
from peirce.agents import EndpointRefused, open_model
from peirce.agents.prompts.protocol import build_tool_messages
from peirce.records import UsageError

KEYS = {
    "anthropic": "ANTHROPIC_API_KEY", "deepseek": "DEEPSEEK_API_KEY", "gemini": "GEMINI_API_KEY",
    "groq": "GROQ_API_KEY", "openai": "OPENAI_API_KEY", "openrouter": "OPENROUTER_API_KEY",
}  # fmt: skip
FIELDS = {
    "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 2048}},
    "gemini": {"extra_body": {"google": {"thinking_config": {"thinking_budget": 2048}}}},
    "openrouter": {"reasoning": {"max_tokens": 2048}},
    "vllm": {"thinking_token_budget": 2048},
    "llamacpp": {"thinking_budget_tokens": 2048},
}


@pytest.fixture
def at_server(monkeypatch):
    """at_server(provider, server): the provider's address is that of a server of this test."""
    from peirce.records import PROVIDERS

    for name in KEYS.values():
        monkeypatch.setenv(name, "sk-test-4711-0000")

    def move(provider, server):
        moved = PROVIDERS[provider]._replace(url=server.url)
        monkeypatch.setitem(PROVIDERS, provider, moved)

    return move


def converse(model, turns, **settings):
    """The replies to requests made one after the other, as (messages, tools)."""

    async def talk():
        proposer = await open_model(model, {**QUICK, **settings})
        told = []
        try:
            for messages, tools in turns:
                messages = messages(told) if callable(messages) else messages
                told.append(await proposer.propose(VIEW, messages, tools, 5))
        finally:
            await proposer.close()
        return told

    return asyncio.run(talk())


@pytest.mark.parametrize("provider", FIELDS)
def test_each_provider_gets_the_limit_in_its_own_field(provider, at_server):
    with ChatServer([says("x")]) as server:
        at_server(provider, server)
        converse(f"{provider}:m", [(ASK, ())], reasoning_tokens=2048, model_args={"top_k": 1})
    (request,) = server.requests
    assert {name: request[name] for name in FIELDS[provider]} == FIELDS[provider]
    assert request["top_k"] == 1


@pytest.mark.parametrize("owner", ["vllm", "llamacpp"])
def test_a_server_at_a_url_is_known_by_its_list_of_models(owner):
    models = {"/v1/models": {"data": [{"id": "m", "owned_by": owner}]}}
    _, server = ask(says("x"), gets=models, reasoning_tokens=2048)
    assert FIELDS[owner].items() <= server.requests[0].items()


def test_an_unknown_server_is_not_asked_as_if_it_had_a_limit():
    error, server = fails(says("x"), reasoning_tokens=2048)
    assert isinstance(error, EndpointRefused) and "leave out reasoning_tokens" in str(error)
    assert server.requests == []


@pytest.mark.parametrize("provider", ["openai", "deepseek", "groq"])
def test_a_provider_without_a_limit_is_refused_in_one_sentence(provider, monkeypatch):
    monkeypatch.setenv(KEYS[provider], "sk-test-4711-0000")
    with pytest.raises(UsageError, match=f"{provider} has no limit on the tokens of reasoning"):
        asyncio.run(open_model(f"{provider}:m", {"reasoning_tokens": 2048}))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reasoning_tokens": 100}, "at least 1,024"),
        ({"reasoning_tokens": 2048, "max_tokens": 2048}, "must be above reasoning_tokens"),
        ({"reasoning_tokens": 2048, "temperature": 0.5}, "must be 1 with reasoning_tokens"),
    ],
)
def test_what_anthropic_would_refuse_is_said_before_a_request(settings, message, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-4711-0000")
    with pytest.raises(UsageError, match=message):
        asyncio.run(open_model("anthropic:m", settings))


# --- reasoning in later requests -----------------------------------------------


def thinks(request):
    """Calls a tool after some thought, with all that providers add to such a message."""
    if any(message["role"] == "tool" for message in request["messages"]):
        return completion({"content": "done", "reasoning_content": "second thought"})
    function = {"name": "execute", "arguments": '{"code": "x"}'}
    call = {"id": "a", "type": "function", "function": function,
            "extra_content": {"google": {"thought_signature": "sig"}}}  # fmt: skip
    details = [{"type": "reasoning.text", "index": 0, "text": "first ", "signature": None}]
    said = {
        "reasoning_content": "first thought",
        "reasoning_details": details,
        "tool_calls": [call],
    }
    return completion(said, "tool_calls")


def second_turn(told):
    turns = build_tool_messages(told[0], ["a result"])
    returned = told[0].meta.get("returned")
    return [*ASK, {**turns[0], **({"returned": returned} if returned else {})}, *turns[1:]]


@pytest.mark.parametrize("provider", ["deepseek", "openrouter", "gemini", "vllm", "groq"])
def test_a_tool_turn_carries_exactly_the_reasoning_that_its_provider_needs(provider, at_server):
    with ChatServer([thinks]) as server:
        at_server(provider, server)
        told = converse(f"{provider}:m", [(ASK, [EXECUTE]), (second_turn, [EXECUTE])])
    turn = server.requests[1]["messages"][1]
    kept = {name for name in ("reasoning_content", "reasoning_details", "returned") if name in turn}
    kept |= {"extra_content"} if "extra_content" in turn["tool_calls"][0] else set()
    needs = {
        "deepseek": {"reasoning_content"},
        "openrouter": {"reasoning_details"},
        "gemini": {"extra_content"},
    }
    assert kept == needs.get(provider, set())
    assert [reply.meta["reasoning"] for reply in told] == ["first thought", "second thought"]
    assert "thought" not in told[1].text


def test_an_empty_reasoning_goes_back_too_where_it_is_needed(at_server):
    def empty(request):
        body = thinks(request)
        return type(body)(body.body.replace(b'"first thought"', b'""'))

    with ChatServer([empty]) as server:
        at_server("deepseek", server)
        converse("deepseek:m", [(ASK, [EXECUTE]), (second_turn, [EXECUTE])])
    assert server.requests[1]["messages"][1]["reasoning_content"] == ""


def streamed(request):
    """The same in pieces, with the details of OpenRouter and the signature of Gemini."""
    from chat_server import chunk, streams

    if any(message["role"] == "tool" for message in request["messages"]):
        return in_pieces(says("done"))(request)
    piece = lambda text: chunk(
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": text}]}
    )
    call = {"index": 0, "id": "a", "function": {"name": "execute", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "sig"}}}  # fmt: skip
    chunks = [
        piece("first "),
        piece("thought"),
        chunk({"tool_calls": [call]}),
        chunk({}, "tool_calls"),
    ]
    return streams(*chunks)(request)


@pytest.mark.parametrize("provider", ["openrouter", "gemini"])
def test_a_stream_keeps_what_its_provider_needs(provider, at_server):
    with ChatServer([streamed]) as server:
        at_server(provider, server)
        converse(f"{provider}:m", [(ASK, [EXECUTE]), (second_turn, [EXECUTE])], stream=True)
    turn = server.requests[1]["messages"][1]
    if provider == "openrouter":
        assert turn["reasoning_details"] == [
            {"type": "reasoning.text", "index": 0, "text": "first thought"}
        ]
    else:
        assert turn["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "sig"}}
