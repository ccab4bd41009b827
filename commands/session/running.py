"""The commands that run something: `run`, `plan`, `resume`, `import_recorded`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from ... import graphs
from ...config import BudgetConfig, ModelConfig, RunConfig
from ...records import Json, OracleSettings, Proposer, RecordedForm, Repairer, UsageError
from ...records.settings import nearest_name, shown
from ...store import Store
from ..arguments import checked
from ..option_types import ResumeOptions, RunOptions
from ..outcome import Session, outcome, reading, store_path
from .driving import OnEvent, OpenedSettings, complete, execute_session
from .forecast import forecast_run, with_forecast
from .planning import RunPlan, check_method, plan_run, repairer_of
from .results import Forecast, Replay
from .settings import (
    SCORER,
    model_args_of,
    model_name,
    own_settings,
    role_records,
    split_model,
)

# --- The configuration that a stored session was begun with.

# What earlier versions recorded under "operational" by the names of options.
BY_OPTION = ("repair", "sandbox", "strict_sandbox", "workers", "solver", "concurrency", "cache",
             "store")  # fmt: skip


def stored_config(record: Mapping[str, Any]) -> RunConfig:
    """The configuration of a session from its record (`Store.session`). Raises UsageError for one
    that is no configuration."""
    settings = record["settings"]
    operational = settings["operational"]
    if "config" in operational:
        return RunConfig.from_record(_without_scorer(operational["config"]), graphs)
    return RunConfig.from_options(_migrated(settings, operational), graphs)


def _without_scorer(config: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded configuration without the scorer: sessions that were recorded before only `peirce
    rate` took one may have it, though none asked it."""
    if "roles" not in config:
        return dict(config)
    part = {name: value for name, value in config["roles"].items() if name != "scorer_model"}
    if part.get("roles"):
        part["roles"] = _others(part["roles"])
    if part.get("role"):
        part["role"] = [one for one in part["role"] if not one.startswith(f"{SCORER}.")]
    return {**config, "roles": part}


def _others(roles: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (roles or {}).items() if name != SCORER}


def _migrated(settings: Mapping[str, Json], operational: Mapping[str, Json]) -> dict[str, Json]:
    """The options of a session that was recorded before version 0.2, which kept the settings of its
    model as they had been opened."""
    opening = dict(operational.get("model_options") or {})
    fields = opening.pop("model_args", {})
    own = {name: opening.pop(name) for name in list(opening) if name in ModelConfig.model_fields}
    options = {name: operational.get(name) for name in BY_OPTION}
    found = {
        **options,
        **own,
        "method": settings["method"],
        "model": operational.get("model"),
        "model_arg": {**opening, **fields},
        "roles": _others(operational.get("roles")) or None,
        **(operational.get("spending") or {}),
    }
    return {name: value for name, value in found.items() if value is not None}


@checked
def run(
    task: str,
    config: RunConfig | None = None,
    *,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
    **overrides: Unpack[RunOptions],
) -> Session:
    """Run a session on the problems of `task` and return what it came to.

    Args:
        task: the name of a task, or the path of your own task file.
        config: its settings; None for the defaults.
        on_event: is told what happens (reports/screen/running.py).
        callbacks: LangChain's, for tracing.
        overrides: single settings by name, laid over `config`; None counts as not given. What each
            means stands in config.py, in `peirce run --help` and in docs/command-line.md.

    Raises:
        UsageError: a setting that cannot be.
        PeirceError: any other expected end, in one sentence.
    """
    check_method(task, _method_of(config, overrides))
    plan = plan_run(task, run_config(config, overrides))
    on_event = with_forecast(on_event, plan)
    return _execute(plan, on_event, callbacks)


@checked
def plan(task: str, config: RunConfig | None = None, **overrides: Unpack[RunOptions]) -> Forecast:
    """What `run` with these settings would take, as `forecast.forecast` counts it: {task, method,
    model, seed, problems, calls: {role: {least, most}}}. Refuses what `run` would, as far as that can
    be known without asking or loading a model; asks nothing, makes no store."""
    check_method(task, _method_of(config, overrides))
    return Forecast.from_dict(forecast_run(task, run_config(config, overrides)))


def _method_of(config: RunConfig | None, overrides: Mapping[str, Any]) -> Any:
    method = overrides.get("method")
    return (config or RunConfig()).method.method if method is None else method


