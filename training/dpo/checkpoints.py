"""Checkpoints that survive a kill at any moment.

The state file is written last, so a checkpoint is complete if it has one, and older checkpoints are
removed only then. A checkpoint is the Trainer's own folder (weights, optimizer, learning rate,
random generators) with `curriculum.json` (schedule, mixture, warnings, and the training that it
belongs to) and `references.npz`.
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
    """Return the newest complete checkpoint, and remove incomplete checkpoints that a kill left."""
    for broken in [one for one in _all(folder) if not (one / STATE_FILE).is_file()]:
        shutil.rmtree(broken)
    return max(_all(folder), key=_update, default=None)


def complete_checkpoint(
    folder: Path, state: Mapping[str, Json], keys: NDArray[np.int32], values: NDArray[np.float64]
) -> None:
    """Complete a checkpoint: flush its files to the disk, then write the state.

    Args:
        folder: The Trainer's checkpoint folder.
        state: What `read_checkpoint` returns.
        keys: int32 (n, 2), keys of the reference log-probabilities.
        values: float64 (n,), the reference log-probabilities.
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
        DataError: They cannot be read, or a file does not have its recorded size.
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
    """Remove all but the newest `keep` checkpoints."""
    for old in sorted(_all(folder), key=_update)[:-keep]:
        # Remove the state first, so that a partly removed checkpoint does not look complete.
        (old / STATE_FILE).unlink(missing_ok=True)
        shutil.rmtree(old)


def _all(folder: Path) -> list[Path]:
    found = folder.glob(f"{PREFIX}*")
    return [one for one in found if one.is_dir() and one.name[len(PREFIX) :].isdecimal()]


def _update(folder: Path) -> int:
    return int(folder.name[len(PREFIX) :])
