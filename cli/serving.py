"""The command `mcp`: serve the package to coding agents."""

from __future__ import annotations

import importlib.util
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
    )
)
def mcp(
    root: Annotated[
        Path,
        typer.Option(
            help="Folder below which all files must lie that a client names.",
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
            help="Seconds after which a tool that starts no session is stopped.",
            metavar="SECONDS", min=1, rich_help_panel=SERVER,
        ),
    ] = 600.0,
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
    """Serve tools to coding agents over MCP; files only below --root."""
    from ..commands.outcome import store_path
    from ..records import UsageError

    if importlib.util.find_spec("mcp") is None:
        raise UsageError("the MCP server needs the package mcp: run pip install 'peirce[mcp]'")
    from ..adapters.mcp_server.serving import serve_stdio
    from ..adapters.mcp_server.settings import ServerSettings

    folder = ServerSettings.check_root(root)
    place = store_path(store) if store else store_path()
    settings = ServerSettings(
        folder, place.absolute(), tuple(model or ()), allow_task_files, sandbox, strict_sandbox,
        workers, time_limit,
    )  # fmt: skip
    serve_stdio(settings)
