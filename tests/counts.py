"""How many random cases a test draws: a few with every change, all of them by `make soak`, which sets
SOAK_COUNTS and runs the tests that are marked `counted`."""

from __future__ import annotations

import os


def drawn(often: int, *, soak: int) -> int:
    """The number of cases. often: with every change; soak: by `make soak`."""
    return soak if os.environ.get("SOAK_COUNTS") else often
