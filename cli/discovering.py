"""The command `discover`: recognize what a file contains, and run a session that fits it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..commands.option_types import DiscoverOptions
from . import options as o
from .printing import emit, print_and_exit
from .running import apply_defaults

if TYPE_CHECKING:
    from ..commands.session.results import FileReading, Recognition

app = typer.Typer()
RUN_OPTIONS = [
    name for name in DiscoverOptions.__annotations__ if name not in ("roles", "method_options")
]


@app.command(
    epilog=o.examples(
        "peirce discover tickets.csv",
        "peirce discover customers.csv --target churned",
        "peirce discover pairs.jsonl --dry-run",
    ),
)
@o.add_flags(*RUN_OPTIONS)
def discover(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            help="CSV, TSV, JSON, JSONL or Parquet file, or a folder of these.", metavar="FILE"
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            help="Column to explain (default: chosen by its name, its values and its position).",
            metavar="COLUMN",
            rich_help_panel=o.DATA,
        ),
    ] = None,
    dry_run: o.DryRun = False,
    quiet: o.Quiet = False,
    all_metrics: o.AllMetrics = False,
    as_json: o.AsJson = False,
    **settings: Any,
) -> None:
    """Look at a file of data and run a session with the task that fits it."""
    from .. import plan, recognize
    from ..commands.session.discovering import run_arguments, run_reading
    from ..reports.screen import summaries, text
    from ..reports.screen.progress import SessionProgress

    found = recognize(file, target)
    reading = _choose(found)
    if not found.command and reading.options.get("label"):  # the warnings depend on the target
        found = recognize(file, str(reading.options["label"]))
    _print_lines(
        f"{file}: {reading.summary}",
        f"starting {reading.command}, because {reading.why}",
        *(f"warning: {sentence}" for sentence in found.warnings),
    )
    options = apply_defaults(context, str(reading.task), settings)
    if dry_run:
        task, together = run_arguments(reading, options)
        counted = plan(task, **together)
        told: dict[str, Any] = {
            "kind": reading.kind,
            "why": reading.why,
            "command": reading.command,
        }
        told["warnings"] = found.warnings
        emit([{**counted, **told}]) if as_json else summaries.print_forecast(
            text.create_console(), counted
        )
        return
    with SessionProgress(quiet=quiet) as screen:
        session = run_reading(reading, options, warnings=found.warnings, on_event=screen)
    print_and_exit(session, as_json, all_metrics, quiet)


def _choose(found: Recognition) -> FileReading:
    """Return the reading that is certain or, on a terminal, the one that the user chooses.

    Raises:
        UsageError: If none is certain and there is nobody to ask.
    """
    from ..commands.session.discovering import choose_reading

    choices = [one for one in found.readings if one.command]
    if found.command or not choices or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return choose_reading(found)
    _print_lines(
        f"{found.file}: it is not clear what the file holds: {found.why}",
        *(f"  {number}  {one.summary}: {one.command}" for number, one in enumerate(choices, 1)),
    )
    return choices[_ask(choices) - 1]


def _ask(choices: Sequence[FileReading]) -> int:
    """Return the number of a choice that the user types."""
    from typer import prompt

    while True:
        number: int = prompt("Which of these (Ctrl-C for none)", type=int, err=True)
        if 1 <= number <= len(choices):
            return number
        _print_lines(f"  {number} is not a number from 1 to {len(choices)}")


def _print_lines(*lines: str) -> None:
    """Print messages on stderr."""
    from ..reports.screen.text import escape_unprintable

    for line in lines:
        typer.echo(f"peirce: {escape_unprintable(line)}", err=True)
