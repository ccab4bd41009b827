"""The command line: parses options, calls `peirce.api`, prints. `peirce --help` has the verbs.

Data goes to stdout, talk to stderr. Heavy imports happen inside the verb that needs them. `main`
is the boundary: an expected end is one sentence and its exit code, a bug keeps its traceback.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from . import __version__
from .verbs import options as o

EXIT_CODES = {"done": 0, "failed": 1, "budget": 3, "interrupted": 130}

app = typer.Typer(
    name="peirce",
    help="Agents that discover hypotheses, and a store of all that they did.",
    epilog="A first session, offline: peirce run list_functions --problems 12",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
tasks_app = typer.Typer(
    help="The tasks: list, show, generate, space.",
    epilog="Example: peirce tasks list",
    no_args_is_help=True,
)
app.add_typer(tasks_app, name="tasks")


def _emit(rows: Iterable[Any]) -> None:
    """JSON, one value a line, ASCII: whatever a model wrote, any pipe can carry it."""
    for row in rows:
        sys.stdout.write(json.dumps(row, allow_nan=False) + "\n")
        sys.stdout.flush()


def _end(session: Any, as_json: bool) -> None:
    from .reports import readable

    if as_json:
        _emit([session.as_json()])
    else:
        readable.print_outcome(readable.console(), session)
    if session.cause:
        typer.echo(f"peirce: {readable.one_line(session.cause, 300)}", err=True)
    elif session.status == "failed":
        cause = next(iter(session.failed.values()), "no problem could be run")
        sentence = (
            f"peirce: all {session.problems} problems failed: {readable.one_line(cause, 300)}"
        )
        typer.echo(sentence, err=True)
    raise typer.Exit(EXIT_CODES[session.status])


# --- sessions ------------------------------------------------------------------


@app.command(
    epilog="Examples: peirce run list_functions --problems 12 --observations 4 | "
    "peirce run examples --data pairs.jsonl --model http://localhost:8000/v1#NAME"
)
def run(
    context: typer.Context,
    task: o.Task,
    data: o.Data = None,
    problems: o.Problems = None,
    problem: o.ProblemIds = None,
    observations: o.Observations = None,
    space: o.Space = None,
    seed: o.Seed = 0,
    method: o.MethodName = "abduce",
    model: o.Model = "search",
    max_answers: o.MaxAnswers = 25,
    answer_format: o.AnswerFormat = None,
    history: o.History = "descriptions",
    strict_contract: o.StrictContract = False,
    temperature: o.Temperature = None,
    top_p: o.TopP = None,
    max_tokens: o.MaxTokens = None,
    reasoning_effort: o.ReasoningEffort = None,
    timeout_s: o.TimeoutS = None,
    retries: o.Retries = None,
    model_arg: o.ModelArg = None,
    judge_model: o.JudgeModel = None,
    scorer_model: o.ScorerModel = None,
    literature_model: o.LiteratureModel = None,
    role: o.RoleSettings = None,
    budget_expansions: o.BudgetExpansions = None,
    preset: o.Preset = None,
    budget_tokens: o.BudgetTokens = None,
    budget_usd: o.BudgetUsd = None,
    price_in: o.PriceIn = None,
    price_out: o.PriceOut = None,
    price_cached: o.PriceCached = None,
    max_failures: o.MaxFailures = None,
    sandbox: o.SandboxName = "process",
    strict_sandbox: o.StrictSandbox = False,
    workers: o.Workers = None,
    concurrency: o.Concurrency = None,
    store: o.StoreFile = None,
    dry_run: o.DryRun = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Run a session: hypotheses for the problems of a task."""
    from . import api
    from .reports import readable
    from .reports.screen import Screen
    from .verbs.roles import role_settings

    models = {"judge": judge_model, "scorer": scorer_model, "literature": literature_model}
    roles = role_settings(context.obj.roles, models, role or ())
    options: dict[str, Any] = dict(
        data=data, problems=problems, problem=problem or (), observations=observations,
        space=space, seed=seed, method=method, model=model, max_answers=max_answers,
        answer_format=answer_format, history=history, strict_contract=strict_contract,
        temperature=temperature, top_p=top_p, max_tokens=max_tokens,
        reasoning_effort=reasoning_effort, timeout_s=timeout_s, retries=retries,
        model_arg=[*context.obj.model_args, *(model_arg or ())], roles=roles,
        budget_expansions=budget_expansions, preset=preset, sandbox=sandbox,
        strict_sandbox=strict_sandbox, workers=workers, concurrency=concurrency, store=store,
        budget_tokens=budget_tokens, budget_usd=budget_usd, price_in=price_in,
        price_out=price_out, price_cached=price_cached, max_failures=max_failures,
    )  # fmt: skip
    if dry_run:
        counted = api.plan(task, **options)
        _emit([counted]) if as_json else readable.print_forecast(readable.console(), counted)
        return
    with Screen(quiet=quiet) as screen:
        session = api.run(task, **options, on_event=screen)
    _end(session, as_json)


