"""Checks how model strings find the module that opens them."""

import asyncio
import subprocess
import sys

import pytest
from peirce.agents import open_model, scheme_of, schemes
from peirce.records import UsageError


def test_every_kind_of_model_is_found_without_importing_it():
    code = (
        "import sys, peirce.agents as a; found = a.schemes();"
        "heavy = [m for m in sys.modules if m.startswith(('peirce.agents.', 'langchain', 'openai'))];"
        "print(sorted(found), heavy)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = ["http", "https", "openai", "recorded", "scripted"]
    assert all(f"'{name}'" in said.stdout for name in names) and said.stdout.endswith("[]\n")


def test_importing_the_chat_module_imports_no_client():
    code = (
        "import sys, peirce.agents.endpoint.chat;"
        "print([m for m in sys.modules if m.split('.')[0] in ('langchain_openai', 'openai', 'httpx2')])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_a_scheme_is_what_stands_before_the_colon():
    assert scheme_of("http://127.0.0.1:1/v1#a:b") == "http" and scheme_of("openai:a:b") == "openai"
    assert set(schemes()) >= {"http", "https", "openai", "recorded", "scripted"}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("opneai:gpt-4", "did you mean openai:NAME"),
        ("record:x", "did you mean recorded:FILE"),
        (
            "gpt-4",
            "for example openai:gpt-4 or ollama:gpt-4.: a model is one of cvc5, gplearn, hf:FOLDER_OR_ID, http",
        ),
        ("", "a model is one of"),
    ],
)
def test_an_unknown_model_is_refused_with_the_nearest_and_the_valid_ones(spec, said):
    with pytest.raises(UsageError, match=said) as caught:
        asyncio.run(open_model(spec, {}))
    assert repr(spec) in str(caught.value) and "scripted:FILE" in str(caught.value)
