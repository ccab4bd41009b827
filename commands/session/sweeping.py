"""`peirce sweep`: run many sessions, one for each combination of settings in a TOML file.

    [sweep]                                  # each key is a setting of `run`, or task, with its values
    task = ["list_functions", "acre"]
    seed = [0, 1, 2]
    "judge.temperature" = [0, 1]             # a setting of a role

    [settings]                               # of all sessions
    problems = 20

    [[skip]]                                 # combinations to leave out
    task = "acre"
    seed = 2

A session records the digest of what its combination determines (settings, model, problems and sample
spaces). By it, a sweep that is started again finds its sessions: those that are finished are not run
again, and those that were stopped go on. Where they run and what they may spend is not part of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Unpack

from ...config import DataConfig, RunConfig
from ...records import DataError, Interrupted, Json, PeirceError, UsageError, digest_of
from ...records.settings import suggest_name
from ...reports import default_evaluation, evaluate_session
from ...reports.files import sweep_tables, writing
from ...store import Store
from ...tasks.io.files import expand_home
from ..arguments import validate_call
from ..option_types import SweepOptions
from ..outcome import open_for_reading, store_path
from ..problems import ChosenProblems, choose_problems
from .execution import OnEvent
from .forecast import forecast_plan
from .planning import RunPlan, check_method, plan_run
from .protocols import chosen_method
from .results import Forecast, SweepRow
from .resuming import resume
from .running import execute_plan, run_config
from .settings import describe_spending
from .text_planning import default_observations

MAX_FILE_BYTES = 100_000  # tomllib takes quadratic time for some long lines
MAX_SESSIONS = 10_000
TABLES = ("sweep", "settings", "skip")
KEY = "sweep"  # of the digest, among the operational settings of a session
NOT_IN_KEY = ("budget", "cluster", "sandbox", "store")  # parts of the configuration

OnSession = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Combination:
    """A combination of the values of a sweep file.

    Args:
        axes: the value of each key of [sweep].
        options: all settings of the session, with "task".
    """

    axes: Mapping[str, Json]
    options: Mapping[str, Any]

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.axes.items()) or "the session"


@dataclass(frozen=True)
class PlannedSession:
    """A session of a sweep that is checked and not started.

    Args:
        combination: its combination of values.
        plan: its plan.
        key: the digest by which the sweep finds it again.
    """

    combination: Combination
    plan: RunPlan
    key: str


def read_sweep(file: str | Path) -> list[Combination]:
    """Return the combinations that a sweep file describes.

    Raises:
        DataError: the file cannot be read or is not a sweep file.
    """
    path = expand_home(file)
    try:
        with path.open("rb") as opened:
            content = opened.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise DataError(f"{file} cannot be read: it is larger than {MAX_FILE_BYTES:,} bytes")
        read = tomllib.loads(content.decode())
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file} is not TOML: {str(error) or 'nested too deeply'}") from None
    for name in read:
        if name not in TABLES:
            raise DataError(f"{file}: unknown table [{name}]{suggest_name(name, TABLES)}")
    axes, shared, skips = read.get("sweep"), read.get("settings", {}), read.get("skip", [])
    if not isinstance(axes, dict) or not axes:
        raise DataError(f"{file}: the table [sweep] must have at least one setting with its values")
    if not isinstance(shared, dict):
        raise DataError(f"{file}: [settings] must be a table")
    if not (isinstance(skips, list) and all(isinstance(one, dict) for one in skips)):
        raise DataError(f"{file}: combinations to leave out are written as [[skip]]")
    values = {_name(key): one if isinstance(one, list) else [one] for key, one in axes.items()}
    fixed = {_name(key): one for key, one in shared.items()}
    for name, some in values.items():
        if not some:
            raise DataError(f"{file}: {name} in [sweep] has no value")
        if name in fixed:
            raise DataError(f"{file}: {name} is set twice, in [sweep] and in [settings]")
    if "store" in fixed or "store" in values:
        raise DataError(f"{file}: the store is set with --store, not in the file")
    if any(not isinstance(one, str) for one in values.get("task", [fixed.get("task", "")])):
        raise DataError(f"{file}: a task must be a text")
    if prod(map(len, values.values())) > 100 * MAX_SESSIONS:
        raise DataError(f"{file}: it has more than {100 * MAX_SESSIONS:,} combinations")
    for skip in skips:
        for key in skip:
            if _name(key) not in values:
                raise DataError(f"{file}: [[skip]] names {key}{suggest_name(key, values)}")
    combinations = [
        Combination(axes, {**fixed, **axes})
        for axes in (dict(zip(values, some, strict=True)) for some in product(*values.values()))
        if not any(all(axes[_name(k)] == one for k, one in skip.items()) for skip in skips)
    ]
    if not combinations or len(combinations) > MAX_SESSIONS:
        raise DataError(
            f"{file}: it describes {len(combinations):,} sessions; a sweep has 1 to {MAX_SESSIONS:,}"
        )
    if any("task" not in one.options for one in combinations):
        raise DataError(f"{file}: no task is named, in [sweep] or in [settings]")
    return combinations


def _name(key: str) -> str:
    return key.replace("-", "_") if "." not in key else key


def plan_sessions(
    combinations: Sequence[Combination], overrides: Mapping[str, Any]
) -> Iterator[PlannedSession]:
    """Yield the planned session of each combination, after checking its settings.

    Args:
        combinations: the combinations.
        overrides: settings of all sessions that are not part of the file, such as the store.

    Raises:
        PeirceError: a combination is invalid; the message names it.
    """
    loaded: dict[str, ChosenProblems] = {}
    by_key: dict[str, Combination] = {}
    for one in combinations:
        options = {**one.options, **overrides}
        task = options.pop("task")
        of_roles = {key: options.pop(key) for key in list(options) if "." in key}
        if of_roles:
            pairs = [f"{key}={value}" for key, value in of_roles.items()]
            options["role"] = [*options.get("role", ()), *pairs]
        try:
            check_method(task, chosen_method(None, options))
            config = run_config(None, options)
            if config.data.learning_curve:
                raise UsageError(
                    "learning_curve is true: a sweep has no learning curve; list the numbers of rows"
                    " as observations in [sweep]"
                )
            problems = _load(task, config.data, default_observations(task, config), loaded)
            plan = plan_run(task, config, problems)
        except PeirceError as error:
            raise type(error)(f"{one}: {error}") from error
        parts = {
            name: chosen
            for name, part in plan.operational["config"].items()
            if name not in NOT_IN_KEY and (chosen := _without_defaults(plan.config, name, part))
        }
        spaces = [[problem.digest, space.digest] for problem, space in plan.chosen.pairs]
        model = plan.operational["model"]
        key = digest_of([plan.settings, parts, model, spaces])
        if by_key.setdefault(key, one) is not one:
            raise UsageError(
                f"{by_key[key]} and {one} are the same session: a budget, a cluster, workers and a"
                " sandbox do not distinguish sessions; set them under [settings]"
            )
        yield PlannedSession(one, plan, key)


def _without_defaults(config: RunConfig, name: str, part: Mapping[str, Json]) -> dict[str, Json]:
    """Return the settings of a part of the configuration that are not written-out defaults."""
    fields = type(getattr(config, name)).model_fields
    return {
        key: value
        for key, value in part.items()
        if key not in fields or value != fields[key].get_default(call_default_factory=True)
    }


def _load(
    task: str, data: DataConfig, observations: int | None, loaded: dict[str, ChosenProblems]
) -> ChosenProblems:
    """Return the problems of a session; several sessions share those that are equal."""
    key = repr((task, data, observations))
    if key not in loaded:
        loaded[key] = choose_problems(task, data, observations)
    return loaded[key]


@validate_call
def plan_sweep(file: str | Path, **overrides: Unpack[SweepOptions]) -> list[Forecast]:
    """Return how many calls each session of a sweep would make. Nothing is started or stored.

    Args:
        file: the sweep file.
        overrides: settings of all sessions, as in `sweep`.

    Raises:
        DataError: the file is invalid.
        UsageError: a combination is invalid; the message names it.
    """
    given = _drop_none(overrides)
    return [
        Forecast.from_dict(forecast_plan(one.plan))
        for one in plan_sessions(read_sweep(file), given)
    ]


@validate_call
def sweep(
    file: str | Path,
    *,
    retry_failed: bool = False,
    out: str | Path | None = None,
    on_event: OnEvent | None = None,
    on_session: OnSession | None = None,
    **overrides: Unpack[SweepOptions],
) -> list[SweepRow]:
    """Run one session for each combination of settings in a file, and return one row for each.

    All combinations are checked before the first session starts. A session that fails does not stop
    the others. After an interrupt, the rows of sessions that were not started have the status "open".
    Call `sweep` again to go on: finished sessions are found in the store.

    Args:
        file: the sweep file (docs/how-to/sweep.md).
        retry_failed: also run problems and sessions again that failed.
        out: a .csv or .md file for the table of sessions, or a folder for this table and the means
            over seeds.
        on_event: called with each event of each session.
        on_session: called before each session with its number, the number of sessions and its
            combination.
        overrides: settings of all sessions that say where they run: the store, the cluster, workers
            and concurrency.

    Raises:
        DataError: the file is invalid.
        UsageError: a combination is invalid; the message names it.
    """
    given = _drop_none(overrides)
    target = None if out is None else expand_home(out)
    if target is not None:
        is_file = target.suffix in sweep_tables.SUFFIXES
        writing.check_paths([target]) if is_file else writing.check_target(target)
    planned = list(plan_sessions(read_sweep(file), given))
    path = store_path(given.get("store"))
    known = _known_sessions(path) if path.exists() else {}
    rows: list[SweepRow] = []
    stopped = False
    for number, one in enumerate(planned, start=1):
        if stopped:
            rows.append(_make_row(one, None, "open"))
            continue
        if on_session is not None:
            on_session(number, len(planned), str(one.combination))
        row = _run_session(one, path, known.get(one.key), given, retry_failed, on_event)
        rows.append(row)
        stopped = row.status == "interrupted"
    if target is not None:
        writing.write_files(sweep_tables.render_files(rows, target))
    return rows


def _drop_none(overrides: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in overrides.items() if value is not None}


def _known_sessions(path: Path) -> dict[str, str]:
    """Return the sessions of sweeps in a store by their key; the newest of several."""
    with open_for_reading(path) as store:
        return {
            row["settings"]["operational"][KEY]: row["session"]
            for row in store.sessions()
            if row["settings"]["operational"].get(KEY)
        }


def _run_session(
    one: PlannedSession,
    path: Path,
    session: str | None,
    overrides: Mapping[str, Any],
    retry_failed: bool,
    on_event: OnEvent | None,
) -> SweepRow:
    """Run or continue a session, unless it is finished, and return its row."""
    why = ""
    try:
        if session is None:
            plan = replace(one.plan, operational={**one.plan.operational, KEY: one.key})
            session = execute_plan(plan, on_event).session
        else:
            with open_for_reading(path) as store:
                record = store.session(session)
            failed = record["status"] == "failed" or record.get("problems_failed")
            budget = one.plan.config.budget.explicit_values()
            spending = describe_spending(one.plan.config)
            raised = record["status"] == "budget" and spending != (record.get("spending") or {})
            if (
                raised
                or record["status"] in ("interrupted", "running")
                or (failed and retry_failed)
            ):
                options: dict[str, Any] = {**budget, **overrides}
                resume(session, retry_failed=retry_failed, on_event=on_event, **options)
    except Interrupted:
        raise
    except PeirceError as error:
        session = session or (_known_sessions(path).get(one.key) if path.exists() else None)
        if session is None:
            return _make_row(one, None, "failed", error=str(error))
        why = str(error)
    with open_for_reading(path) as store:
        return _row_of(one, store, session, why)


def _row_of(one: PlannedSession, store: Store, session: str, error: str) -> SweepRow:
    record = store.session(session)
    scored = evaluate_session(store, session, default_evaluation(record["settings"]["family"]))
    return _make_row(
        one,
        session,
        record["status"],
        digest=store.digest(session),
        problems=record["problems"],
        seconds=record.get("seconds") or 0.0,
        metrics=scored["metrics"],
        usage=store.usage(session),
        error=error,
    )


def _make_row(one: PlannedSession, session: str | None, status: str, **more: Any) -> SweepRow:
    return SweepRow.from_dict(
        {
            "axes": dict(one.combination.axes),
            "session": session,
            "status": status,
            "task": one.plan.settings["task"],
            "method": one.plan.settings["method"],
            "model": str(one.plan.operational["model"]),
            "seed": one.plan.settings["seed"],
            "digest": None,
            "problems": len(one.plan.chosen.pairs),
            "seconds": 0.0,
            "metrics": {},
            "usage": {},
            "error": "",
            **more,
        }
    )
