"""Tasks `mini_arc` and `arc`: an unknown function from a grid of colours to a grid of colours.

A grid is a list of rows with the same length, with 1 to 30 rows and columns; each cell is an
integer from 0 to 9. `grid_files.py` reads the published forms, and `grid_generator.py` generates
problems.

The sample space is that of GEAR's section 4.2: the unique inputs of all train and test pairs of the
data, over all its problems and not only those that are run, and the test inputs whose output was
not published. They are sorted by their canonical JSON (`records.canonical_json`), so that neither
the files, their order nor hash seeds change S. A dozen generated problems have too few inputs of
their own to distinguish hypotheses, so where all problems are generated (their secret part holds a
rule), 500 more inputs are drawn from the seed of S.

Task `mini_arc` has grids of 5 by 5 (Kim et al. 2022). It reads the file that GEAR uses, Qiu's
miniarc.jsonl (one object per line with `idx`, `train` and `test`; the problem's id is its idx), and
the official release, one JSON file per task in the folder data/MiniARC (the id is the name of the
file). In the release, cells are as its editor left them: numbers, digits in quotes, and null where
nothing was drawn, which is read as 0.

Task `arc` has grids of 1 to 30 rows and columns (ARC-AGI-2). It reads the folders of the ARC-AGI
repositories (data/training and data/evaluation, one JSON file per task, whose name is the id),
Kaggle's challenges with the solutions file in the same folder, the same tasks as JSONL (`idx` or
`id`, `train`, `test`), and a folder with any of these. A task that occurs in several files with the
same pairs, such as those of Kaggle's test challenges, is read once.

In `arc`, `--observations N` draws from the train and test pairs together, as GEAR's section 4.1
says. The published code reads no solutions and therefore draws from the train pairs alone; use
`--observations FILE` for its draws. A warning names the pool each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...records import DataError, InputSet, Json, Observation, Problem
from ..io import observations as observations_
from ..io.messages import BadValue, warn
from .difficulty import KINDS
from .grid_values import Grid, check_grid, collect_inputs, sort_unique_grids


def _pair(given: Json, output: Json, where: str) -> Observation:
    """Return a pair of a file of observations, checked."""
    read: list[Grid] = []
    for field, value in (("input", given), ("output", output)):
        try:
            read.append(check_grid(value))
        except BadValue as error:
            raise DataError(f"{where}.{error.within(field).field}: {error}") from None
    return Observation(*read)


@dataclass(frozen=True)
class GridTask:
    """A task with grid problems.

    Args:
        name: the name of the task.
        about: the task in one line.
        takes: what `--data` accepts.
        commands: example commands.
        files: the usual names of its file.
        folders: groups of folders in which a release keeps its JSON files, relative to its own
            folder; all folders of the first group that has files are read.
        from_editor: whether JSON files of one task have cells as for `grid_values.grid`.
        challenges: whether test inputs are published without outputs.
    """

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
        """Read published or user's problems from a file or a folder."""
        from .grid_files import read_grid_files

        loaded = [
            self._problem(name, *found) for name, found in read_grid_files(path, self).items()
        ]
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
        """Draw the shown pairs of each problem, or take them from a file in GEAR's form."""
        return observations_.choose_observations(problems, observations, seed, _pair)

    def identify_data(self, path: str | Path) -> dict[str, Json]:
        """Return the name and the digest of all files that `load` reads (see
        `files.identify_file`).
        """
        from .grid_files import data_identity

        return data_identity(path, self)

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Generate `count` problems from `seed`."""
        from .grid_generator import generate

        return generate(self.name, count, seed)

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space of one problem."""
        return self.spaces([problem], seed)[0]

    def spaces(self, problems: Sequence[Problem], seed: int) -> list[InputSet]:
        """Return one sample space for all problems, made of the inputs of all."""
        found = collect_inputs(problems)
        said = f"{self.name} space, the inputs of {len(problems)} problems"
        if problems and all("rule" in problem.secret for problem in problems):
            from .grid_generator import draw_inputs

            found += draw_inputs(self.name, seed)
            said += f" and drawn ones, seed {seed}"
        space = InputSet(said, sort_unique_grids(found))
        return [space] * len(problems)

    def read_input(self, value: Json, where: str) -> Json:
        """Return a grid of a file of inputs, checked."""
        try:
            return check_grid(value)
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
    """Task `arc`, which warns about the pool that observations are drawn from."""

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        """Draw the shown pairs of each problem, or take them from a file in GEAR's form."""
        drawn = super().observe(problems, observations, seed)
        if observations.strip().isdecimal():
            warn(
                f"--observations {observations.strip()} draws from the train and test pairs of a"
                " task together (GEAR, section 4.1). The published code drew from train pairs"
                " only; use --observations FILE for its draws"
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
