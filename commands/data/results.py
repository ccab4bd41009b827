"""Result classes of tasks, exports and the diagnosis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Result


class TaskRow(Result):
    """A task in the list of `peirce tasks`, with a description in one line."""

    task: str
    family: str
    about: str


class TaskHelp(Result):
    """How to run on a task.

    Attributes:
        takes: what `--data` accepts; "" where the task does not say.
        commands: lines to copy.
        methods: one line about each method that works on it, by name.
    """

    task: str
    family: str
    about: str
    takes: str
    commands: Sequence[str]
    methods: Mapping[str, str]


class ProblemShown(Result):
    """A problem with its hidden observations.

    Attributes:
        shown: the shown pairs of input and output.
        hidden: the hidden pairs.
        space: number of inputs in its sample space.
        drawn: a drawing for people, where its task makes one.
    """

    id: str
    task: str
    family: str
    shown: Sequence[Sequence[Json]]
    hidden: Sequence[Sequence[Json]]
    public: Mapping[str, Json]
    secret: Mapping[str, Json]
    group: str
    space: int
    drawn: str | None = None


class SpaceFile(Result):
    """A sample space that was written as a file."""

    task: str
    inputs: int
    digest: str
    path: str


class Generated(Result):
    """The result of `peirce tasks generate`: the generated problems, and the files that hold them.

    Attributes:
        regimes: for abd, number of problems by regime.
        sets: for labelled text, each data set.
        model: present where a model wrote the topic, as are calls and calls_file.
        sha256: hash of the first file.
    """

    task: str
    problems: int
    regimes: Mapping[str, int] | None = None
    files: Sequence[str] | None = None
    sets: Sequence[Mapping[str, Json]] | None = None
    model: str | None = None
    calls: Mapping[str, int] | None = None
    calls_file: str | None = None
    path: str
    sha256: str


class AuditCheck(Result):
    """The result of one check of `peirce tasks audit`.

    Attributes:
        offenders: what failed it.
    """

    check: str
    of: str
    passed: int
    failed: int
    offenders: Sequence[str]


class AuditStatistic(Result):
    """A statistic of the instances of one regime, over prompt or holdout worlds."""

    regime: str
    worlds: str
    statistic: str
    mean: float
    least: float
    most: float
    n: int


class Audit(Result):
    """The result of `peirce tasks audit`: the checks and statistics of instances of the task `abd`.

    Attributes:
        failed: number of checks that failed.
    """

    file: str
    instances: int
    holdouts: int
    failed: int
    checks: Sequence[AuditCheck]
    statistics: Sequence[AuditStatistic]


class Export(Result):
    """The result of `peirce export`: the files to which a session was written.

    Attributes:
        rows: number of rows by table.
    """

    session: str
    problems: int
    steps: int
    format: str
    out: str
    files: Sequence[str]
    rows: Mapping[str, int]


class Doctor(Result):
    """The result of `peirce doctor`: which optional parts of Peirce work on this machine.

    Attributes:
        cleaned: with `clean=True`, what was removed.
    """

    cleaned: Mapping[str, Json] | None = None
    versions: Mapping[str, str | None]
    platform: Mapping[str, Json]
    sandbox: Mapping[str, Mapping[str, Json]]
    models: Mapping[str, Json]
    settings: Sequence[Mapping[str, Json]]
    extras: Mapping[str, Mapping[str, Json]]
    gpu: Mapping[str, Json]
    store: Mapping[str, Json]
