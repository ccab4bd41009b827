"""`peirce tasks audit`: whether a set of instances is what its paper states."""

from __future__ import annotations

from pathlib import Path

from ...records import Json
from ..arguments import checked


@checked
def tasks_audit(file: str | Path) -> dict[str, Json]:
    """{"file", "instances", "holdouts", "failed", "checks": [{"check", "of", "passed", "failed",
    "offenders"}], "statistics": [{"regime", "worlds", "statistic", "mean", "least", "most",
    "n"}]} of instances of abd in the published form. Raises UsageError (no such file), DataError
    (a file of another kind)."""
    from ...tasks.abd_audit import audited

    return audited(file)
