"""What the libraries of a training say and raise: their notes off the screen, a full disk as one sentence.

Imported late: it imports transformers.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from safetensors import SafetensorError

from ..agents.local.model import without_notes
from ..records import PeirceError, UsageError

# What torch says of a file that it cannot write; it is no OSError.
_TORCH_FILE = ("inline_container", "PytorchStreamWriter", "iostream", "basic_ios")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Neither warnings nor notes of the libraries on the screen; afterwards as the user had it."""
    names = ("transformers", "trl", "peft", "accelerate", "bitsandbytes", "datasets")
    with without_notes(names, logging.ERROR):
        yield


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


# --- Trackers that the libraries know (tensorboard, wandb, …), by their names.


def trackers(told: str) -> list[str]:
    """The names in `told`, by commas; none of an empty text or `none`. UsageError for one that
    transformers does not know or whose library is not installed."""
    names = [one.strip() for one in told.split(",") if one.strip() not in ("", "none")]
    if not names:
        return []
    from transformers.integrations import get_reporting_integration_callbacks

    try:
        for callback in get_reporting_integration_callbacks(names):
            callback()
    except (ValueError, RuntimeError, ImportError) as error:
        cause = " ".join(str(error).split())
        raise UsageError(f"report_to {told!r} cannot be served: {cause}") from None
    return names
