"""Reading what users and publishers hand over: text, plain or gzip, with errors that say where.

A path that is not there is a `UsageError` (exit 2); a file that cannot be read as what it should
be is a `DataError` naming file, line and field. Nothing is returned from a file with an error in
it: loaders read all of a file before they hand over a problem.
"""

from __future__ import annotations

import ast
import csv
import difflib
import gzip
import hashlib
import io
import json
import math
import os
import re
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, BinaryIO, cast

from ..records import DataError, InputSet, Json, UsageError, canonical_json

LINE_CHARACTERS = 16_000_000  # one record; the largest published ARC task has 60,000
FILE_BYTES = 2_000_000_000  # unpacked
JSON_CHARACTERS = 64_000_000  # a file that is one JSON value; all of ARC-AGI-2 has 7,000,000
GZIP_MAGIC = b"\x1f\x8b"
SPACE_FILES = ("space.jsonl", "space.jsonl.gz")
TOKENS = re.compile(
    r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?'
)  # of JSON: texts, numbers


DEPTH = 200  # of lists and objects in each other
SURROGATE = re.compile("[\ud800-\udfff]")


class Unusable(DataError):
    """A value that reads well and cannot be used: nothing else is to be made of its text."""


class NotFinite(Unusable):
    """A number that no float holds, as 1e400."""


class DataWarning(UserWarning):
    """What a loader left out and why, one sentence; given by `warnings.warn`."""


def warn(sentence: str) -> None:
    warnings.warn(sentence, DataWarning, stacklevel=3)


