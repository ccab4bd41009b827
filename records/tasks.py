"""Tasks, which are the sources of problems, and the optional abilities of a task.

Each optional ability is a separate Protocol; code that needs the ability checks `isinstance(task,
…)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from .problems import InputSet, Observation, Problem
from .values import Json

DEFAULT_GENERATED = 12  # the number of problems in a run without data
DEFAULT_WRITTEN = 100  # the number of problems that `tasks generate` writes by default


class Task(Protocol):
    """A source of problems: loads published or user files, generates problems, and makes sample
    spaces.
    """

    name: str
    family: str
    about: str  # one line

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Read published files or the user's own files, plain or gzip. Raises DataError."""
        ...

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Generate new problems from a seed."""
        ...

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space S of a problem."""
        ...


@dataclass(frozen=True)
class ProblemQuery:
    """The options that select problems, as in `tasks.load_problems`."""

    observations: str | None = None
    problems: int | None = None
    ids: Sequence[str] = ()
    sample: int | None = None
    seed: int = 0
    label: str | None = None
    ood: str | None = None


@runtime_checkable
class SharesSpaces(Protocol):
    """A task whose sample space is drawn from the inputs of all its problems (grids, a user's
    examples).
    """

    def spaces(self, problems: Sequence[Problem], seed: int) -> list[InputSet]:
        """Return the sample space of each problem, in order."""
        ...


@runtime_checkable
class DrawsObservations(Protocol):
    """A task that draws its shown observations itself, not by `tasks/io/observations.py`."""

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        """Return the problems with the selected observations as shown, and all other observations
        as hidden.
        """
        ...


@runtime_checkable
class ChoosesProblems(Protocol):
    """A task that makes problems by drawing samples of the rows of data sets."""

    def choose(self, path: str | None, query: ProblemQuery) -> list[Problem]:
        """Return the selected problems; this replaces `load`, `generate` and `observe`."""
        ...


@runtime_checkable
class HasGenerators(Protocol):
    """A task with variants that are named `TASK:GENERATOR`."""

    def with_generator(self, generator: str) -> Task:
        """Return the variant of the task that uses this generator."""
        ...


@runtime_checkable
class JudgesPairs(Protocol):
    """A task with hidden pairs on which no hypothesis can be right (ACRE's undetermined scenes)."""

    def judgeable(self, observation: Observation) -> bool:
        """Return whether a hypothesis can be right on this observation."""
        ...


@runtime_checkable
class DrawsProblems(Protocol):
    """A task that shows a problem to people as a drawing, not as a list of pairs."""

    def draw_problem(self, problem: Problem) -> str:
        """Return the drawing as text, in lines of at most 98 characters."""
        ...


@runtime_checkable
class ReadsInputs(Protocol):
    """A task that checks the inputs of `--space FILE`."""

    def read_input(self, value: Json, where: str) -> Json:
        """Return the checked input. Raises DataError, which names `where`."""
        ...


@runtime_checkable
class DocumentsUsage(Protocol):
    """A task that documents its use for `peirce TASK`.

    Attributes:
        takes: The files that `--data` accepts.
        commands: Example commands to copy.
    """

    takes: str
    commands: tuple[str, ...]


@runtime_checkable
class NamesFiles(Protocol):
    """A task whose data has usual file names, by which it is found in a folder."""

    files: tuple[str, ...]


@runtime_checkable
class IdentifiesData(Protocol):
    """A task whose data may consist of several files."""

    def identify_data(self, path: str | Path) -> Mapping[str, Json]:
        """Return {"name", "sha256"} of the data, with one hash over all its files."""
        ...


@runtime_checkable
class IncludesProblems(Protocol):
    """A task that includes its own problems, for runs without data."""

    def problems(self) -> list[Problem] | None:
        """Return the problems that the task includes, or None if it includes none."""
        ...


@runtime_checkable
class OffersKinds(Protocol):
    """A task with its own options of `tasks generate`, named in `kinds` (`regime`, `level`, …)."""

    kinds: tuple[str, ...]


@runtime_checkable
class WritesProblems(Protocol):
    """A task that writes its generated problems in a file format of its own."""

    def write(
        self, out: str | Path, count: int | None, seed: int, kinds: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        """Write new problems, completely or not at all, and return {"problems", "files", …}.

        Args:
            out: The file or folder to write.
            count: The number of problems; None lets the task choose.
            seed: The seed of the problems.
            kinds: The values of the task's own options (`OffersKinds`), by name.
        """
        ...


@runtime_checkable
class DefinedByFile(Protocol):
    """A task that is defined by a user's file."""

    @property
    def task_file(self) -> Mapping[str, Json]:
        """Return {"name", "sha256"} of the file, as a session records it."""
        ...
