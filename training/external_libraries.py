"""Silence the training libraries, convert their errors, and check the names of trackers.

Import this module only when a training starts, because it imports transformers.
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
    """Silence warnings and notes of the training libraries within a `with` block.

    At the end of the block, the user's logging levels are restored.
    """
    names = ("transformers", "trl", "peft", "accelerate", "bitsandbytes", "datasets")
    with silence_libraries(names, logging.ERROR):
        yield


@contextlib.contextmanager
def report_write_errors(folder: Path) -> Iterator[None]:
    """Convert a failed write of weights, for example to a full disk, into a PeirceError.

    Args:
        folder: The folder that the error message names.
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
    """Return the names in a comma-separated list of experiment trackers.

    An empty text and `none` give an empty list.

    Raises:
        UsageError: transformers does not know a tracker, or the tracker's library is not installed.
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
