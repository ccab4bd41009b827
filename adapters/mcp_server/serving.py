"""Serve the MCP server over stdio or over HTTP until it is stopped."""

from __future__ import annotations

import os
import warnings
from typing import Any

import anyio

from .server import build_server, note_warning
from .settings import ServerSettings


def serve_stdio(settings: ServerSettings) -> None:
    """Serve one client over stdin and stdout until the client closes stdin.

    Stdout carries only the protocol: the SDK points the descriptor of stdout at stderr, so what code
    in this process or a child process prints does not reach the client.
    """
    prepare_process(settings)
    anyio.run(build_server(settings).run_stdio_async)


def prepare_process(settings: ServerSettings) -> None:
    """Make the root the working folder, and let warnings follow the answer of the call they belong to."""
    os.chdir(settings.root)
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
