"""The result classes of `reproduce` and `plan_reproduction`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Metric, Result


class ReproducedRow(Result):
    """A row of table 4: a model with the means of its metrics over held-out problems.

    Attributes:
        base: name of the base model.
        trained_by: schedule of the training, or "base" for the base itself.
        source: here, or published for a row of the paper. Published rows have neither intervals nor
            numbers of problems.
        problems: number of held-out problems; None for published rows.
        metrics: the metrics by name.
    """

    base: str
    trained_by: str
    source: str
    problems: int | None
    metrics: Mapping[str, Metric]


class Reproduction(Result):
    """The outcome of an experiment.

    Attributes:
        experiment: name of the experiment.
        out: folder of the experiment.
        rows: the rows of table 4, first those of this experiment.
        pairs: number of preference pairs by split and stage.
        left_out: what the experiment could not do, as sentences.
        seconds: seconds of this call.
        done_before: number of steps that were finished before this call.
        steps: number of all steps.
        files: paths of the tables and figures.
    """

    experiment: str
    out: str
    rows: Sequence[ReproducedRow]
    pairs: Mapping[str, Mapping[str, int]]
    left_out: Sequence[str]
    seconds: float
    done_before: int
    steps: int
    files: Sequence[str]


class PlannedStep(Result):
    """A step of an experiment with its estimated cost.

    Attributes:
        step: name of the step.
        kind: collect, pairs, train, evaluate or results.
        problems: number of problems of a session; None for other steps.
        calls: expected number of model calls; None if the step calls no model.
        least_calls: smallest possible number of model calls.
        most_calls: largest possible number of model calls.
        tokens_in: expected number of prompt tokens; for a training, of all tokens that it reads.
        tokens_out: expected number of answer tokens.
        gpu_hours: hours of one GPU here; None if the model runs elsewhere.
        disk_bytes: bytes on the disk.
    """

    step: str
    kind: str
    problems: int | None
    calls: int | None
    least_calls: int | None
    most_calls: int | None
    tokens_in: int | None
    tokens_out: int | None
    gpu_hours: float | None
    disk_bytes: int


class ReproductionPlan(Result):
    """The steps of an experiment with their costs, and the assumptions behind the costs.

    Attributes:
        experiment: name of the experiment.
        base: name of the base model.
        steps: the steps in order.
        total: sums over all steps, by name of the field.
        assumptions: the assumptions, as sentences.
    """

    experiment: str
    base: str
    steps: Sequence[PlannedStep]
    total: Mapping[str, Json]
    assumptions: Sequence[str]
