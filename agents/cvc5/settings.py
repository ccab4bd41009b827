"""Settings of cvc5."""

from __future__ import annotations

from ...records.settings import setting
from ..model_settings import ModelSettings


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
