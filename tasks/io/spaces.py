"""Sample spaces as files, there and back, and as sets: what stands in S counts once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...records import DataError, InputSet, Json, canonical_json
from ...sandbox.inside.canonical import Unrepresentable, canonical_bytes
from .files import locate, read_jsonl, write_lines
from .messages import shorten, warn

SPACE_FILES = ("space.jsonl", "space.jsonl.gz")
ReadInput = Callable[[Json, str], Json]  # (an input of a file, where) -> the input; DataError


# --- as sets ------------------------------------------------------------------------


def form_of(value: Json) -> bytes | str:
    """Equal for two inputs where they are one by the rule of equality of predictions: 1, 1.0 and
    true are. What has no form there, as it is too large, is told apart by its JSON."""
    try:
        return canonical_bytes(value)
    except Unrepresentable:
        return canonical_json(value)


def each_once(inputs: Iterable[Json]) -> list[Json]:
    """The first of those that are equal, in order."""
    found: dict[bytes | str, Json] = {}
    for one in inputs:
        found.setdefault(form_of(one), one)
    return list(found.values())


def as_set(space: InputSet, said: str, where: Callable[[int], str]) -> InputSet:
    """The space without inputs that equal an earlier one, which a `DataWarning` beginning with
    `said` counts; the space itself where all differ. where: of an input, by its place. Raises
    DataError where two equal inputs have different weights."""
    first: dict[bytes | str, int] = {}
    again: list[int] = []
    for i, one in enumerate(space.inputs):
        before = first.setdefault(form_of(one), i)
        if before == i:
            continue
        again.append(i)
        weights = space.weights
        if weights is not None and weights[i] != weights[before]:
            raise DataError(
                f"{where(i)}: the input {shorten(one)} stands there twice with different weights,"
                f" {weights[before]:g} and {weights[i]:g}"
            )
    if not again:
        return space
    warn(
        f"{said}: {len(again):,} inputs of the sample space equal one before them (the first of"
        f" them is {shorten(space.inputs[again[0]])}) and are left out: each input counts once"
    )
    kept = list(first.values())
    return InputSet(
        space.name,
        tuple(space.inputs[i] for i in kept),
        None if space.weights is None else tuple(space.weights[i] for i in kept),
    )


# --- as files -----------------------------------------------------------------------


@dataclass(frozen=True)
class SpaceFile:
    """What a file says. lines: of each input."""

    path: Path
    space: InputSet
    lines: Sequence[int]

    def where(self, i: int) -> str:
        return f"{self.path}, line {self.lines[i]}"


def read_space(path: str | Path, read_input: ReadInput | None = None) -> InputSet:
    """A sample space from JSONL, an input a line; where every line is an object with the key
    `input` and at most a `weight` beside it, those are the inputs and weights. Inputs that stand
    there twice are left out by `as_set`. read_input: of a task, which checks an input."""
    found = read_rows(path, read_input)
    return as_set(found.space, str(found.path), found.where)


def read_rows(path: str | Path, read_input: ReadInput | None = None) -> SpaceFile:
    """As `read_space`, all lines of the file."""
    place = locate(path, SPACE_FILES)
    rows = list(read_jsonl(place))
    if not rows:
        raise DataError(f"{place}: the file is empty")
    lines = [number for number, _ in rows]
    wrapped = all(
        isinstance(row, dict) and "input" in row and set(row) <= {"input", "weight"}
        for _, row in rows
    )
    weights: list[float] = []
    for number, row in rows if wrapped else ():
        weight = row.get("weight", 1.0)
        if type(weight) not in (int, float) or not 0 <= weight < float("inf"):
            raise DataError(f"{place}, line {number}, weight: not a number from 0: {weight!r}")
        weights.append(float(weight))
    plain = all(weight == 1.0 for weight in weights)
    inputs = [row["input"] if wrapped else row for _, row in rows]
    if read_input is not None:
        inputs = [
            read_input(one, f"{place}, line {number}, input")
            for number, one in zip(lines, inputs, strict=True)
        ]
    space = InputSet(place.name, tuple(inputs), None if plain else tuple(weights))
    return SpaceFile(place, space, lines)


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
