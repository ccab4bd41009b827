"""`served`: a server over a folder of its own, called by the SDK's client in this process.

Internals: the server is called without its command line, in this process.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")

from peirce.adapters.mcp_server.server import build_server  # noqa: E402
from peirce.adapters.mcp_server.settings import ServerSettings  # noqa: E402

PAIRS = [([3, 8, 5], [8]), ([2, 7], [2]), ([1, 9], []), ([6, 6, 1], [6, 6])]


@dataclass(frozen=True)
class Served:
    root: Path
    settings: ServerSettings

    @functools.cached_property
    def server(self) -> Any:
        """The server of all calls; to build it takes longer than most of them."""
        return build_server(self.settings)

    def drive(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        """The result of an async function that gets a connected client."""

        async def connected() -> Any:
            async with mcp.Client(self.server) as client:
                return await work(client)

        return asyncio.run(connected())

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The object that a tool answers, which is the same as text and as structured content."""
        answer = self.drive(lambda client: client.call_tool(tool, arguments))
        assert not answer.is_error, answer.content[0].text
        assert json.loads(answer.content[0].text) == answer.structured_content
        found: dict[str, Any] = answer.structured_content
        return found

    def refusal(self, tool: str, **arguments: Any) -> str:
        """The one sentence with which a tool refuses."""
        answer = self.drive(lambda client: client.call_tool(tool, arguments))
        assert answer.is_error and len(answer.content) == 1, answer.content[0].text
        sentence: str = answer.content[0].text
        assert "\n" not in sentence and "Traceback" not in sentence
        return sentence

    def having(self, **changes: Any) -> Served:
        """The same server, started with other settings."""
        return replace(self, settings=replace(self.settings, **changes))


@pytest.fixture
def served(tmp_path: Path) -> Served:
    root = tmp_path / "root"
    root.mkdir()
    (root / "pairs.jsonl").write_text(
        "".join(json.dumps({"input": given, "output": out}) + "\n" for given, out in PAIRS)
    )
    (tmp_path / "outside.jsonl").write_text('{"input": "stolen", "output": "stolen"}\n')
    return Served(root, ServerSettings(root.resolve(), tmp_path / "s.duckdb", workers=1))
