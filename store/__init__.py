"""The store: sessions with their journal, steps, bank and predictions in one DuckDB file.

Only one process can write the file at a time. Any number of processes can read it. While a run owns
the file, other processes read it through a socket of the run. `schema.py` documents the tables,
and `digest.py` defines when two sessions are equal.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

import atexit
import errno
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from ..records import InputSet, Json, Problem, StoreError
from ..records.descriptors import open_standard_descriptors
from . import merging as _merging
from . import sessions as _sessions
from .answer_summaries import AnswerSummary, ConsistentHypothesis
from .bank import Bank
from .change_log import Change
from .codec import decode_vector as decode_vector
from .codec import encode_vector as encode_vector
from .connection import RowReader
from .contents import StoreContents
from .journal import AnswerCache, JournalMismatch, SessionJournal
from .ledger import SessionLedger
from .merging import MergeCounts
from .owner import Controller, OwnerServer, Reader, open_for_writing
from .owner_socket import socket_path
from .pair_sets import PairSets
from .sessions import ProblemRow
from .trainings import Point, Trainings
from .writer import Writer

__all__ = [
    "AnswerCache",
    "AnswerSummary",
    "Bank",
    "ConsistentHypothesis",
    "JournalMismatch",
    "MergeCounts",
    "Point",
    "ProblemRow",
    "SessionJournal",
    "Store",
    "decode_vector",
    "encode_vector",
]


def _named(path: str | Path) -> Path:
    """Return the absolute path of a store.

    Raises:
        StoreError: No store can be at the path: DuckDB cannot take it, there is no room for the
            names of the files beside it, or something that is no regular file is there.
    """
    try:
        place = Path(path).expanduser().resolve()
        str(place).encode()
    except UnicodeEncodeError:
        why = "its path is not UTF-8 text"
    except (ValueError, RuntimeError) as error:  # a null byte; no such home
        why = str(error)
    else:
        try:
            os.lstat(socket_path(place))
        except OSError as error:
            too_long = error.errno == errno.ENAMETOOLONG
        else:
            too_long = False
        if "\\" in str(place):  # DuckDB takes it for a slash
            why = "its path has a backslash"
        elif too_long:
            why = "its path is too long"
        elif place.exists() and not (place.is_file() or place.is_dir()):
            why = "it is no regular file"
        else:
            return place
    raise StoreError(
        f"{os.fspath(path)!r} cannot be a store: {why}; choose another file with --store"
    )


class Store(StoreContents):
    """A store that is open for reading, or for writing if this process owns the file.

    Use the store as a context manager, or call `close`. Every method raises StoreError if the file
    cannot be read or written, or if the file lacks the requested data.
    """

    def __init__(
        self,
        path: Path,
        reader: RowReader,
        writer: Writer | None = None,
        owner: OwnerServer | None = None,
    ) -> None:
        super().__init__(reader)
        self.path = path
        self._writer = writer
        self._owner = owner
        self._journals: dict[str, SessionJournal] = {}
        self._process = os.getpid()
        self._updating = threading.Lock()
        # The interpreter reports leaks if it exits while other threads hold DuckDB objects.
        atexit.register(self.close)

    @staticmethod
    def open(path: str | Path, *, write: bool, memory: str | None = None) -> Store:
        """Open the store at `path`.

        Args:
            path: The DuckDB file.
            write: Whether to open the store for writing. The file is then created if it does not
                exist, and other processes can read the store through a socket. Sessions that a
                killed run left as "running" become "interrupted".
            memory: How much of the file a reader may hold in memory, such as "64MB"; None for the
                default. A reader that reads everything once needs little.

        Raises:
            StoreError: Another process is writing the store (the message has its pid), or the file
                cannot be opened.
        """
        open_standard_descriptors()
        place = _named(path)
        return Store._open_for_writing(place) if write else Store(place, Reader(place, memory))

    @staticmethod
    def _open_for_writing(place: Path, sources: Sequence[Path] = ()) -> Store:
        database = open_for_writing(place, sources)
        try:
            # The socket may be refused, so it is opened before the writing thread starts.
            owner = OwnerServer(database)
            store = Store(place, database, Writer(database), owner)
        except StoreError:
            database.close()
            raise
        try:
            store._write(
                Change(
                    {}, [("UPDATE session SET status = 'interrupted' WHERE status = 'running'", ())]
                )
            )
        except StoreError:
            store.close()
            raise
        return store

    @staticmethod
    def merge(path: str | Path, sources: Sequence[str | Path]) -> list[MergeCounts]:
        """Copy sessions, sets of pairs and trainings of other stores into the store at `path`.

        Args:
            path: The DuckDB file, which is created if it does not exist.
            sources: The files of the other stores, one after the other.

        Returns:
            What was found in each of the other stores.

        Raises:
            StoreError: A process is writing one of the stores, a store cannot be read, or two stores
                have different copies of a session. The stores before it are merged.
        """
        place, others = _named(path), [_named(one) for one in sources]
        for source, other in zip(sources, others, strict=True):
            reader = Reader(other)  # it is there, and a store
            pid = reader.owner_pid()
            reader.close()
            if pid:
                raise StoreError(f"process {pid} is writing to {source}: wait until it ends")
        once = list(dict.fromkeys(others))
        with Store._open_for_writing(place, once) as store:
            return [
                _merging.merge_store(store._reading, store._write, once.index(other), other, place)
                for other in others
            ]

    @cached_property
    def pairs(self) -> PairSets:
        """The sets of preference pairs of this store."""
        return PairSets(self._reading, self._writer, self.path)

    @cached_property
    def trainings(self) -> Trainings:
        """The trainings of models on sets of preference pairs, with their logs."""
        return Trainings(self._reading, self._writer, self.path)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write all pending changes and close the store. Closing a store twice is allowed.

        In a forked child process this method does nothing, because the store belongs to the parent
        process.
        """
        atexit.unregister(self.close)
        if os.getpid() != self._process:
            return
        if self._writer is not None:
            self._writer.close()
        if self._owner is not None:
            self._owner.close()
        super().close()

    # --- control of the process that writes the store

    def set_controller(self, controller: Controller | None) -> None:
        """Set the function that answers the control messages of other processes.

        Args:
            controller: It receives the message and returns the answer, both as JSON objects. It is
                called in the thread of a client, so it must be safe in any thread and must not wait
                for long. If it raises a PeirceError, the client receives the message of the error.
                None if this process controls nothing.

        Raises:
            StoreError: The store is open for reading.
        """
        if self._owner is None:
            raise StoreError(f"{self.path} is open for reading")
        self._owner.controller = controller

    def control(self, message: Json) -> dict[str, Json]:
        """Send a control message to the process that is writing the store, and return its answer.

        Args:
            message: {"control": VERB, "session": ID, …arguments} (`graphs.runtime.control`).

        Raises:
            StoreError: No other process is writing the store, it controls nothing, or it refuses
                the message.
        """
        if not isinstance(self._reading, Reader):
            raise StoreError(f"this process is writing {self.path} itself")
        return self._reading.control(message)

    def owner_pid(self) -> int:
        """Return the id of the process that is writing the store; 0 if there is none."""
        return self._reading.owner_pid() if isinstance(self._reading, Reader) else os.getpid()

    # --- sessions

    def create_session(self, settings: Json, problems: Sequence[tuple[Problem, InputSet]]) -> str:
        """Create a session with the status "running", and return its id.

        Args:
            settings: The settings of the session.
            problems: The problems of the session, each with its sample space (the inputs on which
                predictions are compared).
        """
        session = _sessions.new_id()
        self._write(_sessions.creation_change(self._reading, session, settings, problems))
        return session

    def update_session(self, session: str, *, status: str | None = None, **fields: Json) -> None:
        """Set the status of a session, and store additional fields. Any thread may call this.

        Args:
            session: The session's id.
            status: "running", "done", "interrupted", "budget" or "failed"; None to keep the status.
            fields: Values such as seconds and metrics. They are added to the stored fields of the
                session, and `session()` returns them.
        """
        with self._updating:
            self._write(_sessions.status_change(self._reading, session, status, fields))

    def change_fields(
        self, session: str, change: Callable[[Mapping[str, Json]], Mapping[str, Json]]
    ) -> None:
        """Change fields of a session, without losing a change that another thread makes now.

        Args:
            session: The session's id.
            change: A function that returns the fields to set, from the stored fields. If it raises
                an exception, nothing is changed.
        """
        with self._updating:
            self._write(_sessions.fields_change(self._reading, session, change))

    # --- calls and steps

    def journal(self, session: str) -> SessionJournal:
        """Return the journal of a session, which records model and tool calls.

        Repeated calls return the same object. If the store is open for reading, the journal can
        only look up recorded calls.
        """
        if session not in self._journals:
            self._journals[session] = SessionJournal(session, self._reading, self._writer)
        return self._journals[session]

    def answer_cache(self, session: str) -> AnswerCache:
        """Return a cache of the model answers that sessions other than `session` recorded."""
        return AnswerCache(self._reading, session)

    def set_commit_size(self, changes: int) -> None:
        """Set the number of changes that the writing thread waits for before it commits.

        The thread waits for at most a tenth of a second. The default of 1 is best, unless many
        problems run concurrently and their answers arrive quickly.
        """
        self._writing().commit_size = changes

    def ledger(self, session: str) -> SessionLedger:
        """Return the ledger of a session, which writes its finished steps."""
        return SessionLedger(session, self._reading, self._writing(), self.journal(session))

    # --- inside

    def _writing(self) -> Writer:
        if self._writer is None:
            raise StoreError(f"{self.path} is open for reading")
        return self._writer

    def _write(self, change: Change) -> None:
        self._writing().submit(change).result()
