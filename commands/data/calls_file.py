"""Record calls of a model that are made outside a session, in a JSONL file with one call per line.

Each call is written when it is answered, and a recorded call is never made again. Therefore an
interrupted command continues where it stopped, and another data set on the same topic costs
nothing. A line also contains the question, so the file is a complete record.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from ...records import DataError, Json, UsageError, canonical_json
from ...records.private_files import make_folder, name_in_errors, open_lines
from ...tasks.io.files import expand_home, read_lines

LINE_START = b'{"finish":"'  # how each written line begins
CALL_FIELDS = ("key", "text", "finish", "usage")


@dataclass
class CallsFile:
    """A file that records calls of a model, so that a repeated command does not pay for them again.

    Args:
        path: path of the file.
        rows: the recorded calls, by the value of their field "key".
    """

    path: Path
    rows: dict[str, dict[str, Json]] = field(default_factory=dict)

    def add(self, row: dict[str, Json]) -> None:
        """Append a call to the file and to `rows`.

        Args:
            row: the call as a JSON object. Its field "key" identifies the call.

        Raises:
            OSError: the file cannot be written.
        """
        with name_in_errors(self.path):
            make_folder(self.path.parent)
            with open_lines(self.path) as out:
                out.write(canonical_json(row) + "\n")
        self.rows[row["key"]] = row


def read_calls(path: str | Path) -> CallsFile:
    """Read a file of recorded model calls. If the file does not exist, the result is empty.

    If the last line is incomplete, it is removed from the file.

    Raises:
        UsageError: `path` is not a file.
        DataError: a complete line is not a recorded call.
    """
    place = expand_home(path)
    found = CallsFile(place)
    if not place.exists():
        return found
    if not place.is_file():
        raise UsageError(f"{place}: not a file; the calls of the model must be kept in a file")
    whole = place.read_bytes()
    end = whole.rfind(b"\n") + 1
    if last := whole[end:]:
        if not last.startswith(LINE_START[: len(last)]):
            raise DataError(
                f"{place}: its last line is not a recorded model call; nothing was changed"
            )
        os.truncate(place, end)
    for number, line in read_lines(place):
        row = _parsed(line)
        if row is None:
            raise DataError(
                f"{place}, line {number}: not a recorded model call: {line.strip():.60}"
            )
        found.rows[row["key"]] = row
    return found


def _parsed(line: str) -> dict[str, Json] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(row, dict) and all(name in row for name in CALL_FIELDS)
    told = whole and all(isinstance(row[name], str) for name in CALL_FIELDS[:3])
    return row if told and isinstance(row["usage"], dict) else None
