"""The digest of a session: what it found, without how the finding went.

Two runs of one seed have one digest, killed or not, in whatever order their calls came back.
"""

from __future__ import annotations

import hashlib

from ..records import Digest, Json, StoreError, canonical_json
from .cells import json_of
from .connection import Reading, by_problem
from .ledger import TOGETHER, events_of

# Keys of the settings, at any depth, that say how a session ran and not what it was to find.
OPERATIONAL = frozenset(
    {
        *("operational", "versions", "layers", "concurrency", "workers", "store", "backend"),
        *("session", "created", "started", "seconds", "retries", "usage"),
    }
)

PARTS: tuple[tuple[str, str], ...] = (
    ("step", "SELECT problem, step, fields FROM step"),
    ("answer", "SELECT problem, step, answer, path, text FROM answer"),
    (
        "hypothesis",
        "SELECT problem, step, answer, ordinal, text, description, meta, breaches FROM hypothesis",
    ),
    (
        "verdict",
        "SELECT problem, step, answer, ordinal, verdict, reason, bad, coverage FROM verdict",
    ),
    (
        "prediction",
        "SELECT problem, step, answer, ordinal, inputs, outcome, marks, got, detail, codes, reasons, "
        "reason_names, limited FROM prediction",
    ),
    ("call", "SELECT problem, path, kind, request_digest, response, vectors FROM call"),
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
    for start in range(0, len(problems), TOGETHER):
        part = problems[start : start + TOGETHER]
        names = [name for name, *_ in part]
        # Cells are canonical as they stand: one routine wrote all JSON.
        rows = {table: by_problem(reading, sql, session, names, "ALL") for table, sql in PARTS}
        happened = events_of(reading, session, names)
        for name, *cells in part:
            add("problem", *cells)
            for table, found in rows.items():
                for row in found[name]:
                    add(table, *row)
            for step, event in happened[name]:
                add("event", step, event.hypothesis, event.text, event.description)
                add(event.observation, event.right, event.t, event.kind)
    return seen.hexdigest()
