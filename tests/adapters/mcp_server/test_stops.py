"""However a call or the server ends, the session is stored, and goes on to the digest it would have had."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.tests.cli.forked_command import command_line

PROBLEMS = {"problems": 3, "max_answers": 3, "seed": 1}
QUICK = {"budget_expansions": 2_000, "concurrency": 1}
RUN = {"task": "list_functions", **PROBLEMS, "settings": QUICK}


@pytest.fixture(scope="module")
def digest(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = tmp_path_factory.mktemp("own") / "own.duckdb"
    return peirce.run("list_functions", **PROBLEMS, **QUICK, store=store).digest


def test_a_cancelled_call_leaves_a_session_that_resume_continues(served: Any, digest: str) -> None:
    async def cancel(client: Any) -> tuple[str, Any, Any]:
        stepped = asyncio.Event()

        async def listen(progress: float, total: float | None, message: str | None) -> None:
            if progress > 0:
                stepped.set()

        work = asyncio.create_task(client.call_tool("run", RUN, progress_callback=listen))
        await stepped.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        state = "running"
        while state == "running":  # the call has ended for the client before the session is stored
            await asyncio.sleep(0.05)
            state = (await client.call_tool("status", {})).structured_content["status"]
        resumed = await client.call_tool("resume", {"session": "last"})
        return state, resumed.structured_content, await client.call_tool("findings", {})

    state, resumed, found = served.drive(cancel)
    assert state == "interrupted"
    assert resumed["status"] == "done" and resumed["outcome"]["digest"] == digest
    assert not found.is_error
    assert peirce.replay("last", store=served.settings.store).differences == []


def test_resume_refuses_a_session_whose_model_may_not_be_called(served: Any) -> None:
    script = served.root.parent / "outside_script.json"
    script.write_text('{"*": ["no answer"]}')
    peirce.run(
        "list_functions", problems=1, max_answers=2, model=f"scripted:{script}", store=served.settings.store
    )  # fmt: skip
    assert "lies outside" in served.refusal("resume")


def test_a_session_that_does_not_wait_is_controlled_by_tools(served: Any, digest: str) -> None:
    started = served.call("run", **RUN, wait=False)
    assert started["outcome"] is None and started["state"]["pid"] > 0
    session = started["session"]
    paused = served.call("pause", session=session)
    assert paused["status"] == "paused"
    assert served.call("adjust", session=session, concurrency=2)["concurrency"] == 2
    assert served.call("continue", session=session)["status"] in ("running", "done")

    async def wait(client: Any) -> Any:
        while True:
            state = (await client.call_tool("status", {"session": session})).structured_content
            if state["status"] not in ("running", "paused"):
                return state
            await asyncio.sleep(0.1)

    assert served.drive(wait)["status"] == "done"
    (row,) = [one for one in peirce.sessions(store=served.settings.store) if one.session == session]
    assert row["digest"] == digest
    assert "is done" in served.refusal("stop", session=session)
    assert "must be the path of a file" in served.refusal(
        "run", task="examples", data=[{"input": 1, "output": 1}], wait=False
    )


class Stdio:
    """A server that is started as a coding agent starts it, and spoken to line by line."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            command_line(["mcp", "--root", str(folder), "--store", str(folder / "s.duckdb")]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.send("initialize", 1, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})  # fmt: skip
        assert self.read()["id"] == 1
        self.send("notifications/initialized")

    def send(self, method: str, number: int | None = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps(message if number is None else {**message, "id": number}))

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def start_session(self) -> None:
        """Start a long session, and wait for its first step."""
        arguments = {**RUN, "problems": 6, "max_answers": 6}
        self.send("tools/call", 2, name="run", arguments=arguments, _meta={"progressToken": "p"})
        while self.read()["params"]["progress"] == 0:
            pass

    def wait(self) -> tuple[int, str]:
        try:
            _, said = self.process.communicate(timeout=60)
            return self.process.returncode, said
        finally:
            self.process.kill()


@pytest.mark.parametrize("way", ["SIGINT", "SIGTERM", "SIGHUP", "closed stdin"])
def test_a_stopped_server_over_stdio_stores_its_session(tmp_path: Path, way: str) -> None:
    server = Stdio(tmp_path)
    server.start_session()
    if way.startswith("SIG"):
        server.process.send_signal(getattr(signal, way))
    else:
        server.process.stdin.close()
        server.process.stdin = None
    code, said = server.wait()
    assert "Traceback" not in said
    assert (code == 130 and "peirce resume" in said) if way.startswith("SIG") else code == 0
    (row,) = peirce.sessions(store=tmp_path / "s.duckdb")
    assert row.status == "interrupted"
    if way == "SIGTERM":
        assert peirce.resume(store=tmp_path / "s.duckdb").status == "done"


def test_lines_that_are_no_messages_do_not_end_the_server(tmp_path: Path) -> None:
    server = Stdio(tmp_path)
    deep = "[" * 100_000 + "]" * 100_000
    for line in (
        "",
        "no json",
        '{"jsonrpc":"2.0"}',
        "[]",
        "null",
        '"\\ud800"',
        deep,
        "\0",
        "{" * 1_000,
    ):
        server.write(line)
    for number, length in ((6, 20_000_000), (7, 5_000_000)):
        huge = {"name": "execute", "arguments": {"source": "x" * length, "inputs": [1]}}
        server.write(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": huge})
        )
    for number, value in ((9, '"\\ud800"'), (10, "9" * 5_000)):  # JSON that the SDK cannot read
        server.write(
            f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"execute",'
            f'"arguments":{{"source":"def f(x): return x","inputs":[{value}]}}}}}}'
        )
    server.send(
        "tools/call",
        8,
        name="execute",
        arguments={"source": "def f(x): return x", "inputs": [[[1]]]},
    )
    answers: dict[int, Any] = {}
    while not {6, 7, 8, 9, 10} <= answers.keys():
        told = server.read()
        answers[told.get("id")] = told
    assert (
        answers[7]["result"]["isError"]
        and "too large" in answers[7]["result"]["content"][0]["text"]
    )
    assert answers[6]["error"]["data"] == "message of more than 8,000,000 bytes"
    assert (
        answers[9]["error"]["data"]
        == answers[10]["error"]["data"]
        == "message that is no valid JSON"
    )
    assert answers[8]["result"]["structuredContent"]["results"] == [{"value": [[1]]}]
    server.process.stdin.close()
    server.process.stdin = None
    assert server.wait()[0] == 0
