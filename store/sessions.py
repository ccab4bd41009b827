"""Creating, finding, listing and updating sessions and their problems in a store."""

from __future__ import annotations

import difflib
import secrets
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from ..records import Digest, InputSet, Json, Problem, StoreError
from .change_log import Change
from .codec import (
    MOST,
    SESSION_SETTINGS,
    decode_json,
    decode_text,
    encode_json,
    encode_text,
    inflate,
    problem_of,
    settings_of,
)
from .connection import RowReader
from .schema import Row

ID_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without i, l, o, 0 and 1, which look alike
STATUSES = ("running", "done", "interrupted", "budget", "failed")


@dataclass(frozen=True)
class ProblemRow:
    """A stored problem of a session, with its status.

    Attributes:
        problem: The problem.
        space: The digest of the problem's sample space, which is an `InputSet`.
        status: "open", "done" or "failed".
        cause: Why work on the problem ended.
    """

    problem: Problem
    space: Digest
    status: str
    cause: str


def new_id() -> str:
    """Return a new random id for a session or a training."""
    return "".join(secrets.choice(ID_LETTERS) for _ in range(8))


def creation_change(
    reader: RowReader, session: str, settings: Json, problems: Sequence[tuple[Problem, InputSet]]
) -> Change:
    """Return the change to the store that adds a session.

    Args:
        reader: The connection.
        session: The id of the new session.
        settings: The settings of the session.
        problems: The problems of the session, each with its sample space.

    Raises:
        StoreError: Two problems have the same id.
    """
    ids = [problem.id for problem, _ in problems]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise StoreError(f"problem {twice} occurs twice in one session; ids must differ")
    here = {digest for (digest,) in reader.query("SELECT digest FROM input_set")}
    spaces = {space.digest: space for _, space in problems if space.digest not in here}
    created = datetime.now(UTC).isoformat(timespec="microseconds")
    ordinal = "(SELECT coalesce(max(ordinal), -1) + 1 FROM session)"
    return Change(
        {
            "input_set": [_input_set(digest, space) for digest, space in spaces.items()],
            "problem": [
                _problem(session, place, problem, space.digest)
                for place, (problem, space) in enumerate(problems)
            ],
        },
        [
            (
                f"INSERT INTO session VALUES (?, {ordinal}, ?, 'running', ?, '{{}}') "
                "ON CONFLICT DO NOTHING",
                (session, created, encode_json(settings)),
            )
        ],
    )


def _input_set(digest: Digest, space: InputSet) -> Row:
    text = encode_json(space.inputs).encode("utf-8")
    if len(text) > MOST:
        raise StoreError(
            f"the input set {space.name!r} has {len(text)} bytes, and a store holds {MOST} at most"
        )
    inputs = zlib.compress(text, 4)  # level 6 takes eight times as long and saves 7% of the bytes
    weights = None if space.weights is None else encode_json(space.weights)
    return (digest, encode_text(space.name), len(space), inputs, weights)


def _problem(session: str, ordinal: int, problem: Problem, space: Digest) -> Row:
    return (
        *(session, encode_text(problem.id), ordinal, problem.task, problem.family),
        *(problem.digest, encode_json(problem.as_json()), space, "open", ""),
    )


def input_set(reader: RowReader, digest: Digest) -> InputSet:
    """Return the input set with this digest.

    Raises:
        StoreError: The store has no such input set, or the input set cannot be read.
    """
    rows = reader.query(
        "SELECT name, size, inputs, weights FROM input_set WHERE digest = ?", (digest,)
    )
    if not rows:
        raise StoreError(f"the store has no input set {digest}")
    return _read_input_set(digest, *rows[0])


@lru_cache(maxsize=4)  # a session, its findings and its metrics read the same large set
def _read_input_set(
    digest: Digest, name: str, size: int, inputs: bytes, weights: str | None
) -> InputSet:
    try:
        text = inflate(inputs).decode("utf-8")
    except (zlib.error, ValueError) as error:
        raise StoreError(f"the input set {digest} cannot be read: {error}") from error
    values = decode_json(text, "input_set.inputs", list)
    if len(values) != size:
        raise StoreError(f"the input set {digest} cannot be read: it does not hold {size} inputs")
    return InputSet(
        decode_text(name),
        tuple(values),
        None if weights is None else tuple(decode_json(weights, "input_set.weights", list)),
    )


