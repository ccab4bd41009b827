"""The process of a training: its device, its fellows under a launcher, its memory.

Imported late: it imports torch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from accelerate import PartialState
from accelerate.utils import broadcast_object_list

from ...agents.local.model import is_out_of_memory
from ...records import PeirceError, UsageError
from .settings import TrainConfig


def place(settings: TrainConfig) -> tuple[str, int]:
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


def shared(value: Any, processes: int) -> Any:
    """What the first process holds, in all of them."""
    told = [value]
    if processes > 1:
        broadcast_object_list(told, from_process=0)
    return told[0]


@contextlib.contextmanager
def memory(settings: TrainConfig) -> Iterator[None]:
    """One sentence for a batch that the memory does not hold."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise PeirceError(
            f"The memory does not hold {settings.device_batch} pairs at once: train anew, in another"
            " folder, with a smaller device_batch, recompute true, or a smaller max_length."
        ) from None
