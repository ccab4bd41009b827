"""`peirce tasks`: list, show, generate and audit problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from . import options as o
from .printing import emit, print_written
from .running import DEFAULT_SOURCES, option_source

app = typer.Typer(
    name="tasks",
    help="List, show, generate and audit problems of the tasks.",
    epilog=o.examples("peirce tasks list", "peirce tasks show list_functions"),
    no_args_is_help=True,
)


@app.command("list", epilog=o.examples("peirce tasks list"))
def tasks_list(as_json: o.AsJson = False) -> None:
    """List all tasks with their families."""
    from .. import tasks_list as list_tasks
    from ..reports.screen import listings, text

    rows = list_tasks()
    emit([rows]) if as_json else listings.print_tasks(text.create_console(), rows)


@app.command(
    "show",
    epilog=o.examples(
        "peirce tasks show list_functions --problems 1",
        "peirce tasks show labels --data reviews.csv --label verdict",
    ),
)
def tasks_show(
    task: o.Task,
    problem: Annotated[str | None, typer.Argument(metavar="ID")] = None,
    data: o.Data = None,
    problems: o.Problems = None,
    sample: o.Sample = None,
    observations: o.Observations = None,
    seed: o.Seed = 0,
    label: o.Label = None,
    ood: o.Ood = None,
    target: o.Target = None,
    units: o.Units = None,
    skip_bad: o.SkipBad = False,
    as_json: o.AsJson = False,
) -> None:
    """Show problems in readable form, including hidden parts.

    Holdouts and references of abd are only in the output of --json."""
    from .. import tasks_show as show_problems
    from ..reports.screen import listings, text

    rows = show_problems(
        task, problem, data=data, problems=problems, sample=sample, observations=observations,
        seed=seed, label=label, ood=ood, target=target, units=units,
        skip_bad=skip_bad,
    )  # fmt: skip
    if as_json:
        emit([rows])
        return
    for row in rows:
        listings.print_problem(text.create_console(), row)


@app.command(
    "generate",
    epilog=o.examples(
        "peirce tasks generate list_functions --problems 20 --seed 7 --out mine.jsonl",
        "peirce tasks generate labels:election --level 3 --out made/",
        'peirce tasks generate labels:subject --about "Notes to a landlord" --model openai:NAME'
        " --out made/",
    ),
)
def tasks_generate(
    context: typer.Context,
    task: o.Task,
    out: Annotated[
        str,
        typer.Option(
            help="JSONL file to write, which --data can read; for abd also .yaml, .json or a"
                 " folder (published format); for labels a folder.",
            metavar="PATH",
        ),
    ],
    problems: Annotated[
        int | None,
        typer.Option(help="Number of problems (100; labels: all).", metavar="N"),
    ] = None,
    seed: o.Seed = 0,
    regime: Annotated[
        str | None,
        typer.Option(help="For abd: regime full, partial or skeptical (default: each in turn).", metavar="NAME"),
    ] = None,
    difficulty: Annotated[
        str | None,
        typer.Option(
            help="Difficulty, easy or hard. For abd the default is each in turn. For"
                 " list_functions, acre, mini_arc and arc, easy means rules of one step and"
                 " grids of at most 64 cells (default: all).",
            metavar="NAME",
        ),
    ] = None,
    mined: Annotated[
        str | None,
        typer.Option(
            help="For abd: store whose valid rules are used as competitors of the planted rules.",
            metavar="STORE",
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            help="For labels: which data sets to generate, for example 3, 3,plain or grid"
                 " (election), or depth, noise_10 or adv (admission).",
            metavar="NAME",
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(help=("For labels: how label noise is applied, exact (precisely the given rate) or"
            " sampled. For laws: standard deviation of the noise as a share of the target's (default: 0,"
            " 0.001 and 0.01 in turn)."), metavar="NAME|SHARE"),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(help="For laws: number of rows of each problem that are shown (200).", metavar="N"),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help="For labels: format published or huggingface.", metavar="NAME"),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="For labels:citations: local file of works.", metavar="FILE"),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="For labels:election, personality and subject: model that writes new labels,"
                 " phrases and templates. Only read from the command line.",
            metavar="MODEL", rich_help_panel=o.MODEL,
        ),
    ] = None,
    model_arg: o.ModelArg = None,
    about: Annotated[
        str | None,
        typer.Option(
            help=("For labels:subject: description of the texts and the meaning of their labels,"
                 " or a file with it."),
            metavar="TEXT|FILE", rich_help_panel=o.MODEL,
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Labels to use, separated by commas (default: the model chooses them).", metavar="A,B,…",
                     rich_help_panel=o.MODEL),
    ] = None,
    calls: Annotated[
        str | None,
        typer.Option(
            help=("File that keeps the model's answers, so that they are not requested again"
                 " (OUT.calls.jsonl)."),
            metavar="FILE", rich_help_panel=o.MODEL,
        ),
    ] = None,
    budget_tokens: o.BudgetTokens = None,
    budget_usd: o.BudgetUsd = None,
    price_in: o.PriceIn = None,
    price_out: o.PriceOut = None,
    price_cached: o.PriceCached = None,
    concurrency: o.Concurrency = None,
    workers: o.Workers = None,
    cluster: o.Cluster = "local",
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Generate new problems from a seed and write them to a file."""
    from .. import tasks_generate as generate_problems
    from ..commands.session.settings import drop_unsupported_model_options

    spending: dict[str, Any] = dict(
        budget_tokens=budget_tokens, budget_usd=budget_usd, price_in=price_in,
        price_out=price_out, price_cached=price_cached,
    )  # fmt: skip
    pairs: list[str] = []
    if model is not None and option_source(context, "model") in DEFAULT_SOURCES:
        model = None  # the proposer of other commands
    if model is None:
        spending = {
            name: None if option_source(context, name) in DEFAULT_SOURCES else one
            for name, one in spending.items()
        }
    else:
        _, pairs = drop_unsupported_model_options(model, {}, (), context.obj.model_args)
    made = generate_problems(
        task, out, problems=problems, seed=seed, regime=regime, difficulty=difficulty, mined=mined,
        level=level, noise=noise, rows=rows, format=format, data=data, model=model,
        model_arg=[*pairs, *(model_arg or ())], about=about, labels=(labels,) if labels else (),
        calls=calls, concurrency=concurrency, workers=workers, cluster=cluster,
        on_event=None if as_json else _answered, **spending,
    )  # fmt: skip
    print_written(made, as_json)


