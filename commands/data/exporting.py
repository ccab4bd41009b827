"""`peirce export`: write a session as files."""

from __future__ import annotations

from pathlib import Path

from ..arguments import validate_call
from ..outcome import open_for_reading
from ..session.settings import check_choice
from .results import Export


@validate_call
def export(
    session: str = "last",
    out: str | Path = "export",
    *,
    format: str = "parquet",
    store: str | Path | None = None,
) -> Export:
    """Write a session as Parquet, as JSONL or as a Hugging Face dataset folder.

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        out: the folder to write.
        format: parquet, jsonl or huggingface.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.

    Returns:
        The session, its number of problems and steps, and the files.

    Raises:
        UsageError: the format is unknown.
        StoreError: the session cannot be found.
    """
    from ...reports import tally

    check_choice("format", format, ("parquet", "jsonl", "huggingface"))

    with open_for_reading(store) as opened:
        found = opened.find_session(session)
        steps = tally(opened.steps(found, spaces=False)).steps
        counted = {"session": found, "problems": len(opened.problems(found)), "steps": steps}
        return Export.from_dict(counted | opened.export(found, out, format))
