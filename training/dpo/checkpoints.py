"""Checkpoints that stay usable if the process is killed at any moment.

The state file is written last. A checkpoint is complete if it has a state file, and older
checkpoints are removed only after a new one is complete. A checkpoint is the Trainer's own folder
(weights, optimizer, learning rate, random generators) with two more files. `curriculum.json`
contains the state of the schedule, the mixture and the warnings, and identifies the training.
`references.npz` contains log-probabilities of the reference model.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ...records import DataError, Json
from ...records.private_files import sync, write_atomically

STATE_FILE = "curriculum.json"
REFERENCES_FILE = "references.npz"
SIZES_KEY = "bytes"  # key in the state that holds the sizes of the other files
PREFIX = "checkpoint-"


def find_last_complete(folder: Path) -> Path | None:
    """Return the newest complete checkpoint in `folder`, or None.

    Incomplete checkpoints, which a killed process leaves, are removed.
    """
    for broken in [one for one in _all(folder) if not (one / STATE_FILE).is_file()]:
        shutil.rmtree(broken)
    return max(_all(folder), key=_update, default=None)


def complete_checkpoint(
    folder: Path, state: Mapping[str, Json], keys: NDArray[np.int32], values: NDArray[np.float64]
) -> None:
    """Complete a checkpoint: flush its files to the disk, then write the state file.

    Args:
        folder: The Trainer's checkpoint folder.
        state: The state that `read_checkpoint` will return.
        keys: The keys of the reference log-probabilities, int32 of shape (n, 2).
        values: The reference log-probabilities, float64 of shape (n,).
    """
    with (folder / REFERENCES_FILE).open("wb") as file:
        np.savez(file, keys=keys, values=values)
    # The pickled settings of the libraries; no code reads them.
    (folder / "training_args.bin").unlink(missing_ok=True)
    sizes = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            sync(path)
            sizes[str(path.relative_to(folder))] = path.stat().st_size
    write_atomically({folder / STATE_FILE: json.dumps({**state, SIZES_KEY: sizes}).encode()})


def read_checkpoint(folder: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the state and the arrays of a complete checkpoint.

    Raises:
        DataError: The checkpoint cannot be read, or one of its files has the wrong size.
    """
    try:
        state = json.loads((folder / STATE_FILE).read_text("utf-8"))
        if not isinstance(state, dict):
            raise ValueError(f"{STATE_FILE} holds no state")
        _check_sizes(folder, state.pop(SIZES_KEY, {}))
        with np.load(folder / REFERENCES_FILE, allow_pickle=False) as held:
            return state, dict(held)
    except (OSError, ValueError, EOFError, BadZipFile, RecursionError) as error:
        raise DataError(
            f"The checkpoint {folder} cannot be read ({error}): remove it, and --resume goes on from"
            " the one before."
        ) from None


def _check_sizes(folder: Path, sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        if (there := (folder / name).stat().st_size) != size:
            raise ValueError(f"{name} has {there:,} bytes of {size:,}")


def prune_checkpoints(folder: Path, keep: int) -> None:
    """Remove all checkpoints in `folder` except the newest `keep` checkpoints."""
    for old in sorted(_all(folder), key=_update)[:-keep]:
        # Remove the state first, so that a partly removed checkpoint does not look complete.
        (old / STATE_FILE).unlink(missing_ok=True)
        shutil.rmtree(old)


def _all(folder: Path) -> list[Path]:
    found = folder.glob(f"{PREFIX}*")
    return [one for one in found if one.is_dir() and one.name[len(PREFIX) :].isdecimal()]


def _update(folder: Path) -> int:
    return int(folder.name[len(PREFIX) :])
