"""`peirce replay`: a session's graph driven by its journal alone, and compared with its record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...records import OracleSettings
from ...store import Store
from ..arguments import checked
from ..outcome import reading
from .driving import complete
from .results import Replay


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