def shorten(value: object, limit: int = 80) -> str:
    """A value as an error message shows it."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def nearest(given: str, valid: Iterable[str], shown: int = 8) -> str:
    """`; did you mean …` with close matches, else the first valid choices: ends an error."""
    choices = list(valid)
    near = difflib.get_close_matches(given, choices, n=3, cutoff=0.6)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    if not choices:
        return ""
    more = f" … ({len(choices)} in all)" if len(choices) > shown else ""
    return f"; there are {', '.join(choices[:shown])}{more}"


def locate(path: str | Path, names: Sequence[str]) -> Path:
    """The file at `path`, or in the folder `path` under one of its usual names."""
    place = expanded(path)
    if place.is_dir():
        if not names:
            raise UsageError(f"{place}: a folder, where a file is needed")
        for name in names:
            if (place / name).is_file():
                return place / name
        raise UsageError(f"{place}: no data here; looked for {', '.join(names)}")
    if not place.exists():
        beside = place.parent
        there = sorted(p.name for p in beside.iterdir()) if beside.is_dir() else []
        raise UsageError(f"{place}: no such file{nearest(place.name, there)}")
    if not place.is_file():
        raise UsageError(f"{place}: neither a file nor a folder")
    return place


def open_bytes(path: Path) -> BinaryIO:
    """Unpacked where the bytes are gzip, whatever the file is called."""
    try:
        with open(path, "rb") as start:
            packed = start.read(2) == GZIP_MAGIC
        return cast(BinaryIO, gzip.open(path, "rb")) if packed else open(path, "rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def open_text(path: Path, errors: str = "strict") -> IO[str]:
    """UTF-8 text, unpacked as by `open_bytes`."""
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", errors=errors, newline="")


def identity(path: Path) -> dict[str, Json]:
    """{"name", "sha256"} of a file, the hash (hex) being that of its unpacked content."""
    seen = hashlib.sha256()
    with open_bytes(path) as content:
        try:
            while part := content.read(1 << 20):
                seen.update(part)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path}: cannot be read: {error}") from error
    return {"name": path.name, "sha256": seen.hexdigest()}


def read_lines(path: Path, errors: str = "strict") -> Iterator[tuple[int, str]]:
    """(line number from 1, line without its end) for each line that is not blank. errors: what
    becomes of bytes that are not UTF-8, as for `open`; strict is a DataError."""
    number = size = 0
    with open_text(path, errors) as lines:
        while True:
            number += 1
            try:
                line = lines.readline(LINE_CHARACTERS + 1)
            except UnicodeDecodeError as error:
                raise DataError(f"{path}, line {number} or after: not UTF-8 text") from error
            except (OSError, EOFError, zlib.error) as error:
                raise _cut_off(path, number, error) from error
            if not line:
                return
            size += len(line)
            if len(line) > LINE_CHARACTERS:
                raise DataError(
                    f"{path}, line {number}: longer than {LINE_CHARACTERS:,} characters"
                )
            if size > FILE_BYTES:
                raise DataError(f"{path}: larger than {FILE_BYTES:,} characters")
            if line.strip():
                yield number, line.rstrip("\r\n")


def _cut_off(path: Path, line: int, error: Exception) -> DataError:
    """All lines before `line` were whole. A packed file that ends early ends in this very one."""
    after = "" if isinstance(error, EOFError) else " or after"
    return DataError(f"{path}, line {line}{after}: cannot be read: {error}")


def parse_json(text: str, where: str) -> Json:
    """JSON from untrusted text; `where` (the file, and its line where `text` is one) starts the
    error. Raises `DataError`, of numbers that no float holds `NotFinite` with line and field."""
    whole = "\n" in text
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        line = f", line {error.lineno}" if whole else ""
        raise DataError(f"{where}{line}: not JSON: {error.msg} at column {error.colno}") from error
    except _TooLarge as error:
        line = f", line {_line_of(text, str(error))}" if whole else ""
        field = f", {name}" if (name := _field_of(text)) else ""
        raise NotFinite(
            f"{where}{line}{field}: {shorten(str(error))} is larger than any float"
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON that can be used: {shorten(str(error))}") from error
    if "\\u" in text or text.count("[") + text.count("{") > DEPTH:
        try:
            _check_usable(value, where)
        except Unusable as error:
            line = f", line {_line_of_surrogate(text)}" if whole else ""
            raise Unusable(f"{where}{line}{str(error).removeprefix(where)}") from None
    return value


def _check_usable(value: Json, where: str) -> None:
    """Raises `Unusable` for half a character, which no UTF-8 holds, and for deep nesting."""
    level: list[Json] = [value]
    for depth in range(DEPTH + 1):
        for one in level:
            if isinstance(one, str) and SURROGATE.search(one):
                raise Unusable(f"{where}: half a character (a lone surrogate) in {ascii(one)[:80]}")
        inner = [one for one in level if isinstance(one, dict | list)]
        if inner and depth == DEPTH:
            raise Unusable(f"{where}: nested deeper than {DEPTH}")
        level = [
            part
            for one in inner
            for part in ([*one, *one.values()] if isinstance(one, dict) else one)
            if isinstance(part, str | dict | list)
        ]


def _line_of_surrogate(text: str) -> int:
    """The line, from 1, of the first text of JSON with half a character; else the first line."""
    for found in TOKENS.finditer(text):
        if "\\u" in found.group() and SURROGATE.search(json.loads(found.group())):
            return text.count("\n", 0, found.start()) + 1
    return 1


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON number")


class _TooLarge(ValueError):
    """The number as it stands in the text."""


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _TooLarge(text)
    return value


def _line_of(text: str, number: str) -> int:
    """The line, from 1, of the first place where a number of JSON reads so."""
    at = next(found.start() for found in TOKENS.finditer(text) if found.group() == number)
    return text.count("\n", 0, at) + 1


def _field_of(text: str) -> str:
    """Where in the value the first number stands that is not finite: `train[0].input`; nothing
    where the text has other faults too."""
    try:
        left = [("", json.loads(text))]
    except (ValueError, RecursionError):
        return ""
    while left:
        name, one = left.pop()
        if isinstance(one, float) and not math.isfinite(one):
            return name.removeprefix(".")
        if isinstance(one, dict):
            left += reversed([(f"{name}.{key}", part) for key, part in one.items()])
        elif isinstance(one, list):
            left += reversed([(f"{name}[{i}]", part) for i, part in enumerate(one)])
    return ""


def read_jsonl(path: Path) -> Iterator[tuple[int, Json]]:
    """(line number, value) of each line; raises `DataError` at the first that is not JSON."""
    for number, line in read_lines(path):
        yield number, parse_json(line, f"{path}, line {number}")


def read_text(path: Path) -> str:
    """The text of a file that is one JSON value, at most `JSON_CHARACTERS` of it."""
    with open_text(path) as text:
        try:
            content = text.read(JSON_CHARACTERS + 1)
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: not UTF-8 text") from error
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path}: cannot be read: {error}") from error
    if len(content) > JSON_CHARACTERS:
        line = content.count("\n") + 1
        raise DataError(
            f"{path}, line {line}: the file is longer than {JSON_CHARACTERS:,} characters"
        )
    if not content.strip():
        raise DataError(f"{path}: the file is empty")
    return content


def read_json(path: Path) -> Json:
    """A file that is one JSON value."""
    return parse_json(read_text(path), str(path))


def read_csv(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """(line number, cells by column) of each row under a header line."""
    with open_text(path) as text:
        rows = csv.reader(text, strict=True)
        try:
            header = [name.strip() for name in next(rows, [])]
            if not any(header):
                raise DataError(f"{path}: the file is empty")
            if len(set(header)) < len(header):
                raise DataError(f"{path}, line 1: a column name stands twice")
            for row in rows:
                if not any(cell.strip() for cell in row):
                    continue
                if len(row) != len(header):
                    raise DataError(
                        f"{path}, line {rows.line_num}: {len(row)} cells under"
                        f" {len(header)} columns ({', '.join(header)})"
                    )
                yield rows.line_num, dict(zip(header, row, strict=True))
        except csv.Error as error:
            raise DataError(f"{path}, line {rows.line_num}: not CSV: {error}") from error
        except UnicodeDecodeError as error:
            raise DataError(f"{path}, line {rows.line_num + 1} or after: not UTF-8 text") from error
        except (OSError, EOFError, zlib.error) as error:
            raise _cut_off(path, rows.line_num + 1, error) from error


def literal(text: str, where: str) -> Json:
    """The JSON value that a Python literal in `text` stands for: `"[3, 4]"` gives `[3, 4]`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in the text warns, and is no concern of the user
            value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise DataError(f"{where}: not a Python literal: {shorten(text)}") from error
    usable = as_json(value, where)
    _check_usable(usable, where)
    return usable


