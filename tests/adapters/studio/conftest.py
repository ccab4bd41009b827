"""The tests here share one server, because it takes some seconds to start."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

for folder in (Path(__file__).parent, Path(__file__).parents[2] / "agents"):
    sys.path.insert(0, str(folder))

from chat_server import Answer, ChatServer  # noqa: E402
from dev_server import ROOT, DevServer, answer_by_request, require_studio  # noqa: E402


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """A running `langgraph dev`."""
    require_studio()
    started = DevServer(
        tmp_path_factory.mktemp("studio"), (ROOT / "langgraph.json").read_text("utf-8"), forked=True
    )
    started.start()
    yield started
    started.stop()


@pytest.fixture
def client(server: DevServer) -> Any:
    """LangGraph's own client of the server."""
    from langgraph_sdk import get_sync_client

    return get_sync_client(url=server.url)


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a file with three problems, each with three pairs."""
    lists = {"one": [[3, 1, 2], [5, 6], [9]], "two": [[4], [7, 7], []], "three": [[2, 8], [0], [1]]}
    rows = [
        {"problem": name, "input": given, "output": [*given[1:], 77]}
        for name, inputs in lists.items()
        for given in inputs
    ]
    path = tmp_path_factory.mktemp("data") / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    """A model behind a URL."""
    with ChatServer([answer_by_request]) as model:
        yield model


@pytest.fixture
def waiting_chat() -> Iterator[ChatServer]:
    """The same model, but its third answer comes only when the test has ended: until then, a session
    with one request at a time runs."""
    ended = threading.Event()

    def wait(request: dict[str, Any]) -> Answer:
        ended.wait(120)
        return answer_by_request(request)

    with ChatServer([answer_by_request, answer_by_request, wait, answer_by_request]) as model:
        yield model
        ended.set()
