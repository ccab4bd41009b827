"""The result classes of the commands in `commands/train`: preference pairs and trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Result, extra_keys


class PairExport(Result):
    """A set of preference pairs that was written as files.

    Attributes:
        out: the folder with the files.
        rows: number of rows by split.
    """

    out: str
    format: str
    form: str
    files: Sequence[str]
    rows: Mapping[str, int]


class PairReport(Result):
    """Counts of a set of preference pairs.

    A pair has a stage, which says why the chosen answer is better than the rejected answer: it can
    be parsed (parsing), it is consistent (consistency), or it has a higher score (gear). A context
    is a set of earlier answers that the prompt shows.

    Attributes:
        digest: digest of the set of pairs.
        pairs: number of pairs.
        prompts: number of different prompts.
        answers: number of different answers.
        problems: number of problems. A problem with two sets of shown observations counts twice.
        without_pairs: number of problems that gave no pair.
        by_split: number of pairs by split and stage.
        by_task: number of pairs by task, split and stage.
        by_context: number of pairs by size of the context and stage.
        by_model: for each model, the number of its answers, and of the pairs in which its answers
            are chosen or rejected.
        found: number of pairs by stage, without ties, before the limits on pairs were applied.
        ties: number of pairs with equal scores, which were left out.
        contexts: by size, number of used contexts, and number of all contexts.
        left_out: number of answers and pairs that were left out, by reason.
        several: number of answers with more than one hypothesis, of which only the first counts.
        groups: number of groups of related problems by split.
        missing: splits that should have problems but have none.
        export: the files to which the pairs were written; None if no files were written.
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
        settings: the settings with which the set was built.
        counts: the counts of the set, as in `PairReport`.
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
        training: id of the training.
        out: the folder that the training writes.
        model: folder of the weights; None if the training stopped before it saved weights.
        base: the model that was trained.
        pairs: digest of the set of pairs.
        examples: number of pairs that the training has seen.
        seconds_by_part: the training time by part: updates, probes, samples (sampled answers),
            reference (log-probabilities of the reference model), saving and other.
        stages: by stage, the first and the last value of the loss, the accuracy and the log-ratio
            of the chosen answers.
        template: template of the prompts.
        said: notes and warnings of the training, as sentences.
        store: path of the store.
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
    seconds_by_part: Mapping[str, float] | None = None
    stages: Mapping[str, Mapping[str, Sequence[float]]] | None = None
    template: str | None = None
    said: Sequence[str] | None = None
    store: str | None = None
    files: Sequence[str] | None = None


class QuickMetric(Result):
    """A share before and after a training, and its change with a 95% interval from `low` to
    `high`.
    """

    before: float
    after: float
    change: float
    low: float
    high: float


class QuickRecord(Result):
    """A small model that was trained on the pairs of one session.

    Attributes:
        model: folder of the tuned model; None if the training was interrupted.
        pairs: by stage, the number of training pairs from the session, and the number of recorded
            pairs that Peirce contains.
        problems: number of held-out problems on which the metrics are measured.
        answers: number of answers to each held-out problem.
        observations: number of shown observations of each held-out problem.
        metrics: four shares by name: instruction_following (answers that can be parsed), consistent
            (answers that agree with all shown observations), answered (problems with a consistent
            answer), and different (problems with two consistent answers that make different
            predictions).
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

    The status of a training whose process was killed is interrupted.

    Attributes:
        base: the model that was trained.
        pairs: digest of the set of pairs.
        examples: number of examples that the training has seen.
        total: number of examples of the complete training.
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
        label: name of the training in figures.
        examples: number of examples that the training has seen.
        curves: {stage: {name: [[examples, value], ...]}}; values that belong to no stage have the
            stage "".
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
        files: paths of the tables and figures that were written; None if none were requested.
        notes: sentences about what could not be written.
    """

    trainings: Sequence[TrainingCurve]
    files: Sequence[str] | None = None
    notes: Sequence[str] | None = None


class ClassifierScores(Result):
    """The scores of a classifier on one split.

    Attributes:
        low: lower bound of the 95% interval of the accuracy.
        high: upper bound of the 95% interval of the accuracy.
        f1: macro F1.
        n: number of rows of the split.
    """

    accuracy: float
    low: float
    high: float
    f1: float
    n: int


class ClassifierSet(Result):
    """A classifier that was fine-tuned on one data set.

    Attributes:
        set: name of the data set.
        rows: number of rows by split.
        digests: digest of the rows of each split.
        scores: the scores by split.
        epochs: number of epochs of the training.
        best: number of the epoch whose weights were kept.
        cut: number of rows that were too long, so that the end of a column was cut off.
        held: number of training rows that were used for validation.
        weights: number of all weights of the model.
        trained: number of weights that were trained.
        model: folder of the classifier.
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
    """The result of `merge`: an adapter and its base model, merged into one model.

    Attributes:
        model: folder of the merged model.
    """

    adapter: str
    base: str | None
    model: str


class Pretrained(Result):
    """A small model that was trained from random weights, in the folder `out`.

    Attributes:
        used: whether nothing was trained, because the folder contained a model with equal settings.
        tokens: number of training tokens.
        loss: loss at the end of the training.
        measured: scores on new problems; None without a test.
        others: further fields of the record in the folder.
    """

    out: str
    used: bool
    digest: str
    settings: Mapping[str, Json]
    tokens: int
    loss: float
    measured: Sequence[Mapping[str, Json]] | None = None
    others: Mapping[str, Json] = extra_keys()
