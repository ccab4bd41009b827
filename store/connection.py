"""The DuckDB file of a store: one process writes it, or many read it.

POSIX locks belong to a process: opening and closing the file by any other means in a process that
holds it open drops DuckDB's lock. So nothing else here ever opens the file.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..records import StoreError

if TYPE_CHECKING:
    import duckdb


# --- The tables of a store, and its version.
#
# Every key is structural (session, problem, path or step and places within it), so that writing a
# row again changes nothing. Digests are SHA-256 in hex. JSON columns hold JSON text, text columns
# text (`cells.py` says how lone surrogates stand). Times are UTC; seconds are wall clock.
#
# Version 4 adds to version 3 the tables of pairs and trainings, and changes nothing else: a store of
# version 3 gets them when it is opened for writing, and is read as it is until then.

VERSION = 4

Query = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]

TABLES: dict[str, str] = {
    # What this file is. name "schema": the version of these tables.
    "meta": """
        name VARCHAR PRIMARY KEY, value VARCHAR NOT NULL""",
    # One run of a method over a list of problems.
    #   ordinal: order of creation; `last` is the highest.  created: ISO 8601.
    #   status: running, done, interrupted, budget, failed.
    #   settings: all that shapes the run; under "operational" what must not shape its results.
    #   fields: what `set_session` was given (seconds, metrics, …).
    "session": """
        session VARCHAR PRIMARY KEY, ordinal BIGINT NOT NULL, created VARCHAR NOT NULL,
        status VARCHAR NOT NULL, settings VARCHAR NOT NULL, fields VARCHAR NOT NULL""",
    # A list of inputs without outputs: the sample space S of one or many problems.
    #   digest: of inputs and weights.  inputs: JSON, compressed by zlib.  weights: JSON or NULL.
    "input_set": """
        digest VARCHAR PRIMARY KEY, name VARCHAR NOT NULL, size BIGINT NOT NULL,
        inputs BLOB NOT NULL, weights VARCHAR""",
    # A whole problem of a session, hidden part included.
    #   ordinal: its place in the session.  data: `Problem.as_json`.  space: an input_set.
    #   status: open, done, failed.  cause: why it ended.
    "problem": """
        session VARCHAR, problem VARCHAR, ordinal INTEGER NOT NULL, task VARCHAR NOT NULL,
        family VARCHAR NOT NULL, digest VARCHAR NOT NULL, data VARCHAR NOT NULL,
        space VARCHAR NOT NULL, status VARCHAR NOT NULL, cause VARCHAR NOT NULL,
        PRIMARY KEY (session, problem)""",
    # The journal: one model or tool request with what came of it.
    #   path: where it stands, such as step/3/propose/0.  kind: model or tool.
    #   request_digest: of the request's JSON; indexed, for look-up by content.
    #   vectors: JSON, the name of each array of the response and its digest in `vector`.
    #   started: seconds since 1970.  repeats: the session whose call of the same request answered
    #   this one, which then took no tokens; '' where the model or tool did.
    "call": """
        session VARCHAR, problem VARCHAR, path VARCHAR, kind VARCHAR NOT NULL,
        request_digest VARCHAR NOT NULL, request VARCHAR NOT NULL, response VARCHAR NOT NULL,
        vectors VARCHAR NOT NULL, tokens_in BIGINT NOT NULL, tokens_out BIGINT NOT NULL,
        tokens_cached BIGINT NOT NULL, tokens_reasoning BIGINT NOT NULL, seconds DOUBLE NOT NULL,
        retries INTEGER NOT NULL, started DOUBLE NOT NULL, repeats VARCHAR NOT NULL,
        PRIMARY KEY (session, problem, path)""",
    # A finished step. A row here says that all of the step's rows below are there.
    #   fields: JSON, the method's own.
    "step": """
        session VARCHAR, problem VARCHAR, step INTEGER, fields VARCHAR NOT NULL,
        PRIMARY KEY (session, problem, step)""",
    # What a model answered.  answer: its place in the step.  path: of the call that gave it.
    "answer": """
        session VARCHAR, problem VARCHAR, step INTEGER, answer INTEGER, path VARCHAR NOT NULL,
        text VARCHAR NOT NULL, PRIMARY KEY (session, problem, step, answer)""",
    # A hypothesis of an answer.  ordinal: its place among the answer's verdicts.
    #   digest: `Hypothesis.digest`.  meta: JSON.  breaches: JSON list.
    "hypothesis": """
        session VARCHAR, problem VARCHAR, step INTEGER, answer INTEGER, ordinal INTEGER,
        digest VARCHAR NOT NULL, text VARCHAR NOT NULL, description VARCHAR NOT NULL,
        meta VARCHAR NOT NULL, breaches VARCHAR NOT NULL,
        PRIMARY KEY (session, problem, step, answer, ordinal)""",
    # What became of a hypothesis, or of a part of an answer that gives none.
    #   verdict: malformed, inconsistent, redundant, accepted.  bad: counts towards stopping.
    #   coverage: share of S whose prediction an earlier answer gave already; NULL where unknown.
    "verdict": """
        session VARCHAR, problem VARCHAR, step INTEGER, answer INTEGER, ordinal INTEGER,
        verdict VARCHAR NOT NULL, reason VARCHAR NOT NULL, bad BOOLEAN NOT NULL, coverage DOUBLE,
        PRIMARY KEY (session, problem, step, answer, ordinal)""",
    # What a hypothesis predicts.  inputs: shown, hidden or space.
    #   shown, hidden: marks, one of true, false, NULL (undefined) for each observation; got,
    #   JSON, what was predicted; detail, JSON.
    #   space: codes and reasons, digests in `vector`; reason_names, JSON list; limited.
    #   outcome: "ok", or why the whole batch has no result.
    "prediction": """
        session VARCHAR, problem VARCHAR, step INTEGER, answer INTEGER, ordinal INTEGER,
        inputs VARCHAR, outcome VARCHAR NOT NULL, marks BOOLEAN[], got VARCHAR, detail VARCHAR,
        codes VARCHAR, reasons VARCHAR, reason_names VARCHAR, limited BOOLEAN,
        PRIMARY KEY (session, problem, step, answer, ordinal, inputs)""",
    # Arrays by content; `store/cells.py` documents the blob. It is packed already: compressed again by
    # DuckDB (zstd), one look-up took 26 ms instead of 0.3.
    "vector": """
        digest VARCHAR PRIMARY KEY, data BLOB NOT NULL USING COMPRESSION uncompressed""",
    # The bank's log: a hypothesis was right or wrong on an observation at time t.
    #   ordinal: its place in the step.  hypothesis: `Hypothesis.digest`; '' of a cut.
    #   kind: visit, enter, drop, cut (`records.BankEvent`).  right: NULL where it did not apply.
    #   text, description: NULL where they are those of the step's previous event of this
    #   hypothesis.
    "bank_event": """
        session VARCHAR, problem VARCHAR, step INTEGER, ordinal INTEGER, hypothesis VARCHAR NOT NULL,
        text VARCHAR, description VARCHAR, observation BIGINT NOT NULL, "right" BOOLEAN,
        t BIGINT NOT NULL, kind VARCHAR NOT NULL, PRIMARY KEY (session, problem, step, ordinal)""",
    # A set of preference pairs.  pair_set: digest of all of it (`training/pair_table.py`).
    #   ordinal: `last` is the highest.  settings: JSON, what made it.  counts: JSON, the report.
    "pair_set": """
        pair_set VARCHAR PRIMARY KEY, ordinal BIGINT NOT NULL, created VARCHAR NOT NULL,
        settings VARCHAR NOT NULL, counts VARCHAR NOT NULL""",
    # A prompt of a set.  prompt: its place.  messages: JSON.  split: train, validation, held-out.
    #   context: how many earlier hypotheses stand in it.
    "pair_prompt": """
        pair_set VARCHAR, prompt INTEGER, messages VARCHAR NOT NULL, task VARCHAR NOT NULL,
        problem VARCHAR NOT NULL, split VARCHAR NOT NULL, context TINYINT NOT NULL,
        PRIMARY KEY (pair_set, prompt)""",
    # An answer of a set.  answer: its place.  model: who gave it.
    "pair_answer": """
        pair_set VARCHAR, answer INTEGER, text VARCHAR NOT NULL, model VARCHAR NOT NULL,
        PRIMARY KEY (pair_set, answer)""",
    # A pair.  prompt, chosen, rejected: places in the set.  stage: 0 parsing, 1 consistency, 2 gear.
    "pair": """
        pair_set VARCHAR, pair INTEGER, prompt INTEGER NOT NULL, chosen INTEGER NOT NULL,
        rejected INTEGER NOT NULL, stage TINYINT NOT NULL, PRIMARY KEY (pair_set, pair)""",
    # A run of `peirce train`.  ordinal: `last` is the highest.  status: as of a session.
    #   settings, fields: JSON.
    "training": """
        training VARCHAR PRIMARY KEY, ordinal BIGINT NOT NULL, created VARCHAR NOT NULL,
        status VARCHAR NOT NULL, settings VARCHAR NOT NULL, fields VARCHAR NOT NULL""",
    # A value of a training's log.  examples: seen by then.  stage: '' where it belongs to none.
    #   name: probe_loss, probe_accuracy, weight, … (`training/dpo/progress.py`).
    "training_point": """
        training VARCHAR, examples BIGINT, stage VARCHAR, name VARCHAR, value DOUBLE,
        PRIMARY KEY (training, examples, stage, name)""",
}

ADDED = {
    "3": ("pair_set", "pair_prompt", "pair_answer", "pair", "training", "training_point"),
}  # by version: the tables that it lacks, and nothing else

INDEXES = ("CREATE INDEX call_request ON call (request_digest)",)


def statements() -> list[str]:
    """What makes an empty database a store; run in one transaction."""
    made = [f"CREATE TABLE {name} ({columns})" for name, columns in TABLES.items()]
    return [*made, *INDEXES, f"INSERT INTO meta VALUES ('schema', '{VERSION}')"]


def upgrade(query: Query) -> list[str]:
    """What makes a store of an earlier version one of this; run in one transaction. Empty where
    there is nothing to add, or no way from there."""
    added = ADDED.get(found(query), ())
    if not added:
        return []
    made = [f"CREATE TABLE {name} ({TABLES[name]})" for name in added]
    return [*made, f"UPDATE meta SET value = '{VERSION}' WHERE name = 'schema'"]


def is_empty(query: Query) -> bool:
    return not query("SELECT 1 FROM duckdb_tables() WHERE NOT internal LIMIT 1", ())


def found(query: Query) -> str:
    """The version of a database; "" of one that is no store."""
    meta = query("SELECT 1 FROM duckdb_tables() WHERE table_name = 'meta' LIMIT 1", ())
    rows = query("SELECT value FROM meta WHERE name = 'schema'", ()) if meta else []
    return str(rows[0][0]) if rows else ""


def check(query: Query, path: str) -> None:
    """Raises StoreError unless the tables are those of this version, or of one that lacks no more
    than tables which are added when it is written to."""
    version = found(query)
    if not version:
        raise StoreError(f"{path} is a DuckDB database, but no store of Peirce; name another file")
    if version != str(VERSION) and version not in ADDED:
        raise StoreError(
            f"{path} has schema version {version} and this Peirce reads version {VERSION}: "
            "use the Peirce that wrote it, or name another store"
        )


Row = tuple[Any, ...]

READ_MEMORY = "1GB"  # of blocks that a reader keeps; DuckDB's own bound is most of the machine

# Checkpoints rewrite the row groups they touch, a blob of 100 kB a row: small groups and few
# checkpoints keep the work linear (2 bytes written for each stored one at 600 MB).
ROW_GROUP = 2_048
HEADERS_BYTES = 3 * 4_096  # a database without anything in it
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "checkpoint_threshold": "128MB",
    "threads": "1",  # rows come singly, and the cores belong to the sandbox and to search
}


class Reading(Protocol):
    """All reading of a store goes through this."""

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]: ...

    def close(self) -> None: ...


def by_problem(
    reading: Reading,
    select: str,
    session: str,
    problems: Sequence[str],
    order: str,
    where: str = "",
) -> dict[str, list[Row]]:
    """Rows of some problems of a session, by problem as it stands in its cell. One query for
    many problems: each is a scan, since an index serves whole keys alone.

    select: "SELECT problem, … FROM table"; the problem is left out of the rows.
    """
    places = ",".join("?" * len(problems))
    rows = reading.query(
        f"{select} WHERE session = ? AND problem IN ({places}) {where} ORDER BY {order}",
        [session, *problems],
    )
    found: dict[str, list[Row]] = {problem: [] for problem in problems}
    for problem, *cells in rows:
        found[problem].append(tuple(cells))
    return found


class Locked(StoreError):
    """Another process holds the file. pid: its number, 0 where unknown."""

    def __init__(self, message: str, pid: int) -> None:
        super().__init__(message)
        self.pid = pid


class Database:
    """The file, open in this process; `query` may be called from any thread.

    writing: the connection of the one thread that writes.
    """

    def __init__(self, path: Path, *, write: bool) -> None:
        """Raises StoreError; `Locked` where another process holds the file."""
        import duckdb

        self.path = path
        fresh = write and not os.path.lexists(path)
        try:
            self.writing = _attached(path, write)
        except Locked:
            raise
        except StoreError:
            unfinished = _is_unfinished(path)
            if unfinished and not write:
                raise _empty(path) from None
            if write and (fresh or unfinished):
                _unlink(path)
            if fresh or not write or os.path.lexists(path):
                raise
            fresh = True
            self.writing = _attached(path, write)
        self._local = threading.local()
        self._closed = False
        try:
            if is_empty(self.query):
                if not write:
                    raise _empty(path)
                self._run(statements())
            check(self.query, str(path))
            if write and (missing := upgrade(self.query)):
                self._run(missing)
        except (StoreError, duckdb.Error) as error:
            if fresh:
                _unlink(path)  # while it is locked: nobody else has begun to use it
            self.close()
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"no store can be made at {path}: {first_line(error)}") from error

    def _run(self, statements: Sequence[str]) -> None:
        self.writing.execute("BEGIN TRANSACTION")
        for statement in statements:
            self.writing.execute(statement)
        self.writing.execute("COMMIT")

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """This thread's own connection to the same database."""
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._local, "cursor", None)
        if cursor is None:
            if self._closed:
                raise StoreError(f"the store {self.path} is closed")
            cursor = self.writing.cursor()
            cursor.execute("USE store")  # a cursor does not inherit it
            self._local.cursor = cursor
        return cursor

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        import duckdb

        if self._closed:
            raise StoreError(f"the store {self.path} is closed")
        try:
            return self.cursor().execute(sql, list(params)).fetchall()
        except duckdb.Error as error:
            raise StoreError(f"{self.path} cannot be read: {first_line(error)}") from error

    def close(self) -> None:
        import duckdb

        self._closed = True
        with contextlib.suppress(duckdb.Error):  # what is committed stands in the log
            self.writing.close()


