"""Checks what is made of the size of a model's context: where each kind of server tells it, that
nothing is refused that may fit, and that what a server cuts in silence is no answer.

Internals: the bounds on requests and waits are constants of the module.
"""

import asyncio

import pytest
from asking import ASK, QUICK, VIEW, ask, ask_all, fails
from chat_server import Answer, ChatServer, completion, says, status
from peirce.agents import EndpointRefused, open_model
from peirce.agents.endpoint.context import MOST_CHARACTERS, TIMEOUT_S, min_tokens
from peirce.records import ContextExceeded, Reply, Unavailable

LONG = [{"role": "user", "content": "words " * 2000}]  # 12,000 characters: at least 2,000 tokens


def models(**entry):
    return {"/v1/models": {"object": "list", "data": [{"id": "other"}, {"id": "m", **entry}]}}


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("maximum context length is 1,500 tokens. However, your messages resulted in 9000 tokens.", (9000, 476)),
        ("the request (9000 tokens) exceeds the available context size (1500 tokens)", (9000, 476)),
        ("context length exceeded", None),
    ],
)  # fmt: skip
def test_a_refusal_says_how_much_of_the_prompt_fits(said, counts):
    error, _ = fails(status(400, said), messages=LONG, max_tokens=1024)
    assert isinstance(error, ContextExceeded)
    assert counts in (None, (error.prompt_tokens, error.room_tokens))
    assert counts or error.room_tokens == error.prompt_tokens // 2


def counting(tokens_in):
    usage = {"prompt_tokens": tokens_in, "completion_tokens": 7, "total_tokens": tokens_in + 7}
    return lambda request: completion({"content": "x"}, usage=usage)


TOLD = {
    "vLLM": {"max_model_len": 1500, "owned_by": "vllm"},
    "OpenRouter": {"context_length": 1500, "top_provider": {"context_length": 9000}},
    "LM Studio": {"max_context_length": 9000, "loaded_context_length": 1500},
    "Mistral": {"max_context_length": 1500},
    "Groq": {"context_window": 1500, "owned_by": "Meta"},
    "llama.cpp": {"meta": {"n_ctx": 1500, "n_ctx_train": 9000}, "owned_by": "llamacpp"},
}


@pytest.mark.parametrize("entry", TOLD.values(), ids=TOLD)
def test_a_request_that_cannot_fit_is_not_sent_and_says_who_tells_the_size(entry):
    error, server = fails(says("x"), messages=LONG, gets=models(**entry))
    assert server.requests == [] and not isinstance(error, EndpointRefused)
    assert "at least 2,000 tokens, more than the 1,500 tokens that the model holds" in str(error)
    assert f"{server.url}/models" in str(error)


@pytest.mark.parametrize("size", [2001, 100_000])
def test_what_may_fit_is_sent(size):
    assert ask(counting(2000), messages=LONG, gets=models(max_model_len=size))[0].text == "x"
    assert ask(counting(0), messages=LONG, gets=models(max_model_len=2000))[0].text == "x"


def test_the_answer_s_own_tokens_are_left_to_the_endpoint():
    """A server may give what room is left; one that will not says so itself."""
    gets = models(max_model_len=2100)
    assert ask(counting(2050), messages=LONG, gets=gets, max_tokens=4000)[0].text == "x"
    words = "This model's maximum context length is 2100 tokens. However, you requested 6000 tokens"
    error, server = fails(status(400, words), messages=LONG, gets=gets, max_tokens=4000)
    assert (
        words in str(error) and len(server.requests) == 1 and not isinstance(error, EndpointRefused)
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (400, "the request exceeds the available context size, try increasing it"),
        (500, "the context shift is disabled"),
        (413, "Request too large for model"),
        (400, "Trying to keep the first 5000 tokens when context the overflows"),
    ],
)
def test_an_endpoint_s_own_refusal_for_length_is_not_asked_again(code, words):
    error, server = fails(status(code, words))
    assert (
        words in str(error) and len(server.requests) == 1 and not isinstance(error, EndpointRefused)
    )


STRANGE = {
    "no list": {},
    "an error": {"/v1/models": Answer(b"{}", 500)},
    "no JSON": {"/v1/models": Answer(b"<html>")},
    "a list": {"/v1/models": [{"id": "m"}]},
    "no model of that name": {"/v1/models": {"data": [{"id": "a", "max_model_len": 1}] * 2}},
    "deep": {"/v1/models": Answer(b"[" * 200_000)},
    "text": models(max_model_len="1500"),
    "truth": models(max_model_len=True),
    "nothing": models(max_model_len=0),
    "null": models(max_model_len=None, meta=None),
    "strange entries": {"/v1/models": {"data": [5, None, "m"]}},
    "what it was trained with": models(meta={"n_ctx_train": 1500}),
    "a connection that breaks": {"/v1/models": Answer(b"{}", cut=0)},
}


@pytest.mark.parametrize("gets", STRANGE.values(), ids=STRANGE)
def test_a_look_up_that_fails_is_silent_and_refuses_nothing(gets):
    reply, server = ask(says("x"), messages=LONG, gets=gets)
    assert reply.text == "x" and server.got[0] == "/v1/models"


def test_a_look_up_that_hangs_is_left_after_a_short_time(monkeypatch):
    monkeypatch.setattr("peirce.agents.endpoint.context.TIMEOUT_S", 0.2)
    gets = {"/v1/models": Answer(b"{}", delay_s=5)}
    assert ask(says("x"), gets=gets)[0].text == "x" and TIMEOUT_S < 10


