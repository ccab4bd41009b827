"""Handle the notes, errors and trackers of the training libraries.

Import it late, because it imports transformers.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from safetensors import SafetensorError

from ..agents.local.model import silence_libraries
from ..records import PeirceError, UsageError

# Parts of torch's messages about a file that it cannot write, which are no OSErrors.
_TORCH_FILE = ("inline_container", "PytorchStreamWriter", "iostream", "basic_ios")


@contextlib.contextmanager
def quiet_libraries() -> Iterator[None]:
    """Silence warnings and notes of the libraries, and restore the user's levels afterwards."""
    names = ("transformers", "trl", "peft", "accelerate", "bitsandbytes", "datasets")
    with silence_libraries(names, logging.ERROR):
        yield


@contextlib.contextmanager
def report_write_errors(folder: Path) -> Iterator[None]:
    """Turn a failed write of weights (the disk is full or gone) into one PeirceError sentence.

    Args:
        folder: The folder that the message names.
    """
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


# --- Trackers of the libraries (tensorboard, wandb, …).


def parse_trackers(spec: str) -> list[str]:
    """Return the names of trackers in a comma-separated list.

    An empty text and `none` give no trackers.

    Raises:
        UsageError: transformers does not know the tracker, or its library is not installed.
    """
    names = [one.strip() for one in spec.split(",") if one.strip() not in ("", "none")]
    if not names:
        return []
    from transformers.integrations import get_reporting_integration_callbacks

    try:
        for callback in get_reporting_integration_callbacks(names):
            callback()
    except (ValueError, RuntimeError, ImportError) as error:
        cause = " ".join(str(error).split())
        raise UsageError(f"report_to {spec!r} cannot be served: {cause}") from None
    return names
