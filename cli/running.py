"""The commands that run a session: `run`, `resume`, `import` and `replay`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

import typer

from ..commands.option_types import ResumeOptions, RunOptions
from . import options as o
from .controlling import print_state
from .groups import TaskCommand
from .printing import emit, print_and_exit
from .questions import answer_questions

app = typer.Typer()
Detach: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--detach",
        help="Run the session in a process of its own that goes on without the terminal, and print"
        " its state (`peirce status`).",
        rich_help_panel=o.RUNNING,
    ),
]
DEFAULT_SOURCES = (
    "ENVIRONMENT",
    "DEFAULT_MAP",
)  # Sources of options that were not on the command line.


@app.command(
    cls=TaskCommand,
    epilog=o.examples(
        "peirce run list_functions --problems 12 --observations 4",
        "peirce run examples --data pairs.jsonl --model http://localhost:8000/v1#NAME",
        "peirce run labels --data reviews.csv --label verdict --method hypogenic",
        "peirce run list_functions --problems 200 --detach",
    ),
)
@o.add_flags(
    *(name for name in RunOptions.__annotations__ if name not in ("roles", "method_options"))
)
def run(
    context: typer.Context,
    task: o.Task,
    dry_run: o.DryRun = False,
    detach: Detach = False,
    quiet: o.Quiet = False,
    all_metrics: o.AllMetrics = False,
    as_json: o.AsJson = False,
    **settings: Any,
) -> None:
    """Search for hypotheses that explain the problems of a task."""
    from .. import plan, start
    from .. import run as run_session
    from ..reports.screen import summaries, text
    from ..reports.screen.progress import SessionProgress

    options = apply_defaults(context, task, settings)
    if dry_run:
        counted = plan(task, **options)
        emit([counted]) if as_json else summaries.print_forecast(text.create_console(), counted)
        return
    if detach:
        print_state(start(task, **options), as_json)
        return
    with SessionProgress(quiet=quiet) as screen, answer_questions(screen) as listener:
        session = run_session(task, **options, on_event=listener)
    print_and_exit(session, as_json, all_metrics, quiet)


def apply_defaults(context: typer.Context, task: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a run, without defaults that do not fit the model or the method.

    Defaults from the configuration file and the environment may be meant for another model or
    method. Flags are always kept.

    Args:
        context: Context of the command.
        task: Name of the task.
        settings: All settings by name.
    """
    from ..commands.session.planning import check_method, drop_unsupported_options
    from ..commands.session.protocols import chosen_method
    from ..commands.session.settings import drop_unsupported_model_options
    from ..config import ModelConfig

    standing = [name for name in settings if option_source(context, name) in DEFAULT_SOURCES]
    model = settings.get("model", ModelConfig().model)
    check_method(task, chosen_method(None, settings))
    options, pairs = drop_unsupported_model_options(
        model, settings, standing, context.obj.model_args
    )
    options = drop_unsupported_options(options, standing)
    options |= {
        "role": select_role_flags(context, settings.get("role")) or None,
        "model": model,
        "roles": context.obj.roles or None,
        "model_arg": [*pairs, *settings.get("model_arg", ())],
    }
    return {name: value for name, value in options.items() if value is not None}


def option_source(context: typer.Context, name: str) -> str:
    """Return where the value of an option comes from, as click names it, such as COMMANDLINE."""
    found = context.get_parameter_source(name)
    return "" if found is None else found.name


def select_role_flags(
    context: typer.Context, pairs: Sequence[str] | None, *, scorer: bool = False
) -> Sequence[str]:
    """Return the values of --role that the current command uses.

    The configuration file and the environment may have values for all commands. `rate` uses only
    the values for the role scorer, and other commands use all other values.

    Args:
        context: Context of the command.
        pairs: The values of --role, in the form ROLE.K=V.
        scorer: Whether the command is `rate`.
    """
    from ..commands.session.settings import SCORER

    if option_source(context, "role") not in DEFAULT_SOURCES:
        return pairs or ()
    return [pair for pair in pairs or () if pair.startswith(f"{SCORER}.") == scorer]


