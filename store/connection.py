"""The DuckDB file of a store: its tables, its schema version, and connections to the file.

Either one process has the file open for writing, or several processes have it open for reading.
POSIX locks belong to a process. If a process that has the file open in DuckDB also opens and closes
the file by other means, DuckDB's lock is lost. Therefore no other code of this package opens the
file.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from ..records import StoreError
from . import store_files

if TYPE_CHECKING:
    import duckdb


# --- The tables of a store, and its version.
#
# Every key is structural (session, problem, path or step, and positions within it), so writing a
# row again changes nothing. Digests are SHA-256 in hex. JSON columns hold JSON text. `codec.py`
# documents how text columns hold lone surrogates. Times are UTC, and seconds are wall clock.
#
# Version 4 adds the tables of pairs and trainings to version 3 and changes nothing else. A store of
# version 3 gets these tables when it is opened for writing, and can be read without them. Version 5
# adds the table `pending` in the same way.

SCHEMA_VERSION = 5

Query = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]

TABLES: dict[str, str] = {
    # Metadata of the file. The row with name "schema" holds the version of these tables.
    "meta": """
        name VARCHAR PRIMARY KEY, value VARCHAR NOT NULL""",
    # One run of a method over a list of problems.
    #   ordinal: order of creation; `last` is the highest.  created: ISO 8601.
    #   status: running, done, interrupted, budget, failed.
    #   settings: everything that shapes the run. The key "operational" holds what must not
    #   change its results.  fields: the fields passed to `update_session` (seconds, metrics, …).
    "session": """
        session VARCHAR PRIMARY KEY, ordinal BIGINT NOT NULL, created VARCHAR NOT NULL,
        status VARCHAR NOT NULL, settings VARCHAR NOT NULL, fields VARCHAR NOT NULL""",
    # A list of inputs without outputs: the sample space S of one or more problems.
    #   digest: covers inputs and weights.  inputs: JSON in zlib.  weights: JSON or NULL.
    "input_set": """
        digest VARCHAR PRIMARY KEY, name VARCHAR NOT NULL, size BIGINT NOT NULL,
        inputs BLOB NOT NULL, weights VARCHAR""",
    # A complete problem of a session, including its hidden part.
    #   ordinal: its position in the session.  data: `Problem.as_json`.  space: digest of an
    #   input_set.  status: open, done, failed.  cause: why it ended.
    "problem": """
        session VARCHAR, problem VARCHAR, ordinal INTEGER NOT NULL, task VARCHAR NOT NULL,
        family VARCHAR NOT NULL, digest VARCHAR NOT NULL, data VARCHAR NOT NULL,
        space VARCHAR NOT NULL, status VARCHAR NOT NULL, cause VARCHAR NOT NULL,
        PRIMARY KEY (session, problem)""",
    # The journal: one request to a model, a tool or a person, with its outcome.
    #   path: its position in the session, such as step/3/propose/0.  kind: model, tool or human
    #   (a text from a person).
    #   request_digest: digest of the request's JSON, indexed for look-up by content.
    #   vectors: JSON, the digest in `vector` of each array of the response, by name.
    #   started: seconds since 1970.  repeats: the session whose recorded answer was reused, which
    #   took no tokens; '' where the model or tool itself answered.
    "call": """
        session VARCHAR, problem VARCHAR, path VARCHAR, kind VARCHAR NOT NULL,
        request_digest VARCHAR NOT NULL, request VARCHAR NOT NULL, response VARCHAR NOT NULL,
        vectors VARCHAR NOT NULL, tokens_in BIGINT NOT NULL, tokens_out BIGINT NOT NULL,
        tokens_cached BIGINT NOT NULL, tokens_reasoning BIGINT NOT NULL, seconds DOUBLE NOT NULL,
        retries INTEGER NOT NULL, started DOUBLE NOT NULL, repeats VARCHAR NOT NULL,
        PRIMARY KEY (session, problem, path)""",
    # A finished step. A row here means that all rows of the step in the tables below exist.
    #   fields: JSON, defined by the method.
    "step": """
        session VARCHAR, problem VARCHAR, step INTEGER, fields VARCHAR NOT NULL,
        PRIMARY KEY (session, problem, step)""",
    # An answer of a model.  answer: its position in the step.  path: the path of its call.
    "answer": """
        session VARCHAR, problem VARCHAR, step INTEGER, answer INTEGER, path VARCHAR NOT NULL,
        text VARCHAR NOT NULL, PRIMARY KEY (session, problem, step, answer)""",
    # A hypothesis of an answer.  ordinal: its position among the answer's verdicts.
    #   digest: `Hypothesis.digest`.  meta: JSON.  breaches: JSON list.
    "hypothesis": """
        session VARCHAR, problem VARCHAR, step INTEGER, answer INTEGER, ordinal INTEGER,
        digest VARCHAR NOT NULL, text VARCHAR NOT NULL, description VARCHAR NOT NULL,
        meta VARCHAR NOT NULL, breaches VARCHAR NOT NULL,
        PRIMARY KEY (session, problem, step, answer, ordinal)""",
    # The verdict on a hypothesis, or on a part of an answer that contains none.
    #   verdict: malformed, inconsistent, redundant, accepted.  bad: counts towards stopping.
    #   coverage: share of S on which an earlier answer predicts the same; NULL where unknown.
    "verdict": """
        session VARCHAR, problem VARCHAR, step INTEGER, answer INTEGER, ordinal INTEGER,
        verdict VARCHAR NOT NULL, reason VARCHAR NOT NULL, bad BOOLEAN NOT NULL, coverage DOUBLE,
        PRIMARY KEY (session, problem, step, answer, ordinal)""",
    # The predictions of a hypothesis.  inputs: shown, hidden or space.
    #   For shown and hidden: marks, one of true, false, NULL (undefined) per observation; got, JSON
    #   with the predicted values (`codec.encode_values`); detail, JSON.
    #   For space: codes and reasons, digests in `vector`; reason_names, JSON list; limited.
    #   outcome: "ok", or the reason why the batch has no result.
    "prediction": """
        session VARCHAR, problem VARCHAR, step INTEGER, answer INTEGER, ordinal INTEGER,
        inputs VARCHAR, outcome VARCHAR NOT NULL, marks BOOLEAN[], got VARCHAR, detail VARCHAR,
        codes VARCHAR, reasons VARCHAR, reason_names VARCHAR, limited BOOLEAN,
        PRIMARY KEY (session, problem, step, answer, ordinal, inputs)""",
    # Arrays by content; `store/codec.py` documents the blob. It is already compressed. When DuckDB
    # compressed it again (zstd), one look-up took 26 ms instead of 0.3 ms.
    "vector": """
        digest VARCHAR PRIMARY KEY, data BLOB NOT NULL USING COMPRESSION uncompressed""",
    # The bank's log: a hypothesis was right or wrong on an observation at time t.
    #   ordinal: its position in the step.  hypothesis: `Hypothesis.digest`; '' for a cut.
    #   kind: visit, visits, enter, drop, cut (`records.BankEvent`).  right: NULL where it did not apply.
    #   text, description: NULL where they equal those of the previous event of this hypothesis in
    #   the same step.
    "bank_event": """
        session VARCHAR, problem VARCHAR, step INTEGER, ordinal INTEGER, hypothesis VARCHAR NOT NULL,
        text VARCHAR, description VARCHAR, observation BIGINT NOT NULL, "right" BOOLEAN,
        t BIGINT NOT NULL, kind VARCHAR NOT NULL, PRIMARY KEY (session, problem, step, ordinal)""",
    # A set of preference pairs.  pair_set: digest of the set (`training/pair_table.py`).
    #   ordinal: `last` is the highest.  settings: JSON, how it was built.
    #   counts: JSON, the report.
    "pair_set": """
        pair_set VARCHAR PRIMARY KEY, ordinal BIGINT NOT NULL, created VARCHAR NOT NULL,
        settings VARCHAR NOT NULL, counts VARCHAR NOT NULL""",
    # A prompt of a set.  prompt: its position.  messages: JSON.
    #   split: train, validation, held-out.
    #   context: the number of earlier hypotheses in the prompt.
    "pair_prompt": """
        pair_set VARCHAR, prompt INTEGER, messages VARCHAR NOT NULL, task VARCHAR NOT NULL,
        problem VARCHAR NOT NULL, split VARCHAR NOT NULL, context TINYINT NOT NULL,
        PRIMARY KEY (pair_set, prompt)""",
    # An answer of a set.  answer: its position.  model: the model that gave it.
    "pair_answer": """
        pair_set VARCHAR, answer INTEGER, text VARCHAR NOT NULL, model VARCHAR NOT NULL,
        PRIMARY KEY (pair_set, answer)""",
    # A pair.  prompt, chosen, rejected: positions in the set.
    #   stage: 0 parsing, 1 consistency, 2 gear.
    "pair": """
        pair_set VARCHAR, pair INTEGER, prompt INTEGER NOT NULL, chosen INTEGER NOT NULL,
        rejected INTEGER NOT NULL, stage TINYINT NOT NULL, PRIMARY KEY (pair_set, pair)""",
    # A run of `peirce train`.  ordinal: `last` is the highest.  status: `trainings.STATUSES`.
    #   settings, fields: JSON.
    "training": """
        training VARCHAR PRIMARY KEY, ordinal BIGINT NOT NULL, created VARCHAR NOT NULL,
        status VARCHAR NOT NULL, settings VARCHAR NOT NULL, fields VARCHAR NOT NULL""",
    # A value of a training's log.  examples: the number of examples seen before it.
    #   stage: '' where it belongs to none.
    #   name: probe_loss, probe_accuracy, weight, … (`training/dpo/progress.py`).
    "training_point": """
        training VARCHAR, examples BIGINT, stage VARCHAR, name VARCHAR, value DOUBLE,
        PRIMARY KEY (training, examples, stage, name)""",
    # Changes that are durable and not yet in the tables above, in the order of `ordinal`
    #   (`change_log.py`). Whoever opens the store next puts them there.
    "pending": """
        ordinal BIGINT NOT NULL, changes BLOB NOT NULL USING COMPRESSION uncompressed""",
}

TABLES_ADDED_SINCE = {
    "3": (
        "pair_set",
        "pair_prompt",
        "pair_answer",
        "pair",
        "training",
        "training_point",
        "pending",
    ),
    "4": ("pending",),
}  # by earlier version: the tables that it lacks, which are its only difference

OWN_TABLES = "database_name = current_database()"  # not those of other stores that are attached
INDEXES = ("CREATE INDEX call_request ON call (request_digest)",)


def creation_statements() -> list[str]:
    """Return the SQL statements that turn an empty database into a store.

    Run the statements in one transaction.
    """
    made = [f"CREATE TABLE {name} ({columns})" for name, columns in TABLES.items()]
    return [*made, *INDEXES, f"INSERT INTO meta VALUES ('schema', '{SCHEMA_VERSION}')"]


def upgrade_statements(query: Query) -> list[str]:
    """Return the SQL statements that upgrade an older store to the current schema version.

    Run the statements in one transaction. The list is empty if no table has to be added, or if a
    store of this version cannot be upgraded. `query` runs a SELECT statement on the store.
    """
    added = TABLES_ADDED_SINCE.get(schema_version(query), ())
    if not added:
        return []
    made = [f"CREATE TABLE {name} ({TABLES[name]})" for name in added]
    return [*made, f"UPDATE meta SET value = '{SCHEMA_VERSION}' WHERE name = 'schema'"]


def _read_own_table(query: Query, table: str, sql: str) -> list[Row]:
    """Return the rows of `sql`, which reads one table; none if the database has no such table.

    DuckDB takes 9 ms to list the tables for the first time, so the table is not looked up before.
    """
    try:
        return query(sql, ())
    except StoreError as error:
        if f"Table with name {table} does not exist" in str(error):
            return []
        raise


def is_empty(query: Query) -> bool:
    """Return whether a database has no tables. `query` runs a SELECT statement on it."""
    return not query(
        f"SELECT 1 FROM duckdb_tables() WHERE NOT internal AND {OWN_TABLES} LIMIT 1", ()
    )


def schema_version(query: Query) -> str:
    """Return the schema version of a database, or "" if the database is not a store.

    `query` runs a SELECT statement on the database.
    """
    rows = _read_own_table(query, "meta", "SELECT value FROM meta WHERE name = 'schema'")
    return str(rows[0][0]) if rows else ""


def has_pending_changes(query: Query) -> bool:
    """Return whether a store holds changes that are durable and not yet in their tables.

    `query` runs a SELECT statement on the store.
    """
    return bool(_read_own_table(query, "pending", "SELECT 1 FROM pending LIMIT 1"))


def check_schema(query: Query, path: str) -> None:
    """Raise StoreError unless this version of Peirce can read the tables of a store.

    Peirce can read its own schema version. It can also read an older version if only tables are
    missing that are added when the store is opened for writing.

    Args:
        query: Runs a SELECT statement on the store.
        path: The path of the store, for the error message.
    """
    version = schema_version(query)
    if not version:
        raise StoreError(
            f"{path} is a DuckDB database, but not a store of Peirce; choose another file"
        )
    if version != str(SCHEMA_VERSION) and version not in TABLES_ADDED_SINCE:
        raise StoreError(
            f"{path} has schema version {version}, but this version of Peirce reads version"
            f" {SCHEMA_VERSION}: use the version of Peirce that wrote it, or choose another"
            " store"
        )


Row = tuple[Any, ...]

READER_MEMORY = "1GB"  # a reader's block cache; DuckDB's default is most of the machine's memory

# A checkpoint rewrites the row groups that it touches, and a row may hold a blob of 100 kB. Small
# groups and few checkpoints keep the work linear (2 bytes written per stored byte at 600 MB).
ROW_GROUP = 2_048
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "checkpoint_threshold": "128MB",
    "threads": "1",  # rows arrive one by one, and the sandbox and search need the cores
}


class RowReader(Protocol):
    """The interface for reading a store, from its file or through the process that writes it."""

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Run one SELECT statement and return its rows."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


def rows_by_problem(
    reader: RowReader,
    select: str,
    session: str,
    problems: Sequence[str],
    order: str,
    where: str = "",
) -> dict[str, list[Row]]:
    """Return the rows of several problems of a session, grouped by problem.

    All problems are read by one query. A separate query for each problem would scan the table each
    time, because an index only helps for complete keys.

    Args:
        reader: The connection.
        select: "SELECT problem, … FROM table". The problem is left out of the returned rows.
        session: The session's id.
        problems: Ids of problems in the form of `codec.encode_text`.
        order: The columns of ORDER BY.
        where: An additional condition that begins with AND.
    """
    places = ",".join("?" * len(problems))
    rows = reader.query(
        f"{select} WHERE session = ? AND problem IN ({places}) {where} ORDER BY {order}",
        [session, *problems],
    )
    found: dict[str, list[Row]] = {problem: [] for problem in problems}
    for problem, *cells in rows:
        found[problem].append(tuple(cells))
    return found


class StoreLocked(StoreError):
    """Raised if another process has opened the store for writing.

    Attributes:
        pid: The process id of the other process; 0 if it is unknown.
    """

    def __init__(self, message: str, pid: int) -> None:
        super().__init__(message)
        self.pid = pid


class OutOfMemory(StoreError):
    """Raised if a query needs more memory than its reader may take."""


class AlreadyOpen(StoreError):
    """Raised if this process has already opened the same store."""


# Threads of this process open files for writing one after the other: a thread that finds an
# unfinished file replaces it, and must not replace one that another thread is just creating.
OPENING = threading.Lock()


class Database:
    """The DuckDB file of a store, opened in this process.

    `query` may be called from any thread.

    Attributes:
        write_connection: The connection for the single thread that writes.
        before_query: A function that every query calls first; the store's writer sets it.
    """

    _creator: duckdb.DuckDBPyConnection | None = None  # It creates the file, and then opens it.

    def __init__(
        self, path: Path, *, write: bool, sources: Sequence[Path] = (), memory: str | None = None
    ) -> None:
        """Open the file, and create it where `write` is set and it does not exist.

        Hold `OPENING` to open it for writing. Statements find the tables of `sources`, which are
        opened for reading alone, under `source_name`. A reader holds at most `memory`
        (`READER_MEMORY` if it is None).

        Raises:
            AlreadyOpen: This process holds the file.
            StoreLocked: Another process holds the file.
            StoreError: The file is no store, or cannot be opened.
        """
        import duckdb

        self.path = path
        self.before_query: Callable[[], None] = lambda: None
        self._write = write
        self._memory = memory or READER_MEMORY
        self._sources = sources
        self._spill = store_files.make_spill_folder()
        try:
            fresh = write and self._prepare()
            self.write_connection, again = self._attach_or_replace(write, fresh)
        except StoreError:
            if self._creator is not None:
                self._creator.close()
            self._remove_spill()
            raise
        fresh = fresh or again
        self._file = store_files.identity(path)
        self._local = threading.local()
        self._closed = False
        try:
            if (fresh or not schema_version(self.query)) and is_empty(self.query):
                if not write:
                    raise _empty(path)
                self._run(creation_statements())
            check_schema(self.query, str(path))
            if write and (missing := upgrade_statements(self.query)):
                self._run(missing)
        except (StoreError, duckdb.Error) as error:
            if fresh:
                # It is still locked, so no other process uses it yet.
                store_files.remove_files(path)
            self.close()
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"no store can be created at {path}: {first_line(error)}") from error

    def _prepare(self) -> bool:
        def create(draft: Path) -> None:
            self._creator = creator = _connect(self._spill)
            try:
                creator.execute(_attachment(draft, "draft", write=True))
                creator.execute("DETACH draft")
            except duckdb.Error as error:
                raise _why(self.path, first_line(error)) from error

        import duckdb

        return store_files.prepare(self.path, create)

    def _attach_or_replace(self, write: bool, fresh: bool) -> tuple[Any, bool]:
        """Open the file; return the connection, and whether it replaces an unfinished file."""
        try:
            return self._attached(), False
        except (StoreLocked, AlreadyOpen):  # the file is good
            raise
        except StoreError as error:
            unfinished = store_files.is_unfinished(self.path)
            if write and (fresh or unfinished):
                store_files.remove_files(self.path)
            if not (write and unfinished):
                raise (_empty(self.path) if unfinished else error) from None
        self._prepare()
        return self._attached(), True

    def _attached(self) -> duckdb.DuckDBPyConnection:
        """Return a connection to the file, and to the files of `sources`."""
        import duckdb

        connection, self._creator = self._creator, None
        if connection is None:
            limit = {} if self._write else {"memory_limit": self._memory}
            connection = _connect(self._spill, limit)
        named = self.path
        try:
            connection.execute(_attachment(self.path, "store", self._write))
            connection.execute("USE store")
            if not self._sources:  # then this connection only inserts single rows
                connection.execute("PRAGMA disable_optimizer")
            # At its end DuckDB would remove the log by its path, even where the store was moved and
            # the log there is that of another store. `close` writes a checkpoint instead.
            connection.execute("PRAGMA disable_checkpoint_on_shutdown")
            for number, source in enumerate(self._sources):
                named = source
                connection.execute(_attachment(source, source_name(number), write=False))
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
        except duckdb.Error as error:
            connection.close()
            raise _why(named, first_line(error)) from error
        return connection

    def is_in_place(self) -> bool:
        """Return whether `path` still leads to the file that was opened.

        DuckDB finds the log of a file by the file's path. If the file was moved, a log at the old
        path may belong to another store.
        """
        return store_files.identity(self.path) == self._file

    def check_place(self) -> None:
        """Raise StoreError if `path` no longer leads to the file that was opened."""
        if not self.is_in_place():
            raise StoreError(
                f"{self.path} was moved or replaced while it was open, so nothing more is written to"
                " it: what was written before is kept where it is now, with its log"
                f" ({store_files.log_of(self.path).name}) beside it; resume there"
            )

    def _run(self, statements: Sequence[str]) -> None:
        store_files.prepare_log(self.path)
        self.write_connection.execute("BEGIN TRANSACTION")
        for statement in statements:
            self.write_connection.execute(statement)
        self.write_connection.execute("COMMIT")

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return the database connection of the calling thread, opening it if necessary."""
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._local, "cursor", None)
        if cursor is None:
            if self._closed:
                raise StoreError(f"the store {self.path} is closed")
            cursor = self.write_connection.cursor()
            cursor.execute("USE store")  # a cursor does not inherit it
            self._local.cursor = cursor
        return cursor

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Run one SELECT statement and return its rows.

        A query of the process that writes the store finds every change that was queued before it.

        Raises:
            StoreError: The query fails, or the store is closed.
        """
        import duckdb

        if self._closed:
            raise StoreError(f"the store {self.path} is closed")
        self.before_query()
        try:
            return self.cursor().execute(sql, list(params)).fetchall()
        except duckdb.Error as error:
            if isinstance(error, duckdb.OutOfMemoryException):
                raise OutOfMemory(f"{self.path} cannot be read: {first_line(error)}") from error
            raise StoreError(f"{self.path} cannot be read: {first_line(error)}") from error

    def close(self) -> None:
        """Close all connections to the file."""
        import duckdb

        self._closed = True
        if self._write and self.is_in_place():
            with contextlib.suppress(duckdb.Error):  # committed changes are in the log
                self.write_connection.execute("CHECKPOINT store")
        with contextlib.suppress(duckdb.Error):
            self.write_connection.close()
        self._remove_spill()

    def _remove_spill(self) -> None:
        if self._spill:
            shutil.rmtree(self._spill, ignore_errors=True)


def _empty(path: Path) -> StoreError:
    return StoreError(
        f"{path} is still empty, because the process that created it was stopped too early; the"
        " next run will use it"
    )


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return str(error).strip().partition("\n")[0]


def source_name(number: int) -> str:
    """Return the name of a source in SQL, by its position in `sources`."""
    return f"source{number}"


def _connect(
    spill: str, limit: Mapping[str, str] = MappingProxyType({})
) -> duckdb.DuckDBPyConnection:
    import duckdb

    config = {**CONFIG, **limit, "temp_directory": spill}
    connection: duckdb.DuckDBPyConnection = duckdb.connect(":memory:", config=config)
    return connection


def _attachment(path: Path, name: str, write: bool) -> str:
    """Return the statement that opens the file at `path` as the database `name`."""
    place = str(path).replace("'", "''")
    options = f"ROW_GROUP_SIZE {ROW_GROUP}" if write else "READ_ONLY"
    return f"ATTACH '{place}' AS {name} (TYPE duckdb, {options})"


def _why(path: Path, message: str) -> StoreError:
    """Return DuckDB's message as an error with a sentence for the user."""
    if "Could not set lock" in message:
        found = re.search(r"PID (\d+)", message)
        pid = int(found[1]) if found else 0
        who = f"process {pid}" if pid else "another process"
        return StoreLocked(f"{path} is in use by {who}; wait for it or name another store", pid)
    if "already attached" in message:
        return AlreadyOpen(f"{path} is open in this process already; close that store first")
    if "not a valid DuckDB database" in message or "Could not read enough bytes" in message:
        return StoreError(f"{path} is not a DuckDB database; choose another store")
    if "storage version" in message or "newer version of DuckDB" in message:
        return StoreError(f"{path} was written by another version of DuckDB: {message}")
    return StoreError(f"{path} cannot be opened as a store: {message}")
