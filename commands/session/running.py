"""The commands `run`, `plan`, `import_recorded` and `replay`, and the asynchronous `arun`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from ... import graphs
from ...config import RunConfig
from ...records import (
    HasRecordedFormat,
    Json,
    OracleSettings,
    UsageError,
)
from ...records.settings import format_value, suggest_name
from ...reports.learning_curve import KEY as LEARNING_CURVE
from ...store import Store
from ..arguments import validate_call
from ..option_types import RunOptions
from ..outcome import Session, load_outcome, open_for_reading
from .event_loops import run_coroutine, run_in_thread
from .execution import OnEvent, OpenedSettings, default_progress, execute_session
from .forecast import add_forecast, forecast_run
from .learning_curve import curve_listener, find_finished_parts, plan_curve
from .planning import RunPlan, check_method, plan_run
from .protocols import check_protocol, chosen_method, expand_protocol
from .results import Forecast, Replay
from .settings import (
    model_name,
    parse_key_values,
    plugin_settings,
    repair_record,
    role_records,
    split_model_settings,
)


@validate_call
def run(
    task: str,
    config: RunConfig | None = None,
    *,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
    **overrides: Unpack[RunOptions],
) -> Session:
    """Run a session on the problems of `task` and return its outcome.

    The session is stored even if it is interrupted or fails. `resume` continues it.

    Args:
        task: name of a task, or path of your own task file.
        config: settings of the session; None for the defaults.
        on_event: called with each event of the session (reports/screen/progress.py). If it is None,
            a notebook shows the progress, and outside a notebook nothing is shown.
        callbacks: LangChain callbacks, for tracing.
        overrides: single settings by name, which replace settings of `config`. None counts as not
            set. config/, `peirce run --help` and docs/reference/configuration.md explain each
            setting.

    Raises:
        UsageError: a setting is invalid.
        PeirceError: any other expected failure, in one sentence.
    """
    check_method(task, chosen_method(config, overrides))
    with default_progress(on_event) as listener:
        planned = plan_run(task, run_config(config, overrides), on_event=listener)
        return execute_with_curve(planned, listener, callbacks)


async def arun(
    task: str,
    config: RunConfig | None = None,
    *,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
    **overrides: Unpack[RunOptions],
) -> Session:
    """Run a session as `run` does, without blocking the running event loop.

    The session runs in another thread. `on_event`, the callbacks and a proposer object are called
    in that thread. If the awaiting task is cancelled, the session stops at once. It stays in the
    store with the status interrupted, and `resume` or `aresume` continues it. Arguments and errors
    are those of `run`.
    """
    return await run_in_thread(
        run, task, config, on_event=on_event, callbacks=callbacks, **overrides
    )


@validate_call
def plan(task: str, config: RunConfig | None = None, **overrides: Unpack[RunOptions]) -> Forecast:
    """Return how many calls `run` would make with these arguments (`peirce run --dry-run`).

    The settings are checked as in `run`, as far as this is possible without calling or loading a
    model. No store is created.

    Args:
        task: name of a task, or path of your own task file.
        config: settings of the session; None for the defaults.
        overrides: single settings by name, as in `run`.

    Returns:
        Task, method, model, seed, number of problems, and the smallest and largest number of calls
            of
        each role.

    Raises:
        UsageError: a setting is invalid.
        PeirceError: any other expected failure, in one sentence.
    """
    check_method(task, chosen_method(config, overrides))
    return Forecast.from_dict(forecast_run(task, run_config(config, overrides)))


def run_config(config: RunConfig | None, overrides: Mapping[str, Any]) -> RunConfig:
    """Return a configuration in which single settings are replaced.

    Args:
        config: the configuration; None for the defaults.
        overrides: single settings by name. `method_options` and `method_arg` may also contain
            settings of a method from another package.

    Raises:
        UsageError: a setting is invalid, unknown or set twice.
    """
    options = expand_protocol(config, overrides)
    of_method = options.pop("method_options", None)
    chosen = chosen_method(config, options)
    if options.get("method_arg") and isinstance(chosen, str) and (own := plugin_settings(chosen)):
        arguments = parse_key_values(options["method_arg"], "--method-arg")
        options["method_arg"] = {k: one for k, one in arguments.items() if k not in own} or None
        for name in arguments.keys() & own:
            if isinstance(of_method, Mapping) and name in of_method:
                raise UsageError(f"{name} is set twice, directly and in method_options")
            options[name] = arguments[name]
    if of_method is not None:
        known = {name for name, _, _ in graphs.settings_of(chosen).iter_options()}
        if not isinstance(of_method, Mapping):
            raise UsageError(f"method_options is {format_value(of_method)}: it must be a mapping")
        for name in of_method:
            if name not in known:
                raise UsageError(
                    f"method {chosen} has no setting {name!r}{suggest_name(str(name), known)}"
                )
            if options.get(name) is not None:
                raise UsageError(f"{name} is set twice, directly and in method_options")
        options |= of_method
    return RunConfig.from_options(options, graphs, config)


def execute_plan(plan: RunPlan, on_event: OnEvent | None, callbacks: Sequence[Any] = ()) -> Session:
    """Run the session of a plan, and return its outcome. The arguments are those of `run`."""
    path = Path(plan.operational["store"])

    def begin(store: Store, opened: OpenedSettings) -> str:
        shaping, answered = split_model_settings(opened.model)
        shown = model_name(plan.model, opened.model, for_display=True)
        reached = {"layers": dict(opened.layers), "model_name": shown, **answered}
        reached["concurrency"] = opened.concurrency
        settings = plan.settings | {
            "model": model_name(plan.model, opened.model),
            "model_settings": shaping,
            **repair_record(plan.repair, opened.repairer),
            **role_records(opened.players),
            "operational": plan.operational | reached,
        }
        return store.create_session(settings, plan.chosen.pairs)

    family, players = plan.settings["family"], plan.operational["players"]
    on_event = add_forecast(on_event, plan)
    work = execute_session(path, begin, family, plan.config, players, on_event, callbacks)
    return load_outcome(path, *run_coroutine(work))


def execute_with_curve(
    plan: RunPlan, on_event: OnEvent | None, callbacks: Sequence[Any] = ()
) -> Session:
    """Run the session of a plan, after the smaller sessions of its learning curve, if it has one.

    A smaller session that is finished in the store is not run again. If one of them does not finish,
    its outcome is returned, and the same command goes on later.
    """
    parts = plan_curve(plan)
    if not parts:
        return execute_plan(plan, on_event, callbacks)
    known = find_finished_parts(Path(plan.operational["store"]))
    curve: list[Json] = []
    for number, part in enumerate(parts, 1):
        if on_event is not None:
            on_event({"type": "curve", "rows": part.rows, "number": number, "of": len(parts) + 1})
        if part.key not in known:
            session = execute_plan(part.plan, curve_listener(on_event), callbacks)
            if session.status != "done":
                return session
            known[part.key] = session.session
        curve.append([part.rows, known[part.key]])
    operational = {**plan.operational, LEARNING_CURVE: curve}
    return execute_plan(replace(plan, operational=operational), on_event, callbacks)


@validate_call
def import_recorded(
    file: str | Path,
    *,
    task: str | None = None,
    of_model: str | None = None,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
    **overrides: Unpack[RunOptions],
) -> Session:
    """Judge all recorded answers in a file as a session, without stopping early.

    Args:
        file: the record of answers.
        task: name of the task; None for the task that "dataset" in the record names.
        of_model: the model whose answers are judged, if the file has answers of several models.
        on_event: called with each event of the session.
        callbacks: LangChain callbacks.
        overrides: settings, as in `run`; `data` selects the problems. The default of
            `answer_format` is the format in which published answers of the family are recorded (for
            programs, fenced_function).

    Returns:
        The outcome of the session. Problems without a recorded answer are left out.

    Raises:
        UsageError: a setting is invalid, or no problem has a recorded answer.
        PeirceError: any other expected failure, in one sentence.
    """
    from ...agents.recorded import read_record
    from ...tasks import DataWarning, load_family, load_task
    from ...tasks.custom import task_file
    from ...tasks.io.bad_records import skip_bad_records
    from ..problems import choose_problems, find_similar_task

    for fixed in ("method", "model"):
        if overrides.get(fixed) is not None:
            raise UsageError(
                f"{fixed} is {overrides[fixed]!r}: it cannot be set for an import, whose answers"
                " come from its file"
            )
    config = run_config(None, overrides)
    with skip_bad_records(config.data.skip_bad), warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the file is read again as the model
        record = read_record(file, of_model)
    name = task or find_similar_task(str(record.about.get("dataset", "")), file)
    if config.data.data is None and not task_file.is_path(name):
        raise UsageError(
            f"{file} contains answers but no problems: give the file of the problems, for"
            f" example `peirce import {file} --data {name}.jsonl`"
        )
    if config.protocol.protocol is not None:
        check_protocol(config.protocol.protocol, load_task(name).family)
    chosen = choose_problems(name, config.data)
    answered = [problem.id for problem in chosen.problems if problem.id in record.answers]
    if not answered:
        raise UsageError(f"no problem of {config.data.data} has an answer in {file}")
    settings: RunOptions = {
        **overrides, "problem": answered, "method": "imported", "model": f"recorded:{file}",
    }  # fmt: skip
    of_file: dict[str, Json] = {"of_model": of_model, "skip_bad": config.data.skip_bad or None}
    if arguments := {key: value for key, value in of_file.items() if value is not None}:
        settings["model_arg"] = arguments
    kind = load_family(chosen.task.family)
    if overrides.get("answer_format") is None and isinstance(kind, HasRecordedFormat):
        settings["answer_format"] = kind.recorded_format
    kept = tuple(pair for pair in chosen.pairs if pair[0].id in record.answers)
    plan = plan_run(name, run_config(None, settings), replace(chosen, pairs=kept))
    with default_progress(on_event) as listener:
        return execute_plan(plan, listener, callbacks)


# --- `peirce replay` runs a session's graph on its journal alone and compares it with its record.


@validate_call
def replay(
    session: str = "last",
    *,
    live: bool = False,
    store: str | Path | None = None,
    sandbox: str = "process",
    workers: int | None = None,
    cluster: str = "local",
    solver: str = "fast",
) -> Replay:
    """Repeat a stored session without calling a model, and compare the results with the stored
    ones.

    The models' answers come from the journal, in which the session recorded all its calls.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        live: execute the tools again. Without `live`, their results come from the journal too.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        sandbox: with `live`, the sandbox backend that runs hypotheses.
        workers: with `live`, the number of workers; None for the default.
        cluster: with `live`, where the tools run: local, ray or ray://HOST.
        solver: with `live`, the solver that judges rules.

    Returns:
        The session, its number of steps, and the differences found.
    """
    from ...graphs.runtime.replay import replay_session
    from ...tasks import load_family as family_named
    from ..oracles import open_oracles as opening

    async def again(opened: Store) -> dict[str, Any]:
        found = opened.find_session(session)
        if not live:
            return await replay_session(opened, found)
        family = family_named(opened.settings(found)["family"])
        settings = OracleSettings(sandbox, workers, solver=solver)
        async with opening(family, settings, cluster) as tools:
            return await replay_session(opened, found, oracle=tools.oracle, live=True)

    with open_for_reading(store) as opened:
        return Replay.from_dict(run_coroutine(again(opened)))
