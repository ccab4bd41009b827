"""Trainings and their logs, as `peirce train` writes and reads them.

A training runs for hours but writes only a few rows a minute, so it does not keep the store open.
`training/durable_log.py` opens the store for each small batch of points. If a point is written
again, the new value replaces the old value. Therefore a training that resumes from a checkpoint
overwrites the points that were written after the checkpoint.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..records import Json, StoreError
from .change_log import Change, Statement
from .codec import decode_json, decode_text, encode_json, encode_text, settings_of
from .connection import RowReader
from .writer import Writer

STATUSES = ("running", "done", "stopped", "interrupted", "failed")
POINTS_PER_STATEMENT = 256  # points per statement

_NONE = (
    "the store holds no training yet: `peirce train --base DIR --pairs last --out DIR` makes one"
)


@dataclass(frozen=True)
class Point:
    """One value in the log of a training.

    Attributes:
        examples: The number of training examples that were used before this value was measured.
        stage: The curriculum stage of the preferences, or the data set of a classifier; "" if the
            value belongs to neither.
        name: The name of the metric.
        value: The value of the metric.
    """

    examples: int
    stage: str
    name: str
    value: float


class Trainings:
    """The trainings that a store contains. Without a writer, they can only be read.

    Every method raises StoreError if the file cannot be read or written, or if the file lacks the
    requested training.
    """

    def __init__(self, reader: RowReader, writer: Writer | None, path: object) -> None:
        self._reading = reader
        self._writer = writer
        self._path = path

    # --- writing

    def begin(self, training: str, settings: Mapping[str, Json], created: str = "") -> None:
        """Add a new training, or set a resumed training to "running".

        A resumed training keeps its settings and its time of creation.

        Args:
            training: The id of the training.
            settings: The settings of the training.
            created: Time of creation in ISO 8601; "" for the current time.
        """
        ordinal = "(SELECT coalesce(max(ordinal), -1) + 1 FROM training)"
        when = created or datetime.now(UTC).isoformat(timespec="microseconds")
        told = encode_json(dict(settings))
        self._write(
            [
                (
                    f"INSERT INTO training VALUES (?, {ordinal}, ?, 'running', ?, '{{}}') "
                    "ON CONFLICT (training) DO UPDATE SET status = 'running'",
                    (training, when, told),
                )
            ]
        )

    def end(self, training: str, status: str, fields: Mapping[str, Json]) -> None:
        """Set the final status of a training, and store additional fields.

        Args:
            training: The id of the training.
            status: One of `STATUSES`; "stopped" means that a guard stopped the training.
            fields: Values that are stored with the training and returned by `get()`.
        """
        if status not in STATUSES:
            raise StoreError(f"a training's status is one of {', '.join(STATUSES)}, not {status!r}")
        held = {**self._row(training)["fields"], **fields}
        sql = "UPDATE training SET status = ?, fields = ? WHERE training = ?"
        self._write([(sql, (status, encode_json(held), training))])

    def add(self, training: str, points: Sequence[Point]) -> None:
        """Write values to the log of a training durably.

        If two points have the same examples, stage and name, the later point is kept.
        """
        last = {(one.examples, one.stage, one.name): one.value for one in points}
        rows = [
            (training, examples, encode_text(stage), encode_text(name), value)
            for (examples, stage, name), value in last.items()
        ]
        statements: list[Statement] = []
        for start in range(0, len(rows), POINTS_PER_STATEMENT):
            part = rows[start : start + POINTS_PER_STATEMENT]
            places = ",".join(["(?,?,?,?,?)"] * len(part))
            statements.append(
                (
                    f"INSERT INTO training_point VALUES {places} "
                    "ON CONFLICT DO UPDATE SET value = excluded.value",
                    [cell for row in part for cell in row],
                )
            )
        if statements:
            self._write(statements)

    # --- reading

    def list(self) -> list[dict[str, Any]]:
        """Return a description of each training, oldest first.

        The keys are training (the id), created, status, settings, fields, and examples (the highest
        number of examples in the log).
        """
        if not self._there():
            return []
        rows = self._reading.query(
            "SELECT training.training, created, status, settings, fields, "
            "coalesce(max(examples), 0) FROM training LEFT JOIN training_point "
            "ON training_point.training = training.training "
            "GROUP BY training.training, ordinal, created, status, settings, fields "
            "ORDER BY ordinal"
        )
        return [
            {"training": training, "created": created, "status": status,
             "settings": settings_of(settings, "training.settings"), "fields": decode_json(fields, "training.fields", dict), "examples": examples}
            for training, created, status, settings, fields, examples in rows
        ]  # fmt: skip

    def find(self, name: str) -> str:
        """Return the id of a training. `name` is the id, a unique prefix of the id, or "last"."""
        ids = [str(row["training"]) for row in self.list()]
        if not ids:
            raise StoreError(_NONE)
        if name == "last":
            return ids[-1]
        if name in ids:
            return name
        found = [training for training in ids if name and training.startswith(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise StoreError(f"training {name!r} is ambiguous: {', '.join(found[:8])}")
        near = difflib.get_close_matches(name, ids, 1) or ids[-1:]
        raise StoreError(f"no training {name!r}; did you mean {near[0]}, or last?")

    def get(self, training: str) -> dict[str, Any]:
        """Return a description of one training, with the keys that `list` documents."""
        return self._row(training)

    def points(self, training: str) -> Sequence[Point]:
        """Return the log of a training, ordered by examples, stage and name."""
        if not self._there():
            return []
        rows = self._reading.query(
            "SELECT examples, stage, name, value FROM training_point WHERE training = ? "
            "ORDER BY examples, stage, name",
            (training,),
        )
        return [
            Point(at, decode_text(stage), decode_text(name), value)
            for at, stage, name, value in rows
        ]

    # --- inside

    def _row(self, training: str) -> dict[str, Any]:
        found = next((row for row in self.list() if row["training"] == training), None)
        if found is None:
            raise StoreError(f"the store has no training {training}")
        return found

    def _there(self) -> bool:
        """Return whether the file has these tables; a version 3 file open for reading has not."""
        sql = "SELECT 1 FROM duckdb_tables() WHERE table_name = 'training' LIMIT 1"
        return bool(self._reading.query(sql))

    def _write(self, statements: Sequence[Statement]) -> None:
        if self._writer is None:
            raise StoreError(f"{self._path} is open for reading")
        self._writer.submit(Change({}, statements)).result()
