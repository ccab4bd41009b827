"""What verbs print: data as JSON on stdout, or what reports/screen/reading.py makes of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import typer

EXIT_CODES = {"done": 0, "failed": 1, "budget": 3, "interrupted": 130}


def emit(rows: Iterable[Any]) -> None:
    """JSON, one value a line, ASCII: whatever a model wrote, any pipe can carry it. A result is
    printed as its `to_dict()`."""
    for row in rows:
        text = json.dumps(row, allow_nan=False, default=lambda result: result.to_dict())
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def end(session: Any, as_json: bool) -> None:
    from ..reports.screen import endings, text

    if as_json:
        emit([session])
    else:
        endings.print_outcome(text.console(), session)
        _beside(text.console(), session)
    if session.cause:
        typer.echo(f"peirce: {text.one_line(session.cause, 300)}", err=True)
    elif session.status == "failed":
        cause = next(iter(session.failed.values()), "no problem could be run")
        sentence = f"peirce: {_whole(session.problems)} failed: {text.one_line(cause, 300)}"
        typer.echo(sentence, err=True)
    raise typer.Exit(EXIT_CODES[session.status])


def _whole(problems: int) -> str:
    return "the problem" if problems == 1 else f"all {problems:,} problems"


def _beside(out: Any, session: Any) -> None:
    """Of labelled text: the baselines beside what was predicted. They are trained only here, where
    somebody reads them."""
    if session.evaluation == "hypobench" and session.status != "failed":
        from .. import baselines
        from ..reports.screen import endings as beside
        from ..reports.screen import text

        out.print()
        with text.console(talk=True).status("Training baselines on the same rows"):
            told = baselines(session.session, store=session.store)
        beside.print_beside(out, session.metrics, told)


def written(result: Mapping[str, Any], as_json: bool) -> None:
    from ..reports.screen import endings, text

    emit([result]) if as_json else endings.print_written(text.console(), result)