def test_the_only_model_of_a_list_is_the_one_whatever_it_is_called():
    only = {"/v1/models": {"data": [{"id": "/models/some.gguf", "meta": {"n_ctx": 1500}}]}}
    fails(says("x"), messages=LONG, gets=only)


def test_it_is_looked_up_once_for_all_calls_with_the_key_and_when_first_needed(monkeypatch):
    with ChatServer([says("x")], models(max_model_len=1500)) as server:

        async def several():
            proposer = await open_model(f"{server.url}#m", QUICK)
            assert server.got == []
            await asyncio.gather(*(proposer.propose(VIEW, ASK, (), n) for n in range(20)))
            await proposer.close()

        asyncio.run(several())
    assert server.got == ["/v1/models"] and len(server.requests) == 20


def test_a_setting_of_zero_ends_the_looking_up_and_every_check():
    for cut in (counting(1500), counting(1)):
        reply, server = ask(cut, messages=LONG, gets=loaded("m", 1500), context_tokens=0)
        assert reply.text == "x" and server.got == []


@pytest.mark.parametrize("tokens_in", [1500, 1600])
def test_a_size_of_one_s_own_is_what_refuses_a_request_and_the_endpoint_s_what_refuses_an_answer(
    tokens_in,
):
    """It may be set too large, or for the estimate of a text with few characters a token."""
    gets, own = loaded("m", 1500), {"context_tokens": 50_000}
    assert ask(counting(2100), messages=LONG, gets=models(), **own)[0].text == "x"
    error, server = fails(counting(tokens_in), messages=LONG, gets=gets, **own)
    assert "filled all of the 1,500 tokens" in str(error) and len(server.requests) == 1


# --- Ollama, which cuts in silence --------------------------------------------

OLLAMA = models(owned_by="library", object="model")


def loaded(name, size):
    return {
        **OLLAMA,
        "/api/ps": {"models": [{"name": "a:1b"}, {"name": name, "context_length": size}]},
    }


@pytest.mark.parametrize("name", ["m", "m:latest"])
def test_what_ollama_has_loaded_is_asked_for_after_the_first_answer(name):
    with ChatServer([counting(900)], loaded(name, 1500)) as server:
        told = ask_all(server, [(ASK, (), 1), (LONG, (), 2), (ASK, (), 3)])
    assert isinstance(told[0], Reply) and isinstance(told[2], Reply)
    assert "1,500 tokens that the model holds" in str(told[1]) and "/api/ps" in str(told[1])
    assert server.got == ["/v1/models", "/api/ps"] and len(server.requests) == 2


def test_an_answer_to_a_request_that_was_cut_is_none():
    error, server = fails(counting(1500), messages=LONG, gets=loaded("m", 1500))
    assert "cut the request without a word" in str(error) and len(server.requests) == 1
    assert not isinstance(error, EndpointRefused) and isinstance(error, Unavailable)
    assert ask(counting(1499), gets=loaded("m", 1500))[0].text == "x"


TURNS = [{"role": "user", "content": "words " * 500}] * 4  # at least 2,000 tokens


@pytest.mark.parametrize(
    ("gets", "settings"),
    [(loaded("m", 4096), {}), (models(), {"context_tokens": 4096}), (OLLAMA, {})],
    ids=["looked up", "one's own", "an Ollama that tells no size"],
)
def test_a_request_whose_oldest_messages_were_dropped_is_no_answer(gets, settings):
    error, server = fails(counting(1400), messages=TURNS, gets=gets, **settings)
    assert "it counted 1,400 tokens in one of at least 2,000" in str(error)
    assert not isinstance(error, EndpointRefused) and len(server.requests) == 1
    reply, _ = ask(counting(2900), messages=TURNS, gets=gets, **settings)
    assert reply.text == "x"


def test_a_count_without_what_was_cached_is_no_cut():
    """Told apart, not told by a server whose model surely holds the request, or by one that tells
    no size and is no Ollama."""
    apart = {"prompt_tokens": 300, "completion_tokens": 7,
             "prompt_tokens_details": {"cached_tokens": 2500}}  # fmt: skip
    told = lambda request: completion({"content": "x"}, usage=apart)
    assert ask(told, messages=TURNS, gets=loaded("m", 4096))[0].text == "x"
    assert ask(counting(300), messages=TURNS, gets=loaded("m", 12_000))[0].text == "x"
    assert ask(counting(300), messages=TURNS, gets=models())[0].text == "x"
    assert ask(counting(300), messages=TURNS)[0].text == "x"


def test_a_model_that_is_not_loaded_any_more_is_looked_for_a_few_times():
    gets = {**OLLAMA, "/api/ps": {"models": []}}
    with ChatServer([counting(9)], gets) as server:
        told = ask_all(server, [(ASK, (), n) for n in range(6)])
    assert all(isinstance(one, Reply) for one in told)
    assert server.got.count("/api/ps") == 3


def test_a_server_that_is_no_ollama_is_asked_for_it_once():
    with ChatServer([counting(9)], OLLAMA) as server:
        ask_all(server, [(ASK, (), n) for n in range(4)])
    assert server.got == ["/v1/models", "/api/ps"]


def test_the_least_counts_texts_and_arguments_alone():
    call = {"id": "a", "type": "function", "function": {"name": "n", "arguments": "x" * 60}}
    turns = [
        {"role": "user", "content": "x" * 60},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "x" * 60},
    ]
    assert min_tokens(turns) == 180 // MOST_CHARACTERS and min_tokens([]) == 0


def test_a_request_that_was_cut_to_a_size_of_one_s_own_is_no_answer():
    error, server = fails(says("from the rest of the question"), context_tokens=11)
    assert "11 tokens" in str(error) and "context_tokens 11" in str(error)
    assert len(server.requests) == 1
