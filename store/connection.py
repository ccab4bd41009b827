"""The DuckDB file of a store: one process writes it, or many read it.

POSIX locks belong to a process: opening and closing the file by any other means in a process that
holds it open drops DuckDB's lock. So nothing else here ever opens the file.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..records import StoreError
from . import schema

if TYPE_CHECKING:
    import duckdb

Row = tuple[Any, ...]

READ_MEMORY = "1GB"  # of blocks that a reader keeps; DuckDB's own bound is most of the machine

# Checkpoints rewrite the row groups they touch, a blob of 100 kB a row: small groups and few
# checkpoints keep the work linear (2 bytes written for each stored one at 600 MB).
ROW_GROUP = 2_048
HEADERS_BYTES = 3 * 4_096  # a database without anything in it
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "checkpoint_threshold": "128MB",
    "threads": "1",  # rows come singly, and the cores belong to the sandbox and to search
}


class Reading(Protocol):
    """All reading of a store goes through this."""

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]: ...

    def close(self) -> None: ...


def by_problem(
    reading: Reading,
    select: str,
    session: str,
    problems: Sequence[str],
    order: str,
    where: str = "",
) -> dict[str, list[Row]]:
    """Rows of some problems of a session, by problem as it stands in its cell. One query for
    many problems: each is a scan, since an index serves whole keys alone.

    select: "SELECT problem, … FROM table"; the problem is left out of the rows.
    """
    places = ",".join("?" * len(problems))
    rows = reading.query(
        f"{select} WHERE session = ? AND problem IN ({places}) {where} ORDER BY {order}",
        [session, *problems],
    )
    found: dict[str, list[Row]] = {problem: [] for problem in problems}
    for problem, *cells in rows:
        found[problem].append(tuple(cells))
    return found


class Locked(StoreError):
    """Another process holds the file. pid: its number, 0 where unknown."""

    def __init__(self, message: str, pid: int) -> None:
        super().__init__(message)
        self.pid = pid


class Database:
    """The file, open in this process; `query` may be called from any thread.

    writing: the connection of the one thread that writes.
    """

    def __init__(self, path: Path, *, write: bool) -> None:
        """Raises StoreError; `Locked` where another process holds the file."""
        import duckdb

        self.path = path
        fresh = write and not os.path.lexists(path)
        try:
            self.writing = _attached(path, write)
        except Locked:
            raise
        except StoreError:
            unfinished = _is_unfinished(path)
            if unfinished and not write:
                raise _empty(path) from None
            if write and (fresh or unfinished):
                _unlink(path)
            if fresh or not write or os.path.lexists(path):
                raise
            fresh = True
            self.writing = _attached(path, write)
        self._local = threading.local()
        self._closed = False
        try:
            if schema.is_empty(self.query):
                if not write:
                    raise _empty(path)
                self._run(schema.statements())
            schema.check(self.query, str(path))
            if write and (missing := schema.upgrade(self.query)):
                self._run(missing)
        except (StoreError, duckdb.Error) as error:
            if fresh:
                _unlink(path)  # while it is locked: nobody else has begun to use it
            self.close()
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"no store can be made at {path}: {first_line(error)}") from error

    def _run(self, statements: Sequence[str]) -> None:
        self.writing.execute("BEGIN TRANSACTION")
        for statement in statements:
            self.writing.execute(statement)
        self.writing.execute("COMMIT")

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """This thread's own connection to the same database."""
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._local, "cursor", None)
        if cursor is None:
            if self._closed:
                raise StoreError(f"the store {self.path} is closed")
            cursor = self.writing.cursor()
            cursor.execute("USE store")  # a cursor does not inherit it
            self._local.cursor = cursor
        return cursor

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        import duckdb

        if self._closed:
            raise StoreError(f"the store {self.path} is closed")
        try:
            return self.cursor().execute(sql, list(params)).fetchall()
        except duckdb.Error as error:
            raise StoreError(f"{self.path} cannot be read: {first_line(error)}") from error

    def close(self) -> None:
        import duckdb

        self._closed = True
        with contextlib.suppress(duckdb.Error):  # what is committed stands in the log
            self.writing.close()


def _is_unfinished(path: Path) -> bool:
    """Whether the file is the start of a database and no more, as a kill or a full disk leaves
    it. It is opened here only where DuckDB could not, so that there is no lock to lose."""
    try:
        if not path.is_file() or path.stat().st_size >= HEADERS_BYTES:
            return False
        with path.open("rb") as file:
            start = file.read(12)
    except OSError:
        return False
    return start == b"" or start[8:] == b"DUCK"


def _empty(path: Path) -> StoreError:
    return StoreError(
        f"{path} holds nothing yet: what made it was stopped before it began; the next run uses it"
    )


def _unlink(path: Path) -> None:
    for place in (path, path.with_name(path.name + ".wal")):
        with contextlib.suppress(OSError):
            place.unlink()


def first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def _attached(path: Path, write: bool) -> duckdb.DuckDBPyConnection:
    import duckdb

    memory: dict[str, str] = {} if write else {"memory_limit": READ_MEMORY}
    connection = duckdb.connect(":memory:", config={**CONFIG, **memory})
    place = str(path).replace("'", "''")
    options = f"ROW_GROUP_SIZE {ROW_GROUP}" if write else "READ_ONLY"
    try:
        connection.execute(f"ATTACH '{place}' AS store (TYPE duckdb, {options})")
        connection.execute("USE store")
        connection.execute("PRAGMA disable_optimizer")  # of this connection: it inserts row by row
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    except duckdb.Error as error:
        connection.close()
        raise _why(path, first_line(error)) from error
    return connection


def _why(path: Path, message: str) -> StoreError:
    """DuckDB's reason as a sentence for the user."""
    if "Could not set lock" in message:
        found = re.search(r"PID (\d+)", message)
        pid = int(found[1]) if found else 0
        who = f"process {pid}" if pid else "another process"
        return Locked(f"{path} is in use by {who}; wait for it or name another store", pid)
    if "already attached" in message:
        return StoreError(f"{path} is open in this process already; close that store first")
    if "not a valid DuckDB database" in message or "Could not read enough bytes" in message:
        return StoreError(f"{path} is no DuckDB database; name another store")
    if "storage version" in message or "newer version of DuckDB" in message:
        return StoreError(f"{path} was written by another version of DuckDB: {message}")
    return StoreError(f"{path} cannot be opened as a store: {message}")
