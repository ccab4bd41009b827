"""The thread that writes a store, which commits waiting changes together.

A change consists of rows to insert and statements to run. Rows are first inserted without a
conflict clause, which is three times as fast as ON CONFLICT DO NOTHING. If a key already exists,
the changes are repeated one by one with ON CONFLICT DO NOTHING. Therefore writing the same rows
twice changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..records import Digest, StoreError
from .codec import Vector, encode_vector, vector_digest
from .connection import Database, Row, first_line
from .store_files import prepare_log

if TYPE_CHECKING:
    import duckdb

MAX_KNOWN_VECTORS = 200_000
IGNORE_CONFLICT = " ON CONFLICT DO NOTHING"
ROWS_PER_STATEMENT = 64
COMMIT_WAIT_S = 0.1

Statement = tuple[str, Sequence[Any]]  # SQL and its parameters


@dataclass(frozen=True)
class Change:
    """Rows and statements that are written to the store together or not at all.

    Attributes:
        rows: Rows to insert, by table.
        statements: Statements with their parameters, run after the inserts.
        unless: A query with its parameters. If a key already exists and this query returns a row,
            nothing is written. None for no such query.
        chain: The name of a chain of changes; None for none. If a change of a chain fails, all
            later changes of this chain fail with the same error, so the store holds a prefix of
            them.
    """

    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    statements: Sequence[Statement] = ()
    unless: Statement | None = None
    chain: str | None = None


@dataclass(frozen=True)
class _Waiting:
    change: Change
    done: Future[None]


class Writer:
    """The thread that writes a store. It starts on construction and ends with `close`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._known: set[bytes] = set()  # digests of vectors that are certainly in the file
        self._parsed: dict[str, duckdb.Statement] = {}  # parsing is a third of a large insert
        self._lock = threading.Lock()
        self._ended: str | None = None
        self._broken: dict[str, StoreError] = {}  # the error of each chain that has failed
        self._open = 0  # changes that are neither written nor refused
        self._flushing = 0  # threads that wait until all changes are written
        self._settled = threading.Condition(self._lock)
        self.commit_size = 1  # how many changes a commit waits for, for `COMMIT_WAIT_S` at most
        database.before_query = self.flush
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, change: Change) -> Future[None]:
        """Queue a change, and return a future that is done when the change is durable.

        The future raises StoreError if the change cannot be written.

        Raises:
            StoreError: The writer is closed or has failed.
        """
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # a caller that gives up cancels nothing
        with self._lock:
            if self._ended is not None:
                raise StoreError(self._ended)
            self._open += 1
            self._waiting.put(_Waiting(change, done))
        return done

    def flush(self) -> None:
        """Wait until every queued change is written or refused. Any thread but the writer's may call this."""
        if self._open:
            with self._settled:
                self._flushing += 1
                self._settled.wait_for(lambda: not self._open)
                self._flushing -= 1

    def add_vector_rows(self, vectors: Iterable[Vector], rows: list[Row]) -> list[Digest]:
        """Return the digests of arrays, and append table rows for unwritten arrays to `rows`."""
        digests = []
        for vector in vectors:
            digest = vector_digest(vector)
            digests.append(digest)
            if bytes.fromhex(digest) not in self._known:
                rows.append((digest, encode_vector(vector)))
        return digests

    async def write(self, change: Change) -> None:
        """Write a change and wait until it is durable."""
        await asyncio.wrap_future(self.submit(change))

    def close(self) -> None:
        """Write all queued changes, then end the thread."""
        with self._lock:
            if self._ended is None:
                self._ended = f"the store {self._database.path} is closed"
                self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while group := self._next_group():
                self._commit(group)
        finally:
            with self._lock:  # after an unexpected error, no caller may wait forever
                self._ended = self._ended or f"the writer of {self._database.path} has failed"
                while not self._waiting.empty():
                    if (item := self._waiting.get()) is not None:
                        item.done.set_exception(StoreError(self._ended))
                self._open = 0
                self._settled.notify_all()

    def _next_group(self) -> list[_Waiting]:
        """Return the changes that wait now, at least one; empty after `close`."""
        group: list[_Waiting] = []
        while not group or not self._waiting.empty():
            item = self._waiting.get()
            if item is None:
                self._waiting.put(None)  # the next call finds it and returns an empty group
                return group
            group.append(item)
            if len(group) == 1:
                self._linger()
        return group

    def _linger(self) -> None:
        """Wait for further changes: one commit of ten changes costs a fourth of ten commits."""
        until = time.monotonic() + COMMIT_WAIT_S
        while self._waiting.qsize() + 1 < self.commit_size and self._ended is None:
            if self._flushing or time.monotonic() >= until:
                return
            time.sleep(COMMIT_WAIT_S / 20)

    def _commit(self, group: Sequence[_Waiting]) -> None:
        import duckdb

        try:
            try:
                self._write([item.change for item in group if not self._refused(item)], "")
            except duckdb.Error:
                for item in group:
                    try:
                        if not self._refused(item) and not self._is_there(item.change):
                            self._write([item.change], IGNORE_CONFLICT)
                    except duckdb.Error as error:
                        self._fail(item, self._failure(error))
        except StoreError as moved:
            for item in group:
                self._fail(item, moved)
        finally:
            unforeseen = sys.exc_info()[1]
            for item in group:
                if unforeseen is not None:
                    self._fail(item, StoreError(f"the store's writer failed: {unforeseen}"))
                elif not item.done.done():
                    item.done.set_result(None)
            with self._settled:
                self._open -= len(group)
                self._settled.notify_all()

    def _refused(self, item: _Waiting) -> bool:
        """Return whether a change cannot be written, because one before it in its chain failed."""
        if item.change.chain in self._broken:
            self._fail(item, self._broken[item.change.chain])
        return item.done.done()

    def _fail(self, item: _Waiting, error: StoreError) -> None:
        if item.done.done():
            return
        if item.change.chain is not None:
            self._broken.setdefault(item.change.chain, error)
        item.done.set_exception(error)

    def _is_there(self, change: Change) -> bool:
        if change.unless is None:
            return False
        sql, params = change.unless
        return bool(self._database.write_connection.execute(sql, list(params)).fetchall())

    def _failure(self, error: duckdb.Error) -> StoreError:
        return StoreError(
            f"{self._database.path} could not be written ({first_line(error)}). Everything"
            " written before is kept; fix the cause and resume the session"
        )

    def _write(self, changes: Sequence[Change], conflict: str) -> None:
        """Write changes durably, all or nothing.

        Vectors before a single statement are committed separately: a vector that nothing refers to
        yet does no harm, and two statements cost less than a transaction.
        """
        rows = self._merged(changes)
        new = rows.pop("vector", [])
        # An earlier session may have stored the same content under the same digest.
        vectors = _inserts("vector", new, IGNORE_CONFLICT)
        inserts = [one for table, some in rows.items() for one in _inserts(table, some, conflict)]
        rest = [*inserts, *(one for change in changes for one in change.statements)]
        for together in [vectors, rest] if len(rest) == 1 else [[*vectors, *rest]]:
            self._execute(together)
        if len(self._known) > MAX_KNOWN_VECTORS:
            self._known.clear()
        self._known.update(bytes.fromhex(digest) for digest, _ in new)

    def _merged(self, changes: Sequence[Change]) -> dict[str, list[Row]]:
        """Return the rows of all changes by table, without vectors that are already stored."""
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

    def _execute(self, statements: Sequence[Statement]) -> None:
        import duckdb

        self._database.check_place()
        prepare_log(self._database.path)
        several = len(statements) > 1
        try:
            if several:
                self._one("BEGIN TRANSACTION", ())
            for sql, params in statements:
                self._one(sql, params)
            if several:
                self._one("COMMIT", ())
        except duckdb.Error:
            if several:
                with contextlib.suppress(duckdb.Error):  # a failed COMMIT has rolled back already
                    self._one("ROLLBACK", ())
            raise

    def _one(self, sql: str, params: Sequence[Any]) -> None:
        if sql not in self._parsed:
            (self._parsed[sql],) = self._database.write_connection.extract_statements(sql)
        self._database.write_connection.execute(self._parsed[sql], list(params))


def _inserts(table: str, rows: Sequence[Row], conflict: str) -> list[Statement]:
    found: list[Statement] = []
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        part = rows[start : start + ROWS_PER_STATEMENT]
        places = "(" + ",".join("?" * len(part[0])) + ")"
        values = ",".join([places] * len(part))
        found.append(
            (f"INSERT INTO {table} VALUES {values}{conflict}", [c for row in part for c in row])
        )
    return found
