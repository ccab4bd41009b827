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
    """How to run a session on a task.

    Attributes:
        about: a description in one line.
        takes: the files that `--data` accepts; "" if the task does not document them.
        commands: example commands to copy.
        methods: by name, one line about each method that works on the task.
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
        shown: the shown observations, each as [input, output].
        hidden: the hidden observations.
        public: facts that agents may see, such as a theory or the labels.
        secret: facts that agents never see, such as the true rule.
        group: name of a group of related problems, which are never divided between training and
            test; "" if the problem is on its own.
        space: number of inputs in the sample space.
        drawn: a drawing of the problem as text; None if the task draws none.
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
    """A sample space that was written to the file `path`.

    Attributes:
        inputs: number of inputs.
        digest: digest of the inputs.
    """

    task: str
    inputs: int
    digest: str
    path: str


class Generated(Result):
    """The result of `peirce tasks generate`: the generated problems, and the files that hold them.

    Attributes:
        problems: number of problems.
        regimes: for abd, number of problems by regime.
        sets: for labelled text, a description of each data set.
        model: the model that wrote the topic of a data set; absent if none did.
        calls: counts of the calls to this model.
        calls_file: the file with these calls.
        path: the file or folder that was written.
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
        check: the condition that was checked, as text.
        of: what one case is, such as a prompt world.
        passed: number of cases in which the condition holds.
        failed: number of cases in which it does not hold.
        offenders: the first cases that failed.
    """

    check: str
    of: str
    passed: int
    failed: int
    offenders: Sequence[str]


class AuditStatistic(Result):
    """A statistic of the instances of one regime, over prompt worlds or holdouts.

    Attributes:
        statistic: name of the statistic.
        least: smallest value.
        most: largest value.
        n: number of values.
    """

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
        format: format of the files.
        out: the folder with the files.
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
        versions: versions of Peirce and of the packages that it uses; None if a package is missing.
        extras: for each extra of the installation, such as local, whether its packages are there.
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
