"""What transformers and its kin write on the screen unasked. It imports transformers: import it late."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator, Sequence

from transformers.utils import logging as transformers_logging


@contextlib.contextmanager
def without_notes(names: Sequence[str], level: int) -> Iterator[None]:
    """No progress bars and warnings, and of the loggers `names` nothing below `level`; afterwards all
    is as the user had set it."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [one.level for one in loggers]
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    for one in loggers:
        one.setLevel(level)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for one, before in zip(loggers, levels, strict=True):
            one.setLevel(before)
        if bars:
            transformers_logging.enable_progress_bar()
