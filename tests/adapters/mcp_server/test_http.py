"""The server over HTTP: who gets in, two clients at once, a client that vanishes, and a signal.

Internals: the checks of headers and tokens are called without a server too.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import peirce
import pytest

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from peirce.adapters.mcp_server.http_access import AccessCheck, find_token  # noqa: E402
from peirce.records import UsageError  # noqa: E402
from peirce.tests.cli.forked_command import command_line, run_command  # noqa: E402

TOKEN = "a-token-of-this-test-alone"
RUN = {"task": "list_functions", "problems": 2, "max_answers": 2,
       "settings": {"budget_expansions": 2_000, "concurrency": 1}}  # fmt: skip
LONG = {**RUN, "problems": 12, "max_answers": 25}


@dataclass(frozen=True)
class Server:
    process: subprocess.Popen[str]
    address: str
    store: Path

    def drive(self, work: Callable[[Any], Awaitable[Any]], mode: str = "auto") -> Any:
        return asyncio.run(self.connected(work, mode))

    async def connected(self, work: Callable[[Any], Awaitable[Any]], mode: str = "auto") -> Any:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
            transport = streamable_http_client(self.address, http_client=http)
            async with mcp.Client(transport, mode=mode) as client:
                return await work(client)


# The limits on connections, lowered so that they are reached at once.
CONNECTIONS = 20
LIMITED = f"""
import sys
from peirce.adapters.mcp_server import connections
from peirce.cli import main
connections.MAX_CONNECTIONS, connections.FIRST_REQUEST_S = {CONNECTIONS}, 8.0
main(sys.argv[1:])
"""


@contextlib.contextmanager
def serving(folder: Path, *script: str) -> Iterator[Server]:
    """A server that is started by the command, or by a script of Python that takes its arguments."""
    token = folder / "token"
    token.write_text(f"{TOKEN}\n")
    token.chmod(0o600)
    store = folder / "s.duckdb"
    process = subprocess.Popen(
        command_line(
            [*script, "mcp", "--http", "--root", str(folder), "--store", str(store), "--token-file", str(token)],
            "python" if script else "peirce",
        ),
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        yield Server(process, process.stderr.readline().split()[-1], store)
    finally:
        process.terminate()
        try:
            process.wait(30)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("http")) as found:
        yield found


def begun(client: Any, event: asyncio.Event) -> Any:
    async def listen(progress: float, total: float | None, message: str | None) -> None:
        if progress > 0:
            event.set()

    return asyncio.ensure_future(client.call_tool("run", LONG, progress_callback=listen))


def test_without_the_token_the_right_host_and_origin_nothing_is_answered(server: Server) -> None:
    good = {"Authorization": f"Bearer {TOKEN}"}
    port = server.address.split(":")[2].partition("/")[0]
    tried = [
        ({}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": TOKEN}, 401),
        ({**good, "Host": "evil.example"}, 421),
        ({**good, "Host": f"evil.example:{port}"}, 421),
        ({**good, "Host": "127.0.0.1"}, 421),
        ({**good, "Host": f"127.0.0.1:{port}.evil.example"}, 421),
        ({**good, "Origin": "http://evil.example"}, 403),
        ({**good, "Origin": "null"}, 403),
        ({**good, "Origin": f"http://127.0.0.1:{port}.evil.example"}, 403),
        ({**good, "Origin": f"http://127.0.0.1:{port}", "Content-Type": "text/plain"}, 400),
    ]
    with httpx2.Client() as http:
        for headers, status in tried:
            for path in ("", "/../", "/x"):
                if status == 400 and path:
                    continue
                answer = http.post(server.address + path, headers=headers, content=b"{}")
                assert answer.status_code == status, (headers, path)
                assert TOKEN not in answer.text
        for method in ("GET", "DELETE", "OPTIONS", "PUT"):
            assert http.request(method, server.address).status_code == 401
        assert http.post(server.address, headers=good, content=b"x" * 5_000_000).status_code == 413


def test_a_header_that_is_repeated_is_refused() -> None:
    async def application(*rest: Any) -> None: ...

    check = AccessCheck(application, 80, TOKEN)
    host, token = (b"host", b"127.0.0.1:80"), (b"authorization", b"Bearer " + TOKEN.encode())
    assert check.find_refusal([host, token]) is None
    for headers, status in (
        ([host, host, token], 421),
        ([host, token, token], 401),
        ([host, token, (b"origin", b"http://127.0.0.1:80"), (b"origin", b"http://x")], 403),
    ):
        refusal = check.find_refusal(headers)
        assert refusal is not None and refusal[0] == status


def test_a_token_comes_from_a_private_file_or_the_environment_or_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PEIRCE_MCP_TOKEN", raising=False)
    first, second = find_token(None), find_token(None)
    assert first != second and first[1] and len(first[0]) >= 40
    monkeypatch.setenv("PEIRCE_MCP_TOKEN", TOKEN)
    assert find_token(None) == (TOKEN, False)
    monkeypatch.setenv("PEIRCE_MCP_TOKEN", "short")
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(0o644)
    for place, said in (
        (None, "at least 16"),
        (path, "chmod 600"),
        (tmp_path / "none", "cannot be read"),
    ):
        with pytest.raises(UsageError, match=said):
            find_token(place)
    path.chmod(0o600)
    assert find_token(path) == (TOKEN, False)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_session_run_over_http_has_the_digest_of_the_same_on_the_command_line(
    server: Server, tmp_path: Path, mode: str
) -> None:
    answer = server.drive(lambda client: client.call_tool("run", RUN), mode)
    store = tmp_path / "own.duckdb"
    command = ["run", "list_functions", "--problems", "2", "--max-answers", "2", "--budget-expansions", "2000",
               "--concurrency", "1", "--store", str(store), "--quiet", "--json"]  # fmt: skip
    run_command(command, cwd=tmp_path, check=True)
    assert (
        answer.structured_content["outcome"]["digest"] == peirce.sessions(store=store)[0]["digest"]
    )


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_second_client_reads_beside_a_session_and_cannot_run_one_in_its_store(
    tmp_path: Path, mode: str
) -> None:
    with serving(tmp_path) as server:

        async def first(client: Any) -> None:
            stepped = asyncio.Event()
            work = begun(client, stepped)
            await stepped.wait()
            await server.connected(second, mode)
            work.add_done_callback(lambda done: done.cancelled() or done.exception())
            raise ConnectionError("this client vanishes")

        async def second(client: Any) -> None:
            refused = await client.call_tool("run", RUN)
            assert refused.is_error and "is writing to" in refused.content[0].text
            assert "\n" not in refused.content[0].text
            found = await client.call_tool("findings", {"limit": 1})
            assert not found.is_error
            assert (await client.call_tool("status", {})).structured_content["status"] == "running"

        with pytest.raises(BaseException) as raised:
            server.drive(first, mode)
        assert "vanishes" in repr(raised.value) or "vanishes" in repr(
            getattr(raised.value, "exceptions", "")
        )

        async def third(client: Any) -> str:
            state = "running"
            while state == "running":
                await asyncio.sleep(0.1)
                state = (await client.call_tool("status", {})).structured_content["status"]
            return state

        assert server.drive(third, mode) == "interrupted"
    assert server.process.returncode == -signal.SIGTERM


def test_a_signal_during_a_session_stores_it(tmp_path: Path) -> None:
    with serving(tmp_path) as server:

        async def stop(client: Any) -> None:
            stepped = asyncio.Event()
            work = begun(client, stepped)
            await stepped.wait()
            server.process.send_signal(signal.SIGINT)
            with pytest.raises(mcp.MCPError):
                await work

        with contextlib.suppress(BaseExceptionGroup, httpx2.HTTPError):
            server.drive(stop)
        assert server.process.wait(60) == 130
        assert server.process.stderr is not None
        assert "Traceback" not in server.process.stderr.read()
    assert peirce.sessions(store=server.store)[0].status == "interrupted"


def test_silent_connections_do_not_end_the_server(tmp_path: Path) -> None:
    """They need no token. A client gets in again as soon as they are gone."""
    script = tmp_path / "limited.py"
    script.write_text(LIMITED)
    with serving(tmp_path, str(script)) as server:
        port = int(server.address.split(":")[2].partition("/")[0])
        links = [socket.create_connection(("127.0.0.1", port), 5) for _ in range(CONNECTIONS)]
        try:
            for link in links:
                link.sendall(b"POST /mcp HTTP/1.1")
            with pytest.raises(httpx2.HTTPError):
                httpx2.post(server.address)
            links[0].settimeout(60)
            assert links[0].recv(1) == b""  # closed for want of a request
        except ConnectionResetError:
            pass
        finally:
            for link in links:
                link.close()
        assert httpx2.post(server.address).status_code == 401
