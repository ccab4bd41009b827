"""Tasks, where problems come from, and what a task may be able to do beside that.

Every ability that a task may lack is a Protocol of its own; who needs it asks `isinstance(task, …)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from .problems import InputSet, Observation, Problem
from .values import Json

GENERATED = 12  # problems of a run without data
WRITTEN = 100  # problems that `tasks generate` writes, where no number is given


class Task(Protocol):
    """A source of problems."""

    name: str
    family: str
    about: str  # one line

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Published or user's files as they are, plain or gzip. Raises DataError."""
        ...

    def generate(self, count: int, seed: int) -> list[Problem]: ...

    def space(self, problem: Problem, seed: int) -> InputSet: ...


@dataclass(frozen=True)
class Wanted:
    """Which problems the options name: as in `tasks.load_problems`."""

    observations: str | None = None
    problems: int | None = None
    ids: Sequence[str] = ()
    sample: int | None = None
    seed: int = 0
    label: str | None = None
    ood: str | None = None


@runtime_checkable
class SharesSpaces(Protocol):
    """A task whose S is drawn from the inputs of all problems of the data (grids, a user's examples)."""

    def spaces(self, problems: Sequence[Problem], seed: int) -> list[InputSet]: ...


@runtime_checkable
class DrawsObservations(Protocol):
    """A task whose observations are not drawn by `tasks.io.observations.apply`."""

    def observe(
        self, problems: Sequence[Problem], observations: str, seed: int
    ) -> list[Problem]: ...


@runtime_checkable
class ChoosesProblems(Protocol):
    """A task whose problems are samples of data sets: `choose` stands for `load`, `generate` and
    `observe`."""

    def choose(self, path: str | None, wanted: Wanted) -> list[Problem]: ...


@runtime_checkable
class HasGenerators(Protocol):
    """A task that `TASK:GENERATOR` names a variant of."""

    def made_by(self, generator: str) -> Task: ...


@runtime_checkable
class JudgesPairs(Protocol):
    """A task with hidden pairs on which no hypothesis can be right (ACRE's undetermined scenes)."""

    def judgeable(self, observation: Observation) -> bool: ...


@runtime_checkable
class Draws(Protocol):
    """A task that draws a problem for a person, instead of listing its pairs: lines of at most 98
    columns. `--json` has all of the problem."""

    def drawn(self, problem: Problem) -> str: ...


@runtime_checkable
class ReadsInputs(Protocol):
    """A task that checks the inputs of `--space FILE`. Raises DataError."""

    def read_input(self, value: Json, where: str) -> Json: ...


@runtime_checkable
class Documented(Protocol):
    """takes: what `--data` may be. commands: lines to copy. `peirce TASK` shows both."""

    takes: str
    commands: tuple[str, ...]


@runtime_checkable
class NamesFiles(Protocol):
    """files: the usual names of its file, by which it is looked for in a folder."""

    files: tuple[str, ...]


@runtime_checkable
class IdentifiesData(Protocol):
    """A task whose data may be more files than one."""

    def identity(self, path: str | Path) -> Mapping[str, Json]:
        """{"name", "sha256"} of all of them."""
        ...


@runtime_checkable
class BringsProblems(Protocol):
    """A task that runs without data on problems of its own; None where it has none after all."""

    def problems(self) -> list[Problem] | None: ...


@runtime_checkable
class OfferedKinds(Protocol):
    """kinds: which options of `tasks generate` it takes (`regime`, `difficulty`, `level`, …)."""

    kinds: tuple[str, ...]


@runtime_checkable
class WritesProblems(Protocol):
    """A task whose new problems are more than a file of pairs: written whole or not at all.
    Without a count it writes as many as it chooses."""

    def write(
        self, out: str | Path, count: int | None, seed: int, kinds: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        """{"problems", "files", …}."""
        ...


@runtime_checkable
class IsFile(Protocol):
    """A task that is a user's file. task_file: {"name", "sha256"}, as a session records it."""

    @property
    def task_file(self) -> Mapping[str, Json]: ...
