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
import stat
import struct
import tempfile
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
from .connection import AlreadyOpen, Database, OutOfMemory, Row, RowReader, StoreLocked, first_line
from .messages import decode, decode_rows, encode, receive, send
from .writer import Writer

if TYPE_CHECKING:
    import duckdb

ROWS_PER_FRAME = 64  # per frame; rows may hold blobs
FOLDER, SOCKET = "peirce-", "socket"  # beginning of a private folder's name; the socket in it
MAX_ADDRESS_BYTES = 100  # AF_UNIX allows 104 to 108, depending on the system
ANSWER_TIMEOUT_S = 60.0
Controller: TypeAlias = Callable[[dict[str, Json]], dict[str, Json]]


def socket_path(store: Path) -> Path:
    """Return the path of the socket through which other processes read a store."""
    return store.with_name(store.name + ".sock")


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
        self._listener = _listen(self._path)
        self._address = Path(os.fsdecode(self._listener.getsockname()))
        self._made = _identity(self._address)
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
        if _address(self._path) == str(self._address) and _identity(self._address) == self._made:
            _remove(self._path)  # otherwise it belongs to the owner of a store that took the place
        elif self._address != self._path:
            _remove_private(self._address)
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


def _listen(place: Path) -> socket.socket:
    """Return a listening socket at `place`, and remove the socket of a dead owner first.

    The caller holds the store's file, so no other owner can be alive. Where the path is longer than
    a socket address may be, the socket is created in a private folder of the temporary directory,
    and `place` is a symbolic link to it.
    """
    check_socket_path(place)
    if _answers(place):  # not an owner of this file, which this process holds
        raise StoreError(
            f"another program is listening at {place}; choose another store with --store"
        )
    _remove(place)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    address = place
    try:
        if len(os.fsencode(place)) > MAX_ADDRESS_BYTES:
            address = Path(tempfile.mkdtemp(prefix=FOLDER)) / SOCKET
            os.symlink(address, place)
        listener.bind(str(address))
        os.chmod(address, 0o600)  # before listen(), so nobody can have connected
        listener.listen(16)
    except OSError as error:
        listener.close()
        if address != place:
            _remove_private(address)
        _remove(place)
        raise StoreError(
            f"no socket can be created next to the store at {place}: {error}"
        ) from error
    return listener


def check_socket_path(path: Path) -> None:
    """Raise StoreError if `path` exists and is not a socket left by the owner of a store."""
    if os.path.lexists(path) and _address(path) is None:
        raise StoreError(
            f"{path} is not a socket of Peirce, but a run needs this path: move the file, or"
            " choose another store with --store"
        )


def _address(place: Path) -> str | None:
    """Return the path of the socket at `place`, or None if no owner of this user made it.

    `place` is a socket of this user, or a link of this user to a path as `_listen` makes them.
    """
    try:
        found = place.lstat()
        if os.geteuid() not in (0, found.st_uid):
            return None
        if stat.S_ISSOCK(found.st_mode):
            return str(place)
        target = Path(os.readlink(place))
    except OSError:
        return None
    made = target.name == SOCKET and target.parent.name.startswith(FOLDER)
    return str(target) if made else None


def _connect(place: Path, link: socket.socket) -> bool:
    """Connect to the socket at `place`; return whether an owner of this user accepts it."""
    address = _address(place)
    if address is None:
        return False
    try:
        link.connect(address)
    except OSError:
        return False
    return True


def _user(link: socket.socket) -> int | None:
    """Return the user whose process listens at the other end, or None if the system cannot say."""
    if hasattr(socket, "SO_PEERCRED"):
        data = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", data)[1])
    if hasattr(socket, "LOCAL_PEERCRED"):  # macOS: a struct xucred, which begins with version, user
        data = link.getsockopt(0, socket.LOCAL_PEERCRED, 76)
        return int(struct.unpack_from("2I", data)[1])
    return None


def _is_trusted(link: socket.socket, store: Path) -> bool:
    """Return whether this user, or the user of the store's file, listens at the other end."""
    try:
        user = _user(link)
        return user in (None, os.geteuid()) or user == store.stat().st_uid
    except OSError:  # the other end has gone, or there is no file
        return False


def _answers(place: Path) -> bool:
    """Return whether a process accepts connections at `place`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        return _connect(place, link)


def _identity(place: Path) -> tuple[int, int] | None:
    """Return device and inode of what is at `place`, or None if nothing is."""
    try:
        found = place.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove(place: Path) -> None:
    """Remove a socket that an owner of this user left, and nothing else."""
    address = _address(place)
    with contextlib.suppress(OSError):  # root may connect to what others made, but leaves it there
        if place.lstat().st_uid != os.geteuid():
            return
    if address is None:
        return
    if address != str(place):
        _remove_private(Path(address))
    with contextlib.suppress(OSError):
        place.unlink()


def _remove_private(address: Path) -> None:
    """Remove a socket from its private folder, and the folder if nothing else is in it.

    The text of a link may name any folder. Only a folder as `_listen` makes them is touched: in the
    temporary directory, owned by this user, with mode 0700.
    """
    folder = address.parent
    if folder.parent != Path(os.path.abspath(tempfile.gettempdir())):
        return
    with contextlib.suppress(OSError):
        found = folder.lstat()
        private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
        if not private or found.st_uid != os.geteuid():
            return
        if stat.S_ISSOCK(address.lstat().st_mode):
            address.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


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
        if not _connect(place, link):
            link.close()
            return None
        if not _is_trusted(link, store):
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
                connection.check_schema(visitor.query, str(path))
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
        found = connection.has_pending_changes(database.query)
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
