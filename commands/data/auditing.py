"""`peirce tasks audit`: whether a set of instances is what its paper states."""

from __future__ import annotations

from pathlib import Path

from ..arguments import checked
from .results import Audit


@checked
def tasks_audit(file: str | Path) -> Audit:
    """{"file", "instances", "holdouts", "failed", "checks": [{"check", "of", "passed", "failed",
    "offenders"}], "statistics": [{"regime", "worlds", "statistic", "mean", "least", "most",
    "n"}]} of instances of abd in the published form. Raises UsageError (no such file), DataError
    (a file of another kind)."""
    from ...tasks.logic.audit import audited

    return Audit.from_dict(audited(file))
