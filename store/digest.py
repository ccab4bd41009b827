"""Digests of sessions, and the check of stored content against its digests.

The digest of a session covers its results and not the circumstances of the run. Two runs with the
same seed have the same digest, even if a run was killed and resumed, and in whatever order their
calls returned. The findings digest also leaves out settings, requests and texts of messages. It
stays the same if the program words its prompts or explanations differently and the results are
equal.

`find_changes` compares stored rows with the digests that name them. Replaying a session cannot
replace this check. A replay compares newly computed results with recorded results. An altered array
that calls and steps share would be equal to itself in this comparison.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..records import Digest, Hypothesis, Json, StoreError, canonical_json, digest_of
from .codec import decode_json, decode_text, encode_json, is_intact, problem_of
from .connection import RowReader, rows_by_problem
from .journal import read_blobs
from .ledger import PROBLEMS_PER_QUERY, events_by_problem

# Keys of the settings, at any depth, that describe how a session ran, not what it searched for.
OPERATIONAL = frozenset(
    {
        *("operational", "versions", "layers", "concurrency", "workers", "store", "backend"),
        *("session", "created", "started", "seconds", "retries", "usage"),
    }
)

# Columns of each table after the problem. The first ones are its key, so rows have one order.
DIGEST_COLUMNS: Mapping[str, Sequence[str]] = {
    "step": ("step", "fields"),
    "answer": ("step", "answer", "path", "text"),
    "hypothesis": (*("step", "answer", "ordinal", "text", "description", "meta", "breaches"),),
    "verdict": ("step", "answer", "ordinal", "verdict", "reason", "bad", "coverage"),
    "prediction": (
        *("step", "answer", "ordinal", "inputs", "outcome", "marks", "got", "detail"),
        *("codes", "reasons", "reason_names", "limited"),
    ),
    "call": ("path", "kind", "request_digest", "response", "vectors"),
}

_KIND = re.compile(r"[a-z][a-z0-9_]*")


def reason_kind(reason: str) -> str:
    """Return the kind at the start of a reason, such as "no_tuple" for "no_tuple: there is none".

    If the reason is a sentence without a kind, the result is "".
    """
    kind = decode_text(reason).partition(":")[0]
    return kind if _KIND.fullmatch(kind) else ""


def _without_texts(detail: str | None) -> str | None:
    """Return the cell of a prediction's detail without the values that are text."""
    if detail is None:
        return None
    return encode_json(
        {
            k: v
            for k, v in decode_json(detail, "prediction.detail", dict).items()
            if not isinstance(v, str)
        }
    )


# The columns that the findings digest leaves out, and those that it reduces to kinds and numbers.
IGNORED_COLUMNS = frozenset({("answer", "text"), ("call", "request_digest")})
REDUCED_COLUMNS: Mapping[tuple[str, str], Callable[[Any], Any]] = {
    ("verdict", "reason"): reason_kind,
    ("prediction", "detail"): _without_texts,
}


def drop_operational(settings: Json) -> Json:
    """Return the settings without those that cannot change results, also in inner objects.

    The omitted keys are listed in `OPERATIONAL`.
    """
    if isinstance(settings, dict):
        return {k: drop_operational(v) for k, v in settings.items() if k not in OPERATIONAL}
    if isinstance(settings, list):
        return [drop_operational(part) for part in settings]
    return settings


def digest(reader: RowReader, session: str) -> Digest:
    """Return the SHA-256 of the results of a session as hexadecimal text.

    The digest covers the settings, the problems and how they ended, the steps, the bank and the
    calls.
    """
    return _sha256(_parts(reader, session, findings=False))


def findings_digest(reader: RowReader, session: str) -> Digest:
    """Return the SHA-256 of the findings of a session as hexadecimal text.

    The digest covers:

    - for each problem, in the order of the session: its id, its digest, the digest of its stored
      sample space, its status, and, if the problem is done, the kind of its end;
    - for each step: its number, and the method's notes on the step (`fields`, such as labels of
      rows, a chosen rule or a round);
    - for each answer: the path of the call that returned the answer;
    - for each hypothesis: its text, description, meta and breaches;
    - for each verdict: verdict, bad, coverage, and the kind of its reason (`reason_kind`);
    - for each prediction: inputs, outcome, marks, got, codes, reasons with their names, limited,
      and the values in its detail that are not text;
    - for the bank: every event, in order;
    - for each call: path, kind, response, and the arrays of the response.

    The digest does not cover: settings, requests and their digests, the text of an answer (which
    the response of its call contains), sentences about why an answer failed or why a problem or
    session ended early, id and status of the session, clock times, usage, retries, and from which
    other session the answer of a call was taken.
    """
    return _sha256(_parts(reader, session, findings=True))


def _sha256(parts: Iterator[Sequence[Json]]) -> Digest:
    seen = hashlib.sha256()
    for part in parts:
        seen.update(canonical_json(part).encode("utf-8", "surrogatepass") + b"\n")
    return seen.hexdigest()


