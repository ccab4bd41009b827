"""The verb `view`: the page of sessions on loopback, while they run."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ...reports.page.server import Viewer
from ..arguments import checked
from ..outcome import reading


@checked
def view(
    *sessions: str,
    port: int = 0,
    name: str | None = None,
    store: str | Path | None = None,
) -> Viewer:
    """A viewer of the page of these sessions (by id, unique prefix or "last", the default), which
    listens: `serve` answers until it is interrupted, `url` is where. port: 0 takes a free one. name: of
    the evaluation whose metrics it shows."""
    with reading(store) as opened:
        found = list(dict.fromkeys(opened.find(session) for session in sessions or ("last",)))
    return Viewer(partial(reading, store), found, name, port)
