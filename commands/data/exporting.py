"""`peirce export`: a session as files."""

from __future__ import annotations

from pathlib import Path

from ..arguments import checked
from ..outcome import reading
from ..session.settings import one_of
from .results import Export


@checked
def export(
    session: str = "last",
    out: str | Path = "export",
    *,
    format: str = "parquet",
    store: str | Path | None = None,
) -> Export:
    """Writes the session as Parquet or JSONL or as a Hugging Face dataset folder: {session,
    problems, steps} and what was written."""
    from ...reports import tally

    one_of("format", format, ("parquet", "jsonl", "huggingface"))

    with reading(store) as opened:
        found = opened.find(session)
        steps = tally(opened.steps(found, spaces=False)).steps
        counted = {"session": found, "problems": len(opened.problems(found)), "steps": steps}
        return Export.from_dict(counted | opened.export(found, out, format))