def _is_unfinished(path: Path) -> bool:
    """Whether the file is the start of a database and no more, as a kill or a full disk leaves
    it. It is opened here only where DuckDB could not, so that there is no lock to lose."""
    try:
        if not path.is_file() or path.stat().st_size >= HEADERS_BYTES:
            return False
        with path.open("rb") as file:
            start = file.read(12)
    except OSError:
        return False
    return start == b"" or start[8:] == b"DUCK"


def _empty(path: Path) -> StoreError:
    return StoreError(
        f"{path} holds nothing yet: what made it was stopped before it began; the next run uses it"
    )


def _unlink(path: Path) -> None:
    for place in (path, path.with_name(path.name + ".wal")):
        with contextlib.suppress(OSError):
            place.unlink()


def first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def _attached(path: Path, write: bool) -> duckdb.DuckDBPyConnection:
    import duckdb

    memory: dict[str, str] = {} if write else {"memory_limit": READ_MEMORY}
    connection = duckdb.connect(":memory:", config={**CONFIG, **memory})
    place = str(path).replace("'", "''")
    options = f"ROW_GROUP_SIZE {ROW_GROUP}" if write else "READ_ONLY"
    try:
        connection.execute(f"ATTACH '{place}' AS store (TYPE duckdb, {options})")
        connection.execute("USE store")
        connection.execute("PRAGMA disable_optimizer")  # of this connection: it inserts row by row
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    except duckdb.Error as error:
        connection.close()
        raise _why(path, first_line(error)) from error
    return connection


def _why(path: Path, message: str) -> StoreError:
    """DuckDB's reason as a sentence for the user."""
    if "Could not set lock" in message:
        found = re.search(r"PID (\d+)", message)
        pid = int(found[1]) if found else 0
        who = f"process {pid}" if pid else "another process"
        return Locked(f"{path} is in use by {who}; wait for it or name another store", pid)
    if "already attached" in message:
        return StoreError(f"{path} is open in this process already; close that store first")
    if "not a valid DuckDB database" in message or "Could not read enough bytes" in message:
        return StoreError(f"{path} is no DuckDB database; name another store")
    if "storage version" in message or "newer version of DuckDB" in message:
        return StoreError(f"{path} was written by another version of DuckDB: {message}")
    return StoreError(f"{path} cannot be opened as a store: {message}")
