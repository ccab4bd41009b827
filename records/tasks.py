"""Tasks, the sources of problems, and the optional abilities of a task.

Every ability that a task may lack is a Protocol of its own; code that needs the ability checks
`isinstance(task, …)`.
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
        """Read published or user files, plain or gzip. Raises DataError."""
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
    """A task with hidden pairs that no hypothesis can be right on (ACRE's undetermined scenes)."""

    def judgeable(self, observation: Observation) -> bool:
        """Return whether a hypothesis can be right on this observation."""
        ...


@runtime_checkable
class DrawsProblems(Protocol):
    """A task that draws a problem for a person instead of listing its pairs."""

    def draw_problem(self, problem: Problem) -> str:
        """Return the drawing in lines of at most 98 columns. `--json` has the complete problem."""
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
    """A task with usual file names, by which its data is found in a folder."""

    files: tuple[str, ...]


@runtime_checkable
class IdentifiesData(Protocol):
    """A task whose data may consist of several files."""

    def identify_data(self, path: str | Path) -> Mapping[str, Json]:
        """Return {"name", "sha256"} over all the files."""
        ...


@runtime_checkable
class IncludesProblems(Protocol):
    """A task that includes its own problems, for runs without data."""

    def problems(self) -> list[Problem] | None:
        """Return the problems that the task includes, or None if it includes none."""
        ...


@runtime_checkable
class OffersKinds(Protocol):
    """A task that takes options of `tasks generate`, named in `kinds` (`regime`, `level`, …)."""

    kinds: tuple[str, ...]


@runtime_checkable
class WritesProblems(Protocol):
    """A task that writes its generated problems itself, in files of its own form."""

    def write(
        self, out: str | Path, count: int | None, seed: int, kinds: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        """Write new problems, completely or not at all, and return {"problems", "files", …}.

        Args:
            count: The number of problems; None lets the task choose.
        """
        ...


@runtime_checkable
class DefinedByFile(Protocol):
    """A task that is defined by a user's file."""

    @property
    def task_file(self) -> Mapping[str, Json]:
        """Return {"name", "sha256"} of the file, as a session records it."""
        ...
