"""The one thread that writes a store: what waits at a moment is committed together.

A change is a set of rows to insert and of statements to run. Rows are inserted plainly first,
which is three times as fast as ON CONFLICT DO NOTHING; where a key is there already, the changes
are made again one by one with ON CONFLICT DO NOTHING, so that writing twice changes nothing.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


@dataclass(frozen=True)
class Change:
    """Rows by table, then statements with their parameters; all of it or nothing is written."""

    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    statements: Sequence[tuple[str, Sequence[Any]]] = ()


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
        cursor = self._database.cursor()
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
            self._transaction(cursor, [item.change for item in group], "")
        except duckdb.Error:
            for item in group:
                try:
                    self._transaction(cursor, [item.change], " ON CONFLICT DO NOTHING")
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

    def _transaction(
        self, cursor: duckdb.DuckDBPyConnection, changes: Sequence[Change], conflict: str
    ) -> None:
        import duckdb

        new: set[bytes] = set()
        cursor.execute("BEGIN TRANSACTION")
        try:
            for table, rows in self._merged(changes, new):
                for start in range(0, len(rows), ROWS_A_STATEMENT):
                    _insert(cursor, table, rows[start : start + ROWS_A_STATEMENT], conflict)
            for change in changes:
                for sql, params in change.statements:
                    cursor.execute(sql, list(params))
            cursor.execute("COMMIT")
        except duckdb.Error:
            _rollback(cursor)
            raise
        if len(self._known) > KNOWN_VECTORS:
            self._known.clear()
        self._known |= new

    def _merged(
        self, changes: Sequence[Change], new: set[bytes]
    ) -> Iterator[tuple[str, list[Row]]]:
        """The rows of all changes by table, without vectors that are there already."""
        merged: dict[str, list[Row]] = {}
        for change in changes:
            for table, rows in change.rows.items():
                for row in rows:
                    if table == "vector":
                        digest = bytes.fromhex(row[0])
                        if digest in self._known or digest in new:
                            continue
                        new.add(digest)
                    merged.setdefault(table, []).append(row)
        yield from merged.items()


def _insert(
    cursor: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Row], conflict: str
) -> None:
    places = "(" + ",".join("?" * len(rows[0])) + ")"
    values = ",".join([places] * len(rows))
    cursor.execute(
        f"INSERT INTO {table} VALUES {values}{conflict}", [cell for row in rows for cell in row]
    )


def _rollback(cursor: duckdb.DuckDBPyConnection) -> None:
    import duckdb

    try:
        cursor.execute("ROLLBACK")
    except duckdb.Error:
        return  # a failed COMMIT has rolled back already, or the database is invalid for good
