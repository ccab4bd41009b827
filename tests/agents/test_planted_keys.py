"""Checks that no key of the environment comes into what a session records, whichever it is."""

import asyncio

import pytest
from peirce.agents import open_model
from peirce.records import UsageError

PLANTED = "sk-planted-1122334455667788"
URL = "http://127.0.0.1:9/v1"


def refused(spec, **settings):
    with pytest.raises(UsageError) as caught:
        asyncio.run(open_model(spec, settings))
    assert PLANTED not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "PEIRCE_API_KEY", "HF_TOKEN", "MY_SECRET"])
def test_a_key_of_any_provider_is_refused_wherever_it_stands(monkeypatch, name):
    monkeypatch.setenv(name, PLANTED)
    for fields in (
        {"user": PLANTED},
        {"metadata": {"a": [1, f"Bearer {PLANTED}"]}},
        {"a": {PLANTED: 1}},
    ):
        assert name in refused(f"{URL}#m", model_args=fields)
    assert name in refused(f"{URL}#{PLANTED}")
    assert name in refused(f"{URL}/{PLANTED}#m")


def test_a_base_url_with_a_fragment_is_refused(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-99887766")
    for fragment in (PLANTED, "m"):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{URL}#{fragment}")
        assert "URL without credentials" in refused("openai:m")


def test_short_values_and_paths_are_no_keys(monkeypatch):
    monkeypatch.setenv("A_TOKEN", "m")
    monkeypatch.setenv("B_API_KEY", "/models/some")
    monkeypatch.setenv("C_API_KEY_ENV", "D_LONG_NAME")
    fields = {"user": "m", "path": "/models/some", "variable": "D_LONG_NAME"}

    async def opened():
        proposer = await open_model(f"{URL}#m", {"model_args": fields})
        await proposer.close()

    asyncio.run(opened())
