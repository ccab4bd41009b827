"""Reader for problems in JSONL, one object per line with `idx`, `train` and `test`.

`train` and `test` are lists of {"input", "output"}. Problems that `tasks generate` wrote may also
have the key `secret`. Each task decides which inputs and outputs are valid. This module checks that
ids are unique and no key is missing, and names the place of each error in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from ...records import DataError, Json, Problem
from .bad_records import BadRecords
from .files import locate, read_jsonl
from .messages import shorten

Row: TypeAlias = dict[str, Json]


def read_problems(
    path: str | Path, names: Sequence[str], make_problem: Callable[[Row, str, BadRecords], Problem]
) -> list[Problem]:
    """Read the problems of a JSONL file, one per line.

    Args:
        path: The file, or a folder that contains it.
        names: The possible names of the file, if `path` is a folder.
        make_problem: Converts (object of the line, location, `BadRecords`) to a problem. The
            location is text for error messages, and the `BadRecords` object reads optional fields.

    Raises:
        UsageError: There is no such file.
        DataError: The file is invalid or empty, or an id is repeated.
    """
    place = locate(path, names)
    problems: dict[str, Problem] = {}
    with BadRecords(place) as bad:
        for number, row in read_jsonl(place, bad):
            with bad.record(f"line {number}"):
                where = f"{place}, line {number}"
                if not isinstance(row, dict):
                    raise DataError(
                        f"{where}: must be an object with idx, train and test, not {shorten(row)}"
                    )
                read = make_problem(row, where, bad)
                if read.id in problems:
                    raise DataError(f"{where}, idx: {read.id} occurs twice")
                problems[read.id] = read
        if not problems:
            raise bad.no_records_error(f"{place}: the file is empty")
    return list(problems.values())


def parse_id(row: Row, where: str) -> str:
    """Return the value of `idx` in a row as text.

    Args:
        row: The object of one line.
        where: The location of the line, with which error messages begin.

    Raises:
        DataError: `idx` is empty, or neither a number nor a string.
    """
    name = row.get("idx")
    if type(name) not in (int, str) or name == "":
        raise DataError(f"{where}, idx: must be a number or a string, not {shorten(name)}")
    return str(name)


def parse_secret(row: Row, where: str, bad: BadRecords) -> dict[str, Json]:
    """Return the `secret` object of a row, which models never see.

    The result is {} if the row has no such object or the object is unreadable. In the second case,
    `bad` issues a warning.
    """

    def read() -> dict[str, Json]:
        secret = row.get("secret", {})
        if not isinstance(secret, dict):
            raise DataError(f"{where}, secret: must be an object, not {shorten(secret)}")
        return secret

    return bad.field("secret", read) or {}


def parse_pairs(row: Row, part: str, where: str) -> list[tuple[str, Row]]:
    """Return (location, pair) for each pair in the list `row[part]`.

    Args:
        row: The object of one line.
        part: The key of the list, "train" or "test".
        where: The location of the line, with which error messages begin.

    Raises:
        DataError: The list is not a list of pairs, an input or output is missing, or `train` is
            empty.
    """
    pairs = row.get(part)
    if not isinstance(pairs, list) or (part == "train" and not pairs):
        raise DataError(f"{where}, {part}: must be a list of pairs, not {shorten(pairs)}")
    found: list[tuple[str, Row]] = []
    for i, pair in enumerate(pairs):
        place = f"{where}, {part}[{i}]"
        for field in ("input", "output"):
            if not isinstance(pair, dict) or field not in pair:
                raise DataError(f"{place}.{field}: missing")
        found.append((place, pair))
    return found
