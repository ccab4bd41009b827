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

Task `mini_arc`: an unknown function from a grid to a grid, both 5 by 5 (Kim et al. 2022).

Read are the file that GEAR uses, Qiu's miniarc.jsonl (an object a line: `idx`, `train`, `test`),
and the official release, a JSON file a task in the folder data/MiniARC, where cells stand as its
editor left them: numbers, digits in quotes, and null where nothing was drawn, which is read as 0.
The problem's id is its idx there, the name of its file here.

Task `arc`: an unknown function from a grid to a grid, of 1 to 30 rows and columns (ARC-AGI-2).

Read are the folders of the ARC-AGI repositories (data/training and data/evaluation, a JSON file a
task, its id the name of the file), Kaggle's challenges with the solutions file beside them, the
same tasks as JSONL (`idx` or `id`, `train`, `test`), and a folder of any of these. A task that
stands in several files with the same pairs, as those of Kaggle's test challenges do, is read once.

`--observations N` draws from the train and test pairs together, as GEAR's section 4.1 says; the
published code draws from the train pairs alone, since it reads no solutions. Its own draws are run
by `--observations FILE`. Which pool was used is told each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...records import DataError, InputSet, Json, Observation, Problem
from ..io import observations as observations_
from ..io.messages import BadValue, warn
from .difficulty import KINDS
from .grid_values import Grid, canonical, grid, inputs_of


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
    its JSON files, below its own folder, all of the first group that is there; from_editor: as for
    `grid`, in JSON files of one task; challenges: test inputs are published without outputs."""

    name: str
    about: str
    takes: str
    commands: tuple[str, ...]
    files: tuple[str, ...]
    folders: tuple[tuple[str, ...], ...]
    from_editor: bool = False
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


MINI_ARC = GridTask(
    name="mini_arc",
    about="a function from a 5 by 5 grid of colours to another (MINI-ARC)",
    takes="the published folder of JSON files, or miniarc.jsonl",
    commands=(
        "peirce run mini_arc --problems 12",
        "peirce run mini_arc --data MiniARC --sample 100",
        "peirce tasks show mini_arc --problems 1",
    ),
    files=tuple(name + end for name in ("miniarc.jsonl", "mini_arc.jsonl") for end in ("", ".gz")),
    folders=(("data/MiniARC",), ("MiniARC",)),
    from_editor=True,
)


class Arc(GridTask):
    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        drawn = super().observe(problems, observations, seed)
        if observations.strip().isdecimal():
            warn(
                f"--observations {observations.strip()} draws from the train and test pairs of a"
                " task together (GEAR, section 4.1); the published code drew from train pairs"
                " alone, and its draws are run by --observations FILE"
            )
        return drawn


ARC = Arc(
    name="arc",
    about="a function from a grid of colours to another (ARC-AGI-2)",
    takes="the published folders of ARC-AGI, Kaggle's files, or JSONL",
    commands=(
        "peirce run arc --problems 12",
        "peirce run arc --data ARC-AGI-2 --sample 100 --model openai:NAME",
        "peirce tasks show arc --problems 1",
    ),
    files=tuple(
        name + end
        for name in ("arc_2025.jsonl", "arc.jsonl", "arc-agi.jsonl")
        for end in ("", ".gz")
    ),
    folders=(("data/training", "data/evaluation"), ("training", "evaluation")),
    challenges=True,
)
