"""Reader for problems in JSONL, one object per line with `idx`, `train` and `test`.

`train` and `test` are lists of {"input", "output"}, and `secret` may be present in problems that
`tasks generate` wrote. The task decides which values are valid. This module checks that ids are
unique and nothing is missing, and reports where an error is in the file.
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
        path: The file, or a folder.
        names: Names under which the file is searched in a folder.
        make_problem: Converts an object and its location to a problem. The third argument handles
            optional fields.

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
            raise bad.nothing_left(f"{place}: the file is empty")
    return list(problems.values())


def parse_id(row: Row, where: str) -> str:
    """Return the id of a row as text.

    Raises:
        DataError: `idx` is neither a number nor a string, or it is empty.
    """
    name = row.get("idx")
    if type(name) not in (int, str) or name == "":
        raise DataError(f"{where}, idx: must be a number or a string, not {shorten(name)}")
    return str(name)


def parse_secret(row: Row, where: str, bad: BadRecords) -> dict[str, Json]:
    """Return the `secret` object of a row (facts that models never see), or {} if it is missing or
    unreadable.
    """

    def read() -> dict[str, Json]:
        secret = row.get("secret", {})
        if not isinstance(secret, dict):
            raise DataError(f"{where}, secret: must be an object, not {shorten(secret)}")
        return secret

    return bad.field("secret", read) or {}


def parse_pairs(row: Row, part: str, where: str) -> list[tuple[str, Row]]:
    """Return (location, pair) for each pair of `train` or `test`.

    Raises:
        DataError: The part is not a list of pairs, a value is missing, or `train` is empty.
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
