"""What evaluations, studies, ratings and reports return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Metric, Result, key, rest


class AverageMetric(Metric):
    """A metric averaged over the data sets that have a value."""

    data_sets: Sequence[str]


class ProblemScores(Result):
    """A problem with its value of each metric, None where it has none, and what an evaluation says of
    the problem beside them."""

    problem: str
    scores: Mapping[str, Json] = rest()


class Baseline(Result):
    """How good a baseline is on one split, with the interval of its accuracy over the n rows."""

    name: str
    split: str
    accuracy: float
    low: float
    high: float
    f1: float
    n: int


class ProblemBaselines(Result):
    """The baselines of a problem of labelled text, trained on the rows that its session was shown.
    said: how the session compares, in sentences."""

    problem: str
    baselines: Sequence[Baseline]
    said: Sequence[str]


class ModelRatings(Result):
    """What one model's ratings of a problem's bank come to (`peirce rate`)."""

    problem: str
    by: str
    scores: Mapping[str, Json]


class SessionScores(Result):
    """The metrics of one session, over the problems that are done.

    left_out: the others, by status. memorising: hypotheses that memorise what they were shown.
    left_out_pairs: hidden pairs by which no hypothesis can be judged. by_problem: with
    `by_problem=True`. feedback, evaluator, by_regime, by_theory, by_difficulty, failures: of
    rules about worlds. rows, baselines, rated: of labelled text. added: as of `Evaluation`.
    """

    session: str
    task: str | None
    method: str | None
    model: str | None
    feedback: str | None = None
    evaluation: str
    problems: int
    left_out: Mapping[str, int]
    breaches: Mapping[str, int]
    malformed: Mapping[str, int]
    memorising: int
    left_out_pairs: int
    metrics: Mapping[str, Metric]
    by_problem: Sequence[ProblemScores] | None = None
    rows: Sequence[ProblemScores] | None = None
    baselines: Sequence[ProblemBaselines] | None = None
    rated: Sequence[ModelRatings] | None = None
    evaluator: str | None = None
    by_regime: Mapping[str, Mapping[str, Metric]] | None = None
    by_theory: Mapping[str, Mapping[str, Metric]] | None = None
    by_difficulty: Mapping[str, Mapping[str, Metric]] | None = None
    failures: Mapping[str, int] | None = None
    added: Mapping[str, Json] = rest()


class SettingScores(Result):
    """A setting of GEAR's study: one data set, one number of shown pairs, one model."""

    data_set: str
    n: int | str
    model: str
    problems: int
    metrics: Mapping[str, Metric]
    verdicts: Mapping[str, int]
    stops: Mapping[str, int]
    undefined: Mapping[str, int]
    memorising: int


class TableRow(Result):
    """A row of GEAR's table 3: a model, averaged over data sets."""

    model: str
    data_sets: Sequence[str]
    problems: int
    metrics: Mapping[str, AverageMetric]


class CrossModelCell(Result):
    """A bank read by a model: `scores` are means by metric and split, None where there is none."""

    bank: str
    proposer: str
    judge: str
    inference: str | None
    session: str
    scores: Mapping[str, float | None] = rest()


class FineTuned(Result):
    """A trained classifier on the rows that a problem was tested on."""

    training: str
    base: str
    problem: str
    metrics: Mapping[str, float]


class Beside(Result):
    """What is known of the problems without any session: references and trivial rules."""

    problems: int
    metrics: Mapping[str, Metric]
    by_regime: Mapping[str, Mapping[str, Metric]]


