"""Checkpoints that can be killed at any moment: whole ones are known by the state that is written
last, and only then are older ones removed.

A checkpoint is the Trainer's own folder (weights, optimizer, learning rate, random generators), with
`curriculum.json` (schedule, mixture, warnings, what it belongs to) and `references.npz`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ...records import DataError, Json

STATE = "curriculum.json"
REFERENCES = "references.npz"
SIZES = "bytes"  # of the other files, in the state
PREFIX = "checkpoint-"


def last_whole(folder: Path) -> Path | None:
    """The newest checkpoint that is whole; those that are not are removed, for a process that was
    killed left them."""
    for broken in [one for one in _all(folder) if not (one / STATE).is_file()]:
        shutil.rmtree(broken)
    return max(_all(folder), key=_update, default=None)


def complete(
    folder: Path, state: Mapping[str, Json], keys: NDArray[np.int32], values: NDArray[np.float64]
) -> None:
    """keys, values: of the references. Makes a checkpoint whole: all that lies in it is on the disk before the state is."""
    with (folder / REFERENCES).open("wb") as file:
        np.savez(file, keys=keys, values=values)
    # The settings of the libraries, pickled; nothing reads them.
    (folder / "training_args.bin").unlink(missing_ok=True)
    sizes = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            _flush(path)
            sizes[str(path.relative_to(folder))] = path.stat().st_size
    write_whole(folder / STATE, json.dumps({**state, SIZES: sizes}))


def read(folder: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The state and the arrays of a whole checkpoint. DataError where they cannot be read, or where a
    file of it is not as long as it was."""
    try:
        state = json.loads((folder / STATE).read_text("utf-8"))
        if not isinstance(state, dict):
            raise ValueError(f"{STATE} holds no state")
        _check_sizes(folder, state.pop(SIZES, {}))
        with np.load(folder / REFERENCES, allow_pickle=False) as held:
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


def prune(folder: Path, keep: int) -> None:
    """Removes all but the newest `keep` checkpoints."""
    for old in sorted(_all(folder), key=_update)[:-keep]:
        # Its state first: what is half removed must not look whole.
        (old / STATE).unlink(missing_ok=True)
        shutil.rmtree(old)


def write_whole(path: Path, text: str) -> None:
    """Writes a file by another name, and renames it once it is on the disk."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, "utf-8")
    _flush(beside)
    beside.replace(path)
    _flush(path.parent)


def _all(folder: Path) -> list[Path]:
    found = folder.glob(f"{PREFIX}*")
    return [one for one in found if one.is_dir() and one.name[len(PREFIX) :].isdecimal()]


def _update(folder: Path) -> int:
    return int(folder.name[len(PREFIX) :])


def _flush(path: Path) -> None:
    place = os.open(path, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
