"""Tasks `mini_arc` and `arc`: find an unknown function from a grid of colours to a grid of colours.

A grid is a list of 1 to 30 rows of the same length, from 1 to 30. Each cell is an integer from 0 to
9. `grid_files.py` reads the published forms, and `grid_generator.py` generates problems.

The sample space S (the inputs to predict) follows GEAR's section 4.2. S contains the inputs of all
train and test pairs of the data, each once. This includes the problems of the data that the session
does not run, and the test inputs whose output was not published. The inputs are sorted by their
canonical JSON (`records.canonical_json`), so that S does not depend on the files, their order or
hash seeds. The inputs of a dozen generated problems are too few to distinguish hypotheses. If all
problems are generated (their secret part contains a rule), 500 more inputs are drawn from the seed
of S.

Task `mini_arc` has grids of 5 by 5 (Kim et al. 2022). It reads two forms:

- the file that GEAR uses, Qiu's miniarc.jsonl, with one object per line (`idx`, `train`, `test`);
  the id of a problem is its idx;
- the official release, with one JSON file per problem in the folder data/MiniARC; the id is the
  name of the file. The editor of the release wrote cells as numbers, digits in quotes, or null for
  an empty cell, which is read as 0.

Task `arc` has grids of 1 to 30 rows and columns (ARC-AGI-2). It reads these forms:

- the folders of the ARC-AGI repositories (data/training and data/evaluation), with one JSON file
  per problem, whose name is the id;
- Kaggle's challenges with the solutions file in the same folder;
- JSONL (`idx` or `id`, `train`, `test`);
- a folder that contains any of these. A problem that occurs in several files with the same pairs,
  such as a problem of Kaggle's test challenges, is read once.

In `arc`, `--observations N` draws from the train and test pairs together, as GEAR's section 4.1
says, and issues a warning about this. The published code does not read solutions and therefore
draws from the train pairs only. To use the draws of the published code, use `--observations FILE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from ...records import Compute, DataError, InputSet, Json, Observation, Problem
from ...tools.workers.computing import compute_here
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
    """A task whose problems are unknown functions from grids to grids.

    Args:
        name: the name of the task.
        about: a description of the task in one line.
        takes: the data that `--data` accepts, in words.
        commands: example commands.
        files: the usual names of the data file.
        folders: groups of folders that contain JSON files, relative to the folder of a release. Of
            the first group that has files, all folders are read.
        from_editor: whether cells in JSON files of one problem may have the forms that the editor
            of MINI-ARC writes (`grid_values.check_grid`).
        challenges: whether test inputs may be published without outputs.
        compute: where problems are generated.
    """

    name: str
    about: str
    takes: str
    commands: tuple[str, ...]
    files: tuple[str, ...]
    folders: tuple[tuple[str, ...], ...]
    from_editor: bool = False
    challenges: bool = False
    compute: Compute = compute_here

    family = "programs"
    kinds = KINDS

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Read published problems, or a user's problems in a published form, from a file or a
        folder.
        """
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
        """Return the problems with new sets of shown pairs, which are drawn at random or read from a file."""
        return observations_.choose_observations(problems, observations, seed, _pair)

    def identify_data(self, path: str | Path) -> dict[str, Json]:
        """Return {"name", "sha256"} of the data at `path`; the hash covers all files that `load`
        reads.
        """
        from .grid_files import data_identity

        return data_identity(path, self)

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Generate `count` problems from `seed`."""
        from .grid_generator import generate

        return generate(self.name, count, seed, self.compute)

    def with_compute(self, compute: Compute) -> Self:
        """Return a copy that generates problems with `compute`."""
        return replace(self, compute=compute)

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space of one problem, which contains the grids to predict."""
        return self.spaces([problem], seed)[0]

    def spaces(self, problems: Sequence[Problem], seed: int) -> list[InputSet]:
        """Return the sample space of each problem. All problems share one, made from the inputs of
        all.
        """
        found = collect_inputs(problems)
        said = f"{self.name} space, the inputs of {len(problems)} problems"
        if problems and all("rule" in problem.secret for problem in problems):
            from .grid_generator import draw_inputs

            found += draw_inputs(self.name, seed)
            said += f" and drawn ones, seed {seed}"
        space = InputSet(said, sort_unique_grids(found))
        return [space] * len(problems)

    def read_input(self, value: Json, where: str) -> Json:
        """Return a grid from a sample space file after checking it.

        Args:
            value: the grid.
            where: the location of the grid, with which error messages begin.
        """
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
    """Task `arc`, which also warns that shown pairs are drawn from train and test pairs together."""

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        """Return the problems with new sets of shown pairs, which are drawn at random or read from a file.

        A warning says that the pairs are drawn from the train and test pairs together.
        """
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
