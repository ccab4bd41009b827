"""The verb `report`: sessions as one self-contained HTML page."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ...records import UsageError
from ...reports.files import writing
from ...reports.page import Contents, document
from ...reports.page.server import Viewer
from ...tasks.io.files import expanded, write_whole
from ..arguments import checked
from ..outcome import reading
from .results import Report

ENDINGS = (".html", ".htm")


@checked
def report(
    *sessions: str,
    out: str | Path = "report.html",
    name: str | None = None,
    store: str | Path | None = None,
) -> Report:
    """Writes the page and returns {"sessions", "problems", "file", "bytes"}. sessions: by id, unique
    prefix or "last" (the default). name: of the evaluation whose metrics it shows, by default the one
    that fits the task. out: an .html file, which is replaced whole."""
    target = expanded(out)
    if target.suffix.lower() not in ENDINGS:
        raise UsageError(f"--out {out}: the page is one file; name it with {ENDINGS[0]} at its end")
    writing.check([target])
    with reading(store) as opened:
        found = list(dict.fromkeys(opened.find(session) for session in sessions or ("last",)))
        contents = Contents(opened, found, name)
        overview = contents.overview()
        # Part by part: a page of thousands of problems is never in memory whole.
        parts = document(overview, contents.problems())
        write_whole({target: (part.encode("utf-8", "replace") for part in parts)})
    problems = sum(len(one["problems"]) for one in overview["sessions"])
    return Report(sessions=found, problems=problems, file=str(target), bytes=target.stat().st_size)


# --- The verb `view`: the page of sessions on loopback, while they run.


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
