"""The commands that read a store, and the command `doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from ..records import UsageError
from . import options as o
from .printing import emit, print_written

app = typer.Typer()

WithoutMemorising = Annotated[
    bool,
    typer.Option(
        "--without-memorising",
        help=("Exclude hypotheses that memorise the observations they were shown."),
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
            help="Optional name of an evaluation (abd, gear, hypobench, t3), then sessions"
                 " (default: last). Or training, then trainings (default: all), to get their"
                 " curves.",
            metavar="[NAME] SESSION...",
        ),
    ] = None,
    by_problem: Annotated[
        bool, typer.Option("--by-problem", help="Also give the values of each problem.")
    ] = False,
    all_metrics: o.AllMetrics = False,
    all_pairs: Annotated[
        bool,
        typer.Option("--all-pairs", help="Also count hidden pairs that cannot be judged."),
    ] = False,
    without_memorising: WithoutMemorising = False,
    evaluator: o.Evaluator = "exact",
    solver: o.SolverOption = "fast",
    workers: o.Workers = None,
    cluster: o.Cluster = "local",
    out: Annotated[
        str | None,
        typer.Option(help=("Write the tables to a .csv or .md file, or the tables and figures to a folder."),
                     metavar="DIR|FILE"),
    ] = None,
    ratings: o.FilledSheets = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Compute metrics and tables from the store, without calling a model."""
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
        cluster=cluster,
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
    epilog=o.examples(
        "peirce compare last", "peirce compare 4f1c 9a", "peirce compare 4f1c 9a --out costs.csv"
    )
)
def compare(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Sessions (default: last).", metavar="SESSION..."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(help="Write the table of costs to a .csv or .md file.", metavar="FILE"),
    ] = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Compare sessions: their main metrics and what each result cost."""
    from .. import compare as compare_sessions
    from ..reports.screen import comparison, text

    result = compare_sessions(*(names or ()), store=store, out=out)
    emit([result]) if as_json else comparison.print_comparison(text.create_console(), result)


@app.command(
    epilog=o.examples("peirce study defeasible last", "peirce study general 4f1c 9a --out tables/")
)
def study(
    name: Annotated[
        list[str],
        typer.Argument(
            help="The study, defeasible or general, then sessions (default: last). Sessions are"
                 " joined by problem and shown pairs.", metavar="NAME [SESSION]...",
        ),
    ],
    seed: Annotated[int, typer.Option(help=("Random seed for the draws and the confidence intervals."))] = 0,
    draws: Annotated[
        int, typer.Option(help=("Number of draws of hidden pairs for each problem and number of pairs."))
    ] = 5,
    all_pairs: Annotated[
        bool,
        typer.Option("--all-pairs", help="Also count hidden pairs that cannot be judged."),
    ] = False,
    distinct: Annotated[
        bool, typer.Option("--distinct", help=("Count hypotheses with the same predictions only once."))
    ] = False,
    without_memorising: WithoutMemorising = False,
    contexts: Annotated[
        int, typer.Option(help=("For general: maximum number of contexts of each size per problem."))
    ] = 200,
    pairs: Annotated[
        int, typer.Option(help="For general: maximum number of comparisons counted per context.")
    ] = 100,
    workers: o.Workers = None,
    cluster: o.Cluster = "local",
    out: Annotated[
        str | None,
        typer.Option(help=("Write tables or a figure to a .csv, .md, .png or .svg file, or all of them to a"
            " folder."),
                     metavar="DIR|FILE"),
    ] = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Run the simulation studies of the GEAR paper on stored sessions.

    The study `defeasible` measures how many consistent hypotheses are refuted by hidden pairs. The
    study `general` measures whether hypotheses with higher scores pass hidden pairs more often."""
    from .. import study as run_study
    from ..reports.screen import summaries, text

    result = run_study(
        *name, seed=seed, draws=draws, all_pairs=all_pairs, distinct=distinct,
        without_memorising=without_memorising, contexts=contexts, pairs=pairs, workers=workers,
        cluster=cluster, store=store, out=out,
    )  # fmt: skip
    emit([result]) if as_json else summaries.print_study(text.create_console(), result)


@app.command(epilog=o.examples("peirce sessions", "peirce sessions --store mine.duckdb"))
def sessions(store: o.StoreFile = None, as_json: o.AsJson = False) -> None:
    """List the sessions of a store, even while a run is using it."""
    from .. import sessions as list_sessions
    from ..reports.screen import listings, text

    rows = list_sessions(store=store)
    if as_json:
        emit([rows])
        return
    told = [{key: value for key, value in row.items() if key != "settings"} for row in rows]
    listings.print_sessions(text.create_console(), told)


