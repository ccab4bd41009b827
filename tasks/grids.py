"""Grids of colours: what is one, their sample space, and what the tasks `mini_arc` and `arc` share.

A grid is a list of rows of one length, 1 to 30 rows and columns, each cell a whole number from 0
to 9. The published forms are read by grid_files.py, problems of our own are made by
grid_generator.py.

The sample space is that of GEAR's section 4.2: the unique inputs of all train and test pairs of
the data, of all its problems and not only of those that are run, and of test inputs whose output
was not published. They stand in the order of their canonical JSON (records.canonical_json), so
that neither files, their order nor hash seeds change S. Where the problems are of our own
generator (their secret part holds a rule), 500 more inputs that it draws from the seed of S come
in, since a dozen problems have too few of their own to tell hypotheses apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ..records import DataError, InputSet, Json, Observation, Problem, canonical_json
from . import observations as observations_
from .difficulty import KINDS
from .sentences import BadValue, shorten

Grid: TypeAlias = list[list[int]]

LARGEST = 30  # rows, and columns
COLOURS = frozenset(range(10))
UNANSWERED = "inputs_without_output"  # in the secret part: test inputs that no pair holds


def grid(value: Json, *, drawn: bool = False) -> Grid:
    """The grid itself, checked. drawn: cells as the editor of MINI-ARC leaves them are read too,
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
    read = [[_as_drawn(cell) for cell in row] for row in value] if drawn else value
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


def _pair(given: Json, output: Json, where: str) -> Observation:
    """A pair of a file of observations."""
    read: list[Grid] = []
    for field, value in (("input", given), ("output", output)):
        try:
            read.append(grid(value))
        except BadValue as error:
            raise DataError(f"{where}.{error.within(field).field}: {error}") from None
    return Observation(*read)


@dataclass(frozen=True)
class GridTask:
    """A task of grid problems. files: the usual names of its file; folders: where a release keeps
    its JSON files, below its own folder, all of the first group that is there; drawn: as for
    `grid`, in JSON files of one task; challenges: test inputs are published without outputs."""

    name: str
    about: str
    takes: str
    commands: tuple[str, ...]
    files: tuple[str, ...]
    folders: tuple[tuple[str, ...], ...]
    drawn: bool = False
    challenges: bool = False

    family = "programs"
    kinds = KINDS

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        from .grid_files import read

        loaded = [self._problem(name, *found) for name, found in read(path, self).items()]
        return loaded if observations is None else self.observe(loaded, observations, seed)

    def _problem(
        self,
        name: str,
        shown: tuple[Observation, ...],
        hidden: tuple[Observation, ...],
        secret: dict[str, Json],
    ) -> Problem:
        return Problem(
            id=name,
            task=self.name,
            family=self.family,
            shown=shown,
            hidden=hidden,
            secret=secret,
            group=name,
        )

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        return observations_.apply(problems, observations, seed, _pair)

    def identity(self, path: str | Path) -> dict[str, Json]:
        """As `files.identity`, over all files that `load` reads from there."""
        from .grid_files import identity_of

        return identity_of(path, self)

    def generate(self, count: int, seed: int) -> list[Problem]:
        from .grid_generator import generate

        return generate(self.name, count, seed)

    def space(self, problem: Problem, seed: int) -> InputSet:
        return self.spaces([problem], seed)[0]

    def spaces(self, problems: Sequence[Problem], seed: int) -> list[InputSet]:
        """One S for all problems, of the inputs of all."""
        found = inputs_of(problems)
        said = f"{self.name} space, the inputs of {len(problems)} problems"
        if problems and all("rule" in problem.secret for problem in problems):
            from .grid_generator import inputs

            found += inputs(self.name, seed)
            said += f" and drawn ones, seed {seed}"
        space = InputSet(said, canonical(found))
        return [space] * len(problems)

    def read_input(self, value: Json, where: str) -> Json:
        try:
            return grid(value)
        except BadValue as error:
            raise DataError(f"{where}{error.field}: {error}") from None
