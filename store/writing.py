"""The one thread that writes a store: what waits at a moment is committed together.

A change is a set of rows to insert and of statements to run. Rows are inserted plainly first,
which is three times as fast as ON CONFLICT DO NOTHING; where a key is there already, the changes
are made again one by one with ON CONFLICT DO NOTHING, so that writing twice changes nothing.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..records import Digest, StoreError
from .connection import Database, Row, first_line
from .vectors import Vector, encode, vector_digest

if TYPE_CHECKING:
    import duckdb

KNOWN_VECTORS = 200_000
ROWS_A_STATEMENT = 64

Statement = tuple[str, Sequence[Any]]  # SQL and its parameters


@dataclass(frozen=True)
class Change:
    """Rows by table, then statements with their parameters; all of it or nothing is written."""

    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    statements: Sequence[Statement] = ()


@dataclass(frozen=True)
class _Waiting:
    change: Change
    done: Future[None]


class Writer:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._known: set[bytes] = set()  # digests of vectors that are in the file for certain
        self._lock = threading.Lock()
        self._ended: str | None = None
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, change: Change) -> Future[None]:
        """Done once the change is durable; StoreError in it where it could not be written."""
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # a caller that gives up does not undo the change
        with self._lock:
            if self._ended is not None:
                raise StoreError(self._ended)
            self._waiting.put(_Waiting(change, done))
        return done

    def vector_rows(self, vectors: Iterable[Vector], into: list[Row]) -> list[Digest]:
        """The digests of the vectors; the rows of those not yet written are added to `into`."""
        digests = []
        for vector in vectors:
            digest = vector_digest(vector)
            digests.append(digest)
            if bytes.fromhex(digest) not in self._known:
                into.append((digest, encode(vector)))
        return digests

    async def write(self, change: Change) -> None:
        await asyncio.wrap_future(self.submit(change))

    def close(self) -> None:
        with self._lock:
            if self._ended is None:
                self._ended = f"the store {self._database.path} is closed"
                self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        cursor = self._database.writing
        while True:
            first = self._waiting.get()
            group = [] if first is None else [first]
            closing = first is None
            while not closing and not self._waiting.empty():
                item = self._waiting.get()
                if item is None:
                    closing = True
                else:
                    group.append(item)
            try:
                self._commit(cursor, group)
            finally:
                for item in group:  # only after an unforeseen error of this thread
                    if not item.done.done():
                        item.done.set_exception(StoreError("the store's writer has failed"))
            if closing:
                return

    def _commit(self, cursor: duckdb.DuckDBPyConnection, group: Sequence[_Waiting]) -> None:
        import duckdb

        if not group:
            return
        try:
            self._write(cursor, [item.change for item in group], "")
        except duckdb.Error:
            for item in group:
                try:
                    self._write(cursor, [item.change], " ON CONFLICT DO NOTHING")
                except duckdb.Error as error:
                    item.done.set_exception(self._failure(error))
                else:
                    item.done.set_result(None)
        else:
            for item in group:
                item.done.set_result(None)

    def _failure(self, error: duckdb.Error) -> StoreError:
        return StoreError(
            f"{self._database.path} could not be written ({first_line(error)}); what was written "
            "before is kept: mend the cause and resume"
        )

    def _write(
        self, cursor: duckdb.DuckDBPyConnection, changes: Sequence[Change], conflict: str
    ) -> None:
        """Durable, all or nothing. Vectors go first and on their own: one that nothing refers to
        yet harms nobody, and statements on their own cost half of what a transaction does."""
        rows = self._merged(changes)
        new = rows.pop("vector", [])
        _run(cursor, _inserts("vector", new, conflict))
        if len(self._known) > KNOWN_VECTORS:
            self._known.clear()
        self._known.update(bytes.fromhex(digest) for digest, _ in new)
        inserts = [one for table, some in rows.items() for one in _inserts(table, some, conflict)]
        _run(cursor, [*inserts, *(one for change in changes for one in change.statements)])

    def _merged(self, changes: Sequence[Change]) -> dict[str, list[Row]]:
        """The rows of all changes by table, without vectors that are there already."""
        merged: dict[str, list[Row]] = {}
        new: set[Digest] = set()
        for change in changes:
            for table, rows in change.rows.items():
                for row in rows:
                    if table == "vector":
                        if row[0] in new or bytes.fromhex(row[0]) in self._known:
                            continue
                        new.add(row[0])
                    merged.setdefault(table, []).append(row)
        return merged


def _inserts(table: str, rows: Sequence[Row], conflict: str) -> list[Statement]:
    found: list[Statement] = []
    for start in range(0, len(rows), ROWS_A_STATEMENT):
        part = rows[start : start + ROWS_A_STATEMENT]
        places = "(" + ",".join("?" * len(part[0])) + ")"
        values = ",".join([places] * len(part))
        found.append(
            (f"INSERT INTO {table} VALUES {values}{conflict}", [c for row in part for c in row])
        )
    return found


def _run(cursor: duckdb.DuckDBPyConnection, statements: Sequence[Statement]) -> None:
    import duckdb

    if len(statements) > 1:
        cursor.execute("BEGIN TRANSACTION")
    try:
        for sql, params in statements:
            cursor.execute(sql, list(params))
        if len(statements) > 1:
            cursor.execute("COMMIT")
    except duckdb.Error:
        if len(statements) > 1:
            _rollback(cursor)
        raise


def _rollback(cursor: duckdb.DuckDBPyConnection) -> None:
    import duckdb

    try:
        cursor.execute("ROLLBACK")
    except duckdb.Error:
        return  # a failed COMMIT has rolled back already, or the database is invalid for good
