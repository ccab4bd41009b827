"""The thread that writes a store, which commits waiting changes together.

A change consists of rows to insert and statements to run. Changes of a chain, which are the calls
and steps of a session, are first committed as one blob in the table `pending`. They are durable
then. A commit takes everything that is queued. It begins when a caller waits for a change, and
otherwise `COMMIT_WAIT_S` after the first change was queued.

The rows of `pending` are inserted together, and the blobs deleted in the same transaction, when
`MAX_UNAPPLIED_ROWS` or `MAX_UNAPPLIED_BYTES` are exceeded, before a query, before any other change,
and at the end. If the process is killed before, the next one that opens the store does it.

Rows are first inserted without a conflict clause, which is three times as fast as ON CONFLICT DO
NOTHING. If a key already exists, the changes are repeated one by one with ON CONFLICT DO NOTHING.
Therefore writing the same rows twice changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import queue
import sys
import threading
import time
from collections.abc import Container, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..records import Digest, StoreError
from .change_log import (
    Change,
    Column,
    Statement,
    decode_changes,
    encode_changes,
    is_storable,
)
from .codec import Vector, encode_vector, vector_digest
from .connection import Database, first_line
from .schema import Row
from .store_files import prepare_log

if TYPE_CHECKING:
    import duckdb

MAX_KNOWN_VECTORS = 200_000
MAX_ENCODED_VECTORS, MAX_ENCODED_BYTES = 32, 1 << 18  # each of at most so many bytes
IGNORE_CONFLICT = " ON CONFLICT DO NOTHING"
ROWS_PER_STATEMENT = 256
MIN_LISTED_ROWS = 8  # with fewer rows, one parameter per cell costs less than one list per column
MAX_UNAPPLIED_ROWS = 1_000
MAX_UNAPPLIED_BYTES = 16 << 20
COMMIT_WAIT_S = 0.1


@dataclass(frozen=True)
class _Waiting:
    change: Change
    done: Future[None]
    awaited: bool  # whether a caller waits for it


class _Hurry:
    """Put into the queue of changes when a caller begins to wait for one of them."""


class Writer:
    """The thread that writes a store. It starts on construction and ends with `close`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: queue.SimpleQueue[_Waiting | _Hurry | None] = queue.SimpleQueue()
        self._known: set[bytes] = set()  # digests of vectors that are certainly in the file
        # Arrays encoded last: a step has those of its calls, which may still be in the queue.
        self._encoded: dict[Digest, bytes] = {}
        self._parsed: dict[str, duckdb.Statement] = {}  # parsing is a third of a large insert
        self._lock = threading.Lock()
        self._ended: str | None = None
        self._broken: dict[str, StoreError] = {}  # the error of each chain that has failed
        # Changes that are neither durable nor refused. One of them is what a killed process left.
        self._open = 1
        self._unapplied: list[Change] = []  # in `pending` and not in their tables
        self._unapplied_rows = self._unapplied_bytes = 0
        self._blobs = 0
        self._columns: dict[str, list[Column]] = {}
        self._flushing = 0  # threads that wait until all changes are in their tables
        self.commit_size = 1  # how many changes a commit waits for, for `COMMIT_WAIT_S` at most
        database.before_query = self.flush
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, change: Change, *, awaited: bool = True) -> Future[None]:
        """Queue a change, and return a future that is done when the change is durable.

        The future raises StoreError if the change cannot be written. A change that is not `awaited`
        waits up to `COMMIT_WAIT_S` for others, or for `hurry`: a commit costs about as much as
        inserting the rows of a step.

        Raises:
            StoreError: The writer is closed or has failed.
        """
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # a caller that gives up cancels nothing
        with self._lock:
            if self._ended is not None:
                raise StoreError(self._ended)
            self._open += 1
            self._waiting.put(_Waiting(change, done, awaited))
        return done

    def hurry(self) -> None:
        """Commit what is queued as soon as possible, because a caller waits for it."""
        self._waiting.put(_Hurry())

    def flush(self) -> None:
        """Wait until every queued change is in its tables.

        The writer's own thread must not call this.

        Raises:
            StoreError: Changes cannot be written.
        """
        if not self._open and not self._unapplied:
            return
        self._flushing += 1
        try:
            self.submit(Change()).result()
        except StoreError:
            if self._ended is None:
                raise
            self._thread.join()  # a thread that ends puts everything into its tables first
            if self._unapplied:
                raise
        finally:
            self._flushing -= 1

    def add_vector_rows(self, vectors: Iterable[Vector], rows: list[Row]) -> list[Digest]:
        """Return the digests of arrays, and append table rows for unwritten arrays to `rows`."""
        digests = []
        for vector in vectors:
            digest = vector_digest(vector)
            digests.append(digest)
            if bytes.fromhex(digest) in self._known:
                continue
            data = self._encoded.get(digest)
            if data is None:
                data = encode_vector(vector)
                if len(self._encoded) >= MAX_ENCODED_VECTORS:
                    self._encoded.clear()
                if len(data) <= MAX_ENCODED_BYTES:
                    self._encoded[digest] = data
            rows.append((digest, data))
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
        import duckdb

        try:
            self._recover()
            with self._lock:
                self._open -= 1
            while group := self._next_group():
                self._commit(group)
            self._apply()
        except duckdb.Error as error:
            self._ended = self._ended or str(self._failure(error))
        except StoreError as error:
            self._ended = self._ended or str(error)
        finally:
            with self._lock:  # after an unexpected error, no caller may wait forever
                self._ended = self._ended or f"the writer of {self._database.path} has failed"
                while not self._waiting.empty():
                    if isinstance(item := self._waiting.get(), _Waiting):
                        item.done.set_exception(StoreError(self._ended))
                self._open = 0

    def _next_group(self) -> list[_Waiting]:
        """Return the changes that wait now, at least one; empty after `close`.

        More changes are waited for while nobody waits for these, or while there are fewer than
        `commit_size`, but for `COMMIT_WAIT_S` at most.
        """
        group: list[_Waiting] = []
        awaited = False
        until = math.inf
        while True:
            due = awaited and (self._flushing or len(group) >= self.commit_size)
            left = 0.0 if due else until - time.monotonic()
            try:
                item = self._waiting.get(left > 0, None if math.isinf(left) else max(left, 0.0))
            except queue.Empty:
                return group
            if item is None:
                self._waiting.put(None)  # the next call finds it and returns an empty group
                return group
            if isinstance(item, _Waiting):
                if not group:
                    until = time.monotonic() + COMMIT_WAIT_S
                group.append(item)
                awaited = awaited or item.awaited
            else:
                awaited = bool(group)  # else the change was committed in the meantime

    def _commit(self, group: Sequence[_Waiting]) -> None:
        import duckdb

        try:
            waiting = [item for item in group if not self._refused(item)]
            try:
                others = [
                    item for item in waiting if not is_storable(item.change, self._columns_of)
                ]
                if others:
                    try:
                        self._apply()
                    except duckdb.Error as error:
                        for item in others:
                            self._fail(item, self._failure(error))
                    else:
                        self._insert(waiting)
                        waiting = []
                self._keep([item.change for item in waiting if not self._refused(item)])
            except (duckdb.Error, UnicodeEncodeError) as error:  # a lone surrogate is no text
                for item in waiting:
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
            with self._lock:
                self._open -= len(group)

    def _recover(self) -> None:
        """Take over the changes that a killed process left in `pending`."""
        found = self._database.write_connection.execute(
            "SELECT changes FROM pending ORDER BY ordinal"
        ).fetchall()
        self._unapplied = [change for (data,) in found for change in decode_changes(data)]
        self._apply()

    def _keep(self, changes: Sequence[Change]) -> None:
        """Commit changes as one blob, and insert their rows if enough rows wait."""
        import duckdb

        if not changes:
            return
        if self._is_full():
            self._apply()  # it failed before
        new = self._vectors(changes, self._known)
        others = [
            replace(
                one, rows={table: rows for table, rows in one.rows.items() if table != "vector"}
            )
            for one in changes
        ]
        kept = [Change({"vector": new}, chain=changes[0].chain), *others] if new else others
        data = encode_changes(kept)
        self._execute([("INSERT INTO pending VALUES (?, ?)", (self._blobs, data))])
        self._note_vectors(new)
        self._blobs += 1
        self._unapplied += kept
        self._unapplied_rows += sum(one.count_rows() for one in kept)
        self._unapplied_bytes += len(data)
        if self._is_full():
            # The changes are durable. The next change or query fails if the cause is still there.
            with contextlib.suppress(duckdb.Error):
                self._apply()

    def _is_full(self) -> bool:
        return (
            self._unapplied_rows > MAX_UNAPPLIED_ROWS or self._unapplied_bytes > MAX_UNAPPLIED_BYTES
        )

    def _note_vectors(self, rows: Iterable[Row]) -> None:
        if len(self._known) > MAX_KNOWN_VECTORS:
            self._known.clear()
        self._known.update(bytes.fromhex(digest) for digest, _ in rows)

    def _apply(self) -> None:
        """Insert the rows of all changes in `pending`, and delete them there."""
        import duckdb

        if not self._unapplied:
            return
        emptying: Statement = ("DELETE FROM pending", ())
        try:
            self._write(self._unapplied, "", emptying, known=())
        except duckdb.Error:
            for change in self._unapplied:
                if not self._is_there(change):
                    self._write([change], IGNORE_CONFLICT, known=())
            self._execute([emptying])
        self._unapplied = []
        self._unapplied_rows = self._unapplied_bytes = 0

    def _insert(self, group: Sequence[_Waiting]) -> None:
        """Insert the rows of changes, together if possible, and otherwise one by one."""
        import duckdb

        try:
            self._write([item.change for item in group], "")
        except duckdb.Error:
            for item in group:
                try:
                    if not self._refused(item) and not self._is_there(item.change):
                        self._write([item.change], IGNORE_CONFLICT)
                except duckdb.Error as error:
                    self._fail(item, self._failure(error))

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

    def _failure(self, error: duckdb.Error | UnicodeEncodeError) -> StoreError:
        return StoreError(
            f"{self._database.path} could not be written ({first_line(error)}). Everything"
            " written before is kept; fix the cause and resume the session"
        )

    def _write(
        self,
        changes: Sequence[Change],
        conflict: str,
        last: Statement | None = None,
        *,
        known: Container[bytes] | None = None,
    ) -> None:
        """Write changes durably, all or nothing, and run the statement `last` after them.

        Vectors before a single statement are committed separately: a vector that nothing refers to
        yet does no harm, and two statements cost less than a transaction. Vectors whose digests are
        in `known` are not written; None for those that the writer knows to be in the store.
        """
        rows: dict[str, list[Row]] = {}
        for change in changes:
            for table, some in change.rows.items():
                rows.setdefault(table, []).extend(some)
        rows.pop("vector", None)
        new = self._vectors(changes, self._known if known is None else known)
        # An earlier session may have stored the same content under the same digest.
        vectors = self._inserts("vector", new, IGNORE_CONFLICT)
        inserts = [
            one for table, some in rows.items() for one in self._inserts(table, some, conflict)
        ]
        rest = [*inserts, *(one for change in changes for one in change.statements)]
        if last is not None:
            rest.append(last)
        for together in [vectors, rest] if len(rest) == 1 and last is None else [[*vectors, *rest]]:
            self._execute(together)
        self._note_vectors(new)

    def _vectors(self, changes: Sequence[Change], known: Container[bytes]) -> list[Row]:
        """Return the vectors of all changes, each once, without those in `known`."""
        new: dict[Digest, Row] = {}
        for change in changes:
            for row in change.rows.get("vector", ()):
                if bytes.fromhex(row[0]) not in known:
                    new.setdefault(row[0], row)
        return list(new.values())

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

    def _inserts(self, table: str, rows: Sequence[Row], conflict: str) -> list[Statement]:
        found: list[Statement] = []
        for start in range(0, len(rows), ROWS_PER_STATEMENT):
            part = rows[start : start + ROWS_PER_STATEMENT]
            if len(part) >= MIN_LISTED_ROWS:
                # DuckDB names a column without a name after its value, which it prints for that.
                columns = ",".join(
                    f"unnest(?::{one.type}[]) AS c{place}"
                    for place, one in enumerate(self._columns_of(table))
                )
                sql = f"INSERT INTO {table} SELECT {columns}{conflict}"
                found.append((sql, [list(column) for column in zip(*part, strict=True)]))
                continue
            places = "(" + ",".join("?" * len(part[0])) + ")"
            values = ",".join([places] * len(part))
            sql = f"INSERT INTO {table} VALUES {values}{conflict}"
            found.append((sql, [c for row in part for c in row]))
        return found

    def _columns_of(self, table: str) -> list[Column]:
        if table not in self._columns:
            found = self._database.write_connection.execute(
                f"PRAGMA table_info('{table}')"
            ).fetchall()
            self._columns[table] = [Column(kind, not filled) for _, _, kind, filled, *_ in found]
        return self._columns[table]
