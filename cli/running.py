"""The verbs that run something: run, resume, import, replay."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import options as o
from .pairing import shares
from .printing import emit, end
from .task_help import OfTask

app = typer.Typer()
STANDING = ("ENVIRONMENT", "DEFAULT_MAP")  # sources of options that were not typed for this run


@app.command(
    cls=OfTask,
    epilog=o.examples(
        "peirce run list_functions --problems 12 --observations 4",
        "peirce run examples --data pairs.jsonl --model http://localhost:8000/v1#NAME",
        "peirce run labels --data reviews.csv --label verdict --method hypogenic",
    ),
)
def run(
    context: typer.Context,
    task: o.Task,
    data: o.Data = None,
    problems: o.Problems = None,
    problem: o.ProblemIds = None,
    sample: o.Sample = None,
    subset: o.Subset = None,
    split_seed: o.SplitSeed = 0,
    fractions: o.SplitFractions = None,
    fixed: o.SplitFixed = None,
    observations: o.Observations = None,
    space: o.Space = None,
    seed: o.Seed = 0,
    method: o.MethodName = "abduce",
    model: o.Model = "search",
    max_answers: o.MaxAnswers = None,
    tool_calls: o.ToolCalls = None,
    feedback: o.Feedback = None,
    target_gap: o.TargetGap = None,
    repair: o.Repair = None,
    answer_format: o.AnswerFormat = None,
    history: o.History = "descriptions",
    template: o.Template = None,
    strict_contract: o.StrictContract = False,
    label: o.Label = None,
    ood: o.Ood = None,
    examples: o.Examples = None,
    hypotheses: o.Hypotheses = None,
    rounds: o.Rounds = None,
    tau: o.Tau = None,
    judge: o.JudgeHow = None,
    repeats: o.Repeats = None,
    prompts: o.Prompts = None,
    shots: o.Shots = None,
    inference: o.Inference = None,
    validation_rows: o.ValidationRows = None,
    split: o.Split = None,
    literature: o.Literature = None,
    bank: o.Banks = None,
    method_arg: o.MethodArg = None,
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
    cache: o.Cache = True,
    sandbox: o.SandboxName = "process",
    strict_sandbox: o.StrictSandbox = False,
    workers: o.Workers = None,
    solver: o.SolverOption = "fast",
    concurrency: o.Concurrency = None,
    store: o.StoreFile = None,
    dry_run: o.DryRun = False,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Run a session: hypotheses for the problems of a task."""
    from .. import plan
    from .. import run as run_session
    from ..commands.session.methods import fitting as of_method
    from ..commands.session.roles import fitting, role_settings
    from ..reports import endings, text
    from ..reports.screen import Screen

    models = {"judge": judge_model, "scorer": scorer_model, "literature": literature_model}
    roles = role_settings(context.obj.roles, models, role or ())
    options: dict[str, Any] = dict(
        data=data, problems=problems, problem=problem or (), sample=sample,
        subset=subset or (), split_seed=split_seed, fixed=fixed,
        fractions=None if fractions is None else shares(fractions),
        observations=observations, space=space, seed=seed, method=method, model=model,
        max_answers=max_answers, tool_calls=tool_calls, feedback=feedback,
        target_gap=target_gap, repair=repair, cache=cache, label=label, ood=ood,
        examples=examples, hypotheses=hypotheses, rounds=rounds, tau=tau, judge=judge,
        repeats=repeats, prompts=prompts, shots=shots, inference=inference,
        validation_rows=validation_rows, split=split or (), literature=literature,
        bank=bank or (), method_arg=method_arg or (),
        answer_format=answer_format, history=history, template=template,
        strict_contract=strict_contract,
        temperature=temperature, top_p=top_p, max_tokens=max_tokens,
        reasoning_effort=reasoning_effort, timeout_s=timeout_s, retries=retries,
        roles=roles,
        budget_expansions=budget_expansions, preset=preset, sandbox=sandbox,
        strict_sandbox=strict_sandbox, workers=workers, solver=solver, concurrency=concurrency,
        store=store, budget_tokens=budget_tokens, budget_usd=budget_usd, price_in=price_in,
        price_out=price_out, price_cached=price_cached, max_failures=max_failures,
    )  # fmt: skip
    standing = [name for name in options if source(context, name) in STANDING]
    options, pairs = fitting(model, options, standing, context.obj.model_args)
    options = of_method(method, options, standing)
    options["model_arg"] = [*pairs, *(model_arg or ())]
    if dry_run:
        counted = plan(task, **options)
        emit([counted]) if as_json else endings.print_forecast(text.console(), counted)
        return
    with Screen(quiet=quiet) as screen:
        session = run_session(task, **options, on_event=screen)
    end(session, as_json)


