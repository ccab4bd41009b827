"""The tables of a store, and the version of its schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..records import StoreError

# Every key is structural (session, problem, path or step, and positions within it), so writing a
# row again changes nothing. Digests are SHA-256 in hex. JSON columns hold JSON text. `codec.py`
# documents how text columns hold lone surrogates. Times are UTC, and seconds are wall clock.
#
# Version 4 adds the tables of pairs and trainings to version 3 and changes nothing else. A store of
# version 3 gets these tables when it is opened for writing, and can be read without them. Version 5
# adds the table `pending` in the same way.

SCHEMA_VERSION = 5

Row = tuple[Any, ...]
Query = Callable[[str, Sequence[Any]], list[Row]]

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
