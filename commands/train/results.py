"""What preference pairs and trainings return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Result, rest


class PairExport(Result):
    """A set of pairs that was written as files. rows: by split."""

    out: str
    format: str
    form: str
    files: Sequence[str]
    rows: Mapping[str, int]


class PairReport(Result):
    """A set of preference pairs in counts; a stage is parsing, consistency or gear.

    problems: with one set of shown pairs each; without_pairs: how many of them. by_split, by_task,
    by_context, by_model: pairs by stage. found: pairs before the caps, ties beside them. contexts:
    kept and all, by size. left_out: answers and pairs by reason. several: answers with more than one
    hypothesis. groups: by split; missing: splits that have none.
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
    others: Mapping[str, Json] = rest()


class PairSetRow(Result):
    """A set of pairs of a store. counts: the report that it was saved with."""

    digest: str
    created: str
    settings: Mapping[str, Json]
    counts: Mapping[str, Json]


class TrainingRecord(Result):
    """A training by DPO. model: the folder of the weights, None where it was stopped before there were
    any. stages: the first and last loss, accuracy and chosen log-ratio. said: its warnings.

    A process that is not the first of those that a launcher started has training, status and out alone.
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


class TrainingRow(Result):
    """A training of a store. total: the examples that it is to see. One that was killed is
    interrupted."""

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
    """The curves of a training: {stage: {name: [[examples, value], …]}}, "" for the training as a
    whole."""

    training: str
    base: str
    label: str
    schedule: str
    seed: int
    status: str
    examples: int
    curves: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]


class TrainingCurves(Result):
    """Trainings with their curves; files and notes: what was written to `out`, and what could not be."""

    trainings: Sequence[TrainingCurve]
    files: Sequence[str] | None = None
    notes: Sequence[str] | None = None


class ClassifierScores(Result):
    """How good a classifier is on one split; low and high bound its accuracy."""

    accuracy: float
    low: float
    high: float
    f1: float
    n: int


class ClassifierSet(Result):
    """A classifier of one data set. digests: of the rows of each split. epochs: that were trained;
    best: the one that was kept. cut: rows that lost the end of a column; held: training rows that
    were for validation. weights: all of the model's; trained: those that were."""

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
    """An adapter and its base as one model."""

    adapter: str
    base: str | None
    model: str


class Pretrained(Result):
    """A small model that was trained from nothing, in the folder `out`. used: it was there already,
    with the same settings. measured: what it answers on problems that it has not seen. others: the
    rest of the record that its folder keeps."""

    out: str
    used: bool
    digest: str
    settings: Mapping[str, Json]
    tokens: int
    loss: float
    measured: Sequence[Mapping[str, Json]] | None = None
    others: Mapping[str, Json] = rest()
