"""Result classes of preference pairs and trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Result, extra_keys


class PairExport(Result):
    """A set of preference pairs that was written as files.

    Attributes:
        rows: number of rows by split.
    """

    out: str
    format: str
    form: str
    files: Sequence[str]
    rows: Mapping[str, int]


class PairReport(Result):
    """Counts of a set of preference pairs. A stage is parsing, consistency or gear.

    Attributes:
        problems: number of problems, each with one set of shown pairs.
        without_pairs: number of these without any pair.
        by_split: pairs by split and stage; by_task, by_context and by_model likewise.
        found: pairs before the caps, by stage, without ties.
        ties: number of ties.
        contexts: number of contexts kept and in all, by size.
        left_out: answers and pairs that were left out, by reason.
        several: number of answers with more than one hypothesis.
        groups: number of groups by split.
        missing: splits without any group.
        others: further fields of the report.
    """

    digest: str
    pairs: int
    prompts: int
    answers: int
    sessions: Sequence[Mapping[str, Json]]
    problems: int
    without_pairs: int
    by_split: Mapping[str, Mapping[str, int]]
    by_task: Mapping[str, Mapping[str, Mapping[str, int]]]
    by_context: Mapping[str, Mapping[str, int]]
    by_model: Mapping[str, Mapping[str, Json]]
    found: Mapping[str, int]
    ties: int
    contexts: Mapping[str, Sequence[int]]
    left_out: Mapping[str, int]
    several: int
    groups: Mapping[str, int]
    missing: Sequence[str]
    export: PairExport | None = None
    others: Mapping[str, Json] = extra_keys()


class PairSetRow(Result):
    """A set of preference pairs in a store, as `peirce pairs --list` lists it.

    Attributes:
        counts: the report that it was saved with.
    """

    digest: str
    created: str
    settings: Mapping[str, Json]
    counts: Mapping[str, Json]


class TrainingRecord(Result):
    """The record of a DPO training, as `peirce train` returns it.

    If a launcher starts several processes, all processes except the first return only the fields
    training, status and out.

    Attributes:
        model: folder of the weights; None where the training stopped before there were any.
        stages: first and last loss, accuracy and chosen log-ratio of each stage.
        said: the warnings of the training, as sentences.
    """

    training: str
    status: str
    out: str
    model: str | None = None
    base: str | None = None
    pairs: str | None = None
    schedule: str | None = None
    seed: int | None = None
    examples: int | None = None
    seconds: float | None = None
    stages: Mapping[str, Mapping[str, Sequence[float]]] | None = None
    template: str | None = None
    said: Sequence[str] | None = None
    store: str | None = None
    files: Sequence[str] | None = None


class QuickMetric(Result):
    """A share before and after a training; low and high bound its change, with 95% confidence."""

    before: float
    after: float
    change: float
    low: float
    high: float


class QuickRecord(Result):
    """A small model that was trained on the pairs of one session.

    Attributes:
        model: folder of the tuned model; None where the training was interrupted.
        pairs: by stage, the number of training pairs of the session and of recorded ones.
        problems: number of held-out problems that the metrics are measured on.
        answers: number of answers to each of them.
        observations: number of shown observations of each of them.
        metrics: instruction_following (answers that can be parsed), consistent (answers that agree
            with all shown observations), answered and different (problems with a consistent answer,
            and with two that predict differently).
    """

    session: str
    task: str
    out: str
    base: str
    training: str
    status: str
    model: str | None
    pairs: Mapping[str, Sequence[int]]
    problems: int
    answers: int
    observations: int
    metrics: Mapping[str, QuickMetric]
    seconds: float
    processor_seconds: float


class TrainingRow(Result):
    """A training in a store, as `peirce train --list` lists it.

    If the training was killed, its status is interrupted.

    Attributes:
        total: number of examples that it is to see.
    """

    training: str
    created: str
    status: str
    kind: str
    base: str | None
    pairs: str | None
    schedule: str | None
    seed: int | None
    examples: int
    total: int | None
    out: str | None
    settings: Mapping[str, Json]
    fields: Mapping[str, Json]


class TrainingCurve(Result):
    """The learning curves of a training.

    Attributes:
        curves: {stage: {name: [[examples, value], ...]}}; stage "" is the training as a whole.
    """

    training: str
    base: str
    label: str
    schedule: str
    seed: int
    status: str
    examples: int
    curves: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]


class TrainingCurves(Result):
    """Trainings of a store with their learning curves.

    Attributes:
        files: the files written to `out`.
        notes: what could not be written.
    """

    trainings: Sequence[TrainingCurve]
    files: Sequence[str] | None = None
    notes: Sequence[str] | None = None


class ClassifierScores(Result):
    """The scores of a classifier on one split. `low` and `high` are the limits of the accuracy's
    interval.
    """

    accuracy: float
    low: float
    high: float
    f1: float
    n: int


class ClassifierSet(Result):
    """A classifier that was fine-tuned on one data set.

    Attributes:
        digests: digest of the rows of each split.
        epochs: number of epochs trained.
        best: the epoch that was kept.
        cut: number of rows that lost the end of a column.
        held: number of training rows used for validation.
        weights: number of all weights of the model.
        trained: number of weights that were trained.
    """

    set: str
    labels: Sequence[str]
    rows: Mapping[str, int]
    digests: Mapping[str, str]
    scores: Mapping[str, ClassifierScores]
    epochs: int
    best: int
    cut: int
    held: int
    weights: int
    trained: int
    learning_rate: float
    model: str


class ClassifierRecord(Result):
    """Classifiers of labelled text, one for each data set."""

    training: str
    status: str
    out: str
    base: str
    seconds: float
    store: str
    sets: Sequence[ClassifierSet]


class Merged(Result):
    """The result of `merge`: an adapter and its base, merged into one model."""

    adapter: str
    base: str | None
    model: str


class Pretrained(Result):
    """A small model trained from random weights, in the folder `out`.

    Attributes:
        used: whether the folder existed already, with the same settings.
        measured: scores on unseen problems.
        others: further fields of the record in its folder.
    """

    out: str
    used: bool
    digest: str
    settings: Mapping[str, Json]
    tokens: int
    loss: float
    measured: Sequence[Mapping[str, Json]] | None = None
    others: Mapping[str, Json] = extra_keys()
