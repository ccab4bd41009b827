"""The ratings of a session: a JSONL file next to the store, with one rating per line.

Each rating is appended when it arrives and is not requested again, so `peirce rate` can continue
after an interruption. The ratings are not in the store, because a session's record must not depend
on later ratings.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from ...records import DataError, Json
from ...records.private_files import make_folder, name_in_errors, private_opener
from ...tasks.io.files import expand_home, read_lines
from ...tasks.text.rating_answers import FIVE_POINT_SCALE, QUARTER_SCALE

YES_NO = (0.0, 1.0)
SCALES = {
    "feature": YES_NO, "relationship": QUARTER_SCALE, "variable": YES_NO,
    "novelty": FIVE_POINT_SCALE, "plausibility": FIVE_POINT_SCALE, "clarity": FIVE_POINT_SCALE,
}  # fmt: skip
_TEXTS = ("problem", "by", "hypothesis")
KEY_FIELDS = ("problem", "by", "wording", "kind", "true", "hypothesis")

Key = tuple[str, ...]


def default_ratings_path(store: Path, session: str) -> Path:
    """Return the default path of the file with a session's ratings.

    Args:
        store: path of the store.
        session: full id of the session.
    """
    return store.with_name(f"{store.name}.ratings") / f"{session}.jsonl"


def rating_key(row: Mapping[str, Json]) -> Key:
    """Return the key under which a rating is stored.

    The key contains everything that determines the question to the rater. In `row`, "true" is the
    true sentence or variable that the question is about; it is None if the question is about a
    quality of the hypothesis alone. "known" is the digest of the findings that the rater was shown.
    """
    return tuple(str(row.get(name)) for name in (*KEY_FIELDS, "known"))


@dataclass
class RatingsFile:
    """A file of ratings, to which new ratings are appended.

    Args:
        path: path of the file.
        rows: the ratings by key (`rating_key`), in the order of the file.
    """

    path: Path
    rows: dict[Key, dict[str, Json]] = field(default_factory=dict)

    def add(self, row: dict[str, Json]) -> None:
        """Append a rating to the file and to `rows`.

        Raises:
            OSError: the rating could not be written. The file is then unchanged.
        """
        make_folder(self.path.parent)
        with (
            name_in_errors(self.path),
            open(self.path, "ab", buffering=0, opener=private_opener) as out,
        ):
            end, line = out.tell(), (json.dumps(row) + "\n").encode()
            try:
                if (done := out.write(line)) < len(line):
                    # this second write raises the reason for the short first one
                    out.write(line[done:])
            except OSError:
                out.truncate(end)
                raise
        self.rows[rating_key(row)] = row


def read_ratings(
    path: str | Path, *, needed: bool = False, repair: bool = False
) -> RatingsFile:  # fmt: skip
    """Read a file of ratings.

    An incomplete last line, which another process may still be writing, is ignored.

    Args:
        path: path of the file.
        needed: raise DataError if the file does not exist; otherwise the result is then empty.
        repair: remove an incomplete last line from the file, so that ratings can be appended.

    Raises:
        DataError: a complete line is not a rating.
    """
    place = expand_home(path)
    found = RatingsFile(place)
    if not place.exists():
        if needed:
            raise DataError(f"{place}: there are no ratings; create them with `peirce rate`")
        return found
    whole = place.read_bytes()
    end = whole.rfind(b"\n") + 1
    if repair and end < len(whole):
        os.truncate(place, end)
    for row in _rows(place, whole[:end].count(b"\n")):
        found.rows[rating_key(row)] = row
    return found


def _rows(place: Path, lines: int) -> Iterator[dict[str, Json]]:
    for number, line in takewhile(lambda one: one[0] <= lines, read_lines(place)):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or not _is_rating(row):
            raise DataError(f"{place}, line {number}: not a rating: {line.strip():.60}")
        yield row


def _is_rating(row: Mapping[str, Json]) -> bool:
    kind, true, score = row.get("kind"), row.get("true"), row.get("score")
    scale = SCALES.get(kind) if isinstance(kind, str) else None
    return (
        scale is not None
        and all(isinstance(row.get(name), str) for name in _TEXTS)
        and (true is None if scale == FIVE_POINT_SCALE else isinstance(true, str))
        and (score is None or (isinstance(score, int | float) and score in scale))
    )
