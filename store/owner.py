"""Reading a store while another process is writing it, through a Unix socket.

The process that writes a store is called its owner. The owner listens on a Unix socket next to the
store (`peirce.duckdb.sock`, mode 0600). `messages.py` documents the messages. No SQL can write
through the socket: DuckDB's parser must find exactly one SELECT statement, and this statement runs
in a read-only transaction, because its WITH clause may contain an INSERT. Control messages are passed
to the function that the owner has set (`OwnerServer.controller`); the store knows none of them.

`Reader` reads through the socket or from the file. `open_for_writing` opens the file for writing.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..records import Json, PeirceError, StoreError
from ..records.private_files import make_folder
from . import connection, store_files
from .change_log import Change
from .connection import AlreadyOpen, Database, OutOfMemory, RowReader, StoreLocked, first_line
from .messages import decode, decode_rows, encode, receive, send
from .owner_socket import (
    check_socket_path,
    connect,
    file_identity,
    is_trusted,
    listen,
    remove_socket,
    socket_path,
)
from .schema import Row, check_schema, has_pending_changes
from .writer import Writer

if TYPE_CHECKING:
    import duckdb

ROWS_PER_FRAME = 64  # per frame; rows may hold blobs
ANSWER_TIMEOUT_S = 60.0
Controller: TypeAlias = Callable[[dict[str, Json]], dict[str, Json]]


class OwnerServer:
    """A server through which other processes read a store while this process writes it.

    Attributes:
        controller: The function that answers control messages; None if there is none. It is called
            in the thread of the client.
    """

    def __init__(self, database: Database) -> None:
        self.controller: Controller | None = None
        self._database = database
        self._path = socket_path(database.path)
        self._visits: dict[socket.socket, threading.Thread] = {}
        self._asked: dict[
            int, duckdb.DuckDBPyConnection
        ] = {}  # cursors of running queries, by thread
        self._lock = threading.Lock()
        self._closing = False
        self._listener = listen(self._path)
        self._address = Path(os.fsdecode(self._listener.getsockname()))
        self._made = file_identity(self._address)
        self._accepting = threading.Thread(target=self._accept, name="store-owner", daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            visit = threading.Thread(target=self._serve, args=(link,), daemon=True)
            with self._lock:
                if self._closing:
                    link.close()
                    return
                self._visits[link] = visit
                visit.start()

    def _serve(self, link: socket.socket) -> None:
        try:
            while (message := receive(link)) is not None:
                self._answer(link, message)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            pass  # the client has disconnected or sends something else
        finally:
            with self._lock:
                self._visits.pop(link, None)
            link.close()

    def _answer(self, link: socket.socket, message: Json) -> None:
        import duckdb

        if not isinstance(message, dict):
            raise ValueError("a message is an object")
        if message.get("who"):
            return send(link, {"pid": os.getpid()})
        if "control" in message:
            return send(link, self._control(message))
        sql, params = message["sql"], message["params"]
        if not isinstance(sql, str) or not isinstance(params, list):
            raise ValueError("a question is a text with a list of parameters")
        cursor = self._database.cursor()
        with self._lock:
            if self._closing:
                raise ConnectionError("the store is being closed")
            self._asked[threading.get_ident()] = cursor
        try:
            found = cursor.extract_statements(sql)
            if len(found) != 1 or found[0].type != duckdb.StatementType.SELECT:
                raise StoreError("the owner's socket takes one SELECT at a time, nothing else")
            self._database.before_query()
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            try:
                cursor.execute(found[0], [decode(part) for part in params])
                while rows := cursor.fetchmany(ROWS_PER_FRAME):
                    send(link, {"rows": encode(rows), "more": True})
            finally:
                cursor.execute("ROLLBACK")
        except (duckdb.Error, StoreError) as error:
            return send(link, {"error": first_line(error)})
        finally:
            with self._lock:
                self._asked.pop(threading.get_ident(), None)
        send(link, {"rows": [], "more": False})

    def _control(self, message: dict[str, Json]) -> dict[str, Json]:
        controller = self.controller
        if controller is None:
            return {
                "error": f"process {os.getpid()} is writing {self._database.path}, but it"
                " runs no session that can be controlled"
            }
        try:
            return {"control": controller(message)}
        except PeirceError as error:
            return {"error": str(error)}

    def close(self) -> None:
        """Stop the server. Queries that are still running are interrupted."""
        with self._lock:
            self._closing = True
            visits = dict(self._visits)
        remove_socket(self._path, self._address, self._made)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
        self._listener.close()
        for link in visits:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
        until = time.monotonic() + 5
        for thread in (self._accepting, *visits.values()):
            while thread.is_alive() and time.monotonic() < until:
                with self._lock:
                    for cursor in self._asked.values():
                        cursor.interrupt()  # repeated, as it has no effect before a query starts
                thread.join(timeout=0.05)


class OwnerClient:
    """A connection to the process that is writing a store.

    The methods raise ConnectionError if this process has ended.
    """

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._lock = threading.Lock()

    @staticmethod
    def connect(store: Path) -> OwnerClient | None:
        """Connect to the process that is writing a store; return None if there is none."""
        place = socket_path(store)
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.settimeout(ANSWER_TIMEOUT_S)
        if not connect(place, link):
            link.close()
            return None
        if not is_trusted(link, store):
            link.close()
            warnings.warn(f"{place} is a socket of another user and is ignored", stacklevel=2)
            return None
        return OwnerClient(link)

    def owner_pid(self) -> int:
        """Return the id of the process that is writing the store."""
        with self._lock:
            pid = self._ask({"who": True}, "pid")["pid"]
            if not isinstance(pid, int):
                raise self._refuse()
            return pid

    def control(self, message: Json) -> dict[str, Json]:
        """Send a control message, and return the answer.

        Raises:
            StoreError: The owner refuses the message.
        """
        with self._lock:
            answer = self._ask(message, "control")["control"]
            if not isinstance(answer, dict):
                raise self._refuse()
            return answer

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Run one SELECT statement in the process that is writing the store, and return its rows.

        Raises:
            StoreError: The query fails.
        """
        with self._lock:
            rows: list[Row] = []
            answer = self._ask({"sql": sql, "params": encode(list(params))}, "rows")
            while True:
                try:
                    rows += decode_rows(answer["rows"])
                except ValueError:
                    raise self._refuse() from None
                if not answer.get("more"):
                    return rows
                answer = self._next("rows")

    def _ask(self, message: Json, wanted: str) -> Json:
        self._link.settimeout(ANSWER_TIMEOUT_S)
        send(self._link, message)
        return self._next(wanted)

    def _next(self, wanted: str) -> Json:
        """Return the next answer, which must have the key `wanted`."""
        try:
            answer = receive(self._link, ANSWER_TIMEOUT_S)
        except TimeoutError as error:
            self.close()  # a late answer would be taken for that of the next query
            raise StoreError("the owner of the store does not answer") from error
        except ValueError:
            answer = {}
        if answer is None:
            raise ConnectionResetError("the owner of the store has ended")
        if isinstance(answer, dict) and "error" in answer:
            raise StoreError(str(answer["error"]))
        if not isinstance(answer, dict) or wanted not in answer:
            raise self._refuse()
        return answer

    def _refuse(self) -> StoreError:
        self.close()  # what it sends next cannot be understood either
        return StoreError("what answers on the socket beside the store is no owner of a store")

    def close(self) -> None:
        """Close the connection."""
        self._link.close()


