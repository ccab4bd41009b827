"""Write several files, either all of them or none.

Errors that can be detected in advance are raised before the first file is written. The files appear
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
    """Raise UsageError if a file cannot be written to one of the paths.

    Raises:
        UsageError: A path is invalid (`tasks.io.files.check_writable`), its folder is a file, or
            the folder is not writable.
    """
    for path in paths:
        check_writable(path)
        check_folder(path.parent)


FILE_ENDINGS = (".csv", ".htm", ".html", ".json", ".jsonl", ".md", ".parquet", ".pdf", ".png", ".svg",
                ".tsv", ".txt", ".xlsx")  # fmt: skip


def check_target(folder: Path) -> None:
    """Raise UsageError if several files cannot be written to `folder`.

    In addition to the checks of `check_folder`, the name of a new folder must not look like a file
    name.
    """
    if folder.suffix.lower() in FILE_ENDINGS and not folder.is_dir():
        raise UsageError(f"{folder}: several files are written, so give a folder")
    check_folder(folder)


def check_folder(folder: Path) -> None:
    """Raise UsageError if files cannot be written to a folder.

    The folder must exist and be writable, or it must be possible to create it.
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
    """Write text or bytes to several files, and return the paths of the files.

    Text is written with exactly one line break at its end. All files are first written under
    temporary names, and then renamed.

    Args:
        files: The content of each file, by path.

    Raises:
        UsageError: A path cannot be written (`check_paths`). Nothing is written then.
    """
    check_paths(files)
    write_atomically(
        {
            path: (data.rstrip("\n") + "\n").encode() if isinstance(data, str) else data
            for path, data in files.items()
        }
    )
    return [str(path) for path in files]