def run_config(config: RunConfig | None, overrides: Mapping[str, Any]) -> RunConfig:
    """The configuration with single settings laid over it; `method_options` holds those of a method
    that another package brings, and `method_arg` may. Raises UsageError."""
    options = dict(overrides)
    of_method = options.pop("method_options", None)
    chosen = options.get("method") or (config or RunConfig()).method.method
    if options.get("method_arg") and isinstance(chosen, str) and (own := own_settings(chosen)):
        arguments = model_args_of(options["method_arg"], "--method-arg")
        options["method_arg"] = {k: one for k, one in arguments.items() if k not in own} or None
        for name in arguments.keys() & own:
            if isinstance(of_method, Mapping) and name in of_method:
                raise UsageError(f"{name} is given twice, also in method_options")
            options[name] = arguments[name]
    if of_method is not None:
        known = {name for name, _, _ in graphs.settings_of(chosen).options()}
        if not isinstance(of_method, Mapping):
            raise UsageError(f"method_options is {shown(of_method)}: it must be a mapping")
        for name in of_method:
            if name not in known:
                raise UsageError(
                    f"method {chosen} has no setting {name!r}{nearest_name(str(name), known)}"
                )
            if options.get(name) is not None:
                raise UsageError(f"{name} is given twice, also in method_options")
        options |= of_method
    return RunConfig.from_options(options, graphs, config)


def _execute(plan: RunPlan, on_event: OnEvent | None, callbacks: Sequence[Any]) -> Session:
    path = Path(plan.operational["store"])

    def begin(store: Store, opened: OpenedSettings) -> str:
        shaping, answered = split_model(opened.model)
        shown = model_name(plan.model, opened.model, shown=True)
        reached = {"layers": dict(opened.layers), "model_name": shown, **answered}
        reached["concurrency"] = opened.concurrency
        settings = plan.settings | {
            "model": model_name(plan.model, opened.model),
            "model_settings": shaping,
            **_repair_record(plan.repair, opened.repairer),
            **role_records(opened.players),
            "operational": plan.operational | reached,
        }
        return store.create_session(settings, plan.chosen.pairs)

    family, players = plan.settings["family"], plan.operational["players"]
    work = execute_session(path, begin, family, plan.config, players, on_event, callbacks)
    return outcome(path, complete(work))


def _repair_record(repair: str | Repairer | None, settings: Json) -> dict[str, Json]:
    """What a session records of who repairs. settings: what they say of themselves."""
    if repair is None:
        return {}
    name = repair if isinstance(repair, str) else str(settings.get("model", type(repair).__name__))
    return {"repair": name, "repairer_settings": split_model(settings)[0]}


@checked
def resume(
    session: str = "last",
    *,
    model: Proposer | None = None,
    repair: Repairer | None = None,
    retry_failed: bool = False,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
    **overrides: Unpack[ResumeOptions],
) -> Session:
    """Go on where a session stopped, with the settings that it recorded.

    Args:
        session: its id, a unique prefix of it, or "last".
        model: the proposer object that it ran with, where it ran with one.
        repair: the repairer object that it ran with, where it ran with one.
        retry_failed: also try the problems that failed (an endpoint that was down).
        on_event: is told what happens.
        callbacks: LangChain's.
        overrides: settings that may differ from those recorded. Budgets count what was spent
            before; one given here takes the place of the one that the session began with.
    """
    path = store_path(overrides.get("store"))
    with reading(path) as store:
        found = store.find(session)
        record = store.session(found)
    settings = record["settings"]
    before = stored_config(record)
    recorded = before.model_copy(
        update={"budget": BudgetConfig(**(record.get("spending") or before.budget.given()))}
    )
    if repair is not None and not settings.get("repair"):
        raise UsageError(f"session {found} was begun without repair: leave repair out")
    objects = {"model": model, "repair": repair}
    brought = {name: one for name, one in objects.items() if one is not None}
    config = RunConfig.from_options({**overrides, **brought}, graphs, recorded)
    if settings["operational"]["model"] is None and model is None:
        raise UsageError(
            f"session {found} ran with a proposer object: resume it from Python, with"
            " peirce.resume(session, model=...)"
        )
    repairer = repairer_of(config.method)
    if settings.get("repair") and repairer is None:
        raise UsageError(
            f"session {found} ran with a repairer object: resume it from Python, with"
            " peirce.resume(session, repair=...)"
        )

    def check(store: Store, opened: OpenedSettings) -> str:
        _check_unchanged(found, settings, opened, repairer)
        return found

    family, players = settings["family"], settings["operational"].get("players") or {}
    work = execute_session(path, check, family, config, players, on_event, callbacks, retry_failed)
    return outcome(path, complete(work))


