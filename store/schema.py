"""The tables of a store, and its version.

Every key is structural (session, problem, path or step and places within it), so that writing a
row again changes nothing. Digests are SHA-256 in hex. JSON columns hold JSON text, text columns
text (`cells.py` says how lone surrogates stand). Times are UTC; seconds are wall clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..records import StoreError

VERSION = 3

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
    # Arrays by content; `vectors.py` documents the blob. It is packed already: compressed again by
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
}

INDEXES = ("CREATE INDEX call_request ON call (request_digest)",)


def statements() -> list[str]:
    """What makes an empty database a store; run in one transaction."""
    made = [f"CREATE TABLE {name} ({columns})" for name, columns in TABLES.items()]
    return [*made, *INDEXES, f"INSERT INTO meta VALUES ('schema', '{VERSION}')"]


def is_empty(query: Query) -> bool:
    return not query("SELECT 1 FROM duckdb_tables() WHERE NOT internal LIMIT 1", ())


def check(query: Query, path: str) -> None:
    """Raises StoreError unless the tables are those of this version."""
    meta = query("SELECT 1 FROM duckdb_tables() WHERE table_name = 'meta' LIMIT 1", ())
    rows = query("SELECT value FROM meta WHERE name = 'schema'", ()) if meta else []
    if not rows:
        raise StoreError(f"{path} is a DuckDB database, but no store of Peirce; name another file")
    (found,) = rows[0]
    if found != str(VERSION):
        raise StoreError(
            f"{path} has schema version {found} and this Peirce reads version {VERSION}: "
            "use the Peirce that wrote it, or name another store"
        )
