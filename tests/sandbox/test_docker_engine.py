"""The docker backend's connection to the engine: its stream, and the one sentence without one.

Internals: the stream's frames are cut at every byte, and engines are replaced by broken ones.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docker_scene import LIMITS, session
from peirce.records import InputSet, SandboxUnavailable, UsageError
from peirce.sandbox import open_sandbox
from peirce.sandbox.backends import docker as backend
from peirce.sandbox.backends import engine
from peirce.sandbox.backends.docker import Demultiplexer, DockerSandbox

pytestmark = pytest.mark.usefixtures("collected")


# --- the stream ----------------------------------------------------------------------


def test_fifty_mebibytes_go_in_and_many_come_out(client: Any) -> None:
    async def work(sandbox: DockerSandbox) -> None:
        large = InputSet("large", ("x" * (50 * 2**20), "é"))
        await sandbox.put(large)
        batch = await sandbox.run(
            "def f(s):\n    return len(s)", "f", large.digest, "values", LIMITS
        )
        assert batch.values == ({"value": 50 * 2**20}, {"value": 1}), batch.detail
        many = InputSet("many", tuple(range(300)))
        await sandbox.put(many)
        source = "def f(n):\n    return str(n % 10) * 90_000"
        batch = await sandbox.run(source, "f", many.digest, "values", LIMITS)
        assert batch.verdict == "ok" and batch.values is not None
        assert [v["value"] for v in batch.values] == [str(n % 10) * 90_000 for n in range(300)]

    session(work)


class Transport(asyncio.Transport):
    """Counts how often the flow was stopped."""

    paused = resumed = 0

    def pause_reading(self) -> None:
        self.paused += 1

    def resume_reading(self) -> None:
        self.resumed += 1


def framed(kind: int, content: bytes) -> bytes:
    return struct.pack(">B3xI", kind, len(content)) + content


def demultiplexed(chunks: list[bytes], limit: int = 2**20) -> tuple[bytes, Transport]:
    async def run() -> tuple[bytes, Transport]:
        reader = asyncio.StreamReader(limit=limit)
        protocol, transport = Demultiplexer(reader), Transport()
        protocol.connection_made(transport)
        for chunk in chunks:
            protocol.data_received(chunk)
        protocol.eof_received()
        return await reader.read(), transport

    return asyncio.run(run())


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 1000])
def test_frames_of_the_engine_may_come_in_any_pieces(size: int) -> None:
    stream = framed(1, b"one") + framed(2, b"stderr") + framed(1, b"") + framed(1, b"x" * 300)
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert demultiplexed(chunks)[0] == b"one" + b"x" * 300


def test_a_reader_that_does_not_keep_up_stops_the_flow() -> None:
    _, transport = demultiplexed([framed(1, bytes(1000))] * 10, limit=2000)
    assert transport.paused and transport.resumed


def test_what_is_no_frame_of_the_engine_is_a_lost_connection() -> None:
    with pytest.raises(ConnectionError):
        demultiplexed([framed(1, b"one") + b"HTTP/1.1 500 Oops\r\n"])


# --- without an engine ------------------------------------------------------------------


def refused() -> str:
    with pytest.raises(SandboxUnavailable) as caught:
        asyncio.run(open_sandbox("docker", 1))
    said = str(caught.value)
    assert "\n" not in said and caught.value.exit_code == 4
    return said


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("unix:///nowhere/docker.sock", "there is no socket unix:///nowhere/docker.sock"),
        ("tcp://127.0.0.1:1", "listens at tcp://127.0.0.1:1"),
        ("nonsense://", "Invalid bind address protocol"),
        ("tcp://host:port", "cannot be used"),
        ("http://[::1", "cannot be used"),
    ],
)
def test_each_cause_without_an_engine_is_one_sentence_with_a_remedy(
    host: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    said = refused()
    assert words in said and "DOCKER_HOST" in said


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    assert "pip install docker" in refused()


@pytest.fixture
def listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A socket at DOCKER_HOST that no engine serves."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 's'}")
        yield server


def test_without_permission_it_is_said(listening: socket.socket, tmp_path: Path) -> None:
    import docker  # noqa: F401  # while its files can be read

    (tmp_path / "s").chmod(0)
    user = os.geteuid()
    try:
        os.seteuid(user or 65534)
        said = refused()
    finally:
        os.seteuid(user)
    assert "no permission" in said and "group" in said


def test_an_engine_that_answers_with_an_error_is_quoted(listening: socket.socket) -> None:
    def answer() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(4096)
            body = json.dumps({"message": "out of order\nfor now"})
            head = "HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\n"
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())

    thread = threading.Thread(target=answer)
    thread.start()
    said = refused()
    thread.join()
    assert "out of order for now" in said


def test_an_engine_that_never_answers_is_given_up(
    listening: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "CONNECT_S", 0.2)
    assert "does not answer" in refused()


def test_a_count_of_workers_below_one_is_a_usage_error(client: Any) -> None:
    with pytest.raises(UsageError, match="workers is 0"):
        asyncio.run(open_sandbox("docker", 0))


def test_a_connection_that_is_no_plain_socket_is_refused_with_a_way_out() -> None:
    with pytest.raises(SandboxUnavailable, match="ssh -L"):
        backend.plain_socket(object())


def test_the_command_line_says_it_in_one_line_and_ends_with_4(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "peirce", "run", "list_functions", "--problems", "1", "--sandbox",
         "docker", "--model", "search", "--store", str(tmp_path / "s.duckdb")],
        capture_output=True, text=True, env={**os.environ, "DOCKER_HOST": "unix:///nowhere"},
    )  # fmt: skip
    assert done.returncode == 4
    assert "Traceback" not in done.stderr and "there is no socket" in done.stderr
