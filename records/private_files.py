"""Create files and folders that only the user can read, and write them completely or not at all.

Stores, pages, exports and folders of trainings contain answers of models and data of the user, so
their files have mode 0600 and their folders mode 0700, independent of the umask.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TypeVar

from .errors import UsageError

Result = TypeVar("Result")
FILE_MODE, FOLDER_MODE = 0o600, 0o700
DUCKDB, DUCKDB_AT = b"DUCK", 8  # how a DuckDB file is known: these bytes at this offset
DRAFT = ".peirce-"  # how names of files and folders that are being written begin


def private_opener(path: str, flags: int) -> int:
    """Open a file for `open(..., opener=private_opener)`, and create it with mode 0600."""
    return os.open(path, flags, FILE_MODE)


def open_lines(path: Path) -> IO[str]:
    """Open a text file for appending, and create it with mode 0600."""
    return open(path, "a", encoding="utf-8", opener=private_opener)


def open_lock(path: Path) -> IO[str]:
    """Open a lock file, and create it with mode 0600.

    Raises:
        OSError: The path is a symbolic link, or cannot be opened.
    """

    def opener(name: str, flags: int) -> int:
        return private_opener(name, flags | os.O_NOFOLLOW)

    return open(path, "a", opener=opener)


@contextlib.contextmanager
def name_in_errors(path: Path) -> Iterator[None]:
    """Return a context manager that makes each OSError in its block name this path.

    Otherwise the error would name a temporary file or, for a full disk, no file.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def make_private(path: Path) -> None:
    """Remove the permissions of other users on a file, if the file exists and this user owns it."""
    with contextlib.suppress(OSError):
        found = path.lstat()
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
            path.chmod(stat.S_IMODE(found.st_mode) & FOLDER_MODE)


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents with mode 0700; an existing folder is left as it is."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(FOLDER_MODE, exist_ok=True)


def write_atomically(contents: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Write several files atomically. The content of a file is bytes or an iterable of bytes.

    All files are written under temporary names and synced before the first file is renamed. Then
    the files are renamed in order.

    Raises:
        UsageError: A file to write is a store of sessions, which is never overwritten.
        OSError: A file cannot be written; the error names its final path.
    """
    for target in contents:
        _refuse_store(target)
    drafts: dict[Path, str] = {}
    try:
        for target, content in contents.items():
            with name_in_errors(target):
                make_folder(target.parent)
                number, drafts[target] = tempfile.mkstemp(
                    prefix=DRAFT, suffix=".part", dir=target.parent
                )
                with open(number, "wb") as out:
                    for part in (content,) if isinstance(content, bytes) else content:
                        out.write(part)
                    out.flush()
                    os.fsync(out.fileno())
        for target, draft in drafts.items():
            with name_in_errors(target):
                os.replace(draft, target)
    finally:
        for draft in drafts.values():
            Path(draft).unlink(missing_ok=True)


def _refuse_store(target: Path) -> None:
    """Raise UsageError if `target` is a DuckDB database, which is a store of sessions.

    The descriptor of the database stays open, because closing it would end a lock that this process
    may hold on the database.
    """
    try:
        number = os.open(target, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:  # there is no file, or none that can be read
        return
    try:
        found = os.pread(number, len(DUCKDB), DUCKDB_AT)
    except OSError:  # a folder or a pipe
        found = b""
    if found == DUCKDB:
        raise UsageError(f"{target} is a store, which is never overwritten; choose another file")
    os.close(number)


def write_folder(out: Path, write: Callable[[Path], Result], *, replace: bool = False) -> Result:
    """Write a file or folder in a private temporary folder, then rename it to `out`.

    So `out` appears only when it is complete. Only the owner can read it.

    Args:
        out: Path of the file or folder to create.
        write: Function that writes a file or folder to the temporary path that it gets.
        replace: Whether to replace a folder that exists at `out`.

    Returns:
        The result of `write`.

    Raises:
        UsageError: `out` exists and `replace` is False, or `out` is a symbolic link or a store.
        OSError: The file system cannot be written; the error names `out`.
    """

    _refuse_link(out)  # before anything that takes long is written
    with name_in_errors(out):
        make_folder(out.parent)
    with name_in_errors(out), tempfile.TemporaryDirectory(prefix=DRAFT, dir=out.parent) as folder:
        place = Path(folder) / out.name
        result = write(place)
        for path in [place, *place.rglob("*")] if place.is_dir() else [place]:
            path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)
            sync(path)
        if os.path.lexists(out):
            if not replace:
                raise UsageError(f"{out} already exists; choose another path or remove it first")
            _refuse_link(out)
            _refuse_store(out)
            if out.is_dir():
                shutil.rmtree(out)
        os.rename(place, out)
        sync(out.parent)
    return result


def _refuse_link(out: Path) -> None:
    if out.is_symlink():
        raise UsageError(
            f"{out} is a symbolic link, which is not replaced; name another place or remove it first"
        )


def sync(path: Path) -> None:
    """Flush a file or folder to the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