@app.command(epilog="Examples: peirce resume | peirce resume 4f1c --concurrency 2")
def resume(
    session: o.SessionName = "last",
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Also the problems that failed.")
    ] = False,
    budget_tokens: o.BudgetTokens = None,
    budget_usd: o.BudgetUsd = None,
    price_in: o.PriceIn = None,
    price_out: o.PriceOut = None,
    price_cached: o.PriceCached = None,
    max_failures: o.MaxFailures = None,
    timeout_s: o.TimeoutS = None,
    retries: o.Retries = None,
    sandbox: o.SandboxAgain = None,
    workers: o.Workers = None,
    concurrency: o.Concurrency = None,
    store: o.StoreFile = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Go on where a session stopped, with the settings that it recorded."""
    from . import api
    from .reports.screen import Screen

    with Screen(quiet=quiet) as screen:
        resumed = api.resume(
            session, retry_failed=retry_failed, timeout_s=timeout_s, retries=retries,
            sandbox=sandbox, workers=workers,
            budget_tokens=budget_tokens, budget_usd=budget_usd, price_in=price_in,
            price_out=price_out, price_cached=price_cached, max_failures=max_failures,
            concurrency=concurrency, store=store, on_event=screen,
        )  # fmt: skip
    _end(resumed, as_json)


@app.command("import", epilog="Example: peirce import answers.json --data list_function.jsonl")
def import_(
    file: Annotated[str, typer.Argument(help="Recorded answers.", metavar="FILE")],
    data: o.Data = None,
    task: Annotated[
        str | None,
        typer.Option(help="Else guessed from the record's data set.", rich_help_panel=o.DATA),
    ] = None,
    observations: o.Observations = None,
    space: o.Space = None,
    seed: o.Seed = 0,
    answer_format: o.AnswerFormat = "fenced_function",
    strict_contract: o.StrictContract = False,
    sandbox: o.SandboxName = "process",
    strict_sandbox: o.StrictSandbox = False,
    workers: o.Workers = None,
    concurrency: o.Concurrency = None,
    store: o.StoreFile = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Judge recorded answers: a session without a model."""
    from . import api
    from .reports.screen import Screen

    with Screen(quiet=quiet) as screen:
        session = api.import_recorded(
            file, data=data, task=task, observations=observations, space=space, seed=seed,
            answer_format=answer_format or "fenced_function", strict_contract=strict_contract,
            sandbox=sandbox, strict_sandbox=strict_sandbox, workers=workers,
            concurrency=concurrency, store=store, on_event=screen,
        )  # fmt: skip
    _end(session, as_json)


