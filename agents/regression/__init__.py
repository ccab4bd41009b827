"""Symbolic regression packages as proposers of laws (`--model pyoperon` and `--model gplearn`), peers of
the embedded search.

The module proposer.py is imported only when a model is opened. docs/explanation/search.md describes
how the packages are asked.
"""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version

from ...records import Proposer, UsageError
from ...records.settings import setting
from ..model_settings import ModelKind, ModelSettings

INSTALL = "pip install 'peirce[peers]'"


class RegressionSettings(ModelSettings):
    """Settings of pyoperon and gplearn: their limits, and the number of processes at work."""

    seconds: float = setting(
        10.0,
        "Time of the search for laws of a problem, in seconds of wall-clock time (pyoperon: whole"
        " seconds).",
        ge=1,
        le=86_400,
    )
    memory_mb: int = setting(4_096, "Memory limit of each process, in megabytes.", ge=1_024)
    workers: int | None = setting(
        None, "Number of processes that run at a time (default: one per core, at most 4).", ge=1
    )


async def open_model(settings: RegressionSettings) -> Proposer:
    """Return the package as a proposer. No process starts before the first request.

    Raises:
        UsageError: The package is not installed.
    """
    peer = settings.model.partition(":")[0]
    try:
        release = version(peer)
    except PackageNotFoundError:
        raise UsageError(f"model {settings.model!r} needs {peer}: {INSTALL}") from None
    from .proposer import RegressionProposer

    workers = settings.workers or min(4, os.cpu_count() or 1)
    return RegressionProposer(peer, settings.seconds, settings.memory_mb, workers, release)


PYOPERON = ModelKind("pyoperon", RegressionSettings, open_model)
GPLEARN = ModelKind("gplearn", RegressionSettings, open_model)
