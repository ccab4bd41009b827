"""Check, sort and collect grids of colours.

A grid is a list of 1 to 30 rows of the same length, from 1 to 30. Each cell is an integer from 0
to 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ...records import Json, Problem, canonical_json
from ..io.messages import BadValue, shorten

Grid: TypeAlias = list[list[int]]

MAX_GRID_SIZE = 30  # most rows, and most columns
COLOURS = frozenset(range(10))
UNANSWERED = "inputs_without_output"  # key in `Problem.secret`: test inputs without an output


def check_grid(value: Json, *, from_editor: bool = False) -> Grid:
    """Return `value` as a grid after checking its form.

    Args:
        value: the grid as JSON.
        from_editor: whether cells may also have the forms that the editor of MINI-ARC writes:
            digits in quotes, and null for an empty cell, which becomes 0.

    Raises:
        BadValue: the value is not a grid.
    """
    if not isinstance(value, list) or not value:
        raise BadValue(
            (), f"must be a grid (a list of rows of colours 0 to 9), not {shorten(value)}"
        )
    for i, row in enumerate(value):
        if not isinstance(row, list) or not row:
            raise BadValue((i,), f"must be a row of colours 0 to 9, not {shorten(row)}")
        if len(row) != len(value[0]):
            raise BadValue((i,), f"a ragged grid: {len(row)} cells under a row of {len(value[0])}")
    if len(value) > MAX_GRID_SIZE or len(value[0]) > MAX_GRID_SIZE:
        raise BadValue(
            (),
            f"{len(value)} rows of {len(value[0])}, more than {MAX_GRID_SIZE} by {MAX_GRID_SIZE}",
        )
    read = [[_as_drawn(cell) for cell in row] for row in value] if from_editor else value
    for i, row in enumerate(read):
        for j, cell in enumerate(row):
            if type(cell) is not int or cell not in COLOURS:
                raise BadValue((i, j), f"must be a colour from 0 to 9, not {shorten(value[i][j])}")
    return read


def _as_drawn(cell: Json) -> Json:
    if cell is None:
        return 0
    return int(cell) if isinstance(cell, str) and cell in set("0123456789") else cell


def is_grid(value: Json) -> bool:
    """Return whether the value is a grid."""
    try:
        check_grid(value)
    except BadValue:
        return False
    return True


def sort_unique_grids(inputs: Iterable[Grid]) -> tuple[Grid, ...]:
    """Return each grid once, sorted by its canonical JSON."""
    by_text = {canonical_json(one): one for one in inputs}
    return tuple(by_text[text] for text in sorted(by_text))


def collect_inputs(problems: Sequence[Problem]) -> list[Grid]:
    """Return the inputs of all pairs of the problems, and also the test inputs that have no output."""
    found: list[Grid] = []
    for problem in problems:
        found += [pair.input for pair in problem.shown + problem.hidden]
        found += problem.secret.get(UNANSWERED, ())
    return found
