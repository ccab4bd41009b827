"""The commands for a session that another process or thread runs: `status`, `pause`, `continue_`,
`stop` and `adjust`.

They reach the session through the socket of its store (graphs/runtime/control.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...records import Json, StoreError
from ...store import Store
from ..arguments import validate_call
from ..outcome import open_for_reading
from .results import SessionStatus
from .settings import display_settings

USAGE_KEYS = ("calls", "tokens_in", "tokens_out", "tokens_cached", "cost_usd")


@validate_call
def status(session: str = "last", *, store: str | Path | None = None) -> SessionStatus:
    """Return the state of a session, whether a process runs it or not.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Raises:
        StoreError: there is no such store or session.
    """
    with open_for_reading(store) as opened:
        found = opened.find_session(session)
        try:
            live = send_command(opened, found, "status")
        except StoreError:  # nobody runs it, or the process that does just begins or ends
            live = {}
        return describe_session(opened, found, live)


@validate_call
def pause(session: str = "last", *, store: str | Path | None = None) -> SessionStatus:
    """Pause a running session: it makes no calls until `continue_`.

    Calls in flight are finished and saved, and no new call of a model or tool is made. A pause is
    not stored: a session that is stopped or killed in a pause runs when it is resumed.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Raises:
        StoreError: there is no such session, or no process runs it, or it is stopping.
    """
    return _control(session, store, "pause")


@validate_call
def continue_(session: str = "last", *, store: str | Path | None = None) -> SessionStatus:
    """Continue a paused session. A session that is not paused goes on as before.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Raises:
        StoreError: there is no such session, or no process runs it, or it is stopping.
    """
    return _control(session, store, "continue")


@validate_call
def stop(session: str = "last", *, store: str | Path | None = None) -> SessionStatus:
    """Stop a running session after the steps in progress, as the first Ctrl-C does.

    The function returns at once, usually with the status "stopping". In a pause, the calls that are
    held are not made. `resume` continues the session without repeating a recorded call.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Raises:
        StoreError: there is no such session, or no process runs it.
    """
    return _control(session, store, "stop")


@validate_call
def adjust(
    session: str = "last",
    *,
    concurrency: int | None = None,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    store: str | Path | None = None,
) -> SessionStatus:
    """Change the concurrency or the budgets of a running session. `resume` keeps the new values.

    A budget below what is already spent ends the session before its next request to a model.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        concurrency: number of problems that run at the same time; None for no change. With a lower
            number, problems in progress are finished, with fewer requests at the same time.
        budget_tokens: maximum number of input and output tokens, including those that are spent;
            None for no change.
        budget_usd: maximum cost in US dollars, including what is spent; None for no change. The
            session must have prices.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Raises:
        UsageError: nothing is to be changed, or a value is out of bounds.
        StoreError: there is no such session, no process runs it, it is stopping, or it has no
            prices.
    """
    from ...graphs.runtime.control import check_adjustment

    changes = {
        "concurrency": concurrency, "budget_tokens": budget_tokens, "budget_usd": budget_usd,
    }  # fmt: skip
    wanted = {name: value for name, value in changes.items() if value is not None}
    check_adjustment(concurrency, budget_tokens, budget_usd)
    return _control(session, store, "adjust", **wanted)


def _control(session: str, store: str | Path | None, verb: str, **arguments: Json) -> SessionStatus:
    with open_for_reading(store) as opened:
        found = opened.find_session(session)
        live = send_command(opened, found, verb, **arguments)
        return describe_session(opened, found, live)


def send_command(store: Store, session: str, verb: str, **arguments: Json) -> dict[str, Any]:
    """Send a command to the process that runs a session, and return its answer.

    Args:
        store: the store, open for reading.
        session: full id of the session.
        verb: status, pause, continue, stop, adjust or another verb of `SessionControl`.
        arguments: arguments of the verb.

    Raises:
        StoreError: no process runs the session, or the process refuses the command.
    """
    stored = store.session(session)["status"]
    if stored != "running":
        what = "is done" if stored == "done" else f"does not run (its status is {stored})"
        again = "" if stored == "done" else f"; `peirce resume {session}` continues it"
        raise StoreError(f"session {session} {what}{again}")
    return store.control({"control": verb, "session": session, **arguments})


def log_path(store: Path, name: str) -> Path:
    """Return the path of the log of a session that runs without a terminal, beside its store.

    Args:
        store: path of the store.
        name: the session's id, or another part of the name until the session has an id.
    """
    return store.with_name(f"{store.name}.{name}.log")


def find_log(store: Path, session: str) -> Path | None:
    """Return the path of a session's log; None if it has none."""
    path = log_path(store, session)
    return path if path.is_file() else None


def describe_session(store: Store, session: str, live: dict[str, Any]) -> SessionStatus:
    """Return the state of a session.

    Args:
        store: the store, open for reading.
        session: full id of the session.
        live: the answer of the process that runs the session; empty if there is none.
    """
    from ...graphs.runtime.budget import add_costs

    record = store.session(session)
    shown = display_settings(record["settings"])
    spending = record.get("spending") or {}
    usage = add_costs(store.usage(session), store.model_usage(session), spending)
    steps, verdicts = store.count_verdicts(session)
    done, failed = record["problems_done"], record["problems_failed"]
    reached = record["settings"].get("operational", {}).get("concurrency")
    found = {
        "session": session,
        "status": record["status"],
        "store": str(store.path),
        "pid": 0,
        **{key: shown.get(key) for key in ("task", "method", "model")},
        "problems": record["problems"],
        "done": done,
        "failed": failed,
        "open": record["problems"] - done - failed,
        "steps": steps,
        "verdicts": verdicts,
        "usage": {key: usage[key] for key in USAGE_KEYS if key in usage},
        "seconds": record.get("seconds") or 0.0,
        "concurrency": record.get("concurrency") or reached,
        "budget_tokens": spending.get("budget_tokens"),
        "budget_usd": spending.get("budget_usd"),
        "in_flight": 0,
        "running": [],
        "questions": _list_questions(store, session, record),
        "log": str(log) if (log := find_log(store.path, session)) else "",
    }
    if record["status"] == "running":  # otherwise it ended after it had answered
        found |= live or {"pid": store.owner_pid()}
    elif record.get("cause"):
        found["cause"] = record["cause"]
    return SessionStatus.from_dict(found)


def _list_questions(store: Store, session: str, record: dict[str, Any]) -> list[Json]:
    """Return the questions that a stopped session left open; `hint` answers them before `resume`."""
    asked = record.get("questions") or []
    if not asked or record["status"] == "running":
        return []
    ended = {row.problem.id for row in store.problems(session) if row.status != "open"}
    return [one for one in asked if one["problem"] not in ended]
