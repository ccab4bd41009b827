"""What a grid of colours is: a list of rows of one length, 1 to 30 rows and columns, each cell a whole
number from 0 to 9."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ...records import Json, Problem, canonical_json
from ..io.messages import BadValue, shorten

Grid: TypeAlias = list[list[int]]

LARGEST = 30  # rows, and columns
COLOURS = frozenset(range(10))
UNANSWERED = "inputs_without_output"  # in the secret part: test inputs that no pair holds


def grid(value: Json, *, from_editor: bool = False) -> Grid:
    """The grid itself, checked. from_editor: cells as the editor of MINI-ARC leaves them are read too,
    digits in quotes and null for an empty cell, 0. Raises `BadValue`."""
    if not isinstance(value, list) or not value:
        raise BadValue((), f"not a grid, a list of rows of colours 0 to 9: {shorten(value)}")
    for i, row in enumerate(value):
        if not isinstance(row, list) or not row:
            raise BadValue((i,), f"not a row of colours 0 to 9: {shorten(row)}")
        if len(row) != len(value[0]):
            raise BadValue((i,), f"a ragged grid: {len(row)} cells under a row of {len(value[0])}")
    if len(value) > LARGEST or len(value[0]) > LARGEST:
        raise BadValue(
            (), f"{len(value)} rows of {len(value[0])}, more than {LARGEST} by {LARGEST}"
        )
    read = [[_as_drawn(cell) for cell in row] for row in value] if from_editor else value
    for i, row in enumerate(read):
        for j, cell in enumerate(row):
            if type(cell) is not int or cell not in COLOURS:
                raise BadValue((i, j), f"not a colour from 0 to 9: {shorten(value[i][j])}")
    return read


def _as_drawn(cell: Json) -> Json:
    if cell is None:
        return 0
    return int(cell) if isinstance(cell, str) and cell in set("0123456789") else cell


def is_grid(value: Json) -> bool:
    try:
        grid(value)
    except BadValue:
        return False
    return True


def canonical(inputs: Iterable[Grid]) -> tuple[Grid, ...]:
    """Each input once, in the order of its canonical JSON."""
    by_text = {canonical_json(one): one for one in inputs}
    return tuple(by_text[text] for text in sorted(by_text))


def inputs_of(problems: Sequence[Problem]) -> list[Grid]:
    """The inputs of all pairs, and the test inputs without an output."""
    found: list[Grid] = []
    for problem in problems:
        found += [pair.input for pair in problem.shown + problem.hidden]
        found += problem.secret.get(UNANSWERED, ())
    return found