def source(context: typer.Context, name: str) -> str:
    """Whence an option came, in click's words."""
    found = context.get_parameter_source(name)
    return "" if found is None else found.name


@app.command(epilog=o.examples("peirce resume", "peirce resume 4f1c --concurrency 2"))
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
    cache: o.CacheAgain = None,
    sandbox: o.SandboxAgain = None,
    workers: o.Workers = None,
    solver: o.SolverAgain = None,
    concurrency: o.Concurrency = None,
    store: o.StoreFile = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Go on where a session stopped, with the settings that it recorded."""
    from .. import resume as resume_session
    from ..reports.screen import Screen

    with Screen(quiet=quiet) as screen:
        resumed = resume_session(
            session, retry_failed=retry_failed, timeout_s=timeout_s, retries=retries,
            sandbox=sandbox, workers=workers, solver=solver, cache=cache,
            budget_tokens=budget_tokens, budget_usd=budget_usd, price_in=price_in,
            price_out=price_out, price_cached=price_cached, max_failures=max_failures,
            concurrency=concurrency, store=store, on_event=screen,
        )  # fmt: skip
    end(resumed, as_json)


@app.command("import", epilog=o.examples("peirce import answers.json --data list_function.jsonl"))
def import_(
    file: Annotated[str, typer.Argument(help="Recorded answers.", metavar="FILE")],
    data: o.Data = None,
    task: Annotated[
        str | None,
        typer.Option(help="Else guessed from the record's data set.", rich_help_panel=o.DATA),
    ] = None,
    of_model: Annotated[
        str | None,
        typer.Option(
            help="Whose answers, where the file holds those of several models.",
            metavar="NAME",
            rich_help_panel=o.DATA,
        ),
    ] = None,
    observations: o.Observations = None,
    space: o.Space = None,
    seed: o.Seed = 0,
    answer_format: o.AnswerFormat = None,
    strict_contract: o.StrictContract = False,
    sandbox: o.SandboxName = "process",
    strict_sandbox: o.StrictSandbox = False,
    workers: o.Workers = None,
    solver: o.SolverOption = "fast",
    concurrency: o.Concurrency = None,
    store: o.StoreFile = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Judge recorded answers: a session without a model."""
    from .. import import_recorded
    from ..reports.screen import Screen

    with Screen(quiet=quiet) as screen:
        session = import_recorded(
            file, data=data, task=task, of_model=of_model, observations=observations, space=space,
            seed=seed, answer_format=answer_format, strict_contract=strict_contract,
            sandbox=sandbox, strict_sandbox=strict_sandbox, workers=workers, solver=solver,
            concurrency=concurrency, store=store, on_event=screen,
        )  # fmt: skip
    end(session, as_json)


@app.command(epilog=o.examples("peirce replay", "peirce replay 4f1c 9a --live --json"))
def replay(
    sessions: Annotated[
        list[str] | None, typer.Argument(help="Sessions (default: last).", metavar="SESSION")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Execute the tools again.")] = False,
    sandbox: o.SandboxName = "process",
    workers: o.Workers = None,
    solver: o.SolverOption = "fast",
    store: o.StoreFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Drive the same graph with the journal alone and compare; exit 1 where they differ."""
    from .. import replay as replay_session
    from ..reports import readable, text

    results = []
    for session in sessions or ["last"]:
        result = replay_session(
            session, live=live, sandbox=sandbox, workers=workers, solver=solver, store=store
        )
        results.append(result)
        if not as_json:
            readable.print_differences(text.console(), result)
    if as_json:
        emit(results if len(results) == 1 else [{"sessions": results}])
    raise typer.Exit(1 if any(result["differences"] for result in results) else 0)
