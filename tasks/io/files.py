"""Readers and writers for files: plain or gzipped text, JSON, JSONL and CSV.

A missing path raises `UsageError` (exit code 2). Invalid content raises `DataError`, which names
the file, the line and the field. Loaders read the complete file before they return a problem, so a
file with an error yields no problems, unless the user skips unreadable records (`bad_records.py`).
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, BinaryIO, cast
from urllib.parse import parse_qsl

from ...records import DataError, Json, UsageError
from ...records.private_files import write_atomically
from .bad_records import BadRecords
from .json_text import SURROGATE_PATTERN, parse_json
from .messages import shorten, suggest_nearest

MAX_LINE_CHARACTERS = 16_000_000  # per record; the largest published ARC task has 60,000
MAX_FILE_BYTES = 2_000_000_000  # decompressed
MAX_JSON_CHARACTERS = 64_000_000  # per JSON file; all of ARC-AGI-2 has 7,000,000
SPREADSHEET_SUFFIXES = (".xlsx", ".xls", ".ods")
TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".arrow", *SPREADSHEET_SUFFIXES)
TABLE_REMEDY = (
    "use peirce run labels for labelled rows, or peirce run examples for pairs of input and output"
)
_DELIMITERS = ",;\t|"
_TOLD_DELIMITER = re.compile(r"sep=([,;\t|])")  # the first line that Excel understands
_QUOTED = re.compile(r'"[^"]*"?')
_NOT_UTF8 = "not UTF-8 text; save it as UTF-8 (in Excel: CSV UTF-8)"
GZIP_MAGIC = b"\x1f\x8b"


def locate(path: str | Path, names: Sequence[str]) -> Path:
    """Return `path` if it is a file. If it is a folder, return the first file in it that is in
    `names`.

    Raises:
        UsageError: There is no such file.
    """
    place = expand_home(path)
    if place.is_dir():
        if not names:
            raise UsageError(f"{place}: this is a folder, but a file is required")
        for name in names:
            if (place / name).is_file():
                return place / name
        raise UsageError(f"{place}: found no data here; looked for {', '.join(names)}")
    if not place.exists():
        beside = place.parent
        inside = beside.iterdir() if beside.is_dir() else ()
        there = sorted(p.name for p in inside if not p.name.startswith("."))
        raise UsageError(f"{place}: there is no such file{suggest_nearest(place.name, there)}")
    if not place.is_file():
        raise UsageError(f"{place}: this is neither a file nor a folder")
    return place


def split_settings(path: str | Path, valid: Sequence[str]) -> tuple[Path, dict[str, str]]:
    """Split `PATH?key=value&...` into the path and its settings.

    A question mark that belongs to the name of an existing file does not start the settings.

    Raises:
        UsageError: A key is not in `valid`.
    """
    place = expand_home(path)
    settings: dict[str, str] = {}
    if "?" in place.name and not place.exists():
        name, _, query = place.name.partition("?")
        place = place.with_name(name)
        settings = dict(parse_qsl(query, keep_blank_values=True))
    for key in settings:
        if key not in valid:
            raise UsageError(f"{path}: no setting {key!r} of data{suggest_nearest(key, valid)}")
    return place, settings


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading as bytes; gzip is recognised by the content and decompressed.

    Raises:
        DataError: The file cannot be read.
    """
    try:
        with open(path, "rb") as start:
            packed = start.read(2) == GZIP_MAGIC
        return cast(BinaryIO, gzip.open(path, "rb")) if packed else open(path, "rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def open_text(path: Path, errors: str = "strict") -> IO[str]:
    """Open a file as UTF-8 text; gzip is decompressed."""
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", errors=errors, newline="")


def identify_file(path: Path) -> dict[str, Json]:
    """Return {"name", "sha256"} of a file. The hex digest is computed from the decompressed
    content.
    """
    seen = hashlib.sha256()
    with open_bytes(path) as content:
        try:
            while part := content.read(1 << 20):
                seen.update(part)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path}: cannot be read: {error}") from error
    return {"name": path.name, "sha256": seen.hexdigest()}


def identify_files(name: str, folder: Path, files: Iterable[Path]) -> dict[str, Json]:
    """Return {"name", "sha256"} for several files together.

    The hash covers the hash of each file and its path relative to `folder`, in the format of the
    command sha256sum.
    """
    rows = sorted(f"{identify_file(one)['sha256']}  {one.relative_to(folder)}\n" for one in files)
    return {"name": name, "sha256": hashlib.sha256("".join(rows).encode()).hexdigest()}


