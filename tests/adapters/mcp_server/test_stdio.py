"""The server over stdio, started as coding agents start it and driven by the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import peirce
import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters

SETTINGS = {"problems": 2, "max_answers": 2, "seed": 3}
BUDGET = {"budget_expansions": 2_000}


def start(root: Path, *options: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=[
            "-m",
            "peirce",
            "mcp",
            "--root",
            str(root),
            "--store",
            str(root / "s.duckdb"),
            *options,
        ],
    )


def read(answer: Any) -> Any:
    """The object of an answer, which is the same as text and as structured content."""
    assert not answer.is_error, answer.content[0].text
    assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


def test_a_session_run_over_stdio_has_the_digest_of_the_same_on_the_command_line(
    tmp_path: Path,
) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async def drive() -> tuple[Any, ...]:
        async with Client(start(tmp_path)) as client:
            session = read(
                await client.call_tool(
                    "run",
                    {"task": "list_functions", **SETTINGS, "settings": BUDGET},
                    progress_callback=listen,
                )
            )
            found = read(await client.call_tool("findings", {"limit": 1}))
            problem = found["findings"][0]
            checked = read(
                await client.call_tool(
                    "check",
                    {
                        "task": "list_functions",
                        "answers": [
                            {key: problem[key] for key in ("problem", "hypothesis")},
                            {"problem": problem["problem"], "hypothesis": "def f(x): return 'no'"},
                        ],
                        "settings": {"problems": 2, "seed": 3},
                    },
                )
            )
            executed = read(
                await client.call_tool(
                    "execute",
                    {
                        "source": "def f(x):\n    print('noise')\n    return x + 1",
                        "inputs": [1, "a"],
                    },
                )
            )
        return session, found, checked, executed

    session, found, checked, executed = asyncio.run(drive())
    told = peirce.run("list_functions", **SETTINGS, **BUDGET, store=tmp_path / "own.duckdb")
    assert session["outcome"]["digest"] == told.digest and session["status"] == "done"
    assert found["total"] >= 1 and found["session"] == session["session"]
    assert [row["verdict"] for row in checked["rows"]] == ["consistent", "inconsistent"]
    assert executed["results"] == [{"value": 2}, {"undefined": "TypeError"}]
    amounts = [progress for progress, _, _ in heard]
    assert amounts and amounts == sorted(set(amounts)) and heard[0][1] == 2


NOISY = """
import os, subprocess, sys, warnings

print("noise")
sys.stdout.write("noise without an end")
sys.stdout.flush()
os.write(1, b"raw noise\\n")
subprocess.run(["sh", "-c", "echo noise of a child; read line; echo got $line"])
warnings.warn("a noisy warning")
"""


def test_what_code_prints_does_not_reach_the_client(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)

    async def drive() -> tuple[Any, Any]:
        async with Client(start(tmp_path, "--allow-task-files")) as client:
            noisy = await client.call_tool("tasks", {"task": "noisy.py"})
            return noisy, await client.call_tool(
                "execute", {"source": "def f(x): return x", "inputs": [1]}
            )

    noisy, executed = asyncio.run(drive())
    assert noisy.is_error and "noisy.py" in noisy.content[0].text  # it defines no task
    assert read(executed)["results"] == [{"value": 1}]