def input_set_size(reader: RowReader, digest: Digest) -> tuple[int, tuple[float, ...] | None]:
    """Return the number of inputs in an input set, and the weight of each input.

    The weights are None if all inputs have the same weight. The inputs are not read.
    """
    rows = reader.query("SELECT size, weights FROM input_set WHERE digest = ?", (digest,))
    if not rows:
        raise StoreError(f"the store has no input set {digest}")
    ((size, weights),) = rows
    return int(size), None if weights is None else tuple(
        decode_json(weights, "input_set.weights", list)
    )


def find_session(reader: RowReader, name: str) -> str:
    """Return the id of a session. `name` is the id, a unique prefix of the id, or "last".

    Raises:
        StoreError: No session or several sessions match.
    """
    ids = [row[0] for row in reader.query("SELECT session FROM session ORDER BY ordinal")]
    if not ids:
        raise StoreError("the store contains no sessions yet")
    if name == "last":
        return str(ids[-1])
    if name in ids:
        return name
    found = [session for session in ids if name and session.startswith(name)]
    if len(found) == 1:
        return str(found[0])
    if found:
        raise StoreError(f"session {name!r} is ambiguous: {', '.join(found[:8])}")
    near = difflib.get_close_matches(name, ids, 1) or ids[-1:]
    raise StoreError(f"no session {name!r}; did you mean {near[0]}, or last?")


def sessions(
    reader: RowReader, is_owned: Callable[[], bool], session: str | None = None
) -> list[dict[str, Any]]:
    """Return a description of one session or of all sessions, in order of creation.

    Args:
        reader: The connection.
        is_owned: A function that returns whether a process is writing the store. It is called after
            the sessions are read. If no process is writing the store, a session with the status
            "running" was killed and is returned as "interrupted".
        session: The id of a session, or None for all sessions.
    """
    where = "" if session is None else "WHERE session.session = ?"
    rows = reader.query(
        "SELECT session.session, created, session.status, settings, fields, "
        "count(problem), count(problem) FILTER (problem.status = 'done'), "
        "count(problem) FILTER (problem.status = 'failed') "
        f"FROM session LEFT JOIN problem ON problem.session = session.session {where} "
        "GROUP BY session.session, session.ordinal, created, session.status, settings, fields "
        "ORDER BY session.ordinal",
        () if session is None else (session,),
    )
    if session is not None and not rows:
        raise StoreError(f"the store has no session {session}")
    owned = is_owned()
    return [_session(row, owned) for row in rows]


def _session(row: Row, owned: bool) -> dict[str, Any]:
    session, created, status, settings, fields, problems, done, failed = row
    held = settings_of(settings, "session.settings", SESSION_SETTINGS)
    return {
        **decode_json(fields, "session.fields", dict),
        "session": session,
        "created": created,
        "status": "interrupted" if status == "running" and not owned else status,
        "settings": held,
        "versions": held.get("versions", {}),
        "problems": problems,
        "problems_done": done,
        "problems_failed": failed,
    }


LARGE_PROBLEM = 1_000_000  # characters of JSON, from which on a problem is kept when it is read


def problems(
    reader: RowReader, session: str, kept: dict[str, dict[str, Problem]]
) -> list[ProblemRow]:
    """Return the problems of a session, in the order of the session.

    Args:
        reader: The connection.
        session: The session's id.
        kept: The problems of sessions with large problems by session and id, which are not read
            again, because a problem never changes. Sessions are added to it.
    """
    if (known := kept.get(session)) is not None:
        told = reader.query(
            "SELECT problem, space, status, cause FROM problem WHERE session = ? ORDER BY ordinal",
            (session,),
        )
        return [
            ProblemRow(known[decode_text(name)], space, status, decode_text(cause))
            for name, space, status, cause in told
        ]
    rows = reader.query(
        "SELECT data, space, status, cause FROM problem WHERE session = ? ORDER BY ordinal",
        (session,),
    )
    found = [
        ProblemRow(problem_of(data), space, status, decode_text(cause))
        for data, space, status, cause in rows
    ]
    if any(len(data) > LARGE_PROBLEM for data, *_ in rows):
        kept[session] = {row.problem.id: row.problem for row in found}
    return found


