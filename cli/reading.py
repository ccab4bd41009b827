"""The commands that read a store, and `doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options as o
from .printing import emit, print_written

app = typer.Typer()

WithoutMemorising = Annotated[
    bool,
    typer.Option(
        "--without-memorising", help="Leave out hypotheses that memorise what they were shown."
    ),
]


@app.command(
    "eval",
    epilog=o.examples(
        "peirce eval last",
        "peirce eval t3 4f1c 9a --out tables/",
        "peirce eval abd --evaluator released",
        "peirce eval training --out curves/",
    ),
)
def evaluate(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Sessions (default: last), after the name of an evaluation (abd, gear, hypobench,"
            " t3) if wanted; or training and trainings (default: all), for their curves.",
            metavar="[NAME] SESSION...",
        ),
    ] = None,
    by_problem: Annotated[
        bool, typer.Option("--by-problem", help="Also each problem's values.")
    ] = False,
    all_metrics: o.AllMetrics = False,
    all_pairs: Annotated[
        bool,
        typer.Option("--all-pairs", help="Count hidden pairs by which nothing can be judged too."),
    ] = False,
    without_memorising: WithoutMemorising = False,
    evaluator: o.Evaluator = "exact",
    solver: o.SolverOption = "fast",
    workers: o.Workers = None,
    out: Annotated[
        str | None,
        typer.Option(help="Tables: a .csv or .md file, or a folder, which gets the figures too.",
                     metavar="DIR|FILE"),
    ] = None,
    ratings: o.FilledSheets = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Metrics and tables from the store; never a model call."""
    from .. import evaluate as evaluate_sessions
    from ..reports import evaluations
    from ..reports.screen import summaries, text

    words = list(names or [])
    if words[:1] == ["training"]:
        _curves(words[1:], store, out, as_json)
        return
    name = words.pop(0) if words and words[0] in {e.name for e in evaluations()} else None
    result = evaluate_sessions(
        *words,
        name=name,
        by_problem=by_problem,
        all_pairs=all_pairs,
        without_memorising=without_memorising,
        evaluator=evaluator,
        solver=solver,
        workers=workers,
        store=store,
        out=out,
        ratings=ratings or (),
    )
    if as_json:
        emit([result])
    else:
        summaries.print_scores(text.create_console(), result, all_metrics)


def _curves(names: list[str], store: str | None, out: str | None, as_json: bool) -> None:
    from .. import training_curves
    from ..reports.screen import text, training

    result = training_curves(*names, store=store, out=out)
    emit([result]) if as_json else training.print_curves(text.create_console(), result)


@app.command(
    epilog=o.examples("peirce study defeasible last", "peirce study general 4f1c 9a --out tables/")
)
def study(
    name: Annotated[
        list[str],
        typer.Argument(
            help="defeasible or general, then sessions (default: last), which are joined by problem"
            " and shown pairs.", metavar="NAME [SESSION]...",
        ),
    ],
    seed: Annotated[int, typer.Option(help="Of what is drawn, and of the intervals.")] = 0,
    draws: Annotated[
        int, typer.Option(help="Of hidden pairs, for each problem and number of them.")
    ] = 5,
    all_pairs: Annotated[
        bool,
        typer.Option("--all-pairs", help="Hidden pairs by which nothing can be judged count too."),
    ] = False,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Hypotheses that predict the same count once.")
    ] = False,
    without_memorising: WithoutMemorising = False,
    contexts: Annotated[
        int, typer.Option(help="general: the most contexts of one size and problem.")
    ] = 200,
    pairs: Annotated[
        int, typer.Option(help="general: as how many comparisons a context counts at most.")
    ] = 100,
    out: Annotated[
        str | None,
        typer.Option(help="Tables and a figure: a .csv, .md, .png or .svg file, or a folder.",
                     metavar="DIR|FILE"),
    ] = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """The simulation studies of GEAR from the store: defeasible, general.

    How many consistent hypotheses hidden pairs refute (defeasible), and whether higher-scored ones
    pass more often (general)."""
    from .. import study as run_study
    from ..reports.screen import summaries, text

    result = run_study(
        *name, seed=seed, draws=draws, all_pairs=all_pairs, distinct=distinct,
        without_memorising=without_memorising, contexts=contexts, pairs=pairs, store=store, out=out,
    )  # fmt: skip
    emit([result]) if as_json else summaries.print_study(text.create_console(), result)


@app.command(epilog=o.examples("peirce sessions", "peirce sessions --store mine.duckdb"))
def sessions(store: o.StoreFile = None, as_json: o.AsJson = False) -> None:
    """The sessions of a store, also while a run owns it."""
    from .. import sessions as list_sessions
    from ..reports.screen import listings, text

    rows = list_sessions(store=store)
    if as_json:
        emit([rows])
        return
    told = [{key: value for key, value in row.items() if key != "settings"} for row in rows]
    listings.print_sessions(text.create_console(), told)


@app.command(
    epilog=o.examples("peirce show", "peirce show last gen0-3", "peirce show last --calls")
)
def show(
    session: o.SessionName = "last",
    problem: Annotated[str | None, typer.Argument(metavar="PROBLEM")] = None,
    calls: Annotated[
        bool, typer.Option("--calls", help="Each model and tool call: tokens, seconds, cost.")
    ] = False,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """The problems of a session, or every hypothesis of one of them."""
    from .. import show as show_session
    from ..reports.screen import listings, text

    rows = show_session(session, problem, calls=calls, store=store)
    draw = listings.print_problems if problem is None else listings.print_hypotheses
    draw = listings.print_calls if calls else draw
    emit([rows]) if as_json else draw(text.create_console(), rows)


@app.command(
    epilog=o.examples(
        "peirce bank",
        "peirce bank 4f1c gen0-3 --alpha 0.2",
        "peirce bank --history",
        "peirce bank last --out bank.json",
    )
)
def bank(
    session: o.SessionName = "last",
    problem: Annotated[str | None, typer.Argument(metavar="PROBLEM")] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Rank with this weight of exploration instead.")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="How it grew, step by step, instead.")
    ] = False,
    out: Annotated[
        str | None, typer.Option(help="Write it for `--bank FILE`.", metavar="FILE")
    ] = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """The hypotheses that a session keeps, best first."""
    from .. import bank as list_bank
    from ..reports.screen import listings, text

    rows = list_bank(session, problem, alpha=alpha, history=history, out=out, store=store)
    if as_json:
        emit([rows])
    elif out is not None:
        listings.print_saved_bank(text.create_console(), rows, out, history)
    else:
        (listings.print_bank_history if history else listings.print_bank)(
            text.create_console(), rows
        )


@app.command(epilog=o.examples("peirce export last --out export --format parquet"))
def export(
    session: o.SessionName = "last",
    out: Annotated[str, typer.Option(help="The folder to write.", metavar="DIR")] = "export",
    format: Annotated[str, typer.Option(help="parquet, jsonl or huggingface.")] = "parquet",
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Write a session as Parquet, JSONL or a Hugging Face dataset folder."""
    from .. import export as export_session

    print_written(export_session(session, out, format=format, store=store), as_json)


@app.command(epilog=o.examples("peirce doctor", "peirce doctor --clean"))
def doctor(
    context: typer.Context,
    clean: o.Clean = False,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """What is here: settings and where each comes from, sandbox layers, models, extras, store."""
    from .. import doctor as diagnose
    from ..reports.screen import listings, text

    found = diagnose(store=store, clean=clean, settings=context.obj.list_settings())
    emit([found]) if as_json else listings.print_doctor(text.create_console(), found)
