"""The process of a training: its device, its fellows under a launcher, its screen and its memory.

Imported late: it imports torch.
"""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from accelerate.utils import broadcast_object_list
from safetensors import SafetensorError
from transformers.utils import logging as transformers_logging

from ..agents.local_model import is_out_of_memory
from ..records import PeirceError, UsageError
from .dpo.settings import TrainSettings

# What torch says of a file that it cannot write; it is no OSError.
_TORCH_FILE = ("inline_container", "PytorchStreamWriter", "iostream", "basic_ios")


def place(settings: TrainSettings) -> tuple[str, int]:
    """The device of this process, and how many processes train together (accelerate's launcher
    starts several; alone there is one, on the first GPU). UsageError for a device that is not here."""
    kinds = ["cuda"] * torch.cuda.is_available() + ["mps"] * torch.backends.mps.is_available()
    wanted = settings.device if settings.device != "auto" else [*kinds, "cpu"][0]
    if wanted not in (*kinds, "cpu"):
        raise UsageError(f"The device {wanted} is not here; there is {', '.join([*kinds, 'cpu'])}.")
    state = PartialState(cpu=wanted == "cpu")
    return "cpu" if wanted == "cpu" else str(state.device), state.num_processes


def agreed(work: Callable[[], Any], processes: int) -> Any:
    """What the first process makes of its work, in all of them, be it an error."""
    told: tuple[Any, PeirceError | None] = (None, None)
    if PartialState().is_main_process:
        try:
            told = work(), None
        except PeirceError as error:
            told = None, error
    value, refused = shared(told, processes)
    if refused is not None:
        raise refused
    return value


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


def shared(value: Any, processes: int) -> Any:
    """What the first process holds, in all of them."""
    told = [value]
    if processes > 1:
        broadcast_object_list(told, from_process=0)
    return told[0]


@contextlib.contextmanager
def memory(settings: TrainSettings) -> Iterator[None]:
    """One sentence for a batch that the memory does not hold."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise PeirceError(
            f"The memory does not hold {settings.device_batch} pairs at once: train with a smaller"
            " device_batch, recompute true, or a smaller max_length."
        ) from None


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