RESUME_TEXTS = {
    "cache": "Reuse answers of other sessions (default: as recorded).",
    "sandbox": "Sandbox that runs hypotheses: process or docker (default: as recorded).",
    "solver": "Solver for rules about worlds: fast or z3 (default: as recorded).",
}


@app.command(epilog=o.examples("peirce resume", "peirce resume 4f1c --concurrency 2"))
@o.add_flags(*ResumeOptions.__annotations__, texts=RESUME_TEXTS)
def resume(
    session: o.SessionName = "last",
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Also run the failed problems again.")
    ] = False,
    detach: Detach = False,
    quiet: o.Quiet = False,
    all_metrics: o.AllMetrics = False,
    as_json: o.AsJson = False,
    **settings: Any,
) -> None:
    """Continue a stopped session with its recorded settings."""
    from .. import resume as resume_session
    from ..commands.session.detaching import start_resumed
    from ..reports.screen.progress import SessionProgress

    if detach:
        print_state(start_resumed(session, retry_failed=retry_failed, **settings), as_json)
        return

    with SessionProgress(quiet=quiet) as screen, answer_questions(screen) as listener:
        resumed = resume_session(session, retry_failed=retry_failed, on_event=listener, **settings)
    print_and_exit(resumed, as_json, all_metrics, quiet)


IMPORT_OPTIONS = ("data", "skip_bad", "observations", "space", "seed", "answer_format", "strict_contract", "protocol", "sandbox",
            "strict_sandbox", "workers", "solver", "concurrency", "store")  # fmt: skip


@app.command("import", epilog=o.examples("peirce import answers.json --data list_function.jsonl"))
@o.add_flags(*IMPORT_OPTIONS)
def import_(
    file: Annotated[str, typer.Argument(help="File of recorded answers.", metavar="FILE")],
    task: Annotated[
        str | None,
        typer.Option(
            help=("Task of the answers (default: derived from the data set that the file names)."),
            rich_help_panel=o.DATA,
        ),
    ] = None,
    of_model: Annotated[
        str | None,
        typer.Option(
            help="Model whose answers are used, if the file holds answers of several models.",
            metavar="NAME",
            rich_help_panel=o.DATA,
        ),
    ] = None,
    quiet: o.Quiet = False,
    all_metrics: o.AllMetrics = False,
    as_json: o.AsJson = False,
    **settings: Any,
) -> None:
    """Judge recorded answers in a session without a model."""
    from .. import import_recorded
    from ..reports.screen.progress import SessionProgress

    with SessionProgress(quiet=quiet) as screen:
        session = import_recorded(file, task=task, of_model=of_model, on_event=screen, **settings)
    print_and_exit(session, as_json, all_metrics, quiet)


@app.command(epilog=o.examples("peirce replay", "peirce replay 4f1c 9a --live --json"))
def replay(
    sessions: Annotated[
        list[str] | None,
        typer.Argument(help="Sessions to replay (default: last).", metavar="SESSION"),
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help=("Execute the tools again instead of reading their results from the journal."),
        ),
    ] = False,
    sandbox: o.SandboxName = "process",
    workers: o.Workers = None,
    cluster: o.Cluster = "local",
    solver: o.SolverOption = "fast",
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Repeat sessions from the journal and compare; exit with 1 if they differ."""
    from .. import replay as replay_session
    from ..reports.screen import listings, text

    results = []
    for session in sessions or ["last"]:
        result = replay_session(
            session,
            live=live,
            sandbox=sandbox,
            workers=workers,
            cluster=cluster,
            solver=solver,
            store=store,
        )
        results.append(result)
        if not as_json:
            listings.print_differences(text.create_console(), result)
    if as_json:
        emit(results if len(results) == 1 else [{"sessions": results}])
    raise typer.Exit(1 if any(result.differences for result in results) else 0)
