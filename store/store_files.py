"""The files of a store: the database, DuckDB's write-ahead log, and a folder for temporary data.

Only the user can read the files (mode 0600, folders 0700). DuckDB would create files with the
permissions that the umask allows. Therefore this module creates the files before DuckDB writes to
them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ..records import StoreError
from ..records.private_files import DRAFT, FILE_MODE, make_private, sync

HEADERS_BYTES = 3 * 4_096  # size of an empty database


def log_of(path: Path) -> Path:
    """Return the path of the write-ahead log that DuckDB keeps for a store."""
    return path.with_name(path.name + ".wal")


def identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode number of the file at `path`, or None if there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def prepare(path: Path, create: Callable[[Path], None]) -> bool:
    """Make the files of a store private before the store is opened for writing.

    A new store is created in a private folder, because with DuckDB alone the umask would decide who
    can read it.

    Args:
        path: The path of the store.
        create: A function that creates an empty database at a path.

    Returns:
        Whether the store is new.

    Raises:
        StoreError: The file cannot be created, or the path of the log is a link or holds the log of
            another store.
    """
    log = log_of(path)
    if os.path.islink(log):
        raise StoreError(
            f"{log} is a link, and changes would be written to its target: remove the link"
        )
    make_private(path)
    make_private(log)
    if os.path.lexists(path):
        return False
    if log.exists() and log.stat().st_size:  # DuckDB would apply it to the new store
        raise StoreError(
            f"{log} is the log of a store that is no longer beside it: move it to where the store is"
            " now, or remove it"
        )
    try:
        with tempfile.TemporaryDirectory(prefix=DRAFT, dir=path.parent) as folder:
            draft = Path(folder, "store")
            create(draft)
            draft.chmod(FILE_MODE)
            try:
                os.link(draft, path)
            except FileExistsError:  # another process was faster
                return False
            except OSError:  # a file system without hard links
                os.rename(draft, path)
    except OSError as error:
        raise StoreError(f"no store can be created at {path}: {error.strerror or error}") from None
    return True


def prepare_log(path: Path) -> None:
    """Create the write-ahead log of a store with mode 0600, unless the log exists.

    Call this function before each change. DuckDB removes the log at each checkpoint, and would
    create it at the next change with the permissions that the umask allows. The folder is flushed
    too, because after a power cut a new file may otherwise be missing, even if its content was
    flushed.
    """
    with contextlib.suppress(OSError):  # it is there, or DuckDB says why it cannot be
        os.close(os.open(log_of(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
        sync(path.parent)


@contextlib.contextmanager
def creation_lock(path: Path, until: float) -> Iterator[None]:
    """Keep other processes from creating a store at `path` at the same time.

    A process that finds an unfinished file replaces it, and must not replace a file that another
    process is just creating. The folder is locked, so no lock file remains. No lock is taken if the
    store is complete. If the file system cannot lock folders, or another program keeps the folder
    locked, the store is opened without the lock.

    Args:
        path: The path of the store.
        until: When to stop waiting for the lock, as a value of `time.monotonic()`.
    """
    try:
        complete = path.stat().st_size >= HEADERS_BYTES
    except OSError:
        complete = False
    if complete:
        yield
        return
    try:
        descriptor = os.open(path.parent, os.O_RDONLY)
    except OSError:  # a folder that may be written and not read
        yield
        return
    try:
        while time.monotonic() < until:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.02)
            except OSError:
                break
        yield
    finally:
        os.close(descriptor)


def make_spill_folder() -> str:
    """Return a new private folder for data that do not fit into memory, or "" if this fails."""
    try:
        return tempfile.mkdtemp(prefix="peirce-spill-")
    except OSError:
        return ""


def is_unfinished(path: Path) -> bool:
    """Return whether a file is only the beginning of a database, left by a kill or a full disk.

    Call this function only after DuckDB has failed to open the file, so that no lock of DuckDB can
    be lost.
    """
    try:
        if not path.is_file() or path.stat().st_size >= HEADERS_BYTES:
            return False
        with path.open("rb") as file:
            start = file.read(12)
    except OSError:
        return False
    return start == b"" or start[8:] == b"DUCK"


def remove_files(path: Path) -> None:
    """Remove the database file of a store and its write-ahead log."""
    for place in (path, log_of(path)):
        with contextlib.suppress(OSError):
            place.unlink()
