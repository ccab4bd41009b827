"""Detect the format of a file by its content and compare it with the ending of the file name.

The readers of the tasks rely on the ending. If a file has another format than its ending says, the
error contains a command that copies the file to a name with the right ending.
"""

from __future__ import annotations

import json
import re
import shlex
import zlib
from collections import Counter
from pathlib import Path

from ...records import DataError, Json, UsageError
from ..io.files import SPREADSHEET_SUFFIXES, open_bytes
from ..text.tables import file_type

HEAD_BYTES = 64_000
_MAGIC = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrow"}
_TEXT_FORMS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")


def check_form(path: Path) -> str:
    """Return the format of a file's content as a file name ending, such as ".csv".

    Raises:
        DataError: The file is empty, damaged, UTF-16 text, or a binary file without a table.
        UsageError: The ending of the name does not fit the content, the file is a spreadsheet, or
            the text has no columns. The message says what to do.
    """
    head = _read_head(path)
    if not head.strip():
        raise DataError(f"{path}: the file is empty")
    promised = file_type(path) or _other_ending(path)
    if promised in SPREADSHEET_SUFFIXES:
        raise UsageError(f"{path}: this is a spreadsheet; save the sheet as CSV")
    if promised in (".yaml", ".yml", ".py"):
        return promised
    found = next((form for magic, form in _MAGIC.items() if head.startswith(magic)), None)
    if found is None:
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise DataError(f"{path}: the text is UTF-16; save it as UTF-8")
        if b"\x00" in head:
            raise DataError(f"{path}: a binary file, but a table, JSON or YAML is required")
        found = _text_form(head.decode("utf-8-sig", "replace"), promised)
    if found == promised:
        return found
    if not found:
        raise UsageError(
            f"{path}: this is text without columns, but a table (.csv, .tsv, .parquet) or JSON (.json,"
            " .jsonl) is required; to explain labels of texts, write a CSV with one text and its"
            " label in each row"
        )
    copy = path.with_name(_stem(path) + found + ".gz" * path.name.endswith(".gz"))
    source, target = shlex.quote(str(path)), shlex.quote(str(copy))
    raise UsageError(
        f"{path}: the content is {_NAMES[found]}, but the name does not end in {found}: run cp"
        f" {source} {target} && peirce discover {target}"
    )


_NAMES = {
    ".parquet": "Parquet",
    ".arrow": "Arrow",
    ".json": "one JSON value",
    ".jsonl": "JSON, one value a line",
    ".csv": "a table",
    ".tsv": "a table",
}


def _other_ending(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _stem(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).stem


def _read_head(path: Path) -> bytes:
    with open_bytes(path) as content:
        try:
            return content.read(HEAD_BYTES)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path}: cannot be read: {error}") from error


def _text_form(head: str, promised: str) -> str:
    """Return the form of a text as an ending, or "" for a text without columns.

    Args:
        head: The beginning of the text.
        promised: The ending of the file's name; it is returned if the beginning fits it.
    """
    first, _, others = head.lstrip().partition("\n")
    is_json = head.lstrip()[:1] in ("{", "[") and (
        _parse(first) is not None or promised not in (".csv", ".tsv")
    )
    if not is_json:
        is_table = promised in (".csv", ".tsv") or _has_columns(head)
        if promised in (".json", ".jsonl", ".ndjson") and not is_table:
            return promised  # the reader says where it is no JSON
        return promised if promised in (".csv", ".tsv") else ".csv" * is_table
    lines = isinstance(_parse(first), dict) and bool(others.strip())
    if lines:
        return promised if promised in (".jsonl", ".ndjson", ".json") else ".jsonl"
    one_object = isinstance(_parse(first), dict)
    if promised in (".jsonl", ".ndjson") and (one_object or first.strip() not in ("[", "{")):
        is_list = isinstance(_parse(first), list) and not others.strip()
        return ".json" if is_list else promised
    return ".json"


def _parse(line: str) -> Json:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _has_columns(head: str) -> bool:
    """Return whether the first lines have equally many delimiters of one kind."""
    lines = [re.sub(r'"[^"]*"', "", line) for line in head.splitlines()[:8] if line.strip()]
    if len(lines) < 3:
        return False
    full = lines[:-1] if len(head) >= HEAD_BYTES else lines
    for delimiter in ",;\t|":
        counts = Counter(line.count(delimiter) for line in full)
        (most, often), *_ = counts.most_common(1)
        if most and often == len(full):
            return True
    return False
