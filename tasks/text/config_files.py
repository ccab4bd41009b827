"""Readers for config.yaml and metadata.json of the published data set layout.

From config.yaml the reader takes `label_name` (default `label`), `train_data_path`,
`val_data_path`, `test_data_path`, `ood_data_path` and `prompt_templates`. From metadata.json it
takes the descriptions of the task, of its columns and labels, and the hypotheses that are known to
hold. The published `task_name` selects a label parser in the published code and has no effect here.
Of `config_ood.yaml`, where an older release names the OOD rows, only the file name is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...records import DataError, Json
from ..io.files import read_json, read_text
from ..io.messages import shorten
from ..io.yaml_file import read_yaml

CONFIG = "config.yaml"
OLDER_OOD = "config_ood.yaml"
METADATA = "metadata.json"
SPLITS = ("train", "val", "test", "ood")
_TEXTS = ("label_name", *(f"{split}_data_path" for split in SPLITS))


@dataclass(frozen=True)
class Config:
    """The contents of config.yaml.

    Attributes:
        path: The file, or None if there is none.
        label_name: The label column, or None if the file does not set it.
        files: The path of each split as written in the file.
        templates: The published prompt templates.
    """

    path: Path | None = None
    label_name: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    templates: Mapping[str, Json] = field(default_factory=dict)


def read_config(folder: Path) -> Config:
    """Read config.yaml of a folder, or return an empty config if there is none.

    Raises:
        DataError: The file is not YAML, or a setting has the wrong type.
    """
    path = folder / CONFIG
    if not path.is_file():
        return Config()
    told = _yaml(path)
    for key in _TEXTS:
        if not isinstance(told.get(key, ""), str | None):
            raise DataError(f"{path}, {key}: not a text: {shorten(told[key])}")
    templates = told.get("prompt_templates") or {}
    if not isinstance(templates, dict):
        raise DataError(f"{path}, prompt_templates: not a mapping: {shorten(templates)}")
    files = {split: told[key] for split in SPLITS if told.get(key := f"{split}_data_path")}
    older = folder / OLDER_OOD
    if "ood" not in files and older.is_file():
        other = _yaml(older).get("test_data_path")
        if isinstance(other, str) and other != files.get("test"):
            files["ood"] = other
    return Config(path, (told.get("label_name") or "").strip() or None, files, templates)


def _yaml(path: Path) -> dict[str, Json]:
    told = read_yaml(path, read_text(path).encode()).value
    if not isinstance(told, dict):
        raise DataError(f"{path}: not a mapping of settings")
    return told


@dataclass(frozen=True)
class Metadata:
    """The contents of metadata.json.

    Attributes:
        path: The file, or None if there is none.
        properties: `task_properties`: how a generated data set was made.
        description: What the data set is about.
        features: {"type", "description", "possible_values"} of each column, as far as the file has
            them.
        labels: The values of each label column.
        known: Hypotheses that hold: those that generated the labels (ground_truth_hypotheses), then
            findings of the literature (known_hypotheses).
        truths: The hypotheses that generated the labels.
    """

    path: Path | None = None
    properties: Mapping[str, Json] = field(default_factory=dict)
    description: str = ""
    features: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: tuple[str, ...] = ()
    truths: tuple[str, ...] = ()


def read_metadata(folder: Path) -> Metadata:
    """Read metadata.json of a folder, or return empty metadata if there is none.

    Values that do not have the published shape are ignored.

    Raises:
        DataError: The file is not a JSON object.
    """
    path = folder / METADATA
    if not path.is_file():
        return Metadata()
    told = read_json(path)
    if not isinstance(told, dict):
        raise DataError(f"{path}: not an object")
    features = {
        name: dict(said) for name, said in _mapping(told, "features").items() if _is_map(said)
    }
    for name, said in _mapping(told, "feature_description").items():
        features.setdefault(name, {"description": said})
    labels = {
        name: tuple(map(label_text, values if isinstance(values, list) else ()))
        for name, said in _mapping(told, "labels").items()
        for values in ([said.get("values")] if _is_map(said) else [])
    }
    truths, findings = (_sentences(told, f"{key}_hypotheses") for key in ("ground_truth", "known"))
    about = told.get("task_description")
    return Metadata(
        path,
        _mapping(told, "task_properties"),
        about.strip() if isinstance(about, str) else "",
        features,
        labels,
        tuple(dict.fromkeys(truths + findings)),
        tuple(dict.fromkeys(truths)),
    )


def label_text(cell: Json) -> str:
    """Return a label as text, also one that a file stores as a number or truth value."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _sentences(told: Mapping[str, Json], key: str) -> list[str]:
    some = told.get(key)
    return [one for one in some if isinstance(one, str)] if isinstance(some, list) else []


def _is_map(value: Json) -> bool:
    return isinstance(value, dict)


def _mapping(told: Mapping[str, Json], key: str) -> Mapping[str, Json]:
    value = told.get(key)
    return value if isinstance(value, dict) else {}
