"""Several files together: all that can be refused is refused before one of them is there, and
each appears whole, when all are written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...records import UsageError
from ...tasks.io.files import writable, write_whole


def check(paths: Iterable[Path]) -> None:
    """Raises UsageError for a path where no file can be written: what `tasks.io.files.writable`
    refuses, a file in the place of a folder, a folder that may not be written to."""
    for path in paths:
        writable(path)
        check_folder(path.parent)


FILE_ENDINGS = (".csv", ".htm", ".html", ".json", ".jsonl", ".md", ".parquet", ".pdf", ".png", ".svg",
                ".tsv", ".txt", ".xlsx")  # fmt: skip


def check_target(folder: Path) -> None:
    """As `check_folder`, and raises UsageError for one that is not there and is named like a file."""
    if folder.suffix.lower() in FILE_ENDINGS and not folder.is_dir():
        raise UsageError(f"{folder}: several files are written, into a folder; name one")
    check_folder(folder)


def check_folder(folder: Path) -> None:
    """Raises UsageError where this is no folder that files can be written to, and cannot be made
    into one."""
    there = folder
    while not there.exists() and there != there.parent:
        if there.is_symlink():
            raise UsageError(f"{there}: a link to nothing; name a folder")
        there = there.parent
    if not there.is_dir():
        raise UsageError(f"{there}: no folder, and {folder} is to be one; name another")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{there}: this folder may not be written to; name another")


def write(files: Mapping[Path, str | bytes]) -> list[str]:
    """Text ends with one line break. First all are written under temporary names and synced, then
    all are renamed. Returns the paths. Raises UsageError as `check` does, before anything else."""
    check(files)
    write_whole(
        {
            path: (data.rstrip("\n") + "\n").encode() if isinstance(data, str) else data
            for path, data in files.items()
        }
    )
    return [str(path) for path in files]
