"""Write files and folders that only the user can read, either completely or not at all.

Stores, pages, exports and training folders contain model answers and data of the user. Therefore,
their files have mode 0600 and their folders have mode 0700, regardless of the umask.
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
    """Open a file with mode 0600 if it is created. Pass this function to `open(...,
    opener=...)`.
    """
    return os.open(path, flags, FILE_MODE)


def open_lines(path: Path) -> IO[str]:
    """Open a text file for appending. A missing file is created with mode 0600."""
    return open(path, "a", encoding="utf-8", opener=private_opener)


def open_lock(path: Path) -> IO[str]:
    """Open a lock file. A missing file is created with mode 0600.

    Raises:
        OSError: The path is a symbolic link, or cannot be opened.
    """

    def opener(name: str, flags: int) -> int:
        return private_opener(name, flags | os.O_NOFOLLOW)

    return open(path, "a", opener=opener)


@contextlib.contextmanager
def name_in_errors(path: Path) -> Iterator[None]:
    """Return a context manager that makes each OSError raised in its block name `path`.

    Without this context manager, the error might name a temporary file, or, if the disk is full, no
    file at all.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def make_private(path: Path) -> None:
    """Remove the permissions of other users from a file.

    Nothing happens if the file does not exist or belongs to another user.
    """
    with contextlib.suppress(OSError):
        found = path.lstat()
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
            path.chmod(stat.S_IMODE(found.st_mode) & FOLDER_MODE)


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents with mode 0700. An existing folder is not changed."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(FOLDER_MODE, exist_ok=True)


def write_atomically(contents: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Write several files so that no file is ever incomplete.

    All files are first written under temporary names and synced to the disk. Then each file is
    renamed to its final name, in the order of `contents`.

    Args:
        contents: The content of each file, as bytes or as an iterable of bytes, by final path.

    Raises:
        UsageError: A path is a store of sessions, which is never overwritten.
        OSError: A file cannot be written. The error names its final path.
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
    """Write a file or folder under a temporary name, then rename it to `out`.

    Therefore `out` exists only when it is complete. Only the owner can read it.

    Args:
        out: The path of the file or folder to create.
        write: Function that writes the file or folder to the temporary path that it receives.
        replace: Whether to replace an existing file or folder at `out`.

    Returns:
        The result of `write`.

    Raises:
        UsageError: `out` exists and `replace` is False, or `out` is a symbolic link or a store.
        OSError: The file or folder cannot be written. The error names `out`.
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
    """Flush the file or folder at `path` to the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
