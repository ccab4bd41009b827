"""The ratings of a session: a file beside the store, a line a rating, written as they come.

A rating that stands there is not asked for again, so a `rate` that was stopped goes on where it
was. The store itself is not touched: what a session found does not change by who looks at it later.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from ...records import DataError, Json
from ...tasks.io.files import expanded, read_lines
from ...tasks.text.rating_answers import MARKS, QUARTERS

YES_NO = (0.0, 1.0)
SCALES = {
    "feature": YES_NO, "relationship": QUARTERS, "variable": YES_NO,
    "novelty": MARKS, "plausibility": MARKS, "clarity": MARKS,
}  # fmt: skip
_TEXTS = ("problem", "by", "hypothesis")
KEY = ("problem", "by", "wording", "kind", "true", "hypothesis")

Key = tuple[str, ...]


def beside(store: Path, session: str) -> Path:
    """Where the ratings of a session are where no other file is named."""
    return store.with_name(f"{store.name}.ratings") / f"{session}.jsonl"


def key_of(row: Mapping[str, Json]) -> Key:
    """true: the true sentence or variable that a question is about, None of the qualities of a
    hypothesis by itself. known: digest of the findings that were shown."""
    return tuple(str(row.get(name)) for name in (*KEY, "known"))


@dataclass
class RatingsFile:
    """rows: by key, in the order of the file."""

    path: Path
    rows: dict[Key, dict[str, Json]] = field(default_factory=dict)

    def add(self, row: dict[str, Json]) -> None:
        """Raises OSError; then nothing of the row stands in the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab", buffering=0) as out:
            end, line = out.tell(), (json.dumps(row) + "\n").encode()
            try:
                if (done := out.write(line)) < len(line):
                    out.write(line[done:])  # says why not all of it was written
            except OSError:
                out.truncate(end)
                raise
        self.rows[key_of(row)] = row


def read_ratings(
    path: str | Path, *, needed: bool = False, mend: bool = False
) -> RatingsFile:  # fmt: skip
    """A last line that is not whole (being written, or cut off) is passed over; with `mend`, for who
    goes on writing, it is taken away. Raises DataError for another line that is no rating, and where
    the file is needed and not there."""
    place = expanded(path)
    found = RatingsFile(place)
    if not place.exists():
        if needed:
            raise DataError(f"{place}: there are no ratings; `peirce rate` makes them")
        return found
    whole = place.read_bytes()
    end = whole.rfind(b"\n") + 1
    if mend and end < len(whole):
        os.truncate(place, end)
    for row in _rows(place, whole[:end].count(b"\n")):
        found.rows[key_of(row)] = row
    return found


def _rows(place: Path, lines: int) -> Iterator[dict[str, Json]]:
    for number, line in takewhile(lambda one: one[0] <= lines, read_lines(place)):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or not _is_rating(row):
            raise DataError(f"{place}, line {number}: no rating: {line.strip():.60}")
        yield row


def _is_rating(row: Mapping[str, Json]) -> bool:
    kind, true, score = row.get("kind"), row.get("true"), row.get("score")
    scale = SCALES.get(kind) if isinstance(kind, str) else None
    return (
        scale is not None
        and all(isinstance(row.get(name), str) for name in _TEXTS)
        and (true is None if scale == MARKS else isinstance(true, str))
        and (score is None or (isinstance(score, int | float) and score in scale))
    )
