"""Find the device of a training process, share values between processes, and report memory errors.

Import this module only when a training starts, because it imports torch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch
from accelerate import PartialState
from accelerate.utils import broadcast_object_list, gather_object

from ...agents.local.model import is_out_of_memory
from ...records import PeirceError, UsageError
from .launcher import is_sharded
from .progress import TrainingInterrupted
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
    if is_sharded() and (wanted == "mps" or (wanted == "cpu" and "cuda" in kinds)):
        raise UsageError(
            f"FSDP2 cannot train on the device {wanted} of this machine: leave out --device, or"
            " start the launcher without FSDP."
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
    return run_with_help(lambda _: work(), lambda: None, processes)


def run_with_help(
    work: Callable[[Callable[..., Any]], Any], help_with: Callable[..., Any], processes: int
) -> Any:
    """Run `work` in the first process only, and return its result in all processes.

    `work` receives a function. Each of its calls runs `help_with` in all processes at the same
    time, with the arguments of the first process. If `work` raises a PeirceError or
    TrainingInterrupted, all processes raise the same error.

    Args:
        work: The function to run.
        help_with: The function in which all processes take part.
        processes: The number of processes.
    """
    if processes == 1:
        return work(help_with)
    told: tuple[Any, Exception | None] = (None, None)
    if PartialState().is_main_process:

        def call(*arguments: Any) -> Any:
            broadcast(arguments, processes)
            return help_with(*arguments)

        try:
            told = work(call), None
        except (PeirceError, TrainingInterrupted) as error:
            told = None, error
        broadcast(None, processes)
    else:
        while (arguments := broadcast(None, processes)) is not None:
            help_with(*arguments)
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


def gather(value: Any, processes: int) -> list[Any]:
    """Return, in every process, the `value` of each process, in the order of the processes."""
    if processes == 1:
        return [value]
    found: list[Any] = gather_object([value])
    return found


def divide_batches(batches: int, processes: int, unshared: Collection[int] = ()) -> list[list[int]]:
    """Divide batches among processes so that all processes make the same number of passes.

    A pass of a model that FSDP2 divides is a collective operation. A process that has no batch left
    therefore repeats one, and the result of the repetition is dropped.

    Args:
        batches: The number of batches.
        processes: The number of processes.
        unshared: Batches that all processes compute at the same time.

    Returns:
        A list of rounds. Each round has the number of a batch for each process.
    """
    shared = [one for one in range(batches) if one not in unshared]
    rounds = [shared[at : at + processes] for at in range(0, len(shared), processes)]
    rounds = [[*one, *one[-1:] * (processes - len(one))] for one in rounds]
    return rounds + [[one] * processes for one in sorted(unshared)]


@contextlib.contextmanager
def report_out_of_memory(settings: TrainConfig) -> Iterator[None]:
    """Convert an out-of-memory error in the `with` block into a PeirceError with advice."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise PeirceError(
            f"{settings.device_batch} pairs at a time do not fit into memory. Continue in the same"
            " folder with a smaller device_batch or with recompute true, which do not change what"
            " is trained; a smaller max_length is accepted there only before the first checkpoint."
        ) from None
