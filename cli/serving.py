"""The command `mcp`: serve the package to coding agents."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated

import typer

from . import options as o
from .groups import MODEL, RUNNING

app = typer.Typer()
SERVER = "Server"


@app.command(
    epilog=o.examples(
        "peirce mcp --root ~/data                       # over stdio, as coding agents start it",
        "peirce mcp --root ~/data --model openai:NAME   # tools may call this model",
        "peirce mcp --root ~/data --http --port 8765    # over HTTP on 127.0.0.1, with a token",
    )
)
def mcp(
    root: Annotated[
        Path,
        typer.Option(
            help="Clients can name only files in this folder and its subfolders.",
            metavar="DIR", rich_help_panel=SERVER,
        ),
    ] = Path("."),
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Model string that clients may call, besides search; repeat for several.",
            metavar="MODEL", rich_help_panel=MODEL,
        ),
    ] = None,
    allow_task_files: Annotated[
        bool,
        typer.Option(
            "--allow-task-files",
            help="Let clients name task files below the root; Python files run without a sandbox.",
            rich_help_panel=SERVER,
        ),
    ] = False,
    time_limit: Annotated[
        float,
        typer.Option(
            help="Maximum time of a tool call that runs no session.",
            metavar="SECONDS", min=1, rich_help_panel=SERVER,
        ),
    ] = 600.0,
    http: Annotated[
        bool,
        typer.Option(
            "--http", help="Serve over HTTP on 127.0.0.1 instead of stdio; every request needs a token.",
            rich_help_panel=SERVER,
        ),
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            help="Port with --http (default: a free one).",
            metavar="PORT", min=0, max=65_535, rich_help_panel=SERVER,
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the token of --http (default: $PEIRCE_MCP_TOKEN, else a new one is printed).",
            metavar="FILE", rich_help_panel=SERVER,
        ),
    ] = None,
    budget_tokens: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of tokens of one session or proposal, whatever a client asks for.",
            metavar="N", min=1, rich_help_panel=MODEL,
        ),
    ] = None,
    sandbox: o.SandboxName = "process",
    strict_sandbox: Annotated[
        bool,
        typer.Option(
            "--strict-sandbox", help="Refuse to run hypotheses if a layer of the sandbox is missing.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
    workers: o.Workers = None,
    store: o.StoreFile = None,
) -> None:  # fmt: skip
    """Serve tools to coding agents over MCP (Model Context Protocol)."""
    from ..commands.outcome import store_path
    from ..records import UsageError, registry

    if importlib.util.find_spec("mcp") is None:
        raise UsageError("the MCP server needs the package mcp: run pip install 'peirce[mcp]'")
    if sandbox not in (known := registry.component_names("sandboxes")):
        raise UsageError(f"--sandbox {sandbox}: it must be one of {', '.join(known)}")
    if not http:
        for name, value in (("--port", port), ("--token-file", token_file)):
            if value is not None:
                raise UsageError(f"{name} has no effect without --http: set both or neither")
    from ..adapters.mcp_server.http_access import find_token
    from ..adapters.mcp_server.serving import serve_http, serve_stdio
    from ..adapters.mcp_server.settings import ServerSettings

    settings = ServerSettings(
        ServerSettings.check_root(root),
        store_path(store).absolute(),
        tuple(model or ()),
        allow_task_files,
        sandbox,
        strict_sandbox,
        workers,
        budget_tokens,
        time_limit,
    )
    if not http:
        if sys.stdin is not None and sys.stdin.isatty():
            typer.echo(
                "peirce: waiting for the messages of a coding agent on stdin; Ctrl-C stops the server",
                err=True,
            )
        serve_stdio(settings)
        return
    token, is_new = find_token(token_file)

    def announce(address: str) -> None:
        typer.echo(f"peirce: MCP server at {address}", err=True)
        if is_new:
            typer.echo(f"peirce: send the header Authorization: Bearer {token}", err=True)

    serve_http(settings, port or 0, token, announce)
