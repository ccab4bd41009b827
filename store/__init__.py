"""The store: sessions, their journal, steps, bank and predictions in one DuckDB file.

One process writes it at a time; any number read it, from the file or, while it is owned, through
the owner's socket. `connection.py` documents the tables, `digest.py` says what makes two sessions
equal.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from ..records import BankEvent, Digest, InputSet, Json, Problem, StepRecord, StoreError
from . import answers as _answers
from . import bank as _bank
from . import digest as _digest
from . import export as _export
from . import journal as _journal
from . import ledger as _ledger
from . import sessions as _sessions
from .answers import Consistent, Given
from .bank import Bank
from .cells import Vector
from .cells import decode as decode_vector
from .cells import encode as encode_vector
from .connection import Reading, Row
from .journal import AnswerCache, JournalMismatch, SessionJournal
from .ledger import SessionLedger
from .owner import Owner, Reader, take
from .pairs import PairSets
from .sessions import ProblemRow
from .trainings import Point, Trainings
from .writing import Change, Writer

__all__ = [
    "AnswerCache",
    "Bank",
    "Consistent",
    "Given",
    "JournalMismatch",
    "Point",
    "ProblemRow",
    "SessionJournal",
    "Store",
    "decode_vector",
    "encode_vector",
]


def _named(path: str | Path) -> Path:
    """The store's whole path. Raises StoreError where its name is no text that DuckDB takes."""
    try:
        place = Path(path).expanduser().resolve()
        str(place).encode()
    except UnicodeEncodeError:
        why = "its path is not UTF-8 text"
    except (ValueError, RuntimeError) as error:  # a null byte; no such home
        why = str(error)
    else:
        return place
    raise StoreError(f"no store can be at {os.fspath(path)!r}: {why}; name another with --store")


