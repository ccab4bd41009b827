"""The digest of a session: what it found, without how the finding went.

Two runs of one seed have one digest, killed or not, in whatever order their calls came back.
"""

from __future__ import annotations

import hashlib

from ..records import Digest, Json, StoreError, canonical_json
from .cells import json_of, text_of
from .connection import Reading
from .ledger import events

# Keys of the settings, at any depth, that say how a session ran and not what it was to find.
OPERATIONAL = frozenset(
    {
        *("operational", "versions", "layers", "concurrency", "workers", "store", "backend"),
        *("session", "created", "started", "seconds", "retries", "usage"),
    }
)

PARTS: tuple[tuple[str, str], ...] = (
    ("step", "SELECT step, fields FROM step"),
    ("answer", "SELECT step, answer, path, text FROM answer"),
    (
        "hypothesis",
        "SELECT step, answer, ordinal, text, description, meta, breaches FROM hypothesis",
    ),
    ("verdict", "SELECT step, answer, ordinal, verdict, reason, bad, coverage FROM verdict"),
    (
        "prediction",
        "SELECT step, answer, ordinal, inputs, outcome, marks, got, detail, codes, reasons, "
        "reason_names, limited FROM prediction",
    ),
    ("call", "SELECT path, kind, request_digest, response, vectors FROM call"),
)


def shaping(settings: Json) -> Json:
    """The settings without what is operational."""
    if isinstance(settings, dict):
        return {k: shaping(v) for k, v in settings.items() if k not in OPERATIONAL}
    if isinstance(settings, list):
        return [shaping(part) for part in settings]
    return settings


def digest(reading: Reading, session: str) -> Digest:
    """SHA-256 (hex) over settings, problems with their ends, steps, bank and calls."""
    seen = hashlib.sha256()

    def add(*parts: Json) -> None:
        seen.update(canonical_json(parts).encode("utf-8", "surrogatepass") + b"\n")

    held = reading.query("SELECT settings FROM session WHERE session = ?", (session,))
    if not held:
        raise StoreError(f"the store has no session {session}")
    add("settings", shaping(json_of(held[0][0])))
    problems = reading.query(
        "SELECT problem, digest, space, status, cause FROM problem WHERE session = ? "
        "ORDER BY ordinal",
        (session,),
    )
    for problem, *cells in problems:
        add("problem", *cells)
        for name, sql in PARTS:
            # Cells are canonical as they stand: JSON was written by one routine.
            rows = reading.query(
                f"{sql} WHERE session = ? AND problem = ? ORDER BY ALL", (session, problem)
            )
            for row in rows:
                add(name, *row)
        for step, event in events(reading, session, text_of(problem)):
            add("event", step, event.hypothesis, event.text, event.description)
            add(event.observation, event.right, event.t)
    return seen.hexdigest()
