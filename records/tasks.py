"""Tasks, which load or generate problems, and protocols for the optional abilities of a task.

Each optional ability is a separate protocol. Code that needs an ability checks `isinstance(task,
…)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from .problems import InputSet, Observation, Problem
from .values import Json
from .workers import Compute

DEFAULT_GENERATED = 12  # the number of problems in a run without data
DEFAULT_WRITTEN = 100  # the number of problems that `tasks generate` writes by default


class Task(Protocol):
    """A source of problems: loads or generates problems, and builds their sample spaces.

    The sample space S of a problem is the set of inputs on which hypotheses are compared.
    """

    name: str
    family: str
    about: str  # one line

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Read problems from published files or from the user's own files, uncompressed or gzip.

        Args:
            path: The file or folder to read.
            observations: Which observations to show: a number to draw at random, or a file that
                lists them; None for the original choice.
            seed: The seed for drawing observations.

        Raises:
            DataError: A file cannot be read.
        """
        ...

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Generate `count` new problems from a random seed."""
        ...

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space S of a problem: the inputs on which hypotheses are compared."""
        ...


@dataclass(frozen=True)
class ProblemQuery:
    """The options that select problems and their observations, as `tasks.load_problems` takes
    them.

    Attributes:
        default_observations: The number of observations to show of each problem if `observations` is
            None. A task may show fewer; None for the task's own number.
    """

    observations: str | None = None
    problems: int | None = None
    ids: Sequence[str] = ()
    sample: int | None = None
    seed: int = 0
    label: str | None = None
    ood: str | None = None
    target: str | None = None
    units: str | None = None
    default_observations: int | None = None


@runtime_checkable
class SharesSpaces(Protocol):
    """A task that draws a sample space from the inputs of all its problems.

    Grid tasks and a user's own examples have this ability.
    """

    def spaces(self, problems: Sequence[Problem], seed: int) -> list[InputSet]:
        """Return the sample space of each problem, in the order of `problems`."""
        ...


@runtime_checkable
class DrawsObservations(Protocol):
    """A task that selects the shown observations with its own code.

    Other tasks use `tasks/io/observations.py`.
    """

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        """Return the problems with the selected observations shown and all other observations
        hidden.

        Args:
            problems: The problems.
            observations: Which observations to show: a number to draw at random, or a file that
                lists them.
            seed: The seed for drawing observations.
        """
        ...


@runtime_checkable
class ChoosesProblems(Protocol):
    """A task whose problems are random samples of the rows of data sets."""

    def choose(self, path: str | None, query: ProblemQuery) -> list[Problem]:
        """Return the selected problems. This method replaces `load`, `generate` and `observe`."""
        ...


@runtime_checkable
class HasGenerators(Protocol):
    """A task with several generators of problems, each of which is selected as `TASK:GENERATOR`."""

    def with_generator(self, generator: str) -> Task:
        """Return a variant of this task that uses the named generator."""
        ...


@runtime_checkable
class JudgesPairs(Protocol):
    """A task with hidden observations on which no hypothesis can be right.

    An example is a scene in ACRE whose outcome cannot be determined.
    """

    def judgeable(self, observation: Observation) -> bool:
        """Return whether a hypothesis can be right on `observation`."""
        ...


@runtime_checkable
class DrawsProblems(Protocol):
    """A task that shows a problem to people as a drawing instead of a list of observations."""

    def draw_problem(self, problem: Problem) -> str:
        """Return a drawing of the problem as text, in lines of at most 98 characters."""
        ...


@runtime_checkable
class ReadsInputs(Protocol):
    """A task that checks the inputs in a file of the option `--space`."""

    def read_input(self, value: Json, where: str) -> Json:
        """Return the checked input.

        Args:
            value: The input from the file.
            where: The location of the input, such as file and line, for error messages.

        Raises:
            DataError: The input is invalid. The message names `where`.
        """
        ...


@runtime_checkable
class DocumentsUsage(Protocol):
    """A task that provides the text for the help page `peirce TASK`.

    Attributes:
        takes: A description of the files that `--data` accepts.
        commands: Example commands that the user can copy.
    """

    takes: str
    commands: tuple[str, ...]


@runtime_checkable
class NamesFiles(Protocol):
    """A task whose data files have fixed names, so that the task can find them in a folder.

    Attributes:
        files: The names of the data files.
    """

    files: tuple[str, ...]


@runtime_checkable
class IdentifiesData(Protocol):
    """A task whose data can consist of several files."""

    def identify_data(self, path: str | Path) -> Mapping[str, Json]:
        """Return {"name", "sha256"} of the data at `path`, with one hash over all files."""
        ...


@runtime_checkable
class IncludesProblems(Protocol):
    """A task that contains problems, which are used if the user names no data."""

    def problems(self) -> list[Problem] | None:
        """Return the problems that this task contains, or None if it contains none."""
        ...


@runtime_checkable
class GeneratesInParts(Protocol):
    """A task that can generate its problems on several processes."""

    def with_compute(self, compute: Compute) -> Task:
        """Return a copy of this task that generates the same problems with `compute`."""
        ...


@runtime_checkable
class OffersKinds(Protocol):
    """A task with additional options for `peirce tasks generate`, such as `regime` or `level`.

    Attributes:
        kinds: The names of the options.
    """

    kinds: tuple[str, ...]


@runtime_checkable
class WritesProblems(Protocol):
    """A task that writes generated problems in its own file format."""

    def write(
        self, out: str | Path, count: int | None, seed: int, kinds: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        """Generate new problems, write them to files, and return {"problems", "files", …}.

        Either all files are written or none.

        Args:
            out: The file or folder to write.
            count: The number of problems; None lets the task choose.
            seed: The seed of the problems.
            kinds: The values of the task's additional options (`OffersKinds`), by name.
        """
        ...


@runtime_checkable
class DefinedByFile(Protocol):
    """A task that a user defines in a file."""

    @property
    def task_file(self) -> Mapping[str, Json]:
        """Return {"name", "sha256"} of the file that defines this task, as a session records it."""
        ...
