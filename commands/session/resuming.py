"""The commands `resume` and the asynchronous `aresume`: continue a session with the settings that it
recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from ... import graphs
from ...config import BudgetConfig, ModelConfig, RunConfig
from ...records import ROLE_PRICES, Json, Proposer, Repairer, UsageError
from ...secrecy import report_stored_origins, unnamed_key_variables
from ...store import Store
from ..arguments import validate_call
from ..option_types import ResumeOptions
from ..outcome import Session, load_outcome, open_for_reading, store_path
from .event_loops import run_coroutine, run_in_thread
from .execution import OnEvent, OpenedSettings, default_progress, execute_session
from .planning import get_repairer
from .settings import SCORER, repair_record, role_records, split_model_settings

# Earlier versions recorded these under "operational" by the names of options.
RECORDED_OPTIONS = ("repair", "sandbox", "strict_sandbox", "workers", "solver", "concurrency", "cache",
             "store")  # fmt: skip


def stored_config(record: Mapping[str, Any]) -> RunConfig:
    """Return the configuration of a stored session.

    Args:
        record: the session's record (`Store.session`).

    Raises:
        UsageError: the record does not contain a valid configuration.
    """
    settings = record["settings"]
    operational = settings["operational"]
    if "config" in operational:
        return RunConfig.from_record(_without_scorer(operational["config"]), graphs)
    return RunConfig.from_options(_migrated(settings, operational), graphs)


def _without_scorer(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recorded configuration without the scorer.

    Earlier versions let every session have a scorer, which none of them called; now only `peirce
    rate` takes one.
    """
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
    """Return the options of a session recorded before version 0.2.

    Such a session kept the settings of its model as they had been opened.
    """
    opening = dict(operational.get("model_options") or {})
    fields = opening.pop("model_args", {})
    own = {name: opening.pop(name) for name in list(opening) if name in ModelConfig.model_fields}
    options = {name: operational.get(name) for name in RECORDED_OPTIONS}
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


def _limits_of(record: Mapping[str, Any], before: RunConfig) -> dict[str, Json]:
    """Return the budget and prices of a session's last run, without the prices of roles."""
    spending = record.get("spending") or before.budget.explicit_values()
    return {name: one for name, one in spending.items() if name != ROLE_PRICES}


@validate_call
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
    """Continue a session where it stopped, with the settings that it recorded.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        model: the proposer object, for a session that was started with a proposer object.
        repair: the repairer object, for a session that was started with a repairer object.
        retry_failed: also run problems again that failed, for example because an endpoint was down.
        on_event: called with each event of the session.
        callbacks: LangChain callbacks.
        overrides: settings that may differ from the recorded settings. A budget set here replaces
            the recorded budget. Budgets include what the session has spent before.

    Raises:
        UsageError: a setting is invalid, or the model, repairer or roles differ from the recorded
            settings.
        PeirceError: any other expected failure, in one sentence.
    """
    path = store_path(overrides.get("store"))
    with open_for_reading(path) as store:
        found = store.find_session(session)
        record = store.session(found)
    settings = record["settings"]
    # What was reached is a report: resume opens the model by its string and settings instead.
    read = {key: one for key, one in settings["operational"].items() if key != "reached"}
    if unnamed := unnamed_key_variables(settings | {"operational": read}):
        raise UsageError(
            f"session {found} asks for the key in {unnamed[0]}: a store may not choose which"
            f" variable is sent; set PEIRCE_PROPOSER_API_KEY_ENV={unnamed[0]} in the environment"
            " to allow it"
        )
    before = stored_config(record)
    recorded = before.model_copy(update={"budget": BudgetConfig(**_limits_of(record, before))})
    if concurrency := record.get("concurrency"):  # `peirce adjust` changed it while it ran
        cluster = before.cluster.model_copy(update={"concurrency": concurrency})
        recorded = recorded.model_copy(update={"cluster": cluster})
    if repair is not None and not settings.get("repair"):
        raise UsageError(f"session {found} was started without repair: omit repair")
    objects = {"model": model, "repair": repair}
    brought = {name: one for name, one in objects.items() if one is not None}
    config = RunConfig.from_options({**overrides, **brought}, graphs, recorded)
    if settings["operational"]["model"] is None and model is None:
        raise UsageError(
            f"session {found} ran with a proposer object: resume it from Python, with"
            " peirce.resume(session, model=...)"
        )
    repairer = get_repairer(config.method)
    if settings.get("repair") and repairer is None:
        raise UsageError(
            f"session {found} ran with a repairer object: resume it from Python, with"
            " peirce.resume(session, repair=...)"
        )

    def check(store: Store, opened: OpenedSettings) -> str:
        _check_unchanged(found, settings, opened, repairer)
        return found

    family, players = settings["family"], settings["operational"].get("players") or {}
    report_stored_origins([before.model.model, get_repairer(before.method), players], found)
    with default_progress(on_event) as listener:
        work = execute_session(
            path, check, family, config, players, listener, callbacks, retry_failed
        )
        return load_outcome(path, *run_coroutine(work))


async def aresume(
    session: str = "last",
    *,
    model: Proposer | None = None,
    repair: Repairer | None = None,
    retry_failed: bool = False,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Any] = (),
    **overrides: Unpack[ResumeOptions],
) -> Session:
    """Continue a session as `resume` does, without blocking the running event loop (see `arun`)."""
    return await run_in_thread(
        resume, session, model=model, repair=repair, retry_failed=retry_failed, on_event=on_event,
        callbacks=callbacks, **overrides,
    )  # fmt: skip


def _check_unchanged(
    session: str, settings: Json, opened: OpenedSettings, repairer: str | Repairer | None
) -> None:
    """Raise UsageError if what was opened differs from what the session was started with."""
    now = repair_record(repairer, opened.repairer)
    if any(settings.get(key) != value for key, value in now.items()):
        raise UsageError(
            f"session {session} was started with the repairer {settings['repairer_settings']},"
            f" not {now['repairer_settings']}: start a new session to use another one"
        )
    shaping, begun = (
        split_model_settings(s)[0] for s in (opened.model, settings["model_settings"])
    )
    if shaping != begun:
        raise UsageError(
            f"session {session} was started with the model {begun}, not {shaping}: start a new"
            " session to use another one"
        )
    roles = role_records(opened.players).get("roles")
    if roles != settings.get("roles"):
        raise UsageError(
            f"session {session} was started with the roles {settings.get('roles')}, not {roles}:"
            " start a new session to use others"
        )
