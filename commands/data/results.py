"""What tasks, exports and the diagnosis return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Result


class TaskRow(Result):
    """A task, with one line about it."""

    task: str
    family: str
    about: str


class TaskHelp(Result):
    """How to run on a task. takes: what `--data` may be, "" where the task does not say. commands:
    lines to copy. methods: those that fit, with a line about each."""

    task: str
    family: str
    about: str
    takes: str
    commands: Sequence[str]
    methods: Mapping[str, str]


class ProblemShown(Result):
    """A problem with its hidden parts. shown, hidden: pairs of input and output. space: how many inputs
    its sample space has. drawn: what a person is shown of it, where its task says so."""

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
    """New problems as files. sha256: of the first file. regimes: of abd, how many of each. sets: of labelled text, each data set.
    model, calls, calls_file: where a model wrote their topic."""

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
    """One check of an audit. offenders: what failed it."""

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
    """Whether instances of abd are what their paper states. failed: checks that failed."""

    file: str
    instances: int
    holdouts: int
    failed: int
    checks: Sequence[AuditCheck]
    statistics: Sequence[AuditStatistic]


class Export(Result):
    """A session that was written as files. rows: by table."""

    session: str
    problems: int
    steps: int
    format: str
    out: str
    files: Sequence[str]
    rows: Mapping[str, int]


class Doctor(Result):
    """What is here of all that Peirce can use. cleaned: with `clean=True`, what was removed."""

    cleaned: Mapping[str, Json] | None = None
    versions: Mapping[str, str | None]
    platform: Mapping[str, Json]
    sandbox: Mapping[str, Mapping[str, Json]]
    models: Mapping[str, Json]
    settings: Sequence[Mapping[str, Json]]
    extras: Mapping[str, Mapping[str, Json]]
    gpu: Mapping[str, Json]
    store: Mapping[str, Json]
