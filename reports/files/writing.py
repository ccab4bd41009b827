"""Atomic writing of several files.

All errors that can be detected are raised before the first file is written, and the files appear
only after all of them are complete.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...records import UsageError
from ...records.private_files import write_atomically
from ...tasks.io.files import check_writable


def check_paths(paths: Iterable[Path]) -> None:
    """Check that files can be written to all paths.

    Raises:
        UsageError: For a path that `tasks.io.files.writable` refuses, a file in the place of a
            folder, or a folder without write permission.
    """
    for path in paths:
        check_writable(path)
        check_folder(path.parent)


FILE_ENDINGS = (".csv", ".htm", ".html", ".json", ".jsonl", ".md", ".parquet", ".pdf", ".png", ".svg",
                ".tsv", ".txt", ".xlsx")  # fmt: skip


def check_target(folder: Path) -> None:
    """Check a folder like `check_folder`, and refuse a missing one that is named like a file.

    Raises:
        UsageError: If files cannot be written there.
    """
    if folder.suffix.lower() in FILE_ENDINGS and not folder.is_dir():
        raise UsageError(f"{folder}: several files are written, so give a folder")
    check_folder(folder)


def check_folder(folder: Path) -> None:
    """Check that files can be written to a folder that exists or can be created.

    Raises:
        UsageError: If they cannot.
    """
    there = folder
    while not there.exists() and there != there.parent:
        if there.is_symlink():
            raise UsageError(f"{there}: a link to a missing target; choose a folder")
        there = there.parent
    if not there.is_dir():
        raise UsageError(
            f"{there}: not a folder, so {folder} cannot be created; choose another folder"
        )
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{there}: this folder is not writable; choose another folder")


def write_files(files: Mapping[Path, str | bytes]) -> list[str]:
    """Write text or bytes to several files and return their paths.

    Text gets exactly one line break at its end. All files are written under temporary names and
    synced, then renamed.

    Raises:
        UsageError: If `check_paths` refuses a path, before anything is written.
    """
    check_paths(files)
    write_atomically(
        {
            path: (data.rstrip("\n") + "\n").encode() if isinstance(data, str) else data
            for path, data in files.items()
        }
    )
    return [str(path) for path in files]
