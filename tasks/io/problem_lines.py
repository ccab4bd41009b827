"""Problems as JSONL, an object a line: `idx`, `train` and `test`, lists of {"input", "output"}.

What a value may be its task says; that an id stands once, that nothing is missing and where in the
file it is, is said here for all. `secret` may stand beside them, of problems that `tasks generate`
wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from ...records import DataError, Json, Problem
from .files import locate, read_jsonl
from .messages import shorten

Row: TypeAlias = dict[str, Json]


def read_problems(
    path: str | Path, names: Sequence[str], problem: Callable[[Row, str], Problem]
) -> list[Problem]:
    """What `problem(row, where)` makes of each line of the file at `path`, or under one of `names`
    in the folder there; where: the file and the line. Raises UsageError (no file), DataError."""
    place = locate(path, names)
    problems: dict[str, Problem] = {}
    for number, row in read_jsonl(place):
        where = f"{place}, line {number}"
        if not isinstance(row, dict):
            raise DataError(f"{where}: not an object with idx, train and test: {shorten(row)}")
        made = problem(row, where)
        if made.id in problems:
            raise DataError(f"{where}, idx: {made.id} stands there twice")
        problems[made.id] = made
    if not problems:
        raise DataError(f"{place}: the file is empty")
    return list(problems.values())


def id_of(row: Row, where: str) -> str:
    name = row.get("idx")
    if type(name) not in (int, str) or name == "":
        raise DataError(f"{where}, idx: not a number or a string: {shorten(name)}")
    return str(name)


def secret_of(row: Row, where: str) -> dict[str, Json]:
    secret = row.get("secret", {})
    if not isinstance(secret, dict):
        raise DataError(f"{where}, secret: not an object: {shorten(secret)}")
    return secret


def pairs_of(row: Row, part: str, where: str) -> list[tuple[str, Row]]:
    """(where it stands, the pair) of each pair of `train` or `test`; both values are there."""
    pairs = row.get(part)
    if not isinstance(pairs, list) or (part == "train" and not pairs):
        raise DataError(f"{where}, {part}: not a list of pairs: {shorten(pairs)}")
    found: list[tuple[str, Row]] = []
    for i, pair in enumerate(pairs):
        place = f"{where}, {part}[{i}]"
        for field in ("input", "output"):
            if not isinstance(pair, dict) or field not in pair:
                raise DataError(f"{place}.{field}: missing")
        found.append((place, pair))
    return found