class Store:
    """A store, open for writing (this process owns the file) or for reading. Every method raises
    StoreError where the file cannot be read or written or lacks what was asked for."""

    def __init__(
        self, path: Path, reading: Reading, writer: Writer | None = None, owner: Owner | None = None
    ) -> None:
        self.path = path
        self._reading = reading
        self._writer = writer
        self._owner = owner
        self._journals: dict[str, SessionJournal] = {}
        self._settings: dict[str, Mapping[str, Json]] = {}
        # An interpreter that ends with DuckDB's objects alive in other threads reports leaks.
        atexit.register(self.close)

    @staticmethod
    def open(path: str | Path, *, write: bool) -> Store:
        """write: takes the file, makes it where there is none, and serves readers; sessions that
        a killed run left running become interrupted. A second writer is told the owner's pid."""
        place = _named(path)
        if not write:
            return Store(place, Reader(place))
        database = take(place)
        try:
            owner = Owner(database)  # may be refused: before there is a thread that writes
            store = Store(place, database, Writer(database), owner)
        except StoreError:
            database.close()
            raise
        store._write(
            Change({}, [("UPDATE session SET status = 'interrupted' WHERE status = 'running'", ())])
        )
        return store

    @cached_property
    def pairs(self) -> PairSets:
        """Its sets of preference pairs."""
        return PairSets(self._reading, self._writer, self.path)

    @cached_property
    def trainings(self) -> Trainings:
        """Trainings of a proposer on sets of pairs, with their logs."""
        return Trainings(self._reading, self._writer, self.path)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Waits for what is being written. May be called twice."""
        atexit.unregister(self.close)
        if self._writer is not None:
            self._writer.close()
        if self._owner is not None:
            self._owner.close()
        self._reading.close()

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Rows of one SELECT, from the file or through its owner."""
        return self._reading.query(sql, params)

    # --- sessions

    def create_session(self, settings: Json, problems: Sequence[tuple[Problem, InputSet]]) -> str:
        """The new session's id; its status is running."""
        session = _sessions.new_id()
        self._write(_sessions.creation(self._reading, session, settings, problems))
        return session

    def set_session(self, session: str, *, status: str, **fields: Json) -> None:
        """status: running, done, interrupted, budget, failed. fields (seconds, metrics, …) are
        kept beside it and stand in `session()`."""
        self._write(_sessions.status_change(self._reading, session, status, fields))

    def find(self, name: str) -> str:
        """The id of a session by id, unique prefix or `last`."""
        return _sessions.find(self._reading, name)

    def session(self, session: str) -> dict[str, Any]:
        """session, created, status, settings, versions, problems, problems_done,
        problems_failed, and the fields given to `set_session`."""
        return _sessions.sessions(self._reading, self._is_owned, session)[0]

    def settings(self, session: str) -> Mapping[str, Json]:
        """The settings of a session, which never change once it has begun: read once."""
        if session not in self._settings:
            self._settings[session] = self.session(session)["settings"]
        return self._settings[session]

    def progress(self, session: str) -> list[Json]:
        """How far a session is: its status, problems that ended, steps. Equal where nothing happened."""
        return _sessions.progress(self._reading, self._is_owned, session)

    def problems_with(self, session: str, words: Sequence[str]) -> list[str]:
        """Ids of problems in whose id, data, answers or hypotheses every word stands, in any case."""
        return _sessions.problems_with(self._reading, session, words)

    def sessions(self) -> list[dict[str, Any]]:
        return _sessions.sessions(self._reading, self._is_owned)

    def problems(self, session: str) -> list[ProblemRow]:
        return _sessions.problems(self._reading, session)

    def space(self, digest: Digest) -> InputSet:
        return _sessions.input_set(self._reading, digest)

    def space_sizes(self, digest: Digest) -> tuple[int, tuple[float, ...] | None]:
        """The size of a space, and the weights of its inputs."""
        return _sessions.space_sizes(self._reading, digest)

    # --- calls and steps

    def journal(self, session: str) -> SessionJournal:
        """One for each session. In a store open for reading it looks up alone."""
        if session not in self._journals:
            self._journals[session] = SessionJournal(session, self._reading, self._writer)
        return self._journals[session]

    def cache(self, session: str) -> AnswerCache:
        """What other sessions of this store know of what `session` will ask."""
        return AnswerCache(self._reading, session)

    def commit_together(self, changes: int) -> None:
        """How many changes a commit waits for, a tenth of a second at most: 1, unless many problems
        run side by side whose answers come fast."""
        self._writing().together = changes

    def ledger(self, session: str) -> SessionLedger:
        return SessionLedger(session, self._reading, self._writing(), self.journal(session))

    def calls(self, session: str, problem: str | None = None) -> list[dict[str, Any]]:
        return _journal.calls(self._reading, session, problem)

    def listed_calls(self, session: str, problem: str | None = None) -> list[dict[str, Any]]:
        """Without what was asked and answered, but for the tools that a proposer called."""
        return _journal.listed_calls(self._reading, session, problem)

    def last_responses(self, session: str, kind: str) -> dict[str, Any]:
        """What the last call of a kind was answered, by problem."""
        return _journal.last_responses(self._reading, session, kind)

    def steps(
        self,
        session: str,
        problem: str | Sequence[str] | None = None,
        *,
        spaces: _ledger.Spaces = True,
    ) -> Iterator[StepRecord]:
        """By problem and step; of all problems, one, or those named, which the session has.
        spaces=False leaves the predictions over S unread (None), "consistent" the codes of
        hypotheses that are not consistent (0)."""
        if problem is None or isinstance(problem, str):
            ids = self._ids(session, problem)
        else:
            ids = list(problem)
        return _ledger.steps(self._reading, session, ids, spaces)

    def consistent(self, session: str, problems: Sequence[str]) -> dict[str, list[Consistent]]:
        """The consistent hypotheses of each problem, in the order of its steps."""
        return _answers.consistent(self._reading, session, problems)

    def given(self, session: str, problems: Sequence[str]) -> dict[str, list[Given]]:
        """The answers of each problem, in the order of its steps."""
        return _answers.given(self._reading, session, problems)

    def vectors(self, digests: Iterable[Digest]) -> dict[Digest, Vector]:
        """Arrays by digest, as `Consistent` names them."""
        return _journal.vectors_of(self._reading, digests)

    def bank(
        self, session: str, problem: str | None = None, alpha: float | None = None
    ) -> list[dict[str, Any]]:
        """problem, and what `bank.Bank.rows` says. alpha: to rank by; None: the session's own."""
        rows = []
        for name, own, chance, log in self._bank_logs(session, problem):
            bank = _bank.folded((event for _, event in log), own, chance)
            rows += [{"problem": name, **entry} for entry in bank.rows(alpha)]
        return rows

    def bank_growth(self, session: str, problem: str | None = None) -> list[dict[str, Any]]:
        """problem, and what `bank.growth` says of each step."""
        return [
            {"problem": name, **step}
            for name, own, chance, log in self._bank_logs(session, problem)
            for step in _bank.growth(log, own, chance)
        ]

    def _bank_logs(
        self, session: str, problem: str | None
    ) -> Iterator[tuple[str, float, float, list[tuple[int, BankEvent]]]]:
        """Of each problem with a bank: its id, alpha and chance, and its events with their steps."""
        own = (self.settings(session).get("text") or {}).get("alpha", 0.5)
        labels = {
            row.problem.id: len(row.problem.public.get("labels", ()))
            for row in self.problems(session)
        }
        log = _ledger.events(self._reading, session, self._ids(session, problem))
        for name, happened in groupby(log, key=lambda row: row[0]):
            chance = 1 / labels[name] if labels[name] else 0.0
            yield name, own, chance, [(step, event) for _, step, event in happened]

    def usage(self, session: str) -> dict[str, Any]:
        return _journal.usage(self._reading, session)

    # --- the session as a whole

    def digest(self, session: str) -> Digest:
        """SHA-256 over what the session found; clocks, retries and usage do not count."""
        return _digest.digest(self._reading, session)

    def findings_digest(self, session: str) -> Digest:
        """Return the SHA-256 over hypotheses, kinds of verdicts, predictions, bank events, paths and
        responses of calls; settings, requests and texts of messages do not count. `digest.py` lists
        what does."""
        return _digest.findings_digest(self._reading, session)

    def alterations(self, session: str) -> list[dict[str, Any]]:
        """Rows that are not what the digest beside them names: problem, step, path, field."""
        return _digest.alterations(self._reading, session)

    def export(self, session: str, out: str | Path, format: str) -> dict[str, Any]:
        """format: parquet (a folder), jsonl (a file) or huggingface (a data set folder).
        Returns session, format, out, files and rows by table. Never overwrites."""
        return _export.export(self, session, Path(out), format)

    # --- inside

    def _is_owned(self) -> bool:
        return not isinstance(self._reading, Reader) or self._reading.owned

    def _ids(self, session: str, problem: str | None) -> list[str]:
        return _sessions.problem_ids(self._reading, session, problem)

    def _writing(self) -> Writer:
        if self._writer is None:
            raise StoreError(f"{self.path} is open for reading")
        return self._writer

    def _write(self, change: Change) -> None:
        self._writing().submit(change).result()
