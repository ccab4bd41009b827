"""Lets the tests of this room import what lies beside them, and keeps the machine's own variables
from them."""

import gc
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """No variable of the machine's own reaches a test."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY", "PEIRCE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_PROXY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A tiny model, and below an adapter of it. Where torch is absent, require() has skipped the module."""
    from tiny_model import make_model

    made = make_model(tmp_path_factory.mktemp("models") / "base")
    gc.freeze()  # with all that was imported to make it
    return made


@pytest.fixture(scope="module")
def adapter(base):
    from tiny_model import make_adapter

    made = make_adapter(base.parent / "adapter", base)
    gc.freeze()
    return made


@pytest.fixture
def copied(base, tmp_path):
    """A copy of the model, to be damaged."""
    return shutil.copytree(base, tmp_path / "copied")
