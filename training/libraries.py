"""What the libraries of a training say and raise: their notes off the screen, a full disk as one sentence.

Imported late: it imports transformers.
"""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path

from safetensors import SafetensorError
from transformers.utils import logging as transformers_logging

from ..records import PeirceError

# What torch says of a file that it cannot write; it is no OSError.
_TORCH_FILE = ("inline_container", "PytorchStreamWriter", "iostream", "basic_ios")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Neither warnings nor notes of the libraries on the screen; afterwards as the user had it."""
    names = ("transformers", "trl", "peft", "accelerate", "bitsandbytes", "datasets")
    loggers = [logging.getLogger(name) for name in names]
    levels = [one.level for one in loggers]
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    for one in loggers:
        one.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)
        if bars:
            transformers_logging.enable_progress_bar()


@contextlib.contextmanager
def writes(folder: Path) -> Iterator[None]:
    """One sentence for weights that the disk does not take (full, or gone)."""
    try:
        yield
    except (SafetensorError, RuntimeError) as error:
        text = " ".join(str(error).split())
        if isinstance(error, RuntimeError) and not any(one in text for one in _TORCH_FILE):
            raise
        why = text.rpartition("I/O error: ")[2][:200]
        raise PeirceError(
            f"{folder} cannot be written, is the disk full? ({why}); what was written before stays."
        ) from None
