"""The store: sessions with their journal, steps, bank and predictions in one DuckDB file.

Only one process can write the file at a time. Any number of processes can read it. While a run owns
the file, other processes read it through a socket of the run. `connection.py` documents the tables,
and `digest.py` defines when two sessions are equal.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

import atexit
import errno
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from ..records import BankEvent, Digest, InputSet, Json, Problem, StepRecord, StoreError
from ..records.descriptors import open_standard_descriptors
from . import answer_summaries as _answers
from . import bank as _bank
from . import digest as _digest
from . import export as _export
from . import journal as _journal
from . import ledger as _ledger
from . import merging as _merging
from . import sessions as _sessions
from .answer_summaries import AnswerSummary, ConsistentHypothesis
from .bank import Bank
from .change_log import Change
from .codec import Vector
from .codec import decode_vector as decode_vector
from .codec import encode_vector as encode_vector
from .connection import Row, RowReader
from .journal import AnswerCache, JournalMismatch, SessionJournal
from .ledger import SessionLedger
from .merging import MergeCounts
from .owner import Controller, OwnerServer, Reader, open_for_writing, socket_path
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


class Store:
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
        self.path = path
        self._reading = reader
        self._writer = writer
        self._owner = owner
        self._journals: dict[str, SessionJournal] = {}
        self._large_problems: dict[str, dict[str, Problem]] = {}
        self._settings: dict[str, Mapping[str, Json]] = {}
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
        self._reading.close()

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of one SELECT statement.

        The rows are read from the file, or through the process that is writing the file.
        """
        return self._reading.query(sql, params)

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

    def find_session(self, name: str) -> str:
        """Return the id of a session. `name` is the id, a unique prefix of the id, or "last"."""
        return _sessions.find_session(self._reading, name)

    def session(self, session: str) -> dict[str, Any]:
        """Return a description of one session as a dict.

        The keys are session, created, status, settings, versions, problems, problems_done,
        problems_failed, and the fields passed to `update_session`.
        """
        return _sessions.sessions(self._reading, self._is_owned, session)[0]

    def settings(self, session: str) -> Mapping[str, Json]:
        """Return the settings of a session.

        The settings of a session never change, so they are read only once and cached.
        """
        if session not in self._settings:
            self._settings[session] = self.session(session)["settings"]
        return self._settings[session]

    def check_problem(self, session: str, problem: str) -> None:
        """Raise StoreError, which suggests the most similar id, if a session has no such problem."""
        self._ids(session, problem)

    def progress(self, session: str) -> list[Json]:
        """Return the status, the number of ended problems and the number of steps of a session.

        If two calls return equal results, the session made no progress between the calls.
        """
        return _sessions.progress(self._reading, self._is_owned, session)

    def count_verdicts(self, session: str) -> tuple[int, dict[str, int]]:
        """Return the number of steps of a session, and the number of its hypotheses by verdict.

        The content of the steps is not read.
        """
        return _sessions.count_verdicts(self._reading, session)

    def find_problems(self, session: str, words: Sequence[str]) -> list[str]:
        """Return the ids of the problems in a session that contain every word of `words`.

        A word may occur in the id, the data, the answers or the hypotheses of a problem. Upper and
        lower case are not distinguished.
        """
        return _sessions.find_problems(self._reading, session, words)

    def sessions(self) -> list[dict[str, Any]]:
        """Return a description of each session, in order of creation.

        Each description has the form that `session` returns.
        """
        return _sessions.sessions(self._reading, self._is_owned)

    def problems(self, session: str) -> list[ProblemRow]:
        """Return the problems of a session, in the order of the session."""
        return _sessions.problems(self._reading, session, self._large_problems)

    def input_set(self, digest: Digest) -> InputSet:
        """Return the input set with this digest."""
        return _sessions.input_set(self._reading, digest)

    def input_set_size(self, digest: Digest) -> tuple[int, tuple[float, ...] | None]:
        """Return the number of inputs in an input set, and the weight of each input.

        The weights are None if all inputs have the same weight.
        """
        return _sessions.input_set_size(self._reading, digest)

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

    def calls(self, session: str, problem: str | None = None) -> list[dict[str, Any]]:
        """Return the model and tool calls of a session, with requests and responses.

        `problem` selects the calls of one problem; None selects all problems.
        """
        return _journal.calls(self._reading, session, problem)

    def digested_prompts(self, session: str, limit: int) -> list[dict[str, Any]]:
        """Return up to `limit` prompts of the proposer whose token ids were digested.

        Each dict has the keys messages, tools, and digest (`records.PROMPT_DIGEST`). The list is
        empty for sessions whose model did not report the digest.
        """
        return _journal.digested_prompts(self._reading, session, limit)

    def list_calls(
        self, session: str, problem: str | Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the model and tool calls of a session, without requests and responses.

        `problem` is the id of one problem, the ids of several problems, or None for all problems.

        Calls of tools by a proposer (a model that proposes hypotheses) are an exception. Their
        requests and responses are included, cut to a maximum length.
        """
        return _journal.list_calls(self._reading, session, problem)

    def human_texts(
        self, session: str, problem: str | None = None
    ) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return the hints and answers of people in a session: (problem, path, texts).

        The path of a request's hints is that of the request, followed by "hints". `problem` selects
        one problem; None selects all problems.
        """
        return _journal.human_texts(self._reading, session, problem)

    def last_responses(self, session: str, kind: str) -> dict[str, Any]:
        """Return the response of the last call of a kind ("model", "tool" or "human") by problem."""
        return _journal.last_responses(self._reading, session, kind)

    def steps(
        self,
        session: str,
        problem: str | Sequence[str] | None = None,
        *,
        spaces: _ledger.Spaces = True,
    ) -> Iterator[StepRecord]:
        """Yield the steps of a session, ordered by problem and step number.

        Args:
            session: The session's id.
            problem: The id of one problem, the ids of several problems, or None for all problems.
            spaces: Which predictions over the sample space S to read. With False, they are None.
                With "consistent", the codes of hypotheses that are not consistent are 0.
        """
        if problem is None or isinstance(problem, str):
            ids = self._ids(session, problem)
        else:
            ids = list(problem)
        return _ledger.steps(self._reading, session, ids, spaces)

    def consistent_hypotheses(
        self, session: str, problems: Sequence[str]
    ) -> dict[str, list[ConsistentHypothesis]]:
        """Return the consistent hypotheses of each problem, in the order of the problem's steps.

        A hypothesis is consistent if it fits all shown observations.
        """
        return _answers.consistent_hypotheses(self._reading, session, problems)

    def answer_summaries(
        self, session: str, problems: Sequence[str]
    ) -> dict[str, list[AnswerSummary]]:
        """Return summaries of the answers to each problem, in the order of the problem's steps."""
        return _answers.answer_summaries(self._reading, session, problems)

    def vectors(self, digests: Iterable[Digest]) -> dict[Digest, Vector]:
        """Return stored arrays by their digests.

        `ConsistentHypothesis` and `AnswerSummary` contain such digests.
        """
        return _journal.read_vectors(self._reading, digests)

    def bank(
        self, session: str, problem: str | None = None, alpha: float | None = None
    ) -> list[dict[str, Any]]:
        """Return the hypotheses in the bank of each problem, one dict for each hypothesis.

        A bank is the collection of hypotheses that a method keeps, with the rewards of the
        hypotheses. The keys are problem, and the keys that `bank.Bank.rows` documents.

        Args:
            session: The session's id.
            problem: The id of one problem, or None for all problems.
            alpha: The weight of exploration in the reward; None for the weight of the session.
        """
        rows = []
        for name, own, chance, log in self._bank_logs(session, problem):
            bank = _bank.build_bank((event for _, event in log), own, chance)
            rows += [{"problem": name, **entry} for entry in bank.rows(alpha)]
        return rows

    def bank_growth(self, session: str, problem: str | None = None) -> list[dict[str, Any]]:
        """Return how the bank of each problem changed, one dict for each step that changed it.

        The keys are problem, and the keys that `bank.growth` documents.
        """
        return [
            {"problem": name, **step}
            for name, own, chance, log in self._bank_logs(session, problem)
            for step in _bank.growth(log, own, chance)
        ]

    def _bank_logs(
        self, session: str, problem: str | None
    ) -> Iterator[tuple[str, float, float, list[tuple[int, BankEvent]]]]:
        """Yield the id, alpha, chance and events of each problem that has a bank.

        Each event comes with its step.
        """
        own = (self.settings(session).get("text") or {}).get("alpha", 0.5)
        labels: dict[str, int] = {}
        log = _ledger.events(self._reading, session, self._ids(session, problem))
        for name, happened in groupby(log, key=lambda row: row[0]):
            if not labels:  # most sessions have no bank
                labels = {
                    row.problem.id: len(row.problem.public.get("labels", ()))
                    for row in self.problems(session)
                }
            chance = 1 / labels[name] if labels[name] else 0.0
            yield name, own, chance, [(step, event) for _, step, event in happened]

    def usage(self, session: str) -> dict[str, Any]:
        """Return the usage of a session: numbers of calls, tokens and retries, and seconds.

        The result contains totals, and sums by kind of call and by role of the called model.
        """
        return _journal.usage(self._reading, session)

    def model_usage(self, session: str) -> dict[str, dict[str, Any]]:
        """Return the sums of `usage` by role over the model calls of a session alone."""
        return _journal.model_usage(self._reading, session)

    # --- the session as a whole

    def digest(self, session: str) -> Digest:
        """Return the SHA-256 of a session's results, without clock times, retries and usage."""
        return _digest.digest(self._reading, session)

    def findings_digest(self, session: str) -> Digest:
        """Return the SHA-256 of the findings of a session.

        The digest covers hypotheses, kinds of verdicts, predictions, bank events, and the paths and
        responses of calls. It does not cover settings, requests and texts of messages.
        `digest.findings_digest` has the full list.
        """
        return _digest.findings_digest(self._reading, session)

    def find_changes(self, session: str) -> list[dict[str, Any]]:
        """Return the places in a session where stored content does not match its digest.

        Each place is a dict with the keys problem, step, path and field.
        """
        return _digest.find_changes(self._reading, session)

    def export(self, session: str, out: str | Path, format: str) -> dict[str, Any]:
        """Export a session to files, and return a summary.

        Args:
            session: The session's id.
            out: The file or folder to create. It must not exist.
            format: "parquet" (a folder), "jsonl" (a file) or "huggingface" (a data set folder).

        Returns:
            A dict with the keys session, format, out, files, and the number of rows by table.

        Raises:
            UsageError: The format is unknown, or `out` exists.
        """
        return _export.export(self, session, Path(out), format)

    # --- inside

    def _is_owned(self) -> bool:
        return not isinstance(self._reading, Reader) or self._reading.is_owned

    def _ids(self, session: str, problem: str | None) -> list[str]:
        return _sessions.problem_ids(self._reading, session, problem)

    def _writing(self) -> Writer:
        if self._writer is None:
            raise StoreError(f"{self.path} is open for reading")
        return self._writer

    def _write(self, change: Change) -> None:
        self._writing().submit(change).result()