@app.command(
    epilog=o.examples(
        "peirce show",
        "peirce show last gen0-3",
        "peirce show last --findings",
        "peirce show last --calls",
    )
)
def show(
    session: o.SessionName = "last",
    problem: Annotated[str | None, typer.Argument(metavar="PROBLEM")] = None,
    findings: Annotated[
        bool,
        typer.Option(
            "--findings",
            help="Print the best hypotheses of all problems, or all hypotheses of one problem, best"
            " first, with what supports them.",
        ),
    ] = False,
    calls: Annotated[
        bool,
        typer.Option(
            "--calls", help=("List each model and tool call with tokens, seconds and cost.")
        ),
    ] = False,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """List the problems of a session, or all hypotheses of one problem."""
    from .. import show as show_session
    from ..reports.screen import listings, text

    if findings and calls:
        raise UsageError("--findings and --calls cannot be used together")
    if findings:
        _findings(session, problem, store, as_json)
        return
    rows = show_session(session, problem, calls=calls, store=store)
    draw = listings.print_problems if problem is None else listings.print_hypotheses
    draw = listings.print_calls if calls else draw
    emit([rows]) if as_json else draw(text.create_console(), rows)


def _findings(session: str, problem: str | None, store: str | None, as_json: bool) -> None:
    from .. import load
    from ..reports.findings import FINDINGS_PER_PROBLEM
    from ..reports.screen.findings import print_findings
    from ..reports.screen.summaries import print_effort
    from ..reports.screen.text import create_console

    trace = load(session, store=store)
    found = trace.findings(problem)
    if as_json:
        emit([list(found)])
        return
    explained = {row.problem for row in found}
    names = [one.id for one in trace.problems] if problem is None else [problem]
    out = create_console()
    print_findings(
        out,
        [row for row in found if problem or row.rank <= FINDINGS_PER_PROBLEM],
        problems=None,
        unexplained=[] if problem and found else [one for one in names if one not in explained],
        all_sources=problem is not None,
    )
    if problem is None:
        print_effort(out, trace)


@app.command(
    epilog=o.examples(
        "peirce bank",
        "peirce bank 4f1c gen0-3 --alpha 0.2",
        "peirce bank --history",
        "peirce bank --full",
        "peirce bank last --out bank.json",
        "peirce bank --effects --within length",
        "peirce bank --within source --data reviews.csv",
    )
)
def bank(
    session: o.SessionName = "last",
    problem: Annotated[str | None, typer.Argument(metavar="PROBLEM")] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            help=("Rank by reward with this exploration weight, as a running session does.")
        ),
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Show how the bank changed at each step instead.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(help="Write the bank to a file that `--bank` can read.", metavar="FILE"),
    ] = None,
    effects: Annotated[
        bool,
        typer.Option(
            "--effects",
            help="For labelled text: the odds ratio, coverage and stability of each sentence on rows"
            " that the search did not see.",
        ),
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Print sentences whole, with all terms of long lists.")
    ] = False,
    within: o.Within = None,
    data: o.EffectData = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """List the hypotheses in the bank of a session, best first."""
    from .. import bank as list_bank
    from ..reports.screen import effects as effects_screen
    from ..reports.screen import listings, text

    rows = list_bank(
        session, problem, alpha=alpha, history=history, out=out, effects=effects,
        within=within or (), data=data, store=store,
    )  # fmt: skip
    if as_json:
        emit([rows])
    elif (effects or within or data) and out is None:
        effects_screen.print_effects(text.create_console(), rows, full)
    elif out is not None:
        listings.print_saved_bank(text.create_console(), rows, out, history)
    elif history:
        listings.print_bank_history(text.create_console(), rows)
    else:
        listings.print_bank(text.create_console(), rows, full)


@app.command(epilog=o.examples("peirce export last --out export --format parquet"))
def export(
    session: o.SessionName = "last",
    out: Annotated[str, typer.Option(help="Folder to write.", metavar="DIR")] = "export",
    format: Annotated[str, typer.Option(help="Format: parquet, jsonl or huggingface.")] = "parquet",
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Write a session as Parquet, JSONL or a Hugging Face dataset folder."""
    from .. import export as export_session

    print_written(export_session(session, out, format=format, store=store), as_json)


@app.command(
    "merge-stores", epilog=o.examples("peirce merge-stores all.duckdb first.duckdb second.duckdb")
)
def merge_stores(
    out: Annotated[
        str, typer.Argument(help="Store to merge into, created if needed.", metavar="OUT")
    ],
    stores: Annotated[list[str], typer.Argument(help="Stores to merge.", metavar="STORE...")],
    as_json: o.AsJson = False,
) -> None:
    """Merge stores of several runs into one; merging a store again changes nothing."""
    from .. import merge_stores as merge
    from ..reports.screen import listings, text

    rows = merge(out, *stores)
    emit([rows]) if as_json else listings.print_merged(text.create_console(), rows)


@app.command(
    epilog=o.examples("peirce doctor", "peirce doctor --clean", "peirce doctor --cluster ray")
)
def doctor(
    context: typer.Context,
    clean: o.Clean = False,
    cluster: o.Cluster = "local",
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Show the settings and their sources, sandbox layers, models, extras and the store."""
    from .. import doctor as diagnose
    from ..reports.screen import diagnosis, text

    found = diagnose(
        store=store, clean=clean, cluster=cluster, settings=context.obj.list_settings()
    )
    emit([found]) if as_json else diagnosis.print_doctor(text.create_console(), found)
