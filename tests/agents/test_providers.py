"""Checks the providers that a model string can name: where a request goes, which key it carries, and what
is refused. A server on the loopback plays each provider; the table is pointed to it."""

import asyncio
import json

import pytest
from asking import ASK, EXECUTE, SCHEMA, VIEW
from chat_server import ChatServer, says, status
from peirce.agents import open_model
from peirce.records import PROVIDERS, Unavailable, UsageError

HOSTED = sorted(name for name, one in PROVIDERS.items() if not one.local)
LOCAL = sorted(PROVIDERS.keys() - set(HOSTED))
KEYS = sorted({key for one in PROVIDERS.values() for key in one.keys} | {"PEIRCE_API_KEY"})


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in (*KEYS, "OLLAMA_HOST", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def secret(variable):
    return f"planted-{variable.lower()}-4711"


def ask_provider(monkeypatch, name, *behaviours, tools=(), schema=None, **settings):
    """(the reply, the request) of one call to `name`, whose row of the table leads to a server here."""
    with ChatServer(behaviours or [says("hi")]) as server:
        monkeypatch.setitem(PROVIDERS, name, PROVIDERS[name]._replace(url=server.url))

        async def call():
            proposer = await open_model(f"{name}:some/model:free", {"backoff_s": 0.001, **settings})
            try:
                return await proposer.propose(VIEW, ASK, tools, 5, schema)
            finally:
                await proposer.close()

        return asyncio.run(call()), server.requests[-1]


def refused(spec, **settings):
    with pytest.raises(UsageError) as caught:
        asyncio.run(open_model(spec, settings))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_hosted_provider_is_reached_by_https_and_a_local_one_on_this_machine():
    assert {"anthropic", "gemini", "google", "mistral", "openai", "openrouter"} <= set(HOSTED)
    assert all(PROVIDERS[name].url.startswith("https://") for name in HOSTED)
    assert {"llamacpp", "lmstudio", "ollama", "vllm"} == set(LOCAL)
    assert all(PROVIDERS[name].url.startswith("http://localhost:") for name in LOCAL)


@pytest.mark.parametrize("name", HOSTED)
def test_a_provider_gets_its_own_key_and_no_other(monkeypatch, name):
    for variable in KEYS:
        monkeypatch.setenv(variable, secret(variable))
    reply, request = ask_provider(monkeypatch, name)
    assert reply.text == "hi" and request["path"] == "/v1/chat/completions"
    assert request["model"] == "some/model:free"
    own = secret(PROVIDERS[name].keys[0])
    assert request["headers"]["authorization"] == f"Bearer {own}"
    sent = json.dumps(request)
    assert not [one for one in KEYS if secret(one) != own and secret(one) in sent]


@pytest.mark.parametrize("name", HOSTED)
def test_a_missing_key_is_one_sentence_that_names_its_variable(monkeypatch, name):
    variable = PROVIDERS[name].keys[0]
    for other in KEYS:
        if other not in PROVIDERS[name].keys:
            monkeypatch.setenv(other, secret(other))
    assert refused(f"{name}:m") == (
        f"model '{name}:m' needs a key in the environment variable {variable}, which is not set"
    )


@pytest.mark.parametrize("name", LOCAL)
def test_a_local_server_needs_no_key_and_gets_none_of_another_provider(monkeypatch, name):
    for variable in set(KEYS) - set(PROVIDERS[name].keys):
        monkeypatch.setenv(variable, secret(variable))
    reply, request = ask_provider(monkeypatch, name)
    assert reply.text == "hi" and request["headers"]["authorization"] == "Bearer none"
    for variable in PROVIDERS[name].keys:  # what the server itself reads
        monkeypatch.setenv(variable, secret(variable))
        _, request = ask_provider(monkeypatch, name)
        assert request["headers"]["authorization"] == f"Bearer {secret(variable)}"


def test_a_second_variable_of_a_provider_is_read_where_the_first_is_empty(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", secret("GOOGLE_API_KEY"))
    for name in ("gemini", "google"):
        _, request = ask_provider(monkeypatch, name)
        assert request["headers"]["authorization"] == f"Bearer {secret('GOOGLE_API_KEY')}"


def test_a_variable_of_the_users_own_may_hold_the_key_but_not_that_of_another_provider(monkeypatch):
    monkeypatch.setenv("LAB_KEY", "planted-lab-4711")
    monkeypatch.setenv("OPENAI_API_KEY", secret("OPENAI_API_KEY"))
    for name in ("groq", "ollama"):
        _, request = ask_provider(monkeypatch, name, api_key_env="LAB_KEY")
        assert request["headers"]["authorization"] == "Bearer planted-lab-4711"
        said = refused(f"{name}:m", api_key_env="OPENAI_API_KEY")
        assert "OPENAI_API_KEY holds the key of openai, which is not sent to " + name in said
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.invalid/v1")  # the user's own choice
    monkeypatch.setenv("GROQ_API_KEY", secret("GROQ_API_KEY"))
    told = asyncio.run(_endpoint("openai:m", api_key_env="GROQ_API_KEY"))
    assert told == "https://gateway.invalid/v1"


async def _endpoint(spec, **settings):
    """The URL of an opened model, which sends nothing before it is asked."""
    proposer = await open_model(spec, settings)
    await proposer.close()
    return proposer.settings()["endpoint"]


def test_a_key_is_asked_for_in_words_where_a_local_server_wants_one(monkeypatch):
    with pytest.raises(Unavailable, match="wants a key: name its variable with --model-arg api_key_env=NAME"):  # fmt: skip
        ask_provider(monkeypatch, "ollama", status(401))
    with pytest.raises(Unavailable, match="wants a key: set VLLM_API_KEY"):
        ask_provider(monkeypatch, "vllm", status(401))


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("gpu", "http://gpu:11434/v1"),
        ("gpu:8", "http://gpu:8/v1"),
        (":8", "http://localhost:8/v1"),
        ("0.0.0.0", "http://localhost:11434/v1"),
        ("'0.0.0.0:8'", "http://localhost:8/v1"),
        ("[::]:8", "http://localhost:8/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
        ("http://gpu", "http://gpu/v1"),
        ("https://gpu:8/", "https://gpu:8/v1"),
        ("https://gpu/ollama", "https://gpu/ollama/v1"),
        ("http://gpu:8/v1", "http://gpu:8/v1"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(monkeypatch, host, url):
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert asyncio.run(_endpoint("ollama:m")) == url


def test_ollama_is_asked_where_ollama_host_says(monkeypatch):
    with ChatServer([says("hi")]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url.removeprefix("http://").removesuffix("/v1"))

        async def call():
            proposer = await open_model("ollama:qwen3:8b", {})
            reply = await proposer.propose(VIEW, ASK, (), 1)
            await proposer.close()
            return reply.text, proposer.settings()["endpoint"]

        assert asyncio.run(call()) == ("hi", server.url)
    assert server.requests[0]["model"] == "qwen3:8b"
    for wrong in ("gpu:x", "http://me:hush-hush@gpu"):
        monkeypatch.setenv("OLLAMA_HOST", wrong)
        said = refused("ollama:m")
        assert said.startswith("OLLAMA_HOST") and "hush" not in said


def test_what_a_provider_ignores_is_not_sent_and_may_not_be_asked_for(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", secret("ANTHROPIC_API_KEY"))
    monkeypatch.setenv("GROQ_API_KEY", secret("GROQ_API_KEY"))
    _, request = ask_provider(monkeypatch, "anthropic", schema=SCHEMA, temperature=1)
    assert not {"seed", "response_format"} & request.keys() and request["temperature"] == 1
    _, request = ask_provider(monkeypatch, "anthropic", tools=[EXECUTE], max_tokens=9)
    assert request["tools"] and request["max_tokens"] == 9
    _, request = ask_provider(monkeypatch, "groq", schema=SCHEMA)
    assert {"seed", "response_format"} <= request.keys()
    for settings, said in (
        ({"send_seed": True}, "send_seed has no effect on model 'anthropic:m'"),
        ({"structured": "always"}, "structured has no effect"),
        ({"model_args": {"reasoning_effort": "low"}}, "anthropic ignores reasoning_effort"),
        ({"temperature": 1.5}, "temperature 1.5 of model 'anthropic:m' must be at most 1"),
    ):
        assert said in refused("anthropic:m", **settings)


def test_a_part_that_a_provider_rejects_is_left_out(monkeypatch):
    monkeypatch.setenv("MISTRAL_API_KEY", secret("MISTRAL_API_KEY"))
    no = status(422, "body.seed: Extra inputs are not permitted extra_forbidden")
    reply, request = ask_provider(monkeypatch, "mistral", no, says("hi"))
    assert reply.text == "hi" and "seed" not in request


def test_a_model_string_without_a_name_or_with_a_url_says_what_to_write():
    assert refused("vllm:") == "model 'vllm:' names no model: write vllm:NAME"
    said = refused("ollama:http://me:hush-hush@gpu:11434/v1#m")
    assert "write http://host:port/v1#NAME" in said and "hush" not in said


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("antropic:claude", "did you mean anthropic:NAME?"),
        ("Ollama:m", "did you mean ollama:NAME?"),
        ("lm-studio:m", "did you mean lmstudio:NAME?"),
        ("llama.cpp:m", "did you mean llamacpp:NAME"),
        ("openrouter/meta/llama", "did you mean openrouter:meta/llama?"),
        ("gpt-9", "for example openai:gpt-9 or ollama:gpt-9"),
    ],
)
def test_an_unknown_provider_names_the_nearest_all_schemes_and_the_form_of_a_url(spec, said):
    told = refused(spec)
    assert repr(spec) in told and said in told
    assert all(name in told for name in PROVIDERS) and "hf:FOLDER_OR_ID" in told
    assert "by its URL, as in http://host:port/v1#NAME" in told
