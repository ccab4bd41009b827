"""What the libraries of a training say and raise: their notes off the screen, a full disk as one sentence.

Imported late: it imports transformers.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from safetensors import SafetensorError

from ..agents.local.transformers_notes import without_notes
from ..records import PeirceError

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