def _parts(reader: RowReader, session: str, *, findings: bool) -> Iterator[Sequence[Json]]:
    """Yield everything that a digest covers, in a fixed order; `findings` leaves out the rest."""
    held = reader.query("SELECT settings FROM session WHERE session = ?", (session,))
    if not held:
        raise StoreError(f"the store has no session {session}")
    if not findings:
        yield "settings", drop_operational(decode_json(held[0][0], "session.settings", dict))
    problems = reader.query(
        "SELECT problem, digest, space, status, cause FROM problem WHERE session = ? "
        "ORDER BY ordinal",
        (session,),
    )
    for start in range(0, len(problems), PROBLEMS_PER_QUERY):
        part = problems[start : start + PROBLEMS_PER_QUERY]
        names = [name for name, *_ in part]
        # Cells are canonical already, because one function wrote all JSON.
        rows = {
            table: rows_by_problem(
                reader, f"SELECT problem, {', '.join(columns)} FROM {table}", session, names, "ALL"
            )
            for table, columns in DIGEST_COLUMNS.items()
        }
        happened = events_by_problem(reader, session, names)
        for name, *cells in part:
            yield ("problem", name, *_end_of(*cells)) if findings else ("problem", *cells)
            for table, found in rows.items():
                for row in found[name]:
                    yield (table, *(_reduced(table, row) if findings else row))
            for step, event in happened[name]:
                yield "event", step, event.hypothesis, event.text, event.description
                yield event.observation, event.right, event.t, event.kind


def _end_of(digest: str, space: str, status: str, cause: str) -> Sequence[Json]:
    """Return digests, status and kind of end; the cause of a failed problem is a sentence."""
    return digest, space, status, reason_kind(cause) if status == "done" else ""


def _reduced(table: str, row: Sequence[Json]) -> Iterator[Json]:
    for column, cell in zip(DIGEST_COLUMNS[table], row, strict=True):
        if (table, column) not in IGNORED_COLUMNS:
            reduce = REDUCED_COLUMNS.get((table, column))
            yield cell if reduce is None else reduce(cell)


def find_changes(reader: RowReader, session: str) -> list[dict[str, Any]]:
    """Return the places in a session where stored content does not match its digest.

    A missing array counts, too. Each place is a dict with the keys problem, step (None outside
    steps), path (the path of a call, or "") and field.
    """
    bad = _altered_vectors(reader, session)
    return [
        *_problems(reader, session),
        *_calls(reader, session, bad),
        *_hypotheses(reader, session),
        *_predictions(reader, session, bad),
    ]


def _row(problem: str, step: int | None, path: str, field: str) -> dict[str, Any]:
    return {"problem": decode_text(problem), "step": step, "path": path, "field": field}


def _altered_vectors(reader: RowReader, session: str) -> set[Digest]:
    named: set[Digest] = set()
    for (names,) in reader.query(
        "SELECT DISTINCT vectors FROM call WHERE session = ? AND vectors <> '{}'", (session,)
    ):
        named.update(decode_json(names, "call.vectors", dict).values())
    for pair in reader.query(
        "SELECT codes, reasons FROM prediction WHERE session = ? AND codes IS NOT NULL", (session,)
    ):
        named.update(pair)
    return named - {digest for digest, data in read_blobs(reader, named) if is_intact(digest, data)}


def _problems(reader: RowReader, session: str) -> list[dict[str, Any]]:
    rows = reader.query(
        "SELECT problem, digest, data FROM problem WHERE session = ? ORDER BY ordinal", (session,)
    )
    return [
        _row(problem, None, "", "problem")
        for problem, digest, data in rows
        if problem_of(data).digest != digest
    ]


def _calls(reader: RowReader, session: str, bad: set[Digest]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for problem, path, digest, request, vectors in reader.query(
        "SELECT problem, path, request_digest, request, vectors FROM call WHERE session = ? "
        "ORDER BY problem, path",
        (session,),
    ):
        if digest_of(decode_json(request, "call.request")) != digest:
            found.append(_row(problem, None, decode_text(path), "request"))
        for name, vector in decode_json(vectors, "call.vectors", dict).items():
            if vector in bad:
                found.append(_row(problem, None, decode_text(path), f"vectors.{name}"))
    return found


def _hypotheses(reader: RowReader, session: str) -> list[dict[str, Any]]:
    rows = reader.query(
        "SELECT problem, step, digest, text, meta FROM hypothesis WHERE session = ? "
        "ORDER BY problem, step, answer, ordinal",
        (session,),
    )
    return [
        _row(problem, step, "", "hypothesis")
        for problem, step, digest, text, meta in rows
        if Hypothesis(decode_text(text), meta=decode_json(meta, "hypothesis.meta", dict)).digest
        != digest
    ]


def _predictions(reader: RowReader, session: str, bad: set[Digest]) -> list[dict[str, Any]]:
    rows = reader.query(
        "SELECT problem, step, codes, reasons FROM prediction WHERE session = ? "
        "AND codes IS NOT NULL ORDER BY problem, step, answer, ordinal",
        (session,),
    )
    return [
        _row(problem, step, "", field)
        for problem, step, *pair in rows
        for field, digest in zip(("space.codes", "space.reasons"), pair, strict=True)
        if digest in bad
    ]