def as_json(value: object, where: str) -> Json:
    """Tuples to lists; raises `DataError` for what JSON has no form for, `NotFinite` for 1e400."""
    if isinstance(value, float) and not math.isfinite(value):
        raise NotFinite(f"{where}: {value!r} is not a finite number")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [as_json(item, where) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: as_json(item, where) for key, item in value.items()}
    raise DataError(f"{where}: a value that JSON cannot hold: {shorten(value)}")


def read_space(path: str | Path) -> InputSet:
    """A sample space from JSONL, an input a line; where every line is an object with the key
    `input` and at most a `weight` beside it, those are the inputs and weights."""
    place = locate(path, SPACE_FILES)
    rows = list(read_jsonl(place))
    if not rows:
        raise DataError(f"{place}: the file is empty")
    wrapped = all(
        isinstance(row, dict) and "input" in row and set(row) <= {"input", "weight"}
        for _, row in rows
    )
    if not wrapped:
        return InputSet(place.name, tuple(row for _, row in rows))
    weights: list[float] = []
    for number, row in rows:
        weight = row.get("weight", 1.0)
        if type(weight) not in (int, float) or not 0 <= weight < float("inf"):
            raise DataError(f"{place}, line {number}, weight: not a number from 0: {weight!r}")
        weights.append(float(weight))
    plain = all(weight == 1.0 for weight in weights)
    return InputSet(
        place.name, tuple(row["input"] for _, row in rows), None if plain else tuple(weights)
    )


def write_space(space: InputSet, path: str | Path) -> None:
    """The file that `read_space` reads back to the same inputs and weights."""
    weights = space.weights
    bare = weights is None and not any(isinstance(i, dict) and "input" in i for i in space.inputs)
    if bare:
        rows: Iterable[Json] = space.inputs
    elif weights is None:
        rows = ({"input": i} for i in space.inputs)
    else:
        rows = ({"input": i, "weight": w} for i, w in zip(space.inputs, weights, strict=True))
    write_lines(path, map(canonical_json, rows))


def expanded(path: str | Path) -> Path:
    """With `~` as the home that it stands for. Raises `UsageError` where there is none."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise UsageError(f"{path}: {error}") from None


def writable(path: str | Path) -> Path:
    """The path, where a file may be written: nothing is there, or a plain file that gives way.
    Raises `UsageError` for a link, a folder or a device, which a rename would replace."""
    target = expanded(path)
    if target.is_symlink():
        raise UsageError(f"{target}: a link, which would be replaced; name the file itself")
    if target.is_dir():
        raise UsageError(f"{target}: a folder, where a file is to be written; name a file in it")
    if target.exists() and not target.is_file():
        raise UsageError(f"{target}: no plain file, and it would be replaced; name another")
    return target


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Written under a temporary name, synced and renamed: a reader sees all of it or nothing.
    Raises `UsageError` as `writable` does."""
    target = writable(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(draft, "w", encoding="utf-8", newline="\n") as out:
            for line in lines:
                out.write(line + "\n")
            out.flush()
            os.fsync(out.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