def _answered(event: Mapping[str, Any]) -> None:
    again = f", attempt {event['answer']}" if event["answer"] > 1 else ""
    typer.echo(f"{event['part']}: {event['kept']} of {event['of']}{again}", err=True)


@app.command("audit", epilog=o.examples("peirce tasks audit abd_instances_v1.yaml.gz"))
def tasks_audit(
    file: Annotated[
        str,
        typer.Argument(
            help=(
                "File of abd instances in the published format, with the holdouts next to it,"
                " or their folder."
            ),
            metavar="FILE",
            show_default=False,
        ),
    ],
    workers: o.Workers = None,
    cluster: o.Cluster = "local",
    as_json: o.AsJson = False,
) -> None:
    """Check a set of instances against the statements of the ABD paper; exit with 1 on a violation."""
    from .. import tasks_audit as audit_instances
    from ..reports.screen import rating, text

    told = audit_instances(file, workers=workers, cluster=cluster)
    emit([told]) if as_json else rating.print_audit(text.create_console(), told)
    raise typer.Exit(1 if told.failed else 0)


@app.command("space", epilog=o.examples("peirce tasks space list_functions --out space.jsonl"))
def tasks_space(
    task: o.Task,
    out: Annotated[
        str, typer.Option(help="JSONL file to write, which --space can read.", metavar="PATH")
    ],
    data: o.Data = None,
    problem: Annotated[
        str | None, typer.Option(help="Write the sample space of this problem.", metavar="ID")
    ] = None,
    label: o.Label = None,
    target: o.Target = None,
    skip_bad: o.SkipBad = False,
    as_json: o.AsJson = False,
) -> None:
    """Write the sample space of a task to a file."""
    from .. import tasks_space as write_space

    space = write_space(
        task, out, data=data, problem=problem, label=label, target=target, skip_bad=skip_bad
    )
    print_written(space, as_json)
