"""Read config.yaml and metadata.json of a data set in the published layout.

From config.yaml, the reader takes `label_name` (default `label`), `train_data_path`,
`val_data_path`, `test_data_path`, `ood_data_path` and `prompt_templates`. From metadata.json, it
takes the descriptions of the task, the columns and the labels, and the hypotheses that are known to
hold. The published key `task_name` selects a label parser in the published code and has no effect
here. From `config_ood.yaml`, in which an older release names the out-of-distribution (OOD) rows,
only the file name is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ...records import DataError, Json
from ..io.bad_records import BadRecords
from ..io.files import parse_json_file_text, read_text
from ..io.json_text import find_line
from ..io.messages import BadValue, shorten
from ..io.yaml_file import read_yaml

CONFIG_FILE = "config.yaml"
OLDER_OOD_CONFIG_FILE = "config_ood.yaml"
METADATA_FILE = "metadata.json"
SPLITS = ("train", "val", "test", "ood")
_KINDS: Mapping[type, str] = {dict: "an object", list: "a list", str: "a text"}
T = TypeVar("T", dict[str, Any], list[Any], str)
_TEXTS = ("label_name", *(f"{split}_data_path" for split in SPLITS))


@dataclass(frozen=True)
class Config:
    """The contents of a data set's config.yaml.

    Attributes:
        path: The file, or None if there is no such file.
        label_name: The name of the label column, or None if the file does not set it.
        files: The path of the file of each split, as written in config.yaml.
        templates: The published prompt templates.
    """

    path: Path | None = None
    label_name: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    templates: Mapping[str, Json] = field(default_factory=dict)


def read_config(folder: Path, bad: BadRecords) -> Config:
    """Read config.yaml in a folder. If the file does not exist, return an empty config.

    Templates that cannot be read are left out, and `bad` issues a warning.

    Raises:
        DataError: The file is not YAML, or a setting has the wrong type.
    """
    path = folder / CONFIG_FILE
    if not path.is_file():
        return Config()
    told = _yaml(path)
    for key in _TEXTS:
        if not isinstance(told.get(key, ""), str | None):
            raise DataError(f"{path}, {key}: must be a text, not {shorten(told[key])}")

    def templates() -> dict[str, Json]:
        found = told.get("prompt_templates") or {}
        if not isinstance(found, dict):
            raise DataError(f"{path}, prompt_templates: must be a mapping, not {shorten(found)}")
        return found

    files = {split: told[key] for split in SPLITS if told.get(key := f"{split}_data_path")}
    older = folder / OLDER_OOD_CONFIG_FILE
    if "ood" not in files and older.is_file():
        other = _yaml(older).get("test_data_path")
        if isinstance(other, str) and other != files.get("test"):
            files["ood"] = other
    prompts = bad.field("prompt_templates", templates) or {}
    return Config(path, (told.get("label_name") or "").strip() or None, files, prompts)


def _yaml(path: Path) -> dict[str, Json]:
    told = read_yaml(path, read_text(path).encode()).value
    if not isinstance(told, dict):
        raise DataError(f"{path}: the file must be a mapping of settings")
    return told


@dataclass(frozen=True)
class Metadata:
    """The contents of a data set's metadata.json.

    Attributes:
        path: The file, or None if there is no such file.
        properties: The key `task_properties`, which says how a generated data set was made.
        description: The subject of the data set.
        features: For each column, those of the keys "type", "description" and "possible_values"
            that the file contains.
        labels: The possible values of each label column.
        known: Hypotheses that are known to hold: first those that generated the labels
            (ground_truth_hypotheses), then findings of the literature (known_hypotheses).
        truths: Only the hypotheses that generated the labels.
    """

    path: Path | None = None
    properties: Mapping[str, Json] = field(default_factory=dict)
    description: str = ""
    features: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: tuple[str, ...] = ()
    truths: tuple[str, ...] = ()


def read_metadata(folder: Path, bad: BadRecords) -> Metadata:
    """Read metadata.json of a folder, or return empty metadata if the file does not exist.

    All parts are optional, and unreadable parts are left out.
    """
    path = folder / METADATA_FILE
    if not path.is_file():
        return Metadata()
    found = Metadata()
    with bad.record("", path):
        if (text := bad.field("metadata.json", lambda: read_text(path))) is None:
            return found
        if (value := bad.field("metadata.json", lambda: parse_json_file_text(text, path))) is None:
            return found
    with bad.record(lambda keys: f"line {find_line(text, keys)}", path):
        found = _metadata(path, value, bad)
    return found


def _metadata(path: Path, value: Json, bad: BadRecords) -> Metadata:
    def part(at: Json, kind: type[T], *keys: str | int) -> T:
        """Return a part of the file, or an empty one with a warning if it is of another kind."""

        def read() -> T:
            if not isinstance(at, kind):
                raise BadValue(keys, f"must be {_KINDS[kind]}, not {shorten(at)}")
            return at

        return kind() if at is None else bad.field("a part of the metadata", read) or kind()

    def sentences(key: str) -> list[str]:
        some = part(told.get(key), list, key)
        return [one for i, one in enumerate(some) if part(one, str, key, i)]

    told = part(value, dict)
    features: dict[str, dict[str, Json]] = {}
    for name, one in part(told.get("features"), dict, "features").items():
        feature = dict(part(one, dict, "features", name))
        for key in ("description", "possible_values"):
            if key in feature:
                keys = ("features", name, key)
                text = key == "description"
                feature[key] = (
                    part(feature[key], str, *keys) if text else part(feature[key], list, *keys)
                )
        features[name] = feature
    about = part(told.get("feature_description"), dict, "feature_description")
    for name, one in about.items():
        features.setdefault(name, {"description": part(one, str, "feature_description", name)})
    labels = {}
    for name, one in part(told.get("labels"), dict, "labels").items():
        values = part(one, dict, "labels", name).get("values")
        labels[name] = tuple(map(format_label, part(values, list, "labels", name, "values")))
    truths, findings = (sentences(f"{key}_hypotheses") for key in ("ground_truth", "known"))
    return Metadata(
        path,
        part(told.get("task_properties"), dict, "task_properties"),
        part(told.get("task_description"), str, "task_description").strip(),
        features,
        labels,
        tuple(dict.fromkeys(truths + findings)),
        tuple(dict.fromkeys(truths)),
    )


def format_label(cell: Json) -> str:
    """Return a label as text. In files, labels may also be numbers or truth values."""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()