def _check_unchanged(
    session: str, settings: Json, opened: OpenedSettings, repairer: str | Repairer | None
) -> None:
    """Raises UsageError where what was opened is not what the session was begun with."""
    now = _repair_record(repairer, opened.repairer)
    if any(settings.get(key) != value for key, value in now.items()):
        raise UsageError(
            f"session {session} was begun with the repairer {settings['repairer_settings']}, not"
            f" {now['repairer_settings']}: begin a new session for another one"
        )
    shaping, begun = (split_model(s)[0] for s in (opened.model, settings["model_settings"]))
    if shaping != begun:
        raise UsageError(
            f"session {session} was begun with the model {begun}, not {shaping}: begin a new"
            " session for another one"
        )
    roles = role_records(opened.players).get("roles")
    if roles != settings.get("roles"):
        raise UsageError(
            f"session {session} was begun with the roles {settings.get('roles')}, not {roles}:"
            " begin a new session for others"
        )


@checked
def import_recorded(
    file: str | Path,
    *,
    task: str | None = None,
    of_model: str | None = None,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
    **overrides: Unpack[RunOptions],
) -> Session:
    """Judge every recorded answer of `file` on the problems of `data`; nothing is decided.

    Args:
        file: the record.
        task: its task; None where the record's "dataset" tells it.
        of_model: whose answers, where the file holds those of several models.
        on_event: is told what happens.
        callbacks: LangChain's.
        overrides: settings as of `run`. Problems without a recorded answer are left out;
            answer_format: None for how recorded answers of the family come (of programs a fenced
            function).
    """
    from ...agents.recorded import read_record
    from ...tasks import family
    from ...tasks.custom import task_file
    from ..problems import choose, task_like

    for fixed in ("method", "model"):
        if overrides.get(fixed) is not None:
            raise UsageError(f"{fixed} is {overrides[fixed]!r}: an import answers from its file")
    config = run_config(None, overrides)
    record = read_record(file, of_model)
    name = task or task_like(str(record.about.get("dataset", "")), file)
    if config.data.data is None and not task_file.is_path(name):
        raise UsageError(
            f"{file} holds answers and no problems: name their file, as in"
            f" `peirce import {file} --data {name}.jsonl`"
        )
    chosen = choose(name, config.data)
    answered = [problem.id for problem in chosen.problems if problem.id in record.answers]
    if not answered:
        raise UsageError(f"no problem of {config.data.data} has an answer in {file}")
    settings: RunOptions = {
        **overrides, "problem": answered, "method": "imported", "model": f"recorded:{file}",
    }  # fmt: skip
    if of_model is not None:
        settings["model_arg"] = {"of_model": of_model}
    kind = family(chosen.task.family)
    if overrides.get("answer_format") is None and isinstance(kind, RecordedForm):
        settings["answer_format"] = kind.recorded_format
    return run(name, on_event=on_event, callbacks=callbacks, **settings)


# --- `peirce replay`: a session's graph driven by its journal alone, and compared with its record.


@checked
def replay(
    session: str = "last",
    *,
    live: bool = False,
    store: str | Path | None = None,
    sandbox: str = "process",
    workers: int | None = None,
    solver: str = "fast",
) -> Replay:
    """Drives the session's graph with its journal alone: {session, steps, differences}.

    With `live` the tools are executed again, the models' answers still come from the journal.
    """
    from ...graphs.runtime.replay import replay_session
    from ...tasks import family as family_named
    from ..opening import opened as opening

    async def again(opened: Store) -> dict[str, Any]:
        found = opened.find(session)
        if not live:
            return await replay_session(opened, found)
        family = family_named(opened.settings(found)["family"])
        settings = OracleSettings(sandbox, workers, solver=solver)
        async with opening(family, settings) as tools:
            return await replay_session(opened, found, oracle=tools.oracle, live=True)

    with reading(store) as opened:
        return Replay.from_dict(complete(again(opened)))
