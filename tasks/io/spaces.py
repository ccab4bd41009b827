"""Read, write and deduplicate sample spaces, which are the inputs that hypotheses predict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...records import DataError, InputSet, Json, canonical_json, is_finite_number
from ...sandbox.inside.canonical import Unrepresentable, canonical_bytes
from .files import locate, read_jsonl, write_lines
from .messages import shorten, warn

SPACE_FILES = ("space.jsonl", "space.jsonl.gz")
ReadInput = Callable[[Json, str], Json]  # (input in a file, location) -> input; raises DataError


# --- as sets ------------------------------------------------------------------------


def equality_key(value: Json) -> bytes | str:
    """Return a key that is the same for all inputs that count as equal.

    Inputs are compared by the rule that also compares predictions: 1, 1.0 and true are equal.
    Values that are too large for the canonical form of this rule are compared by their JSON text.
    """
    try:
        return canonical_bytes(value)
    except Unrepresentable:
        return canonical_json(value)


def drop_repeated(inputs: Iterable[Json]) -> list[Json]:
    """Return each input once, in the order of the first occurrences."""
    found: dict[bytes | str, Json] = {}
    for one in inputs:
        found.setdefault(equality_key(one), one)
    return list(found.values())


def drop_repeated_inputs(space: InputSet, source: str, where: Callable[[int], str]) -> InputSet:
    """Return a sample space without repeated inputs.

    A `DataWarning` reports how many inputs are left out. If no input is repeated, `space` itself is
    returned.

    Args:
        space: The sample space.
        source: The file or task that `space` comes from; the warning begins with this text.
        where: Returns the location of the input with this index, for error messages.

    Raises:
        DataError: Two equal inputs have different weights.
    """
    first: dict[bytes | str, int] = {}
    again: list[int] = []
    for i, one in enumerate(space.inputs):
        before = first.setdefault(equality_key(one), i)
        if before == i:
            continue
        again.append(i)
        weights = space.weights
        if weights is not None and weights[i] != weights[before]:
            raise DataError(
                f"{where(i)}: the input {shorten(one)} occurs twice with different weights,"
                f" {weights[before]:g} and {weights[i]:g}"
            )
    if not again:
        return space
    warn(
        f"{source}: {len(again):,} inputs of the sample space equal one before them (the first of"
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
    """The contents of a sample space file.

    Attributes:
        path: The file.
        space: The sample space with all inputs of the file; inputs may be repeated.
        lines: The line number of each input.
    """

    path: Path
    space: InputSet
    lines: Sequence[int]

    def describe_location(self, i: int) -> str:
        """Return the file and line of the input with index `i`."""
        return f"{self.path}, line {self.lines[i]}"


def read_space(path: str | Path, read_input: ReadInput | None = None) -> InputSet:
    """Read a sample space from JSONL, one input per line.

    Lines may also be objects `{"input": …, "weight": …}`, with or without `weight`, if all lines
    have this form. Repeated inputs are dropped by `drop_repeated_inputs`.

    Args:
        path: A file, or a folder that contains a file with one of the names in `SPACE_FILES`.
        read_input: Checks an input; called with the input and its location in the file. None to
            accept all inputs.

    Raises:
        UsageError: There is no such file.
        DataError: The file is invalid.
    """
    found = read_space_file(path, read_input)
    return drop_repeated_inputs(found.space, str(found.path), found.describe_location)


def read_space_file(path: str | Path, read_input: ReadInput | None = None) -> SpaceFile:
    """Read a sample space file as `read_space` does, but keep repeated inputs."""
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
        if isinstance(weight, bool) or not is_finite_number(weight) or weight < 0:
            told = shorten(weight)
            raise DataError(
                f"{place}, line {number}, weight: must be a number of at least 0, not {told}"
            )
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
    """Write a sample space to a file, from which `read_space` can read the same sample space."""
    weights = space.weights
    bare = weights is None and not any(isinstance(i, dict) and "input" in i for i in space.inputs)
    if bare:
        rows: Iterable[Json] = space.inputs
    elif weights is None:
        rows = ({"input": i} for i in space.inputs)
    else:
        rows = ({"input": i, "weight": w} for i, w in zip(space.inputs, weights, strict=True))
    write_lines(path, map(canonical_json, rows))
