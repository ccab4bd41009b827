"""Print the results of commands: data as JSON on stdout, or text from reports/screen."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import typer

EXIT_CODES = {"done": 0, "failed": 1, "budget": 3, "interrupted": 130}


def emit(rows: Iterable[Any]) -> None:
    """Print values as JSON, one value per line.

    The JSON contains only ASCII characters, so that any pipe can transport text from a model. A
    result object is printed as its `to_dict()`.
    """
    for row in rows:
        text = json.dumps(row, allow_nan=False, default=lambda result: result.to_dict())
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def print_and_exit(
    session: Any, as_json: bool, all_metrics: bool = False, quiet: bool = False
) -> None:
    """Print the outcome of a session, and exit with the code that belongs to its status.

    Args:
        session: The outcome.
        as_json: Print JSON instead of text.
        all_metrics: Print all metrics instead of the main metrics.
        quiet: Print no progress.
    """
    from ..reports.metrics.sections import find_section
    from ..reports.screen import summaries, text

    if as_json:
        emit([session])
    else:
        summaries.print_outcome(text.create_console(), session, all_metrics)
        find_section(session.evaluation).show_at_end(text.create_console(), session, quiet)
    if session.cause:
        typer.echo(f"peirce: {text.to_one_line(session.cause, 300)}", err=True)
    elif session.status == "failed":
        cause = next(iter(session.failed.values()), "no problem could be run")
        sentence = (
            f"peirce: {_format_problems(session.problems)} failed: {text.to_one_line(cause, 300)}"
        )
        typer.echo(sentence, err=True)
    raise typer.Exit(EXIT_CODES[session.status])


def _format_problems(problems: int) -> str:
    return "the problem" if problems == 1 else f"all {problems:,} problems"


def print_written(result: Mapping[str, Any], as_json: bool) -> None:
    """Print a summary of the files that a command wrote."""
    from ..reports.screen import summaries, text

    emit([result]) if as_json else summaries.print_written(text.create_console(), result)
