"""Small data sets of labelled text, as tests write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from peirce.records import Json, Problem
from peirce.tasks import load_problems

TEXTS = (
    "the queue was short",
    "they left us waiting",
    "a fine meal",
    "cold soup",
    "we will come back",
)


def rows(count: int, labels: Sequence[str] = ("good", "bad"), start: int = 0) -> dict[str, Json]:
    """Columns `text` and `label`; every text has a number of its own."""
    numbers = range(start, start + count)
    return {
        "text": [f"{TEXTS[n % len(TEXTS)]} on visit {n}" for n in numbers],
        "label": [labels[n % len(labels)] for n in numbers],
    }


def write(path: Path, value: Json) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def published(
    folder: Path,
    splits: Mapping[str, Json],
    config: str = "",
    metadata: Json = None,
    names: Mapping[str, str] | None = None,
) -> Path:
    """A data set in the published layout. names: split -> what the config calls its file."""
    lines = []
    for split, columns in splits.items():
        write(folder / f"meals_{split}.json", columns)
        lines.append(f"{split}_data_path: ./{(names or {}).get(split, f'meals_{split}.json')}\n")
    write(folder / "config.yaml", "task_name: meals\n" + "".join(lines) + config)
    if metadata is not None:
        write(folder / "metadata.json", metadata)
    return folder


def three(**more: Json) -> dict[str, Json]:
    return {"train": rows(20), "val": rows(6, start=100), "test": rows(8, start=200), **more}


def loaded(path: str | Path, **options: Any) -> Problem:
    ((problem, _),) = load_problems("labels", str(path), **options)
    return problem


def split(problem: Problem, name: str) -> list[tuple[Json, Json]]:
    start, stop = problem.secret["splits"][name]
    return [(one.input, one.output) for one in problem.hidden[start:stop]]
