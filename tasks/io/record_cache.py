"""Records that take long to read, kept as JSON in the user's cache folder.

They are named by the hash of the text that they were read from, and the file begins with the hash of
its rest: one that is damaged, or of another form, counts as none. A folder that cannot be read or
written is no failure either: then nothing is kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from ...records import UsageError, canonical_json, digest_of_text
from .files import write_lines
from .yaml_records import Record

WORTH_CHARACTERS = 200_000  # what is shorter is read in no time
FORM = 1  # of a kept file and of what `yaml_records.py` makes of a text


def kept_records(text: str, read: Callable[[], list[Record]]) -> list[Record]:
    """What `read` makes of the text, now or before."""
    folder = cache_folder() if len(text) >= WORTH_CHARACTERS else None
    if folder is None:
        return read()
    path = folder / f"records-{FORM}-{digest_of_text(text)}.json"
    before = _kept(path)
    if before is not None:
        return before
    records = read()
    _keep(records, path)
    return records


def cache_folder() -> Path | None:
    """$XDG_CACHE_HOME/peirce or ~/.cache/peirce; None where there is neither."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if Path(named).is_absolute():
        return Path(named) / "peirce"
    try:
        return Path.home() / ".cache" / "peirce"
    except RuntimeError:
        return None


def _kept(path: Path) -> list[Record] | None:
    try:
        name, _, rest = path.read_text("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    if name != digest_of_text(rest):
        return None
    return [Record(line, value) for line, value in json.loads(rest)]


def _keep(records: list[Record], path: Path) -> None:
    rest = canonical_json(records) + "\n"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_lines(path, (digest_of_text(rest), rest.removesuffix("\n")))
    except (OSError, UsageError):  # a folder that cannot be written, a link under the name
        return