def read_lines(path: Path, errors: str = "strict") -> Iterator[tuple[int, str]]:
    """Yield (line number, text) for each line that is not blank. Numbers start at 1.

    Args:
        path: The file.
        errors: How to decode bytes that are not UTF-8; a value of the parameter `errors` of `open`.

    Raises:
        DataError: The file cannot be read or is too large, or `errors` is "strict" and the file is
            not UTF-8.
    """
    number = size = 0
    with open_text(path, errors) as lines:
        while True:
            number += 1
            try:
                line = lines.readline(MAX_LINE_CHARACTERS + 1)
            except UnicodeDecodeError as error:
                raise _encoding_error(path) from error
            except (OSError, EOFError, zlib.error) as error:
                raise _read_error(path, number, error) from error
            if not line:
                return
            size += len(line)
            if len(line) > MAX_LINE_CHARACTERS:
                raise DataError(
                    f"{path}, line {number}: the line is longer than {MAX_LINE_CHARACTERS:,} characters"
                )
            if size > MAX_FILE_BYTES:
                raise DataError(f"{path}: the file is larger than {MAX_FILE_BYTES:,} characters")
            if line.strip():
                yield number, line.rstrip("\r\n")


def _encoding_error(path: Path) -> DataError:
    """Return the error for bytes that are not UTF-8, with their line.

    The line is searched again, because the text reader decodes ahead of the line it returns.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    with open_bytes(path) as content:
        part = b"\n"
        while part:
            part = content.read(1 << 20)
            try:
                decoder.decode(part, final=not part)
            except UnicodeDecodeError as error:
                line += error.object[: error.start].count(b"\n")
                break
            line += part.count(b"\n")
    return DataError(f"{path}, line {line}: {_NOT_UTF8}")


def _read_error(path: Path, line: int, error: Exception) -> DataError:
    """Return the error for a file that cannot be read on; all lines before `line` were complete.

    A gzip file that ends early ends in exactly this line.
    """
    after = "" if isinstance(error, EOFError) else " or after"
    return DataError(f"{path}, line {line}{after}: cannot be read: {error}")


def read_jsonl(path: Path, bad: BadRecords | None = None) -> Iterator[tuple[int, Json]]:
    """Yield (line number, value) for each line of a JSONL file that is not blank.

    Args:
        path: The file.
        bad: Collects lines that are not JSON or not UTF-8; if None, such a line raises DataError.

    Raises:
        DataError: The name of the file is that of a table, or a line cannot be read.
    """
    refuse_table(path)
    bad = bad or BadRecords(path, skip=False)
    for number, line in read_lines(path, "surrogateescape"):
        with bad.record(f"line {number}", path):
            yield number, _parse_line(line, path, number)


def _parse_line(line: str, path: Path, number: int) -> Json:
    if not line.isascii() and SURROGATE_PATTERN.search(line):  # bytes that are not UTF-8 stand so
        raise DataError(f"{path}, line {number}: {_NOT_UTF8}")
    return parse_json(line, f"{path}, line {number}")


def refuse_table(path: Path, remedy: str = TABLE_REMEDY) -> None:
    """Raise DataError if the name of a file ends like a table (`.csv`, `.xlsx`).

    Readers of JSON and YAML call this function first.

    Args:
        path: The file.
        remedy: What the user can do; the end of the error message.
    """
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    if ending in TABLE_SUFFIXES:
        sheet = "save the sheet as CSV; " * (ending in SPREADSHEET_SUFFIXES)
        raise DataError(f"{path}: this is a table, but JSON or YAML is required; {sheet}{remedy}")


def read_text(path: Path) -> str:
    """Return the text of a JSON or YAML file, which may have at most `MAX_JSON_CHARACTERS`
    characters.

    Raises:
        DataError: The file is a table, is empty or too long, or cannot be read.
    """
    refuse_table(path)
    parts: list[str] = []
    size, line = 0, 1
    with open_text(path) as text:
        try:
            while part := text.read(1 << 20):
                parts.append(part)
                size += len(part)
                line += part.count("\n")
                if size > MAX_JSON_CHARACTERS:
                    raise DataError(
                        f"{path}, line {line}: the file is longer than"
                        f" {MAX_JSON_CHARACTERS:,} characters"
                    )
        except UnicodeDecodeError as error:
            raise _encoding_error(path) from error
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path}, line {line} or after: cannot be read: {error}") from error
    content = "".join(parts)
    if not content.strip():
        raise DataError(f"{path}: the file is empty")
    return content


def read_json(path: Path) -> Json:
    """Return the value of a file that contains one JSON value."""
    return parse_json_file_text(read_text(path), path)


def parse_json_file_text(text: str, path: Path) -> Json:
    """Parse the text of a JSON file. `path` and the line number appear in error messages."""
    return parse_json(text, str(path) if "\n" in text else f"{path}, line 1")


def read_csv(
    path: Path, delimiter: str = ",", bad: BadRecords | None = None, *, keep_empty: bool = False
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line number, cells by column name) for each row below the header line.

    Args:
        path: The file.
        delimiter: The delimiter that the file name implies. If the header contains another
            delimiter instead, such as the semicolon that spreadsheets write in some countries, the
            delimiter of the header is used with a warning.
        bad: Collects rows that have more or fewer cells than the header; if None, such a row raises
            DataError.
        keep_empty: Whether rows with only empty cells are yielded. An empty line is such a row if
            there is only one column, but not at the end of the file.

    Raises:
        DataError: The file is empty or not CSV, a column name occurs twice, or a row has more or
            fewer cells than the header.
    """
    if bad is None:
        with BadRecords(path, skip=False) as bad:
            yield from read_csv(path, delimiter, bad, keep_empty=keep_empty)
        return
    csv.field_size_limit(MAX_LINE_CHARACTERS)  # the default of 131,072 is too small for some texts
    told, delimiter = _detect_delimiter(path, delimiter, bad)
    with open_text(path) as text:
        rows = csv.reader(text, strict=True, delimiter=delimiter)
        try:
            if told:
                next(rows)
            header = [name.strip() for name in next(rows, [])]
            if not any(header):
                raise DataError(f"{path}: the file is empty")
            if any("\0" in name for name in header):  # UTF-16 without a mark at its beginning
                raise DataError(f"{path}, line 1: {_NOT_UTF8}")
            if len(set(header)) < len(header):
                twice = next(name for name in header if header.count(name) > 1)
                raise DataError(
                    f"{path}, line 1: the column name {shorten(repr(twice))} occurs twice: rename one of"
                    " the columns or, if line 1 holds data, put a line with the names of the columns"
                    " before it"
                )
            waiting: list[int] = []  # empty lines that are rows if another row follows
            for row in rows:
                if not row and keep_empty and len(header) == 1:
                    waiting.append(rows.line_num)
                if not row or not (keep_empty or any(cell.strip() for cell in row)):
                    continue
                for number in waiting:
                    yield number, {header[0]: ""}
                waiting.clear()
                if len(row) == len(header):
                    yield rows.line_num, dict(zip(header, row, strict=True))
                    continue
                longer = len(row) > len(header) and delimiter == ","
                with bad.record(f"line {rows.line_num}", path):
                    raise DataError(
                        f"{path}, line {rows.line_num}: {len(row)} cells under"
                        f" {len(header)} columns ({shorten(', '.join(header), 200)})"
                        + ("; put a cell that contains a comma in quotes" if longer else "")
                    )
        except csv.Error as error:
            raise DataError(f"{path}, line {rows.line_num}: not CSV: {error}") from error
        except UnicodeDecodeError as error:
            raise _encoding_error(path) from error
        except (OSError, EOFError, zlib.error) as error:
            raise _read_error(path, rows.line_num + 1, error) from error