class Evaluation(Result):
    """Metrics of sessions. settings, table3: of `gear`. beside, evaluator, bootstrap, tables: of
    `abd`. cross_model, fine_tuned: of `hypobench`. files, notes: what was written to `out`, and what
    could not be. added: what the report section of another package adds, under keys of its own."""

    sessions: Sequence[SessionScores]
    settings: Sequence[SettingScores] | None = None
    table3: Sequence[TableRow] | None = None
    cross_model: Sequence[CrossModelCell] | None = None
    fine_tuned: Sequence[FineTuned] | None = None
    beside: Mapping[str, Beside] | None = None
    evaluator: str | None = None
    bootstrap: Mapping[str, Json] | None = None
    tables: Mapping[str, Sequence[Mapping[str, Json]]] | None = None
    notes: Sequence[str] | None = None
    files: Sequence[str] | None = None
    added: Mapping[str, Json] = rest()


class StudySession(Result):
    """A session of a study. left_out: problems that are not done, by status."""

    session: str
    task: str | None
    method: str | None
    model: str | None
    problems: int
    left_out: Mapping[str, int]


class StudyRow(Result):
    """One cell of a study: figures ({value, low, high, n, undefined}) and counts, by name.

    data_set, n, m, k: what the cell is of; "all" pools. left_out: problems that have no place in it,
    by reason.
    """

    data_set: str | None = None
    data_sets: Sequence[str] | None = None
    n: int | str | None = None
    m: int | str
    k: int | str | None = None
    problems: int
    left_out: Mapping[str, int]
    figures: Mapping[str, Json] = rest()


class Study(Result):
    """A simulation study over sessions (reports/papers/gear/studies.py). whole: of `defeasible`, its figures over
    everything. contexts, pairs: of `general`, its limits."""

    study: str
    seed: int
    draws: int
    all_pairs: bool
    distinct: int
    without_memorising: bool
    contexts: int | None = None
    pairs: int | None = None
    sessions: Sequence[StudySession]
    problems: int
    hypotheses: int
    not_judged: int
    memorising: int
    without_consistent: int
    hidden_left_out: Mapping[str, int]
    rows: Sequence[StudyRow]
    whole: StudyRow | None = None
    files: Sequence[str] | None = None


class CheckRow(Result):
    """What `check` says of one line.

    problem: None where the line names none. verdict: consistent, inconsistent, malformed or error.
    observations, hidden: a mark for each pair, None where nothing is predicted. undefined: on how many
    inputs of the sample space, by reason. measures: what the family of the problem measures besides.
    """

    problem: str | None
    line: int
    verdict: str
    reason: str | None
    observations: Sequence[bool | None]
    hidden: Sequence[bool | None]
    undefined: Mapping[str, int]
    breaches: Sequence[str]
    measures: Mapping[str, Json] = rest()
    seconds: float


class PredictionRow(Result):
    """What a bank says of one row: a label of a labelled text, the prediction (any JSON) of an input
    that an oracle applied the hypothesis to. None where it says nothing, for the `reason`. hypothesis:
    the one that decided, where one did. expected, right: where the row has a label or an output."""

    row: int
    label: str | None = None
    prediction: Json = None
    how: str
    reason: str | None
    hypothesis: str | None
    expected: Json = None
    right: bool | None = None


class Rating(Result):
    """A model's answer to one question about a hypothesis. score: None where none can be read."""

    problem: str
    by: str
    wording: str
    kind: str
    true: str | None
    hypothesis: str
    known: str | None
    score: float | None
    reason: str
    said: str


class RatingSummary(Result):
    """What the ratings of a problem come to; `kind` is "summary"."""

    problem: str
    by: str
    kind: str
    hypotheses: int
    scores: Mapping[str, Json]


class RatingSheet(Result):
    """A sheet that was written for people to fill in. rows: pairs on it; strata: by problem and score
    how many."""

    sheet: str
    rows: int = key("items")
    strata: Mapping[str, Mapping[str, int]]


class Agreement(Result):
    """How far two raters agree on one question, over the n pairs that both rated."""

    question: str
    one: str
    other: str
    n: int
    data_sets: Sequence[str]
    agreement: float | None
    within_one: float | None
    kappa: float | None
    weighted_kappa: float | None
    weighted_kappa_linear: float | None


class Report(Result):
    """A page that was written."""

    sessions: Sequence[str]
    problems: int
    file: str
    bytes: int
