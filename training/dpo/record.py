"""The record of a training, training.json in its folder: begin it, compare it, read it, and write it.

A resume continues a training only with the base model, pairs, settings and rendering of prompts that
the record names.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records import DataError, Json, UsageError
from ...records.private_files import make_folder, write_atomically
from ..base_models import Base
from ..pairs.lengths import tokenizer_digest
from . import checkpoints
from .settings import STOP_SETTINGS, TrainConfig

if TYPE_CHECKING:
    from ...agents.local.chat import ChatFormat
    from ..pair_table import PairTable

RECORD_FILE = "training.json"
CHECKPOINTS_FOLDER = "checkpoints"


def begin_record(
    out: Path,
    base: Base,
    table: PairTable,
    settings: TrainConfig,
    resume: bool,
    anew: Mapping[str, Json],
) -> dict[str, Any]:
    """Return the record of the training in `out`, or of a new one.

    `anew` has the date and the variables with which a new training renders prompts anew.
    """
    mine = {"digest": settings.digest, "pairs": table.digest, "base": base.to_record(),
            "settings": settings.to_record()}  # fmt: skip
    if not (out / RECORD_FILE).is_file():
        if not table.digest:
            raise UsageError("The pairs have no digest: name them first (PairTable.named).")
        if checkpoints.find_last_complete(out / CHECKPOINTS_FOLDER) is not None:
            raise UsageError(
                f"{str(out)!r} contains checkpoints but not the record of their training"
                f" ({RECORD_FILE}): choose another folder."
            )
        try:
            make_folder(out / CHECKPOINTS_FOLDER)
        except OSError as error:
            raise UsageError(
                f"The folder {str(out)!r} cannot be created: {error.strerror}."
            ) from None
        return {"training": secrets.token_hex(4), **mine, **anew, "status": "new", "examples": 0,
                "model": None, "fields": {}}  # fmt: skip
    held = read_record(out)
    if not resume:
        raise UsageError(
            f"{str(out)!r} contains the training {held['training']} ({held['status']},"
            f" {held['examples']:,} examples). Use --resume to continue it, or choose another"
            " folder."
        )
    _check_same(out, held, mine)
    now = settings.to_record()
    if held["status"] == "stopped" and any(
        held["settings"].get(name) != now[name] for name in STOP_SETTINGS
    ):
        mine["status"] = "interrupted"  # the warning that stopped it no longer does
    return {**held, **mine}


def has_begun(out: Path) -> bool:
    """Return whether the folder of a training has a complete checkpoint or trained weights.

    Remove incomplete checkpoints, so call it only while no process trains in the folder.
    """
    trained = any((out / name).is_dir() for name in ("adapter", "model"))
    return trained or checkpoints.find_last_complete(out / CHECKPOINTS_FOLDER) is not None


def discard_unbegun(out: Path, settings: TrainConfig, pairs: str) -> bool:
    """Discard the record of a training that has no checkpoint yet and had other settings or pairs.

    There is nothing to continue, so a new training may then use the folder. Return whether the
    record was discarded.

    Args:
        out: The folder of a training, in which no process trains.
        settings: The settings of the new training.
        pairs: The digest of the pairs of the new training.

    Raises:
        DataError: The record cannot be read.
    """
    if not (out / RECORD_FILE).is_file() or has_begun(out):
        return False
    held = read_record(out)
    before = TrainConfig.from_mapping(held["settings"]).decisive_settings()
    if before == settings.decisive_settings() and held["pairs"] == pairs:
        return False
    (out / RECORD_FILE).unlink()
    return True


def _check_same(out: Path, held: Mapping[str, Any], mine: Mapping[str, Any]) -> None:
    if held["base"]["weights"] != mine["base"]["weights"]:
        raise UsageError(
            f"{str(out)!r} contains a training of another base model: {held['base']['name']!r}"
            f" ({held['base']['weights'][:12]}), not {mine['base']['name']!r}"
            f" ({mine['base']['weights'][:12]})."
        )
    if held["pairs"] != mine["pairs"]:
        raise UsageError(
            f"{str(out)!r} contains a training on other pairs: {held['pairs'][:12]}, not"
            f" {mine['pairs'][:12]}."
        )
    # Compare names, not digests: an older Peirce may lack settings, which then have their defaults.
    before, now = (
        TrainConfig.from_mapping(held["settings"]),
        TrainConfig.from_mapping(mine["settings"]),
    )
    for name, value in now.decisive_settings().items():
        if (was := getattr(before, name)) != value:
            raise UsageError(
                f"{str(out)!r} contains a training with {name} {was}, not {value}: resume with"
                " the same value."
            )


def keep_rendering(out: Path, record: dict[str, Any], wording: ChatFormat) -> None:
    """Record how prompts are rendered, or refuse to continue a training with other prompts."""
    now = {
        "chat_template": wording.digest,
        "variables": dict(wording.variables),
        "tokenizer": tokenizer_digest(wording.tokenizer),
    }
    before = record.setdefault("rendering", now)
    for name, value in now.items():
        if before[name] != value:
            raise UsageError(
                f"{str(out)!r} contains a training that rendered its prompts with another"
                f" {name.replace('_', ' ')}: resume with the files that it began with, or choose"
                " another folder."
            )


def read_record(out: Path) -> dict[str, Any]:
    """Return the contents of training.json in the folder of a training.

    Raises:
        DataError: The file is missing or invalid.
    """
    try:
        held: dict[str, Any] = json.loads((out / RECORD_FILE).read_text("utf-8"))
        _ = held["training"], held["status"], held["base"]["weights"], held["base"]["name"]
        _ = held["digest"], held["pairs"], held["examples"], held["fields"], dict(held["settings"])
        return held
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise DataError(f"{out / RECORD_FILE} is not a record of a training: {error!r}") from None


def write_record(out: Path, record: Mapping[str, Json]) -> None:
    """Write training.json in the folder of a training, without leaving a part of it."""
    write_atomically({out / RECORD_FILE: (json.dumps(record, indent=1) + "\n").encode()})