# how long to wait for a process, or another thread of this one, that is just opening or closing the file
OPEN_TIMEOUT_S = 5.0


class Reader:
    """A connection for reading a store.

    It uses the socket if another process is writing the store, and the file otherwise.

    Args:
        path: The file of the store.
        memory: How much of the file the reader may hold in memory, such as "64MB"; None for the
            limit of most readers. A query that needs more gets the limit of most readers.
    """

    def __init__(self, path: Path, memory: str | None = None) -> None:
        self._path = path
        self._memory = memory
        self._lock = threading.Lock()
        self._through: RowReader = _reach(path, memory)

    @property
    def is_owned(self) -> bool:
        """Whether another process is writing the store."""
        return isinstance(self._through, OwnerClient)

    def owner_pid(self) -> int:
        """Return the id of the process that is writing the store; 0 if there is none."""
        if not isinstance(self._through, OwnerClient):
            return 0
        try:
            return self._through.owner_pid()
        except OSError:  # it has just ended
            return 0

    def control(self, message: Json) -> dict[str, Json]:
        """Send a control message to the process that is writing the store, and return its answer.

        Raises:
            StoreError: No process is writing the store, or it refuses the message.
        """
        if not isinstance(self._through, OwnerClient):
            raise StoreError(f"no process is writing {self._path}")
        try:
            return self._through.control(message)
        except OSError:
            raise StoreError(
                f"the process that was writing {self._path} has ended, or is of a version of Peirce"
                " that cannot be controlled"
            ) from None

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of one SELECT statement.

        If the process that was writing the store has ended, the reader reconnects once.

        Raises:
            StoreError: The query fails.
        """
        through = self._through
        try:
            return through.query(sql, params)
        except (OSError, OutOfMemory) as error:
            if isinstance(error, OutOfMemory):
                if self._memory is None:
                    raise
                self._memory = None
            # Or the owner has ended; the file is free or has a new owner.
            with self._lock:
                if self._through is through:  # no other thread has reconnected yet
                    through.close()
                    self._through = _reach(self._path, self._memory)
        try:
            return self._through.query(sql, params)
        except OSError as error:
            raise StoreError(f"{self._path} cannot be read: {error}") from error

    def close(self) -> None:
        """Close the connection."""
        self._through.close()


def _reach(path: Path, memory: str | None = None) -> RowReader:
    """Connect to the owner of a store, or open its file for reading."""
    if not path.exists():
        raise StoreError(
            f"there is no store at {path}; start a run to create one, or name an existing one"
            " with --store or PEIRCE_STORE"
        )
    until = time.monotonic() + OPEN_TIMEOUT_S
    while True:
        visitor = OwnerClient.connect(path)
        if visitor is not None:
            try:
                check_schema(visitor.query, str(path))
                return visitor
            except OSError:
                visitor.close()  # it has just ended
            except StoreError:
                visitor.close()
                raise
        try:
            found = Database(path, write=False, memory=memory)
        except (StoreLocked, AlreadyOpen):  # or this process is just opening or closing it
            if time.monotonic() > until:
                raise
        else:
            if not _has_pending_changes(found):
                return found
            error = _finish_writing(path)
            taken = isinstance(
                error, StoreLocked | AlreadyOpen
            )  # perhaps by one that does the same
            if error is not None and (not taken or time.monotonic() > until):
                warnings.warn(
                    "the last calls and steps before a kill are not shown, because they cannot be"
                    f" written to their tables ({error})",
                    stacklevel=2,
                )
                return Database(path, write=False, memory=memory)
        time.sleep(0.05)


def _has_pending_changes(database: Database) -> bool:
    """Return whether a killed process left changes in `pending`; if so, or on an error, close the file."""
    found = True
    try:
        found = has_pending_changes(database.query)
    finally:
        if found:
            database.close()
    return found


def _finish_writing(path: Path) -> StoreError | None:
    """Insert what a killed process left in `pending`; return why this is not possible now."""
    try:
        database = open_for_writing(path, wait_s=0)
        writer = Writer(database)
        try:
            writer.submit(Change()).result()  # it waits until the writer has taken them over
        finally:
            writer.close()
            database.close()
    except StoreError as error:
        return error
    return None


def open_for_writing(
    path: Path, sources: Sequence[Path] = (), wait_s: float = OPEN_TIMEOUT_S
) -> Database:
    """Open the file of a store for writing, creating the file if it does not exist.

    Args:
        path: The path of the store.
        sources: Other stores to read from (`Database`).
        wait_s: How long to wait for a process that is closing the store, in seconds.

    Raises:
        StoreLocked: Another process is writing the store; the error has its process id.
        StoreError: The file cannot be opened or created.
    """
    try:
        make_folder(path.parent)
    except OSError as error:
        raise StoreError(f"no store can be created at {path}: {error.strerror or error}") from error
    check_socket_path(socket_path(path))
    until = time.monotonic() + wait_s
    while True:
        visitor = OwnerClient.connect(path)
        if visitor is not None:
            try:
                pid = visitor.owner_pid()
            except OSError:
                pid = 0  # it has just ended
            finally:
                visitor.close()
            if pid:
                raise StoreLocked(
                    f"process {pid} is writing to {path}: wait for it, stop it, or choose"
                    " another store with --store",
                    pid,
                )
        try:
            with connection.OPENING, store_files.creation_lock(path, until):
                return Database(path, write=True, sources=sources)
        except (StoreLocked, AlreadyOpen):  # or this process is just opening or closing it
            if time.monotonic() > until:
                raise
        time.sleep(0.05)
