"""The commands `report` and `view`: show sessions as an HTML page, in a file or on a local
server.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...records import Unavailable, UsageError
from ...records.private_files import write_atomically
from ...reports.files import writing
from ...reports.page import Contents, ProblemBlocks, render_page
from ...reports.page.findings import MAX_PROBLEMS
from ...reports.page.server import Viewer
from ...tasks.io.files import expand_home
from ..arguments import validate_call
from ..outcome import open_for_reading
from .effects import effect_options
from .results import Report

if TYPE_CHECKING:
    from ...reports.findings import CheckedFindings
    from ...store import Store

SUFFIXES = (".html", ".htm")
READ_ONCE_MEMORY = "64MB"  # of a store, whose vectors the report reads once


@validate_call
def report(
    *sessions: str,
    out: str | Path = "report.html",
    name: str | None = None,
    within: str | Sequence[str] = (),
    data: str | Path | None = None,
    store: str | Path | None = None,
) -> Report:
    """Write sessions as one self-contained HTML page.

    Args:
        sessions: ids, unique prefixes of ids, or "last" (the default).
        out: an .html file. An existing file is replaced.
        name: the evaluation whose metrics are shown; None for the evaluation that fits the task.
        within: for labelled text, the columns within whose groups the effects of sentences are
            compared, as in `bank`; empty for the length and the columns of choices.
        data: a file of labelled rows on which to measure effects, as in `bank`.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Raises:
        UsageError: the name of the file is invalid, the file cannot be written, or there is no
            column of `within`.
        DataError: the file `data` cannot be used.
        StoreError: a session cannot be found.
    """
    target = expand_home(out)
    if target.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"--out {out}: the page is one HTML file; choose a name that ends in {SUFFIXES[0]}"
        )
    writing.check_paths([target])
    with open_for_reading(store, READ_ONCE_MEMORY) as opened:
        found = list(
            dict.fromkeys(opened.find_session(session) for session in sessions or ("last",))
        )
        checked, unchecked = _check(opened, found)
        contents = Contents(
            opened, found, name, checked=checked, unchecked=unchecked,
            effects=effect_options(within, data),
        )  # fmt: skip
        # The details of problems come before the overview, which precedes them on the page. They
        # wait compressed, so that a page of thousands of problems is never in memory at once.
        with ProblemBlocks() as blocks:
            overview = contents.build_overview(receive=blocks.add)
            parts = render_page(overview, blocks)
            write_atomically({target: (part.encode("utf-8", "replace") for part in parts)})
    problems = sum(len(one["problems"]) for one in overview["sessions"])
    return Report(sessions=found, problems=problems, file=str(target), bytes=target.stat().st_size)


def _check(
    store: Store, sessions: Sequence[str]
) -> tuple[dict[str, dict[str, CheckedFindings]], dict[str, str]]:
    """Return what the oracles add to the findings of each session, or why they could not be opened."""
    from ..findings import check_findings
    from ..session.event_loops import run_coroutine

    checked, unchecked = {}, {}
    for session in sessions:
        rows = store.problems(session)[:MAX_PROBLEMS]
        try:
            checked[session] = run_coroutine(check_findings(store, session, rows))
        except (UsageError, Unavailable) as error:
            unchecked[session] = str(error)
    return checked, unchecked


# --- The command `view` serves the page on the loopback interface while sessions run.


@validate_call
def view(
    *sessions: str,
    port: int = 0,
    name: str | None = None,
    store: str | Path | None = None,
) -> Viewer:
    """Return a local web server that shows the HTML page of sessions.

    The server is already listening. Call its method `serve` to answer requests until an interrupt;
    its `url` is the address of the page.

    Args:
        sessions: ids, unique prefixes of ids, or "last" (the default).
        port: the port; 0 chooses a free port.
        name: the evaluation whose metrics are shown; None for the evaluation that fits the task.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Raises:
        UsageError: the port is not available.
        StoreError: a session cannot be found.
    """
    with open_for_reading(store) as opened:
        found = list(
            dict.fromkeys(opened.find_session(session) for session in sessions or ("last",))
        )
    return Viewer(partial(open_for_reading, store), found, name, port)