def _detect_delimiter(path: Path, promised: str, bad: BadRecords) -> tuple[bool, str]:
    """Return whether the first line declares the delimiter (`sep=;`), and the delimiter.

    Delimiters inside quotes do not count.
    """
    _, line = next(read_lines(path), (0, ""))
    if told := _TOLD_DELIMITER.fullmatch(line.rstrip("\r\n")):
        return True, told[1]
    bare = _QUOTED.sub("", line)
    other = max(_DELIMITERS, key=bare.count)
    if promised in bare or other not in bare:
        return False, promised
    bad.note(path, f"the cells are separated by {other!r} and are read so")
    return False, other


def expand_home(path: str | Path) -> Path:
    """Return a path in which a leading `~` is replaced by the home directory.

    Raises:
        UsageError: There is no home directory.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise UsageError(f"{path}: {error}") from None


def check_writable(path: str | Path) -> Path:
    """Return the path if a file may be written there: nothing is there yet, or a regular file.

    Raises:
        UsageError: A link, a folder or a device is at the path; writing would replace it.
    """
    target = expand_home(path)
    if target.is_symlink():
        raise UsageError(f"{target}: this is a link, which would be replaced; give the file itself")
    if target.is_dir():
        raise UsageError(f"{target}: this is a folder, but a file is written; give a file in it")
    if target.exists() and not target.is_file():
        raise UsageError(
            f"{target}: not a regular file, and it would be replaced; choose another file"
        )
    return target


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Write lines to a file atomically.

    The lines are written to a temporary file, which is then renamed. Readers see either the
    complete new file or none of it.

    Raises:
        UsageError: `check_writable` rejects the path.
    """
    write_atomically({check_writable(path): ((line + "\n").encode() for line in lines)})