@app.command(epilog="Examples: peirce replay | peirce replay 4f1c 9a --live --json")
def replay(
    sessions: Annotated[
        list[str] | None, typer.Argument(help="Sessions (default: last).", metavar="SESSION")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Execute the tools again.")] = False,
    sandbox: o.SandboxName = "process",
    workers: o.Workers = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Drive the same graph with the journal alone and compare; exit 1 where they differ."""
    from . import api
    from .reports import readable

    results = []
    for session in sessions or ["last"]:
        result = api.replay(session, live=live, sandbox=sandbox, workers=workers, store=store)
        results.append(result)
        if not as_json:
            readable.print_differences(readable.console(), result)
    if as_json:
        _emit(results if len(results) == 1 else [{"sessions": results}])
    raise typer.Exit(1 if any(result["differences"] for result in results) else 0)


@app.command(
    epilog='Example: echo \'{"problem": "0", "hypothesis": "def f(x): return x[1:]"}\''
    " > mine.jsonl; peirce check list_functions --answers mine.jsonl --data list_function.jsonl"
)
def check(
    task: o.Task,
    answers: Annotated[
        str, typer.Option(help="JSONL of hypotheses or raw answers.", metavar="FILE")
    ],
    data: o.Data = None,
    problems: o.Problems = None,
    problem: o.ProblemIds = None,
    observations: o.Observations = None,
    space: o.Space = None,
    seed: o.Seed = 0,
    answer_format: o.AnswerFormat = None,
    strict_contract: o.StrictContract = False,
    sandbox: o.SandboxName = "process",
    strict_sandbox: o.StrictSandbox = False,
    workers: o.Workers = None,
    as_json: o.AsJson = False,
) -> None:
    """Judge hypotheses that you bring; no model, no session."""
    from . import api
    from .reports import readable

    out = readable.console()
    wrong = False
    for row in api.check(
        task, answers, data=data, problems=problems, problem=problem or (),
        observations=observations, space=space, seed=seed, answer_format=answer_format,
        strict_contract=strict_contract, sandbox=sandbox, strict_sandbox=strict_sandbox, workers=workers,
    ):  # fmt: skip
        wrong = wrong or row["verdict"] == "error"
        if as_json:
            _emit([row])
        else:
            readable.print_check(out, row)
    raise typer.Exit(1 if wrong else 0)


# --- reading -------------------------------------------------------------------


@app.command("eval", epilog="Examples: peirce eval last | peirce eval t3 4f1c 9a --out tables/")
def evaluate(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="Sessions (default: last), after the name of an evaluation (gear, t3) if wanted.",
            metavar="[NAME] SESSION...",
        ),
    ] = None,
    by_problem: Annotated[
        bool, typer.Option("--by-problem", help="Also each problem's values.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(help="Tables as CSV and Markdown: a .csv or .md file, or a folder.",
                     metavar="DIR|FILE"),
    ] = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:  # fmt: skip
    """Metrics and tables from the store; never a model call."""
    from . import api
    from .reports import evaluations, readable

    words = list(what or [])
    name = words.pop(0) if words and words[0] in {e.name for e in evaluations()} else None
    result = api.evaluate(*words, name=name, by_problem=by_problem, store=store, out=out)
    if as_json:
        _emit([result])
    else:
        readable.print_scores(readable.console(), result)


@app.command(epilog="Example: peirce sessions --store mine.duckdb")
def sessions(store: o.StoreFile = None, as_json: o.AsJson = False) -> None:
    """The sessions of a store, also while a run owns it."""
    from . import api
    from .reports import readable

    rows = api.sessions(store=store)
    if as_json:
        _emit([rows])
        return
    told = [{key: value for key, value in row.items() if key != "settings"} for row in rows]
    readable.print_sessions(readable.console(), told)


@app.command(epilog="Examples: peirce show | peirce show last gen0-3")
def show(
    session: o.SessionName = "last",
    problem: Annotated[str | None, typer.Argument(metavar="PROBLEM")] = None,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """The problems of a session, or every hypothesis of one of them."""
    from . import api
    from .reports import readable

    rows = api.show(session, problem, store=store)
    draw = readable.print_problems if problem is None else readable.print_hypotheses
    _emit([rows]) if as_json else draw(readable.console(), rows)


@app.command(epilog="Examples: peirce bank | peirce bank 4f1c gen0-3 --alpha 0.2")
def bank(
    session: o.SessionName = "last",
    problem: Annotated[str | None, typer.Argument(metavar="PROBLEM")] = None,
    alpha: Annotated[float, typer.Option(help="Weight of exploration in the reward.")] = 0.5,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """The hypotheses that a session keeps, best first."""
    from . import api
    from .reports import readable

    rows = api.bank(session, problem, alpha=alpha, store=store)
    _emit([rows]) if as_json else readable.print_bank(readable.console(), rows)


@app.command(epilog="Example: peirce export last --out export --format parquet")
def export(
    session: o.SessionName = "last",
    out: Annotated[str, typer.Option(help="The folder to write.", metavar="DIR")] = "export",
    format: Annotated[str, typer.Option(help="parquet, jsonl or huggingface.")] = "parquet",
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Write a session as Parquet, JSONL or a Hugging Face dataset folder."""
    from . import api

    _written(api.export(session, out, format=format, store=store), as_json)


@app.command(epilog="Example: peirce doctor --json")
def doctor(
    context: typer.Context,
    clean: o.Clean = False,
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """What is here: settings and where each comes from, sandbox layers, models, extras, store."""
    from . import api
    from .reports import readable

    found = api.doctor(store=store, clean=clean, settings=context.obj.shown())
    _emit([found]) if as_json else readable.print_doctor(readable.console(), found)


# --- tasks ---------------------------------------------------------------------


@tasks_app.command("list", epilog="Example: peirce tasks list --json")
def tasks_list(as_json: o.AsJson = False) -> None:
    """Every task with its family."""
    from . import api
    from .reports import readable

    rows = api.tasks_list()
    _emit([rows]) if as_json else readable.print_tasks(readable.console(), rows)


@tasks_app.command("show", epilog="Example: peirce tasks show list_functions --seed 3")
def tasks_show(
    task: o.Task,
    problem: Annotated[str | None, typer.Argument(metavar="ID")] = None,
    data: o.Data = None,
    problems: o.Problems = None,
    observations: o.Observations = None,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
) -> None:
    """Problems drawn readably, their hidden parts too."""
    from . import api
    from .reports import readable

    rows = api.tasks_show(
        task, problem, data=data, problems=problems, observations=observations, seed=seed
    )
    if as_json:
        _emit([rows])
        return
    for row in rows:
        readable.print_problem(readable.console(), row)


@tasks_app.command(
    "generate",
    epilog="Example: peirce tasks generate list_functions --problems 20 --seed 7 --out mine.jsonl",
)
def tasks_generate(
    task: o.Task,
    out: Annotated[str, typer.Option(help="JSONL that --data reads back.", metavar="PATH")],
    problems: Annotated[int, typer.Option(help="How many.", metavar="N")] = 100,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
) -> None:
    """New problems from a seed, as a file."""
    from . import api

    _written(api.tasks_generate(task, out, problems=problems, seed=seed), as_json)


@tasks_app.command("space", epilog="Example: peirce tasks space list_functions --out space.jsonl")
def tasks_space(
    task: o.Task,
    out: Annotated[str, typer.Option(help="JSONL that --space reads back.", metavar="PATH")],
    data: o.Data = None,
    problem: Annotated[str | None, typer.Option(help="Of this problem.", metavar="ID")] = None,
    as_json: o.AsJson = False,
) -> None:
    """The sample space of a task, as a file."""
    from . import api

    _written(api.tasks_space(task, out, data=data, problem=problem), as_json)


def _written(result: dict[str, Any], as_json: bool) -> None:
    from .reports import readable

    _emit([result]) if as_json else readable.print_written(readable.console(), result)


# --- the boundary --------------------------------------------------------------


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="The version, and no more.")] = False,
) -> None:
    if version:
        typer.echo(f"peirce {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Runs one command line and exits: 0 done, 1 failed, 2 usage, 3 budget spent, 4 sandbox
    unavailable, 130 interrupted."""
    from .verbs.boundary import run_command

    sys.exit(run_command(app, arguments))
