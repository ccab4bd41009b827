"""The DuckDB file of a store, and connections to it.

Either one process has the file open for writing, or several processes have it open for reading.
POSIX locks belong to a process. If a process that has the file open in DuckDB also opens and closes
the file by other means, DuckDB's lock is lost. Therefore no other code of this package opens the
file.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from ..records import StoreError
from . import store_files
from .schema import (
    Row,
    check_schema,
    creation_statements,
    is_empty,
    schema_version,
    upgrade_statements,
)

if TYPE_CHECKING:
    import duckdb


READER_MEMORY = "1GB"  # a reader's block cache; DuckDB's default is most of the machine's memory

# A checkpoint rewrites the row groups that it touches, and a row may hold a blob of 100 kB. Small
# groups and few checkpoints keep the work linear (2 bytes written per stored byte at 600 MB).
ROW_GROUP = 2_048
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "checkpoint_threshold": "128MB",
    "threads": "1",  # rows arrive one by one, and the sandbox and search need the cores
}


class RowReader(Protocol):
    """The interface for reading a store, from its file or through the process that writes it."""

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Run one SELECT statement and return its rows."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


def rows_by_problem(
    reader: RowReader,
    select: str,
    session: str,
    problems: Sequence[str],
    order: str,
    where: str = "",
) -> dict[str, list[Row]]:
    """Return the rows of several problems of a session, grouped by problem.

    All problems are read by one query. A separate query for each problem would scan the table each
    time, because an index only helps for complete keys.

    Args:
        reader: The connection.
        select: "SELECT problem, … FROM table". The problem is left out of the returned rows.
        session: The session's id.
        problems: Ids of problems in the form of `codec.encode_text`.
        order: The columns of ORDER BY.
        where: An additional condition that begins with AND.
    """
    places = ",".join("?" * len(problems))
    rows = reader.query(
        f"{select} WHERE session = ? AND problem IN ({places}) {where} ORDER BY {order}",
        [session, *problems],
    )
    found: dict[str, list[Row]] = {problem: [] for problem in problems}
    for problem, *cells in rows:
        found[problem].append(tuple(cells))
    return found


class StoreLocked(StoreError):
    """Raised if another process has opened the store for writing.

    Attributes:
        pid: The process id of the other process; 0 if it is unknown.
    """

    def __init__(self, message: str, pid: int) -> None:
        super().__init__(message)
        self.pid = pid


class OutOfMemory(StoreError):
    """Raised if a query needs more memory than its reader may take."""


class AlreadyOpen(StoreError):
    """Raised if this process has already opened the same store."""


# Threads of this process open files for writing one after the other: a thread that finds an
# unfinished file replaces it, and must not replace one that another thread is just creating.
OPENING = threading.Lock()


class Database:
    """The DuckDB file of a store, opened in this process.

    `query` may be called from any thread.

    Attributes:
        write_connection: The connection for the single thread that writes.
        before_query: A function that every query calls first; the store's writer sets it.
    """

    _creator: duckdb.DuckDBPyConnection | None = None  # It creates the file, and then opens it.

    def __init__(
        self, path: Path, *, write: bool, sources: Sequence[Path] = (), memory: str | None = None
    ) -> None:
        """Open the file, and create it where `write` is set and it does not exist.

        Hold `OPENING` to open it for writing. Statements find the tables of `sources`, which are
        opened for reading alone, under `source_name`. A reader holds at most `memory`
        (`READER_MEMORY` if it is None).

        Raises:
            AlreadyOpen: This process holds the file.
            StoreLocked: Another process holds the file.
            StoreError: The file is no store, or cannot be opened.
        """
        import duckdb

        self.path = path
        self.before_query: Callable[[], None] = lambda: None
        self._write = write
        self._memory = memory or READER_MEMORY
        self._sources = sources
        self._spill = store_files.make_spill_folder()
        try:
            fresh = write and self._prepare()
            self.write_connection, again = self._attach_or_replace(write, fresh)
        except StoreError:
            if self._creator is not None:
                self._creator.close()
            self._remove_spill()
            raise
        fresh = fresh or again
        self._file = store_files.identity(path)
        self._local = threading.local()
        self._closed = False
        try:
            if (fresh or not schema_version(self.query)) and is_empty(self.query):
                if not write:
                    raise _empty(path)
                self._run(creation_statements())
            check_schema(self.query, str(path))
            if write and (missing := upgrade_statements(self.query)):
                self._run(missing)
        except (StoreError, duckdb.Error) as error:
            if fresh:
                # It is still locked, so no other process uses it yet.
                store_files.remove_files(path)
            self.close()
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"no store can be created at {path}: {first_line(error)}") from error

    def _prepare(self) -> bool:
        def create(draft: Path) -> None:
            self._creator = creator = _connect(self._spill)
            try:
                creator.execute(_attachment(draft, "draft", write=True))
                creator.execute("DETACH draft")
            except duckdb.Error as error:
                raise _why(self.path, first_line(error)) from error

        import duckdb

        return store_files.prepare(self.path, create)

    def _attach_or_replace(self, write: bool, fresh: bool) -> tuple[Any, bool]:
        """Open the file; return the connection, and whether it replaces an unfinished file."""
        try:
            return self._attached(), False
        except (StoreLocked, AlreadyOpen):  # the file is good
            raise
        except StoreError as error:
            unfinished = store_files.is_unfinished(self.path)
            if write and (fresh or unfinished):
                store_files.remove_files(self.path)
            if not (write and unfinished):
                raise (_empty(self.path) if unfinished else error) from None
        self._prepare()
        return self._attached(), True

    def _attached(self) -> duckdb.DuckDBPyConnection:
        """Return a connection to the file, and to the files of `sources`."""
        import duckdb

        connection, self._creator = self._creator, None
        if connection is None:
            limit = {} if self._write else {"memory_limit": self._memory}
            connection = _connect(self._spill, limit)
        named = self.path
        try:
            connection.execute(_attachment(self.path, "store", self._write))
            connection.execute("USE store")
            if not self._sources:  # then this connection only inserts single rows
                connection.execute("PRAGMA disable_optimizer")
            # At its end DuckDB would remove the log by its path, even where the store was moved and
            # the log there is that of another store. `close` writes a checkpoint instead.
            connection.execute("PRAGMA disable_checkpoint_on_shutdown")
            for number, source in enumerate(self._sources):
                named = source
                connection.execute(_attachment(source, source_name(number), write=False))
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
        except duckdb.Error as error:
            connection.close()
            raise _why(named, first_line(error)) from error
        return connection

    def is_in_place(self) -> bool:
        """Return whether `path` still leads to the file that was opened.

        DuckDB finds the log of a file by the file's path. If the file was moved, a log at the old
        path may belong to another store.
        """
        return store_files.identity(self.path) == self._file

    def check_place(self) -> None:
        """Raise StoreError if `path` no longer leads to the file that was opened."""
        if not self.is_in_place():
            raise StoreError(
                f"{self.path} was moved or replaced while it was open, so nothing more is written to"
                " it: what was written before is kept where it is now, with its log"
                f" ({store_files.log_of(self.path).name}) beside it; resume there"
            )

    def _run(self, statements: Sequence[str]) -> None:
        store_files.prepare_log(self.path)
        self.write_connection.execute("BEGIN TRANSACTION")
        for statement in statements:
            self.write_connection.execute(statement)
        self.write_connection.execute("COMMIT")

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return the database connection of the calling thread, opening it if necessary."""
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._local, "cursor", None)
        if cursor is None:
            if self._closed:
                raise StoreError(f"the store {self.path} is closed")
            cursor = self.write_connection.cursor()
            cursor.execute("USE store")  # a cursor does not inherit it
            self._local.cursor = cursor
        return cursor

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Run one SELECT statement and return its rows.

        A query of the process that writes the store finds every change that was queued before it.

        Raises:
            StoreError: The query fails, or the store is closed.
        """
        import duckdb

        if self._closed:
            raise StoreError(f"the store {self.path} is closed")
        self.before_query()
        try:
            return self.cursor().execute(sql, list(params)).fetchall()
        except duckdb.Error as error:
            if isinstance(error, duckdb.OutOfMemoryException):
                raise OutOfMemory(f"{self.path} cannot be read: {first_line(error)}") from error
            raise StoreError(f"{self.path} cannot be read: {first_line(error)}") from error

    def close(self) -> None:
        """Close all connections to the file."""
        import duckdb

        self._closed = True
        if self._write and self.is_in_place():
            with contextlib.suppress(duckdb.Error):  # committed changes are in the log
                self.write_connection.execute("CHECKPOINT store")
        with contextlib.suppress(duckdb.Error):
            self.write_connection.close()
        self._remove_spill()

    def _remove_spill(self) -> None:
        if self._spill:
            shutil.rmtree(self._spill, ignore_errors=True)


def _empty(path: Path) -> StoreError:
    return StoreError(
        f"{path} is still empty, because the process that created it was stopped too early; the"
        " next run will use it"
    )


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return str(error).strip().partition("\n")[0]


def source_name(number: int) -> str:
    """Return the name of a source in SQL, by its position in `sources`."""
    return f"source{number}"


def _connect(
    spill: str, limit: Mapping[str, str] = MappingProxyType({})
) -> duckdb.DuckDBPyConnection:
    import duckdb

    config = {**CONFIG, **limit, "temp_directory": spill}
    connection: duckdb.DuckDBPyConnection = duckdb.connect(":memory:", config=config)
    return connection


def _attachment(path: Path, name: str, write: bool) -> str:
    """Return the statement that opens the file at `path` as the database `name`."""
    place = str(path).replace("'", "''")
    options = f"ROW_GROUP_SIZE {ROW_GROUP}" if write else "READ_ONLY"
    return f"ATTACH '{place}' AS {name} (TYPE duckdb, {options})"


def _why(path: Path, message: str) -> StoreError:
    """Return DuckDB's message as an error with a sentence for the user."""
    if "Could not set lock" in message:
        found = re.search(r"PID (\d+)", message)
        pid = int(found[1]) if found else 0
        who = f"process {pid}" if pid else "another process"
        return StoreLocked(f"{path} is in use by {who}; wait for it or name another store", pid)
    if "already attached" in message:
        return AlreadyOpen(f"{path} is open in this process already; close that store first")
    if "not a valid DuckDB database" in message or "Could not read enough bytes" in message:
        return StoreError(f"{path} is not a DuckDB database; choose another store")
    if "storage version" in message or "newer version of DuckDB" in message:
        return StoreError(f"{path} was written by another version of DuckDB: {message}")
    return StoreError(f"{path} cannot be opened as a store: {message}")
