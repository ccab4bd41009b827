"""Data sets of labelled text as files in the published layout, a folder each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ..records import Json, Observation, UsageError
from .files import expanded, write_whole
from .label_config import CONFIG, METADATA
from .label_problems import Rows

_TYPES = {"choice": "categorical", "number": "numerical", "truth": "boolean", "text": "text"}


def target(out: str | Path) -> Path:
    """The folder that the data sets go to. Raises `UsageError` where it holds anything yet."""
    folder = expanded(out)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder}: not a folder, which data sets of labelled text need")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder}: not empty; name a new folder")
    return folder


def save(some: Sequence[Rows], out: str | Path) -> list[Path]:
    """Writes all or none of them; their files, those of the first data set first."""
    folder = target(out)
    contents: dict[Path, bytes] = {}
    for rows in some:
        config = f"task_name: {rows.name}\nlabel_name: {rows.label_name}\n"
        for split, observations in rows.splits.items():
            config += f"{split}_data_path: ./{split}.json\n"
            columns = _columns(observations, rows)
            contents[folder / rows.name / f"{split}.json"] = _json(columns)
        contents[folder / rows.name / METADATA] = _json(_metadata(rows))
        contents[folder / rows.name / CONFIG] = config.encode()
    write_whole(contents)
    return list(contents)


def _columns(observations: Sequence[Observation], rows: Rows) -> Json:
    columns = {name: [one.input[name] for one in observations] for name in rows.columns.about}
    return {**columns, rows.label_name: [one.output for one in observations]}


def _metadata(rows: Rows) -> Json:
    features = {
        name: {
            "type": _TYPES[told["kind"]],
            "description": told["about"],
            **({"possible_values": told["values"]} if "values" in told else {}),
        }
        for name, told in rows.columns.about.items()
    }
    return {
        "task_name": rows.name,
        "task_type": "classification",
        "task_description": rows.description,
        "features": features,
        "labels": {rows.label_name: {"values": list(rows.labels)}},
        "dataset_sizes": {split: len(some) for split, some in rows.splits.items()},
        "ground_truth_hypotheses": list(rows.known),
    }


def _json(value: Json) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode()
