"""`peirce sweep`: run many sessions from one file."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from ..commands.option_types import SweepOptions
from . import options as o
from .printing import EXIT_CODES, emit

app = typer.Typer()
SHOWN_METRICS = 3


@app.command(
    epilog=o.examples(
        "peirce sweep sweep.toml --dry-run",
        "peirce sweep sweep.toml --store sweep.duckdb --out results/",
    )
)
@o.add_flags(*SweepOptions.__annotations__)
def sweep(
    file: Annotated[
        str, typer.Argument(help="TOML file with the settings and their values.", metavar="FILE")
    ],
    dry_run: o.DryRun = False,
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Also run problems and sessions again that failed."),
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            help="Write the table of sessions to a .csv or .md file, or also the means over seeds to"
                 " a folder.", metavar="DIR|FILE",
        ),
    ] = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
    **settings: Any,
) -> None:  # fmt: skip
    """Run a session for each combination of settings in a file; run it again to go on.

    Finished sessions are found in the store and not run again."""
    from .. import plan_sweep
    from .. import sweep as run_sweep
    from ..reports.files import sweep_tables, tables
    from ..reports.screen import text

    console = text.create_console()
    if dry_run:
        planned = plan_sweep(file, **settings)
        if as_json:
            emit([planned])
            return
        console.print(tables.as_text(sweep_tables.forecast_table(planned)), markup=False)
        return
    rows = run_sweep(
        file,
        retry_failed=retry_failed,
        out=out,
        on_session=None if quiet else _announce,
        **settings,
    )
    if as_json:
        emit([rows])
    else:
        console.print(tables.as_text(sweep_tables.session_table(rows, SHOWN_METRICS)), markup=False)
    for row in rows:
        if row.error:
            typer.echo(f"peirce: {text.to_one_line(row.error, 300)}", err=True)
    if any(row.status in ("interrupted", "open") for row in rows):
        typer.echo(f"continue with: peirce sweep {file}", err=True)
    worst = [row.status for row in rows if row.status != "done"]
    for status in ("interrupted", "failed", "budget"):
        if status in worst:
            raise typer.Exit(EXIT_CODES[status])


def _announce(number: int, count: int, combination: str) -> None:
    print(f"[{number}/{count}] {combination}", file=sys.stderr, flush=True)
