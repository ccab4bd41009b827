"""The result classes of the commands in `commands/data`, and of `peirce tasks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Result


class TaskRow(Result):
    """A task in the list of `peirce tasks`, with its family and a one-line description."""

    task: str
    family: str
    about: str


class TaskHelp(Result):
    """A description of a task, with example commands that run a session on the task.

    Attributes:
        about: a one-line description of the task.
        takes: the files that `--data` accepts; "" if the task does not document this.
        commands: example commands to copy.
        methods: a one-line description of each method that works on the task, by the method's name.
    """

    task: str
    family: str
    about: str
    takes: str
    commands: Sequence[str]
    methods: Mapping[str, str]


class ProblemShown(Result):
    """A problem with all its observations, including the hidden observations.

    Attributes:
        shown: the observations that agents see, each as [input, output].
        hidden: the observations that test hypotheses, each as [input, output].
        public: data that agents may see, such as a theory or the labels.
        secret: data that agents never see, such as the true rule.
        group: name of a group of related problems, which are never divided between training and
            test; "" if the problem belongs to no group.
        space: number of inputs in the sample space, on which hypotheses are compared.
        drawn: a drawing of the problem as text; None if the task does not draw its problems.
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
    """A sample space (inputs on which hypotheses are compared) that was written to the file `path`.

    Attributes:
        inputs: number of inputs.
        digest: digest of the inputs.
    """

    task: str
    inputs: int
    digest: str
    path: str


class Generated(Result):
    """The result of `peirce tasks generate`: the generated problems, and the files that contain
    them.

    Attributes:
        problems: number of problems.
        regimes: for abd, number of problems by regime.
        files: paths of the files that were written.
        sets: for labelled text, a description of each data set.
        model: the model that wrote the topic of a data set; absent if no model did.
        calls: number of calls of this model, by kind.
        calls_file: the file that records these calls.
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
        of: what is counted, such as prompt worlds.
        passed: number of them for which the condition holds.
        failed: number of them for which the condition does not hold.
        offenders: the first of them for which the condition does not hold.
    """

    check: str
    of: str
    passed: int
    failed: int
    offenders: Sequence[str]


class AuditStatistic(Result):
    """A statistic over the instances of one regime.

    Attributes:
        worlds: the worlds that were measured: prompt worlds or holdouts.
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
    """The result of `peirce tasks audit`: checks and statistics of published `abd` instances.

    Attributes:
        instances: number of instances in the file.
        holdouts: number of holdout worlds in the file.
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
        problems: number of problems of the session.
        steps: number of steps of the session.
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
    """The result of `peirce doctor`: which optional features of Peirce work on this machine.

    Attributes:
        cleaned: what was removed; None without `clean=True`.
        versions: versions of Peirce and of the packages that it uses; None for a missing package.
        extras: for each optional extra of the installation, such as local, whether its packages are
            installed.
        cluster: the nodes of a cluster (`records.Workers.describe_nodes`); None without `cluster`.
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
    cluster: Sequence[Mapping[str, Json]] | None = None


class MergedStore(Result):
    """What `peirce merge-stores` did with one store.

    Attributes:
        store: path of the store.
        sessions: number of sessions that were copied.
        replaced: number of interrupted sessions that were replaced by a copy that went on.
        present: number of sessions that were there already.
        pair_sets: number of sets of preference pairs that were copied.
        trainings: number of trainings that were copied.
    """

    store: str
    sessions: int
    replaced: int
    present: int
    pair_sets: int
    trainings: int
