"""The folder of a training: what the training was asked, which `--resume` reads again, and who writes
there. The same for a training on pairs and for a classifier."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...records import DataError, Json, UsageError
from ...reports.files import writing
from ...tasks.io.files import expanded
from ...tasks.io.messages import warn

ASKED = "asked.json"
RECORD = "training.json"
CARD = "README.md"
KINDS = {"dpo": "a training on pairs", "labels": "a classifier (--labels)"}


def read_asked(folder: Path, kind: str) -> dict[str, Any]:
    """What the training in a folder was asked, {} where there is none. Raises UsageError for one of
    another kind, DataError."""
    told = _asked_in(folder)
    if told and told["kind"] != kind:
        raise UsageError(f"{folder} holds {KINDS[told['kind']]}, not {KINDS[kind]}")
    return told


def kind_in(folder: Path) -> str:
    """Of `KINDS`; "" of a folder without a training. Raises DataError."""
    return str(_asked_in(folder).get("kind", ""))


def _asked_in(folder: Path) -> dict[str, Any]:
    try:
        told = json.loads((folder / ASKED).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{folder / ASKED} cannot be read: {error}") from None
    if (
        not isinstance(told, dict)
        or told.get("kind") not in KINDS
        or not isinstance(told.get("settings", {}), dict)
    ):
        raise DataError(f"{folder / ASKED} says nothing of a training")
    return told


def read_config(config: str | Path | None) -> dict[str, Json]:
    """The settings of a YAML file, by name. Raises DataError."""
    from ...training.dpo.settings import TrainConfig

    return {} if config is None else TrainConfig.names_in(expanded(config))


def whole_path(base: str | Path) -> str:
    """A folder from the root on, so that it is found from elsewhere too; an id of the hub as it is."""
    place = expanded(base)
    return str(place.resolve()) if place.is_dir() else str(base)


def keep_asked(folder: Path, asked: Mapping[str, Json]) -> None:
    writing.write({folder / ASKED: json.dumps(asked, indent=1)})


def check_unused(folder: Path) -> None:
    """Raises UsageError for a folder with a training."""
    if (folder / ASKED).exists() or (folder / RECORD).exists():
        raise UsageError(
            f"{folder} holds a training: go on with it (--resume), or name another folder"
        )


def say_new(folder: Path) -> None:
    """Of a resume that has nothing to go on with."""
    if is_first():
        warn(f"--resume: {folder} holds no training yet, so one begins")


def is_first() -> bool:
    """Of the processes that a launcher started, the one that writes; alone a process is it."""
    return os.environ.get("RANK", "0") == "0"
