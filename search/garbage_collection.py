"""Pause Python's collector of cycles while a search runs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Pause Python's collector of cycles, which would go through all programs again and again.

    Programs have no cycles. The collector frees the few cycles that a search leaves when it goes on.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