def status_change(
    reader: RowReader, session: str, status: str | None, fields: dict[str, Json]
) -> Change:
    """Return the change to the store that sets the status of a session and adds `fields`.

    With the status None, the status stays as it is.

    Raises:
        StoreError: The session or the status is unknown.
    """
    if status is not None and status not in STATUSES:
        raise StoreError(f"a session's status is one of {', '.join(STATUSES)}, not {status!r}")
    rows = reader.query("SELECT fields FROM session WHERE session = ?", (session,))
    if not rows:
        raise StoreError(f"the store has no session {session}")
    held = {**decode_json(rows[0][0], "session.fields", dict), **fields}
    return Change(
        {},
        [
            (
                "UPDATE session SET status = coalesce(?, status), fields = ? WHERE session = ?",
                (status, encode_json(held), session),
            )
        ],
    )


def fields_change(
    reader: RowReader, session: str, change: Callable[[Mapping[str, Json]], Mapping[str, Json]]
) -> Change:
    """Return the change to the store that sets fields of a session and keeps its status.

    Args:
        reader: The connection.
        session: The id of the session.
        change: A function that returns the fields to set, from the stored fields.

    Raises:
        StoreError: The store has no such session.
    """
    rows = reader.query("SELECT fields FROM session WHERE session = ?", (session,))
    if not rows:
        raise StoreError(f"the store has no session {session}")
    held = decode_json(rows[0][0], "session.fields", dict)
    fields = encode_json({**held, **change(held)})
    return Change({}, [("UPDATE session SET fields = ? WHERE session = ?", (fields, session))])


def problem_ids(reader: RowReader, session: str, problem: str | None) -> list[str]:
    """Return the ids of all problems of a session in order, or only the id `problem`.

    Raises:
        StoreError: The store has no such session, or the session has no such problem.
    """
    rows = reader.query(
        "SELECT problem FROM problem WHERE session = ? ORDER BY ordinal", (session,)
    )
    ids = [decode_text(name) for (name,) in rows]
    if not ids and not reader.query("SELECT 1 FROM session WHERE session = ?", (session,)):
        raise StoreError(f"the store has no session {session}")
    if problem is None:
        return ids
    if problem not in ids:
        near = difflib.get_close_matches(problem, ids, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise StoreError(f"session {session} has no problem {problem!r}{hint}")
    return [problem]


def progress(reader: RowReader, is_owned: Callable[[], bool], session: str) -> list[Json]:
    """Return the status of a session, the number of ended problems and the number of steps.

    This is fast, because the content of the steps is not read.
    """
    (told,) = sessions(reader, is_owned, session)
    ((steps,),) = reader.query("SELECT count(*) FROM step WHERE session = ?", (session,))
    return [told["status"], told["problems_done"] + told["problems_failed"], steps]


def count_verdicts(reader: RowReader, session: str) -> tuple[int, dict[str, int]]:
    """Return the number of steps of a session, and the number of its hypotheses by verdict."""
    ((steps,),) = reader.query("SELECT count(*) FROM step WHERE session = ?", (session,))
    rows = reader.query(
        "SELECT verdict, count(*) FROM verdict WHERE session = ? GROUP BY verdict ORDER BY verdict",
        (session,),
    )
    return steps, dict(rows)


def find_problems(reader: RowReader, session: str, words: Sequence[str]) -> list[str]:
    """Return the ids of the problems that contain every word of `words`, in the session's order.

    A word may occur in the problem (except in the names of its fields), an answer or a hypothesis.
    Upper and lower case are not distinguished.
    """
    here = " AND ".join(["contains(lower(said), lower(?))"] * len(words)) or "true"
    rows = reader.query(
        "WITH said AS ("
        "SELECT problem, problem || ' ' || regexp_replace(data, ?, ' ', 'g') AS said FROM problem "
        "WHERE session = ? UNION ALL "
        "SELECT problem, string_agg(text, ' ') FROM answer WHERE session = ? GROUP BY problem UNION ALL "
        "SELECT problem, string_agg(description || ' ' || text, ' ') FROM hypothesis WHERE session = ? "
        "GROUP BY problem), "
        "whole AS (SELECT problem, string_agg(said, ' ') AS said FROM said GROUP BY problem) "
        f"SELECT problem FROM whole JOIN (SELECT problem, ordinal FROM problem WHERE session = ?) "
        f"USING (problem) WHERE {here} ORDER BY ordinal",
        (r'"[^"\\]*":', *(session,) * 4, *map(encode_text, words)),
    )
    return [decode_text(name) for (name,) in rows]
