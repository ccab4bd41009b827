"""`peirce reproduce`: run the experiment of a paper, and continue it where it stopped."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated, Any

import typer

from ..commands.option_types import ReproduceOptions
from ..commands.reproduce.settings import CostAssumptions, ReproductionConfig
from . import options as o
from .printing import emit

app = typer.Typer()
COSTS = tuple(CostAssumptions.model_fields)


@app.command(
    epilog=o.examples(
        "peirce reproduce gear-table4 --base ID --collect openai:NAME --data DIR --dry-run",
        "peirce reproduce gear-table4 --base ID --collect openai:NAME --data DIR --out runs/gear",
    )
)
@o.add_flags(*COSTS, config_class=CostAssumptions)
@o.add_flags(*ReproduceOptions.__annotations__, config_class=ReproductionConfig)
def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            help="gear-table4: tables 2 and 4 and figures 6 to 10 of the GEAR paper.",
            metavar="gear-table4",
        ),
    ],
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print the steps with their calls, tokens, GPU hours and disk space. The base need"
                 " not be on the disk; no model is called and nothing is written.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = False,
    sandbox: o.SandboxName = "process",
    workers: o.Workers = None,
    concurrency: o.Concurrency = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
    **settings: Any,
) -> None:  # fmt: skip
    """Run the experiment of a paper; run the same command again to go on after a stop.

    A finished step is never done again, and unfinished sessions and trainings go on."""
    from .. import plan_reproduction
    from .. import reproduce as run_experiment
    from ..records import PeirceError
    from ..reports.screen import reproduction, text
    from ..reports.screen.phases import PhaseLines

    console = text.create_console()
    costs = {name: settings.pop(name) for name in COSTS if name in settings}
    if dry_run:
        with PhaseLines("Reading the data and counting the tokens of prompts", quiet=quiet):
            planned = plan_reproduction(experiment, costs=CostAssumptions(**costs), **settings)
        emit(planned.steps) if as_json else reproduction.print_plan(console, planned)
        return
    screen = reproduction.ReproductionProgress(quiet=quiet)
    try:
        with screen:
            done = run_experiment(
                experiment, sandbox=sandbox, workers=workers, concurrency=concurrency,
                on_step=screen.take_step, on_event=screen.take_event,
                on_progress=screen.take_training, on_pairs=screen.take_pairs, **settings,
            )  # fmt: skip
    except (PeirceError, KeyboardInterrupt):
        if screen.begun:
            again = shlex.join(["peirce", *sys.argv[1:]])
            typer.echo(f"To continue, run the same command again: {again}", err=True)
        raise
    emit(done.rows) if as_json else reproduction.print_results(console, done)
