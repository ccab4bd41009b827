"""Output of the commands: data as JSON on stdout, or text from reports/screen."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import typer

EXIT_CODES = {"done": 0, "failed": 1, "budget": 3, "interrupted": 130}


def emit(rows: Iterable[Any]) -> None:
    """Print values as ASCII JSON, one per line, so that any pipe can carry a model's text.

    A result is printed as its `to_dict()`.
    """
    for row in rows:
        text = json.dumps(row, allow_nan=False, default=lambda result: result.to_dict())
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def end(session: Any, as_json: bool, all_metrics: bool = False) -> None:
    """Print the outcome of a session and exit with the code of its status."""
    from ..reports.metrics.sections import section_of
    from ..reports.screen import endings, text

    if as_json:
        emit([session])
    else:
        endings.print_outcome(text.console(), session, all_metrics)
        section_of(session.evaluation).finish(text.console(), session)
    if session.cause:
        typer.echo(f"peirce: {text.one_line(session.cause, 300)}", err=True)
    elif session.status == "failed":
        cause = next(iter(session.failed.values()), "no problem could be run")
        sentence = f"peirce: {_whole(session.problems)} failed: {text.one_line(cause, 300)}"
        typer.echo(sentence, err=True)
    raise typer.Exit(EXIT_CODES[session.status])


def _whole(problems: int) -> str:
    return "the problem" if problems == 1 else f"all {problems:,} problems"


def written(result: Mapping[str, Any], as_json: bool) -> None:
    """Print what a command that writes files did."""
    from ..reports.screen import endings, text

    emit([result]) if as_json else endings.print_written(text.console(), result)
