"""Sample spaces as files, there and back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..records import DataError, InputSet, Json, canonical_json
from .files import locate, read_jsonl, write_lines

SPACE_FILES = ("space.jsonl", "space.jsonl.gz")


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
