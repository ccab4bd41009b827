"""The command `hint`: a text from a person for a problem of a session (graphs/runtime/hints.py)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ...store import Store
from ..arguments import validate_call
from ..outcome import open_for_reading
from .controlling import describe_session, send_command
from .planning import describe_unread_hints
from .results import SessionStatus


@validate_call
def hint(
    session: str, problem: str, text: str, *, store: str | Path | None = None
) -> SessionStatus:
    """Give a hint for a problem: the model sees it in each later prompt about the problem.

    The hint is stored at once. If a process runs the session, its next request shows the hint;
    otherwise `resume` reads it. If the problem waits for a person (`ask_human`), the hint is the
    answer.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        problem: id of the problem, or "all" for every problem.
        text: the hint, at most 10,000 characters. Control characters are replaced. An empty text
            answers a question and gives the problem up.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Returns:
        The state of the session. Its `note` says if the session's model reads no hints.

    Raises:
        UsageError: the text is too long or empty, the method reads no hints, or the problem has ended.
        StoreError: there is no such session or problem, or another process writes the store.
    """
    from ...graphs.runtime.hints import add_hint, clean_text

    clean_text(text)  # an error comes before anything is opened
    with open_for_reading(store) as opened:
        found, path = opened.find_session(session), opened.path
        if opened.session(found)["status"] == "running":
            live = send_command(opened, found, "hint", problem=problem, text=text)
            return _describe(opened, found, live)
    with Store.open(path, write=True) as writing:
        add_hint(writing, found, problem, text)
        return _describe(writing, found, {})


def _describe(store: Store, session: str, live: dict[str, Any]) -> SessionStatus:
    shown = describe_session(store, session, live)
    operational = store.settings(session).get("operational") or {}
    return replace(shown, note=describe_unread_hints(operational))
