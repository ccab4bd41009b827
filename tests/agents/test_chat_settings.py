"""Checks where the proposer behind an endpoint has its URL, key and settings from, what is refused of
them, and that no secret gets out."""

import asyncio
import json
import traceback

import pytest
from asking import ASK, SECRET, VIEW, ask, fails
from chat_server import ChatServer, raw, says, status
from peirce.agents import open_model
from peirce.records import UsageError


def opening(spec, **settings):
    async def both():
        proposer = await open_model(spec, settings)
        told = proposer.settings()
        await proposer.close()
        return told

    return asyncio.run(both())


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
