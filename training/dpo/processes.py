"""Find the device of a training process, share values between processes, and report memory errors.

Import this module only when a training starts, because it imports torch.
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


def find_device(settings: TrainConfig) -> tuple[str, int]:
    """Return the device of this process and the number of processes that train together.

    accelerate's launcher starts several processes, each with its own device. Without the launcher
    there is one process, and it uses the first GPU if there is a GPU.

    Raises:
        UsageError: The requested device does not exist.
    """
    kinds = ["cuda"] * torch.cuda.is_available() + ["mps"] * torch.backends.mps.is_available()
    wanted = settings.device if settings.device != "auto" else [*kinds, "cpu"][0]
    if wanted not in (*kinds, "cpu"):
        raise UsageError(
            f"The device {wanted} is not available; available devices:"
            f" {', '.join([*kinds, 'cpu'])}."
        )
    state = PartialState(cpu=wanted == "cpu")
    return "cpu" if wanted == "cpu" else str(state.device), state.num_processes


def run_on_main_process(work: Callable[[], Any], processes: int) -> Any:
    """Run `work` in the first process only, and return its result in all processes.

    If `work` raises a PeirceError, all processes raise the same error.

    Args:
        work: The function to run.
        processes: The number of processes.
    """
    told: tuple[Any, PeirceError | None] = (None, None)
    if PartialState().is_main_process:
        try:
            told = work(), None
        except PeirceError as error:
            told = None, error
    value, refused = broadcast(told, processes)
    if refused is not None:
        raise refused
    return value


def broadcast(value: Any, processes: int) -> Any:
    """Return, in every process, the `value` of the first process."""
    told = [value]
    if processes > 1:
        broadcast_object_list(told, from_process=0)
    return told[0]


@contextlib.contextmanager
def report_out_of_memory(settings: TrainConfig) -> Iterator[None]:
    """Convert an out-of-memory error in the `with` block into a PeirceError with advice."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise PeirceError(
            f"{settings.device_batch} pairs at a time do not fit into memory. Start again in"
            " another folder with a smaller device_batch, recompute true, or a smaller"
            " max_length."
        ) from None
