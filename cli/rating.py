"""`peirce rate` and `peirce agree`: let a model rate hypotheses, and measure agreement with
people.
"""

from __future__ import annotations

from typing import Annotated

import typer

from . import options as o
from .printing import emit
from .running import select_role_flags

app = typer.Typer()

ScoresFile = Annotated[
    str | None,
    typer.Option("--scores-file", help=("File that keeps the model's ratings (default: next to the store)."),
                 metavar="FILE", rich_help_panel=o.DATA),
]  # fmt: skip


@app.command(
    epilog=o.examples(
        "peirce rate last --scorer-model openai:NAME",
        "peirce rate 4f1c --score clarity --score novelty --known findings.txt",
    )
)
def rate(
    context: typer.Context,
    session: o.SessionName = "last",
    problem: Annotated[
        str | None, typer.Option(help="Rate only this problem.", metavar="ID", rich_help_panel=o.DATA)
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            help=("Score to rate: discovery, novelty, plausibility or clarity. May be repeated"
                 " (default: all that the data allows)."),
            metavar="NAME", rich_help_panel=o.DATA,
        ),
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(help=("File of known findings, one per line, in addition to those of the data set."),
                     metavar="FILE", rich_help_panel=o.DATA),
    ] = None,
    scores_file: ScoresFile = None,
    scorer_model: o.ScorerModel = None,
    role: o.ScorerSettings = None,
    seed: o.Seed = 0,
    concurrency: o.Concurrency = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Let a model rate the hypotheses of a session; existing ratings are reused."""
    from .. import rate as rate_session
    from ..commands.session.settings import role_settings
    from ..config import RaterConfig
    from ..reports.screen import rating, text

    flags = select_role_flags(context, role, scorer=True)
    roles = role_settings(
        RaterConfig(roles=context.obj.scorer, scorer_model=scorer_model, role=flags)
    )
    rows = rate_session(
        session, problem=problem, scores=score or (), roles=roles, known=known, seed=seed,
        concurrency=concurrency, ratings=scores_file, store=store,
    )  # fmt: skip
    try:
        emit(rows) if as_json else rating.print_ratings(text.create_console(), rows)
    except KeyboardInterrupt:
        typer.echo(
            "peirce: stopped. The ratings so far are kept; run the same command to continue.",
            err=True,
        )
        raise


@app.command(
    epilog=o.examples(
        "peirce agree last --sheet sheet.csv",
        "peirce agree last --ratings ann.csv --ratings bob.csv",
    )
)
def agree(
    session: o.SessionName = "last",
    ratings: o.FilledSheets = None,
    sheet: Annotated[
        str | None,
        typer.Option(help="Write an empty sheet for raters to this file.", metavar="FILE",
                     rich_help_panel=o.DATA),
    ] = None,
    items: Annotated[
        int, typer.Option(help="Number of pairs on the sheet.", metavar="N", rich_help_panel=o.DATA)
    ] = 100,
    seed: o.Seed = 0,
    scores_file: ScoresFile = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Write a rating sheet for people, and measure how well they agree with the model."""
    from .. import agree as measure_agreement
    from ..reports.screen import rating, text

    rows = measure_agreement(
        session, ratings=ratings or (), sheet=sheet, items=items, seed=seed, scores=scores_file,
        store=store,
    )  # fmt: skip
    emit([rows]) if as_json else rating.print_agreement(text.create_console(), rows)
