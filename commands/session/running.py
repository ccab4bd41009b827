"""The verbs that run something: `run`, `plan`, `resume`, `import_recorded`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...records import Json, Proposer, Repairer, UsageError
from ...store import Store
from ..arguments import checked
from ..outcome import Session, outcome, reading, store_path
from ..problems import choose, task_like
from .driving import OnEvent, Told, complete, drive
from .forecast import planned, with_forecast
from .intended import intended
from .methods import repair_settings
from .settings import given, model_name, role_records, spending_of, split_model


@checked
def run(
    task: str,
    *,
    data: str | Path | None = None,
    problems: int | None = None,
    problem: Sequence[str] = (),
    sample: int | None = None,
    observations: int | str | Path | None = None,
    space: str | Path | None = None,
    method: str = "abduce",
    model: str | Proposer = "search",
    seed: int = 0,
    answer_format: str | None = None,
    history: str = "descriptions",
    template: str | None = None,
    strict_contract: bool = False,
    max_answers: int | None = None,
    tool_calls: int | None = None,
    feedback: bool | None = None,
    target_gap: float | None = None,
    repair: str | Repairer | None = None,
    label: str | None = None,
    ood: str | None = None,
    subset: Sequence[str] = (),
    split_seed: int = 0,
    fractions: Sequence[float] | None = None,
    fixed: str | Path | None = None,
    examples: int | str | None = None,
    hypotheses: int | None = None,
    rounds: int | None = None,
    tau: float | None = None,
    judge: str | None = None,
    repeats: int | None = None,
    prompts: str | None = None,
    shots: int | None = None,
    inference: str | None = None,
    validation_rows: int | None = None,
    split: Sequence[str] = (),
    literature: str | Path | None = None,
    bank: Sequence[str | Path] = (),
    method_arg: Sequence[str] | Mapping[str, Json] = (),
    temperature: float | None = None,
    top_p: float | None = None,
    max_tokens: int | None = None,
    reasoning_effort: str | None = None,
    timeout_s: float | None = None,
    retries: int | None = None,
    model_arg: Sequence[str] | Mapping[str, Json] = (),
    roles: Mapping[str, Any] | None = None,
    budget_expansions: int | None = None,
    preset: str | None = None,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    price_cached: float | None = None,
    max_failures: int | None = None,
    cache: bool = True,
    store: str | Path | None = None,
    sandbox: str = "process",
    strict_sandbox: bool = False,
    workers: int | None = None,
    solver: str = "fast",
    concurrency: int | None = None,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
) -> Session:
    """Runs a session on the problems of `task` and returns what it came to.

    model: a model string or a Proposer of your own (`resume` then needs it again).
    on_event: is told what happens (reports/screen.py). callbacks: LangChain's, for tracing.
    subset: train, validation, held-out: only problems that preference pairs put there, by
    `split_seed`, `fractions` and `fixed` (as `pairs` takes them).
    model_arg: further settings of the model, or fields of an endpoint's request.
    roles: {"judge": {"model": …, "temperature": …}}: who labels texts, and who reads literature,
    where it is not the proposer (`scorer` is recorded, no method asks it yet).
    max_answers: of a problem; None: the method's own (abduce 25, refine 8, io 1, t3 three a round).
    rounds: of t3, its conversations (5); of hypogenic and its kin, passes through the rows.
    tool_calls: of the model, at most so many an answer; None: 4, of refine, io and t3, and of the
    template compact, 0.
    template: of prompts, full (None) or compact, few tokens for small models.
    feedback: whether the next prompt says where an answer failed; None: to a model that takes no
    tools.
    target_gap: of refine on rules about worlds, the cost above the lower bound a prompt world at
    which it stops (1.0). repair: of refine there, "search" or a Repairer of your own (`resume` then
    needs it again), which mends each answer that falls short of the target.
    solver: of rules about worlds, "fast" (Z3 only where the fast path ends) or "z3".
    cache: whether what another session of the store has asked of the same model is answered from
    there.

    Of labelled text (docs/hypogenic.md): label, the column of the labels; ood, which OOD rows;
    literature, papers; bank, sessions or files; judge, auto, exact or model; inference, a strategy,
    or "choose"; the others as in `graphs.text_settings.TextSettings`, of which `method_arg` sets any.
    """
    options = dict(locals())
    what = intended(options.pop("task"), options)
    path = Path(what.operational["store"])

    def begin(opened: Store, told: Told) -> str:
        shaping, answered = split_model(told.model)
        shown = model_name(model, told.model, shown=True)
        reached = {"layers": dict(told.layers), "model_name": shown, **answered}
        reached["concurrency"] = told.concurrency
        whole = what.settings | {
            "model": model_name(model, told.model),
            "model_settings": shaping,
            **repair_settings(what.repair, told.repairs),
            **role_records(told.players),
            "operational": what.operational | reached,
        }
        return opened.create_session(whole, what.chosen.pairs)

    family = what.chosen.task.family
    on_event = with_forecast(on_event, what, model)
    driven = drive(
        path, begin, family, model, what.operational, on_event, callbacks, repair=what.repair
    )
    return outcome(path, complete(driven))


@checked
def plan(task: str, **options: Any) -> dict[str, Json]:
    """What `run` with these options would take, as `verbs.forecast.forecast` counts it: {task,
    method, model, seed, problems, calls: {role: {least, most}}}. Refuses what `run` would, as far
    as that can be known without asking or loading a model; asks nothing, makes no store."""
    return planned(task, run, options)


@checked
def resume(
    session: str = "last",
    *,
    model: Proposer | None = None,
    repair: Repairer | None = None,
    store: str | Path | None = None,
    timeout_s: float | None = None,
    retries: int | None = None,
    sandbox: str | None = None,
    strict_sandbox: bool | None = None,
    workers: int | None = None,
    solver: str | None = None,
    concurrency: int | None = None,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    price_cached: float | None = None,
    max_failures: int | None = None,
    cache: bool | None = None,
    retry_failed: bool = False,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
) -> Session:
    """Goes on where `session` stopped, with the settings that it recorded. Problems that failed (an
    endpoint that was down) are left as they are unless `retry_failed`. Budgets count what was spent
    before; one given here takes the place of the one that the session began with."""
    path = store_path(store)
    with reading(path) as opened:
        found = opened.find(session)
        record = opened.session(found)
    settings = record["settings"]
    operational = settings["operational"] | given(
        sandbox=sandbox,
        strict_sandbox=strict_sandbox,
        workers=workers,
        solver=solver,
        concurrency=concurrency,
        cache=cache,
    )
    begun = record.get("spending") or settings["operational"].get("spending", {})
    operational["spending"] = spending_of(
        begun, budget_tokens=budget_tokens, budget_usd=budget_usd, price_in=price_in,
        price_out=price_out, price_cached=price_cached, max_failures=max_failures,
    )  # fmt: skip
    again_with = given(timeout_s=timeout_s, retries=retries)
    operational["model_options"] = {**operational["model_options"], **again_with}
    spec = model or operational["model"]
    if spec is None:
        raise UsageError(
            f"session {found} ran with a proposer object: resume it from Python, with"
            " peirce.resume(session, model=...)"
        )

    repairer = repair or operational.get("repair")
    if settings.get("repair") and repairer is None:
        raise UsageError(
            f"session {found} ran with a repairer object: resume it from Python, with"
            " peirce.resume(session, repair=...)"
        )
    if repair is not None and not settings.get("repair"):
        raise UsageError(f"session {found} was begun without repair: leave repair out")

    def again(opened: Store, told: Told) -> str:
        now = repair_settings(repairer, told.repairs)
        if any(settings.get(key) != value for key, value in now.items()):
            raise UsageError(
                f"session {found} was begun with the repairer {settings['repairer_settings']}, not"
                f" {now['repairer_settings']}: begin a new session for another one"
            )
        shaping, begun = (split_model(s)[0] for s in (told.model, settings["model_settings"]))
        if shaping != begun:
            raise UsageError(
                f"session {found} was begun with the model {begun}, not {shaping}: begin a new"
                " session for another one"
            )
        if role_records(told.players).get("roles") != settings.get("roles"):
            raise UsageError(
                f"session {found} was begun with the roles {settings.get('roles')}, not"
                f" {role_records(told.players).get('roles')}: begin a new session for others"
            )
        return found

    family = settings["family"]
    driven = drive(
        path, again, family, spec, operational, on_event, callbacks, retry_failed, repairer
    )
    return outcome(path, complete(driven))


@checked
def import_recorded(
    file: str | Path,
    *,
    data: str | Path | None = None,
    task: str | None = None,
    observations: int | str | Path | None = None,
    answer_format: str | None = None,
    of_model: str | None = None,
    **options: Any,
) -> Session:
    """Judges every recorded answer of `file` on the problems of `data`; nothing is decided.

    The task is guessed from the record's "dataset" unless it is named; problems without a
    recorded answer are left out. answer_format: None is how recorded answers of the family come
    (of programs a fenced function). of_model: whose answers, where the file holds those of several
    models. Other options are `run`'s.
    """
    from ...agents.recorded import read_record

    record = read_record(file, of_model)
    if of_model is not None:
        options["model_arg"] = {"of_model": of_model}
    from ...tasks import own

    name = task or task_like(str(record.about.get("dataset", "")), file)
    if data is None and not own.is_path(name):
        raise UsageError(
            f"{file} holds answers and no problems: name their file, as in"
            f" `peirce import {file} --data {name}.jsonl`"
        )
    chosen = choose(name, data=data, observations=observations, seed=options.get("seed", 0))
    here = chosen.problems
    if answer_format is None and chosen.task.family == "programs":
        answer_format = "fenced_function"
    answered = [problem.id for problem in here if problem.id in record.answers]
    if not answered:
        raise UsageError(f"no problem of {data} has an answer in {file}")
    return run(
        name, data=data, problem=answered, observations=observations, method="imported",
        model=f"recorded:{file}", answer_format=answer_format, **options,
    )  # fmt: skip
