"""The calls of a model that no session holds: a file, a line a call, written as they come.

A call that stands there is not made again, so who was stopped goes on where it was, and who asks for
more sets of the same topic pays nothing. A line has the question too: the file is the whole account
of what was asked and said.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from ...records import DataError, Json, UsageError, canonical_json
from ...tasks.io.files import expanded, read_lines

BEGINS = b'{"finish":"'  # each line, as it is written
FIELDS = ("key", "text", "finish", "usage")


@dataclass
class CallsFile:
    """rows: by key."""

    path: Path
    rows: dict[str, dict[str, Json]] = field(default_factory=dict)

    def add(self, row: dict[str, Json]) -> None:
        """Raises UsageError where it cannot be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as out:
                out.write(canonical_json(row) + "\n")
        except OSError as error:
            raise UsageError(f"{self.path}: calls cannot be written there: {error}") from None
        self.rows[row["key"]] = row


def read_calls(path: str | Path) -> CallsFile:
    """Those of a file, none where it is not there. A last line that was cut off is taken away.
    Raises DataError for another line that is no call."""
    place = expanded(path)
    found = CallsFile(place)
    if not place.exists():
        return found
    if not place.is_file():
        raise UsageError(f"{place}: no file, which the calls of a model need")
    whole = place.read_bytes()
    end = whole.rfind(b"\n") + 1
    if last := whole[end:]:
        if not last.startswith(BEGINS[: len(last)]):
            raise DataError(f"{place}: its last line is no call of a model; nothing was changed")
        place.write_bytes(whole[:end])
    for number, line in read_lines(place):
        row = _parsed(line)
        if row is None:
            raise DataError(f"{place}, line {number}: no call of a model: {line.strip():.60}")
        found.rows[row["key"]] = row
    return found


def _parsed(line: str) -> dict[str, Json] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(row, dict) and all(name in row for name in FIELDS)
    told = whole and all(isinstance(row[name], str) for name in FIELDS[:3])
    return row if told and isinstance(row["usage"], dict) else None
