"""The folder of a training: the stored arguments that `--resume` reads, and checks of the folder.

DPO trainings and classifier trainings use the same files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...records import DataError, Json, UsageError
from ...reports.files import writing
from ...tasks.io.files import expand_home
from ...tasks.io.messages import warn

REQUEST_FILE = "asked.json"
RECORD_FILE = "training.json"
CARD_FILE = "README.md"
QUICK_FILE = "quick.json"  # in the folder of a training with --quick
QUICK_FOLDER = "quick"  # the folder of a training with --quick where none is given
KINDS = {"dpo": "a training on pairs", "labels": "a classifier (--labels)"}


def read_request(folder: Path, kind: str) -> dict[str, Any]:
    """Return the arguments with which the training in a folder was started.

    The result is {} if the folder contains no stored arguments.

    Args:
        folder: the folder of the training.
        kind: the expected kind of the training, one of `KINDS`.

    Raises:
        UsageError: the training is of another kind.
        DataError: the stored file is invalid.
    """
    told = _asked_in(folder)
    if told and told["kind"] != kind:
        raise UsageError(f"{folder} contains {KINDS[told['kind']]}, not {KINDS[kind]}")
    return told


def read_kind(folder: Path) -> str:
    """Return the kind of the training in a folder (one of `KINDS`), or "" if there is no training.

    Raises:
        DataError: the stored file is invalid.
    """
    return str(_asked_in(folder).get("kind", ""))


def _asked_in(folder: Path) -> dict[str, Any]:
    try:
        told = json.loads((folder / REQUEST_FILE).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{folder / REQUEST_FILE} cannot be read: {error}") from None
    if (
        not isinstance(told, dict)
        or told.get("kind") not in KINDS
        or not isinstance(told.get("settings", {}), dict)
    ):
        raise DataError(f"{folder / REQUEST_FILE} does not describe a training")
    return told


def read_config(config: str | Path | None) -> dict[str, Json]:
    """Return the settings in a YAML file, by name; {} if `config` is None.

    Raises:
        DataError: the file is invalid.
    """
    from ...training.dpo.settings import TrainConfig

    return {} if config is None else TrainConfig.read_yaml(expand_home(config))


def absolute_path(base: str | Path) -> str:
    """Return the absolute path of a model folder. An id on the Hugging Face hub is returned
    unchanged.
    """
    place = expand_home(base)
    return str(place.resolve()) if place.is_dir() else str(base)


def save_request(folder: Path, request: Mapping[str, Json]) -> None:
    """Store the arguments of a training in its folder, for `--resume`."""
    writing.write_files({folder / REQUEST_FILE: json.dumps(request, indent=1)})


def check_unused(folder: Path) -> None:
    """Raise UsageError if the folder already contains a training."""
    if (folder / REQUEST_FILE).exists() or (folder / RECORD_FILE).exists():
        raise UsageError(
            f"{folder} already contains a training: continue it with --resume, or choose another"
            " folder"
        )


def warn_about_new_training(folder: Path) -> None:
    """Warn that `--resume` starts a new training, because the folder contains no training."""
    if is_main_process():
        warn(f"--resume: {folder} contains no training yet, so a new one is started")


def is_main_process() -> bool:
    """Return whether this process writes files. If a launcher starts several processes, only one
    does.
    """
    return os.environ.get("RANK", "0") == "0"
