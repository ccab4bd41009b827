"""Peirce discovers hypotheses that explain data; named after C. S. Peirce, who defined abduction.

The verbs of the command line are functions of this package: `peirce.run("list_functions",
model="search")` returns the session. They are loaded when first used, so importing is free.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

VERBS = (
    "run", "resume", "replay", "check", "evaluate", "study", "sessions", "show",
    "bank", "predict", "pretrain", "rate", "agree", "import_recorded", "export", "load", "doctor",
    "tasks_help", "tasks_list", "tasks_show", "tasks_generate", "tasks_space", "tasks_audit",
    "pairs", "pair_sets", "report", "view",
    "train", "train_labels", "merge", "trainings", "training_curves",
)  # fmt: skip
__all__ = ["VERBS", "__version__"]


def __getattr__(name: str) -> Any:
    if name in VERBS:
        from . import api

        return getattr(api, name)
    raise AttributeError(f"module 'peirce' has no attribute {name!r}")
