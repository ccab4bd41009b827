"""Report section of the evaluation `intervals`: the widest and the narrowest consistent interval of each
session, in the result, below its metrics on the screen, and as a file in the folder of `--out`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from peirce.reports import ReportSection, ScoredSessions, SectionOutput


def add(given: ScoredSessions) -> SectionOutput:
    ranges = {}
    for session, scored in zip(given.sessions, given.scored, strict=True):
        widths = [row["width"] for row in scored["by_problem"] if row["width"] is not None]
        ranges[session] = [min(widths), max(widths)] if widths else None
    files = {} if given.folder is None else {given.folder / "widths.json": json.dumps(ranges)}
    return SectionOutput({"widths": ranges}, files=files)


def show(out: Any, result: Mapping[str, Any]) -> None:
    for session, found in result["widths"].items():
        said = "no consistent interval" if found is None else f"{found[0]:g} to {found[1]:g} wide"
        out.print(f"widths    {session}: {said}")


SECTION = ReportSection("intervals", build_output=add, show=show)
