"""Find the splits of a user's own labelled rows: a file, or a folder without a published config.

The name of a file, or of its folder, determines its split: `train.csv`, `reviews_test.jsonl`,
`data/validation-00000-of-00002.parquet`, or a folder `train` as Hugging Face's `save_to_disk`
writes. `dev`, `valid` and `validation` mean val; `ood` has priority over all other words. A single
file (or the shards of a file) is split by its column `split` if every cell of the column names a
split. Otherwise the rows of each label are split 60/20/20 at random with a warning.

If config.yaml in the folder names no files, only its label name and templates are used.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ...records import DataError, UsageError
from ..io.messages import shorten, warn
from .config_files import METADATA_FILE, SPLITS, format_label
from .tables import INFO_FILE, Table, file_type

SPLIT_COLUMN = "split"
SPLIT_SHARES = (("train", 0.6), ("val", 0.2), ("test", 0.2))
_WORDS = {
    "train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val",
    "dev": "val", "test": "test", "testing": "test", "eval": "test", "ood": "ood",
}  # fmt: skip
_NO_ROWS = (METADATA_FILE, INFO_FILE, "dataset_dict.json", "dataset_infos.json", "state.json")
_SHARD = re.compile(r"(.*)-\d{5}-of-\d{5}")


def find_split(name: str) -> str | None:
    """Return the split that a text names, such as a file name or a cell, or None."""
    words = {_WORDS[word] for word in re.split(r"[^a-z]+", name.lower()) if word in _WORDS}
    return next((split for split in reversed(SPLITS) if split in words), None)


def find_files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of each split, sorted by name.

    If no file name contains the name of a split, the result is {"": files}.

    Raises:
        DataError: There are files for splits, but none with training rows.
        UsageError: There are no files, or several files that are not shards of one file.
    """
    named: dict[str, list[Path]] = {}
    other: list[Path] = []
    for place in (folder, folder / "data"):
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            if path.is_dir() and (split := find_split(path.name)):
                named.setdefault(split, []).extend(_select_row_files(path.iterdir()))
            elif path.is_file() and _select_row_files([path]):
                split = find_split(path.name.split(".")[0])
                (named.setdefault(split, []) if split else other).append(path)
        if named or other:
            break
    named = {split: named[split] for split in SPLITS if named.get(split)}
    if "train" in named:
        return named
    if named:
        raise DataError(f"{folder}: found no training rows, only {', '.join(named)}")
    stems = {found[1] if (found := _SHARD.fullmatch(one.stem)) else one.name for one in other}
    if not other:
        raise UsageError(
            f"{folder}: found no data here; looked for config.yaml, and for rows by split"
        )
    if len(stems) > 1:
        names = ", ".join(one.name for one in other)
        raise UsageError(
            f"{folder}: the folder contains several tables ({shorten(names, 200)}); choose one"
            " of these files"
        )
    return {"": other}


def _select_row_files(paths: Iterable[Path]) -> list[Path]:
    return [one for one in sorted(paths) if file_type(one) and one.name not in _NO_ROWS]


# --- what is not split yet ------------------------------------------------------------


def split_by_column(table: Table, name: str = SPLIT_COLUMN) -> dict[str, Table] | None:
    """Split the rows of a table by the column `name`, whose cells name the split of each row.

    Returns:
        The rows of each split, without the column `name`. None if the column does not exist, if a
        cell names no split, or if there are no training rows.
    """
    cells = table.columns.get(name)
    if cells is None:
        return None
    splits = [find_split(cell) if isinstance(cell, str) else None for cell in cells]
    if "train" not in splits or None in splits:
        return None
    rest = {other: some for other, some in table.columns.items() if other != name}
    whole = Table(table.path, rest, table.numbers, table.unit, table.untyped)
    return {
        split: whole.filter([one == split for one in splits]) for split in SPLITS if split in splits
    }


def split_by_seed(tables: Sequence[Table], label_name: str, seed: int) -> Mapping[str, list[Table]]:
    """Split the rows of each label 60/20/20 at random. Each split keeps the order of the file.

    For each label, validation and test get the same number of rows, rounded down, and training gets
    the remaining rows. A label with few rows therefore occurs only in training.
    """
    rows: dict[str, list[tuple[int, int]]] = {}
    for number, table in enumerate(tables):
        for row, cell in enumerate(table.columns[label_name]):
            rows.setdefault(format_label(cell), []).append((number, row))
    parts: dict[tuple[int, int], str] = {}
    for label in sorted(rows):
        some = rows[label]
        random.Random(f"split {seed} {label}").shuffle(some)
        held = int(len(some) * SPLIT_SHARES[1][1])
        for place, one in enumerate(some):
            parts[one] = "val" if place < held else "test" if place < 2 * held else "train"
    total = len(parts)
    split = {
        name: [
            part
            for number, table in enumerate(tables)
            if len(part := table.filter([parts[number, r] == name for r in range(len(table))]))
        ]
        for name, _ in SPLIT_SHARES
    }
    told = ", ".join(f"{sum(map(len, some)):,} {name}" for name, some in split.items())
    warn(
        f"{tables[0].path}: {total:,} row{'s' * (total != 1)} without splits are divided"
        f" 60/20/20 with seed {seed} ({told})"
    )
    return {name: some for name, some in split.items() if some}
