"""The SyGuS solver of cvc5 as a proposer (`--model cvc5`), a peer of the embedded search.

The module proposer.py is imported only when the model is opened. docs/explanation/search.md
describes how the solver is asked, and on which problems.
"""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version

from ...records import Proposer, UsageError
from ...records.settings import setting
from ..model_settings import ModelKind, ModelSettings

INSTALL = "pip install 'peirce[peers]'"


class Cvc5Settings(ModelSettings):
    """Settings of cvc5: its limits, and the number of solvers at work."""

    seconds: float = setting(
        5.0,
        "Time limit of each answer, in seconds of wall-clock time, after which the solver is killed.",
        gt=0,
        le=86_400,
    )
    memory_mb: int = setting(2_048, "Memory limit of each solver, in megabytes.", ge=256)
    workers: int | None = setting(
        None, "Number of solvers that run at a time (default: one per core, at most 4).", ge=1
    )


async def open_model(settings: Cvc5Settings) -> Proposer:
    """Return the solver as a proposer. No process starts before the first request.

    Raises:
        UsageError: The package cvc5 is not installed.
    """
    try:
        release = version("cvc5")
    except PackageNotFoundError:
        raise UsageError(f"model {settings.model!r} needs cvc5: {INSTALL}") from None
    from .proposer import Cvc5Proposer

    workers = settings.workers or min(4, os.cpu_count() or 1)
    return Cvc5Proposer(settings.seconds, settings.memory_mb, workers, release)


CVC5 = ModelKind("cvc5", Cvc5Settings, open_model)
