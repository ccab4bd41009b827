"""`langgraph dev` with Peirce's graphs, in a folder of the test's own: as a user starts it, or with the
processes of its sessions forked.

Internals: the module that runs a session in its process is named, so that this process can be forked.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion
from peirce.tests.cli.forked_command import run_command, worker_command

ROOT = Path(__file__).parents[3]
OFFLINE = {
    "LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGSMITH_TRACING": "false", "NO_COLOR": "1",
    "OMP_NUM_THREADS": "1",
}  # fmt: skip
START_S = 120
LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy for the loopback


class DevServer:
    """A running `langgraph dev` on the loopback.

    Args:
        folder: Where it runs: with langgraph.json, and with the threads' folders.
        settings: The text of langgraph.json.
        forked: Whether the processes of its sessions are forked from one that has imported the package
            (forked_sessions.py), instead of being started as usual.
    """

    def __init__(self, folder: Path, settings: str, forked: bool = False) -> None:
        self.folder = folder
        self.forked = forked
        self.log = folder / "server.log"
        self.threads = folder / "peirce_threads"
        (folder / "langgraph.json").write_text(settings, "utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        program = [str(Path(sys.executable).with_name("langgraph"))]
        own = {name: one for name, one in os.environ.items() if not name.startswith("PEIRCE_")}
        if self.forked:
            of_session = worker_command("peirce.adapters.studio.session_process")
            own["SESSION_COMMAND"] = json.dumps(of_session)
            program = [sys.executable, str(Path(__file__).with_name("forked_sessions.py"))]
        command = [
            *program, "dev", "--no-browser", "--no-reload", "--port", str(self.port),
            "--n-jobs-per-worker", "4",
        ]  # fmt: skip
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=self.folder, env={**own, **OFFLINE}, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        end = time.monotonic() + START_S
        while True:
            try:
                self.get("/ok")
                return
            except (urllib.error.URLError, ConnectionError):
                if self._process.poll() is not None or time.monotonic() > end:
                    raise AssertionError(self.log.read_text("utf-8")[-5_000:]) from None
                time.sleep(0.1)

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End the server with a signal, and wait for its end."""
        assert self._process is not None
        self._process.send_signal(number)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def get(self, path: str) -> Any:
        """Return the JSON of a page."""
        with LOCAL.open(self.url + path) as reply:
            return json.load(reply)

    def status_of_post(self, headers: Mapping[str, str]) -> int:
        """Return the status of a request that makes a thread."""
        head = {"Content-Type": "application/json", **headers}
        request = urllib.request.Request(f"{self.url}/threads", data=b"{}", headers=head)
        try:
            with LOCAL.open(request) as reply:
                return int(reply.status)
        except urllib.error.HTTPError as refused:
            return refused.code

    def store(self, thread: str) -> Path:
        """Return the path of a thread's store."""
        return self.threads / thread / "peirce.duckdb"


def require_studio() -> None:
    """Skip, loudly, where the packages of the extra `studio` are absent."""
    needed = ("langgraph_api", "langgraph_cli", "langgraph_runtime_inmem", "langgraph_sdk")
    absent = [name for name in needed if importlib.util.find_spec(name) is None]
    if absent:
        pytest.skip(
            f"LANGGRAPH DEV NOT TESTED: {', '.join(absent)} absent (extra studio)",
            allow_module_level=True,
        )


def stream(client: Any, thread: str, method: str, values: Any, **more: Any) -> tuple[Any, Any]:
    """Run a graph on a thread, and return (the events of the custom stream, the last values)."""
    events, last = [], None
    for part in client.runs.stream(
        thread, method, input=values, stream_mode=["custom", "values"], **more
    ):
        assert part.event != "error", part.data
        if part.event == "custom":
            events.append(part.data)
        elif part.event == "values":
            last = part.data
    return events, last


def new_thread(client: Any) -> str:
    return str(client.threads.create()["thread_id"])


def run_by_command_line(folder: Path, *arguments: str) -> Any:
    """Return what `peirce run … --json` prints, with a store of its own in `folder`."""
    store = str(folder / "command_line.duckdb")
    ended = run_command(["run", *arguments, "--json", "--quiet", "--store", store], cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def answer_by_request(request: dict[str, Any]) -> Answer:
    """An answer that depends on the request alone, and that no pair confirms."""
    number = len(json.dumps(request["messages"])) % 70
    source = f"def f(x):\n    return x[1:] + [{number}]"
    said = completion({"content": repr((f"the tail and {number}", source))})
    return Answer(said.body)
