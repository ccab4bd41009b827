"""Whether the store still holds what was written: rows against the digests that name them.

Replay compares what a graph makes anew with what was recorded; content that calls and steps share
(a code vector, say) would agree with itself after an alteration. Here it does not.
"""

from __future__ import annotations

from typing import Any

from ..records import Digest, Hypothesis, Problem, digest_of
from .cells import json_of, text_of
from .connection import Reading
from .journal import blobs_of
from .vectors import is_intact


def alterations(reading: Reading, session: str) -> list[dict[str, Any]]:
    """Rows of the session that are not what their digest names, or whose vector is missing.

    Each: problem, step (None outside steps), path (of a call, else ""), field.
    """
    bad = _altered_vectors(reading, session)
    return [
        *_problems(reading, session),
        *_calls(reading, session, bad),
        *_hypotheses(reading, session),
        *_predictions(reading, session, bad),
    ]


def _row(problem: str, step: int | None, path: str, field: str) -> dict[str, Any]:
    return {"problem": text_of(problem), "step": step, "path": path, "field": field}


def _altered_vectors(reading: Reading, session: str) -> set[Digest]:
    named: set[Digest] = set()
    for (names,) in reading.query(
        "SELECT DISTINCT vectors FROM call WHERE session = ? AND vectors <> '{}'", (session,)
    ):
        named.update(json_of(names).values())
    for pair in reading.query(
        "SELECT codes, reasons FROM prediction WHERE session = ? AND codes IS NOT NULL", (session,)
    ):
        named.update(pair)
    return named - {digest for digest, data in blobs_of(reading, named) if is_intact(digest, data)}


def _problems(reading: Reading, session: str) -> list[dict[str, Any]]:
    rows = reading.query(
        "SELECT problem, digest, data FROM problem WHERE session = ? ORDER BY ordinal", (session,)
    )
    return [
        _row(problem, None, "", "problem")
        for problem, digest, data in rows
        if Problem.from_json(json_of(data)).digest != digest
    ]


def _calls(reading: Reading, session: str, bad: set[Digest]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for problem, path, digest, request, vectors in reading.query(
        "SELECT problem, path, request_digest, request, vectors FROM call WHERE session = ? "
        "ORDER BY problem, path",
        (session,),
    ):
        if digest_of(json_of(request)) != digest:
            found.append(_row(problem, None, text_of(path), "request"))
        for name, vector in json_of(vectors).items():
            if vector in bad:
                found.append(_row(problem, None, text_of(path), f"vectors.{name}"))
    return found


def _hypotheses(reading: Reading, session: str) -> list[dict[str, Any]]:
    rows = reading.query(
        "SELECT problem, step, digest, text, meta FROM hypothesis WHERE session = ? "
        "ORDER BY problem, step, answer, ordinal",
        (session,),
    )
    return [
        _row(problem, step, "", "hypothesis")
        for problem, step, digest, text, meta in rows
        if Hypothesis(text_of(text), meta=json_of(meta)).digest != digest
    ]


def _predictions(reading: Reading, session: str, bad: set[Digest]) -> list[dict[str, Any]]:
    rows = reading.query(
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
