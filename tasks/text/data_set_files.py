"""Writers for data sets of labelled text, in the published layout or as Hugging Face folders.

Each data set is one folder. The published layout has `config.yaml`, `metadata.json` and one JSON
file of columns per split. A Hugging Face folder has a card (`README.md`) that names the files of
the splits, `train.jsonl`, `validation.jsonl`, `test.jsonl` (and `ood.jsonl`), and `metadata.json`;
`datasets.load_dataset(FOLDER)` loads it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...records import Json, Observation, UsageError
from ...records.private_files import write_atomically
from ..io.files import expand_home
from ..io.messages import suggest_nearest
from .config_files import CONFIG_FILE, METADATA_FILE
from .problems import LabelledData

_TYPES = {"choice": "categorical", "number": "numerical", "truth": "boolean", "text": "text"}


LAYOUTS = ("published", "huggingface")
_SPLITS = {"val": "validation"}  # the name that Hugging Face uses


def check_layout(layout: str | None) -> str:
    """Return `layout` after checking that it exists; None gives the published layout.

    Raises:
        UsageError: There is no such layout.
    """
    if layout is not None and layout not in LAYOUTS:
        raise UsageError(
            f"--format {layout} is not a valid format{suggest_nearest(layout, LAYOUTS)}"
        )
    return layout or LAYOUTS[0]


def summarize_data(rows: LabelledData) -> dict[str, Json]:
    """Return a JSON summary of a data set: rows, findings, noise, best possible accuracy and
    labels.
    """
    made = rows.properties or {}
    names = ("noise_level", "effective_noise", "best_accuracy", "best_scaled_error", "labels")
    return {
        "name": rows.name,
        "rows": {split: len(some) for split, some in rows.splits.items()},
        "known": len(rows.known),
        **{name: made[name] for name in names if name in made},
    }


def check_target_folder(out: str | Path) -> Path:
    """Return the path `out` after checking that new data sets can be written there.

    Raises:
        UsageError: The path exists and is not an empty folder.
    """
    folder = expand_home(out)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(
            f"{folder}: this is not a folder; data sets of labelled text are written to a folder"
        )
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder}: the folder is not empty; choose a new folder")
    return folder


def save_data_sets(
    data_sets: Sequence[LabelledData], out: str | Path, layout: str = LAYOUTS[0]
) -> list[Path]:
    """Write data sets as folders and return the written files in order. Either all are written or
    none.

    Args:
        data_sets: The data sets.
        out: The folder to write to, which must be new or empty.
        layout: One of `LAYOUTS`.

    Raises:
        UsageError: `out` is not a new or empty folder.
    """
    folder = check_target_folder(out)
    contents: dict[Path, bytes] = {}
    for rows in data_sets:
        files = _published_files(rows) if layout == LAYOUTS[0] else _hugging_face_files(rows)
        contents |= {folder / rows.name / name: content for name, content in files.items()}
    new = {one for path in contents for one in path.parents if not one.exists()}
    try:
        write_atomically(contents)
    finally:  # after a full disk or Ctrl-C the same command must work again
        for one in sorted(new, reverse=True):
            with contextlib.suppress(
                OSError
            ):  # the folder is not empty because the data were written
                one.rmdir()
    return list(contents)


def _published_files(rows: LabelledData) -> dict[str, bytes]:
    config = f"task_name: {rows.name}\nlabel_name: {rows.label_name}\n"
    files = {}
    for split, observations in rows.splits.items():
        config += f"{split}_data_path: ./{split}.json\n"
        files[f"{split}.json"] = _json(_columns(observations, rows))
    return {**files, METADATA_FILE: _json(_metadata(rows)), CONFIG_FILE: config.encode()}


def _hugging_face_files(rows: LabelledData) -> dict[str, bytes]:
    names = {split: _SPLITS.get(split, split) for split in rows.splits}
    files = {
        f"{names[split]}.jsonl": b"".join(
            _json({**one.input, rows.label_name: one.output}) for one in some
        )
        for split, some in rows.splits.items()
    }
    return {
        **files,
        METADATA_FILE: _json(_metadata(rows)),
        "README.md": _card(rows, names).encode(),
    }


def _card(rows: LabelledData, names: Mapping[str, str]) -> str:
    """Return the dataset card, which names the file of each split."""
    lines = ["---", f"pretty_name: {json.dumps(rows.name)}", "task_categories:"]
    lines += ["- text-classification", "configs:", "- config_name: default", "  data_files:"]
    for name in names.values():
        lines += [f"  - split: {name}", f"    path: {name}.jsonl"]
    lines += ["---", f"# {rows.name}", "", rows.description, "", "| split | rows |", "|---|---|"]
    lines += [f"| {names[split]} | {len(some)} |" for split, some in rows.splits.items()]
    if rows.known:
        lines += ["", "What there is to find:", "", *(f"- {one}" for one in rows.known)]
    return "\n".join([*lines, ""])


def _columns(observations: Sequence[Observation], rows: LabelledData) -> Json:
    columns = {name: [one.input[name] for one in observations] for name in rows.columns.about}
    return {**columns, rows.label_name: [one.output for one in observations]}


def _metadata(rows: LabelledData) -> Json:
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
        **({"task_properties": dict(rows.properties)} if rows.properties else {}),
    }


def _json(value: Json) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode()
