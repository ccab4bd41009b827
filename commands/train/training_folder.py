"""The folder of a training: the stored request that `--resume` reads, and checks of the folder.

It is the same for DPO trainings and classifiers.
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
    """Return the arguments with which the training in a folder was started, or {} if none are
    stored.

    Raises:
        UsageError: the training is of another kind.
        DataError: the file is invalid.
    """
    told = _asked_in(folder)
    if told and told["kind"] != kind:
        raise UsageError(f"{folder} contains {KINDS[told['kind']]}, not {KINDS[kind]}")
    return told


def read_kind(folder: Path) -> str:
    """Return the kind of the training in a folder (one of `KINDS`), or "" if the folder has no
    training.

    Raises:
        DataError: the file is invalid.
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
    """Return the settings in a YAML file by name.

    Raises:
        DataError: the file is invalid.
    """
    from ...training.dpo.settings import TrainConfig

    return {} if config is None else TrainConfig.read_yaml(expand_home(config))


def absolute_path(base: str | Path) -> str:
    """Return the absolute path of a folder; an id of the hub is returned as it is."""
    place = expand_home(base)
    return str(place.resolve()) if place.is_dir() else str(base)


def save_request(folder: Path, request: Mapping[str, Json]) -> None:
    """Store the request of a training in its folder."""
    writing.write_files({folder / REQUEST_FILE: json.dumps(request, indent=1)})


def check_unused(folder: Path) -> None:
    """Raise UsageError if the folder holds a training."""
    if (folder / REQUEST_FILE).exists() or (folder / RECORD_FILE).exists():
        raise UsageError(
            f"{folder} already contains a training: continue it with --resume, or choose another"
            " folder"
        )


def warn_about_new_training(folder: Path) -> None:
    """Warn that `--resume` starts a new training, because the folder holds none."""
    if is_main_process():
        warn(f"--resume: {folder} contains no training yet, so a new one is started")


def is_main_process() -> bool:
    """Return whether this process writes files. Of a launcher's processes, only the first does."""
    return os.environ.get("RANK", "0") == "0"
