"""Serve the MCP server over stdio or over HTTP until it is stopped."""

from __future__ import annotations

import os
import socket
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import uvicorn

from ...records.errors import Interrupted, UsageError
from .closable_stdin import closable_stdin
from .connections import LimitedProtocol
from .http_access import AccessCheck
from .server import build_server, note_warning
from .settings import ServerSettings

ADDRESS, PATH = "127.0.0.1", "/mcp"
GRACE_S = 3  # seconds that requests get to end after the server was told to stop


def serve_stdio(settings: ServerSettings) -> None:
    """Serve one client over stdin and stdout until the client closes stdin, or a signal arrives.

    Stdout carries only the protocol: the SDK points the descriptor of stdout at stderr, so what code
    in this process or a child process prints does not reach the client.

    Raises:
        Interrupted: a signal stopped the server. Sessions that were running can be resumed.
    """
    prepare_process(settings)
    with closable_stdin() as stdin:
        anyio.run(build_server(settings).run_stdio_async)
    if stdin.stopped_by:
        raise Interrupted("Stopped. Sessions that were running are stored: peirce resume.")


def serve_http(
    settings: ServerSettings, port: int, token: str, announce: Callable[[str], None]
) -> None:
    """Serve any number of clients over HTTP on the loopback interface until the process is stopped.

    Args:
        settings: what the person who starts the server decides.
        port: the port; 0 chooses a free port.
        token: the token that every request must carry.
        announce: called with the address of the server as soon as it listens.

    Raises:
        UsageError: the port is not available.
    """
    prepare_process(settings)
    try:
        listener = socket.create_server((ADDRESS, port), backlog=64)
    except OSError as error:
        raise UsageError(f"--port {port}: cannot listen on {ADDRESS}: {error.strerror}") from None
    port = listener.getsockname()[1]
    application = build_server(settings).streamable_http_app(streamable_http_path=PATH)
    config = uvicorn.Config(
        AccessCheck(application, port, token),
        log_level="warning",
        access_log=False,
        http=LimitedProtocol,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    announce(f"http://{ADDRESS}:{port}{PATH}")
    with listener:
        anyio.run(lambda: uvicorn.Server(config).serve(sockets=[listener]))


def prepare_process(settings: ServerSettings) -> None:
    """Make the root the working folder, and let warnings follow the answer of the call they belong to."""
    os.chdir(settings.root)
    # A file below the root must not be imported in place of a module.
    sys.path[:] = [one for one in sys.path if one and Path(one) != settings.root]
    warnings.filterwarnings("always", category=UserWarning)
    print_warning = warnings.showwarning

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int,
        file: Any = None, line: str | None = None,
    ) -> None:  # fmt: skip
        if issubclass(category, UserWarning):
            note_warning(str(message))
        print_warning(message, category, filename, lineno, file, line)

    warnings.showwarning = show
