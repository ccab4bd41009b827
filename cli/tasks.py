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
    help="The tasks: list, show, generate, audit, space.",
    epilog=o.examples("peirce tasks list", "peirce tasks show list_functions"),
    no_args_is_help=True,
)


@app.command("list", epilog=o.examples("peirce tasks list"))
def tasks_list(as_json: o.AsJson = False) -> None:
    """Every task with its family."""
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
    skip_bad: o.SkipBad = False,
    as_json: o.AsJson = False,
) -> None:
    """Problems drawn readably; hidden parts too, but holdouts and references of abd with --json only."""
    from .. import tasks_show as show_problems
    from ..reports.screen import listings, text

    rows = show_problems(
        task, problem, data=data, problems=problems, sample=sample, observations=observations,
        seed=seed, label=label, ood=ood, skip_bad=skip_bad,
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
            help="JSONL that --data reads back; of abd also .yaml, .json or a folder (published form),"
            " of labels a folder.",
            metavar="PATH",
        ),
    ],
    problems: Annotated[
        int | None,
        typer.Option(help="How many (100; of labels all that there are).", metavar="N"),
    ] = None,
    seed: o.Seed = 0,
    regime: Annotated[
        str | None,
        typer.Option(help="Of abd: full, partial or skeptical; else in turn.", metavar="NAME"),
    ] = None,
    difficulty: Annotated[
        str | None,
        typer.Option(
            help="easy or hard: of abd (else in turn), and of list_functions, acre, mini_arc and arc"
            " (easy: rules of one step, grids of at most 64 cells; else all).",
            metavar="NAME",
        ),
    ] = None,
    mined: Annotated[
        str | None,
        typer.Option(
            help="Of abd: a store, whose valid rules compete with those that are planted.",
            metavar="STORE",
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            help="Of labels: which sets, as 3, 3,plain, grid (election) or depth, noise_10, adv"
            " (admission).",
            metavar="NAME",
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(help="Of labels: exact (the rate itself) or sampled.", metavar="NAME"),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help="Of labels: published or huggingface.", metavar="NAME"),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="Of labels:citations: a local file of works.", metavar="FILE"),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Of labels:election, personality and subject: the model that writes labels, phrases"
            " and templates anew. Read from the command line alone.",
            metavar="MODEL", rich_help_panel=o.MODEL,
        ),
    ] = None,
    model_arg: o.ModelArg = None,
    about: Annotated[
        str | None,
        typer.Option(
            help="Of labels:subject: what the texts are and what their labels say, or a file with it.",
            metavar="TEXT|FILE", rich_help_panel=o.MODEL,
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Your own labels, commas between; else the model's.", metavar="A,B,…",
                     rich_help_panel=o.MODEL),
    ] = None,
    calls: Annotated[
        str | None,
        typer.Option(
            help="Where the model's answers are kept, and not asked again (OUT.calls.jsonl).",
            metavar="FILE", rich_help_panel=o.MODEL,
        ),
    ] = None,
    budget_tokens: o.BudgetTokens = None,
    budget_usd: o.BudgetUsd = None,
    price_in: o.PriceIn = None,
    price_out: o.PriceOut = None,
    price_cached: o.PriceCached = None,
    concurrency: o.Concurrency = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """New problems from a seed, as a file."""
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
        level=level, noise=noise, format=format, data=data, model=model,
        model_arg=[*pairs, *(model_arg or ())], about=about, labels=(labels,) if labels else (),
        calls=calls, concurrency=concurrency, on_event=None if as_json else _answered, **spending,
    )  # fmt: skip
    print_written(made, as_json)


def _answered(event: Mapping[str, Any]) -> None:
    again = f", answer {event['answer']}" if event["answer"] > 1 else ""
    typer.echo(f"{event['part']}: {event['kept']} of {event['of']}{again}", err=True)


@app.command("audit", epilog=o.examples("peirce tasks audit abd_instances_v1.yaml.gz"))
def tasks_audit(
    file: Annotated[
        str,
        typer.Argument(
            help="Instances of abd in the published form, holdouts beside them, or their folder.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    as_json: o.AsJson = False,
) -> None:
    """Checks all that the ABD paper states about a set of instances; exit code 1 where it is not so."""
    from .. import tasks_audit as audit_instances
    from ..reports.screen import rating, text

    told = audit_instances(file)
    emit([told]) if as_json else rating.print_audit(text.create_console(), told)
    raise typer.Exit(1 if told.failed else 0)


@app.command("space", epilog=o.examples("peirce tasks space list_functions --out space.jsonl"))
def tasks_space(
    task: o.Task,
    out: Annotated[str, typer.Option(help="JSONL that --space reads back.", metavar="PATH")],
    data: o.Data = None,
    problem: Annotated[str | None, typer.Option(help="Of this problem.", metavar="ID")] = None,
    label: o.Label = None,
    skip_bad: o.SkipBad = False,
    as_json: o.AsJson = False,
) -> None:
    """The sample space of a task, as a file."""
    from .. import tasks_space as write_space

    space = write_space(task, out, data=data, problem=problem, label=label, skip_bad=skip_bad)
    print_written(space, as_json)
