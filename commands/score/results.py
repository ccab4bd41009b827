"""Result classes of evaluations, studies, checks, predictions, ratings and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Metric, Result, extra_keys, json_key


class AverageMetric(Metric):
    """A metric averaged over the data sets that have a value."""

    data_sets: Sequence[str]


class ProblemScores(Result):
    """The metrics of one problem.

    Attributes:
        scores: the value of each metric, None where it has none, and further fields of the
        evaluation.
    """

    problem: str
    scores: Mapping[str, Json] = extra_keys()


class Baseline(Result):
    """The scores of a baseline on one split.

    Attributes:
        low: lower bound of the interval of its accuracy over the n rows.
        high: upper bound of the interval.
        n: number of rows.
    """

    name: str
    split: str
    accuracy: float
    low: float
    high: float
    f1: float
    n: int


class ProblemBaselines(Result):
    """The baselines of a problem on labelled text, trained on the rows that its session was shown.

    Attributes:
        said: sentences that compare the session with the baselines.
    """

    problem: str
    baselines: Sequence[Baseline]
    said: Sequence[str]


class ModelRatings(Result):
    """A summary of one model's ratings of a problem's bank (`peirce rate`)."""

    problem: str
    by: str
    scores: Mapping[str, Json]


class SessionScores(Result):
    """The metrics of one session, computed over its finished problems.

    Attributes:
        left_out: number of unfinished problems by status.
        memorising: number of hypotheses that memorise the shown observations.
        left_out_pairs: number of hidden pairs by which no hypothesis can be judged.
        by_problem: metrics of each problem; present with `by_problem=True`.
        feedback: present for rules about worlds, as are evaluator, by_regime, by_theory,
            by_difficulty and failures.
        rows: present for labelled text, as are baselines and rated.
        added: fields of another package's report section.
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
    added: Mapping[str, Json] = extra_keys()


class SettingScores(Result):
    """The scores of one cell of GEAR's evaluation: one data set, one number of shown pairs, one
    model.
    """

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
    """A row of GEAR's table 3: one model, averaged over data sets."""

    model: str
    data_sets: Sequence[str]
    problems: int
    metrics: Mapping[str, AverageMetric]


class CrossModelCell(Result):
    """The scores of one bank of sentences when one model applies it to the rows.

    Attributes:
        scores: means by metric and split; None where there is no value.
    """

    bank: str
    proposer: str
    judge: str
    inference: str | None
    session: str
    scores: Mapping[str, float | None] = extra_keys()


class FineTuned(Result):
    """The scores of a trained classifier on the rows that a problem was tested on."""

    training: str
    base: str
    problem: str
    metrics: Mapping[str, float]


class ReferenceResult(Result):
    """Metrics of reference rules and trivial rules, which need no session."""

    problems: int
    metrics: Mapping[str, Metric]
    by_regime: Mapping[str, Mapping[str, Metric]]


class Evaluation(Result):
    """The result of `peirce eval`: the metrics of one or more sessions.

    Attributes:
        settings: present for `gear`, as is table3.
        beside: present for `abd`, as are evaluator, bootstrap and tables.
        cross_model: present for `hypobench`, as is fine_tuned.
        notes: what could not be written to `out`.
        files: the files written to `out`.
        added: fields of another package's report section.
    """

    sessions: Sequence[SessionScores]
    settings: Sequence[SettingScores] | None = None
    table3: Sequence[TableRow] | None = None
    cross_model: Sequence[CrossModelCell] | None = None
    fine_tuned: Sequence[FineTuned] | None = None
    beside: Mapping[str, ReferenceResult] | None = None
    evaluator: str | None = None
    bootstrap: Mapping[str, Json] | None = None
    tables: Mapping[str, Sequence[Mapping[str, Json]]] | None = None
    notes: Sequence[str] | None = None
    files: Sequence[str] | None = None
    added: Mapping[str, Json] = extra_keys()


class StudySession(Result):
    """A session that entered a study, with the number of its problems that were left out.

    Attributes:
        left_out: number of unfinished problems by status.
    """

    session: str
    task: str | None
    method: str | None
    model: str | None
    problems: int
    left_out: Mapping[str, int]


class StudyRow(Result):
    """One row of the result of `peirce study`.

    Attributes:
        data_set: the data set, or "all" for all of them pooled; n, m and k may be "all" too.
        left_out: number of problems that do not count in this row, by reason.
        figures: figures ({value, low, high, n, undefined}) and counts, by name.
    """

    data_set: str | None = None
    data_sets: Sequence[str] | None = None
    n: int | str | None = None
    m: int | str
    k: int | str | None = None
    problems: int
    left_out: Mapping[str, int]
    figures: Mapping[str, Json] = extra_keys()


class Study(Result):
    """A simulation study over sessions (reports/papers/gear/studies.py).

    Attributes:
        contexts: limit of the study `general`, as is pairs.
        whole: for the study `defeasible`, its figures over everything.
    """

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
    """The judgement of one line by `check`.

    Attributes:
        problem: None where the line names none.
        verdict: consistent, inconsistent, malformed or error.
        observations: whether it is right on each shown pair; None where it predicts nothing.
        hidden: the same for the hidden pairs.
        undefined: number of inputs of the sample space for which it predicts nothing, by reason.
        measures: further measures of the problem's family.
    """

    problem: str | None
    line: int
    verdict: str
    reason: str | None
    observations: Sequence[bool | None]
    hidden: Sequence[bool | None]
    undefined: Mapping[str, int]
    breaches: Sequence[str]
    measures: Mapping[str, Json] = extra_keys()
    seconds: float


class PredictionRow(Result):
    """The prediction of a bank for one row.

    Attributes:
        label: for labelled text, the predicted label, which is also the prediction.
        prediction: the predicted output (any JSON), label, or whether an element of a world is an
            exception; None where there is none (see `reason`).
        agreement: of the hypotheses that predict something for the row, the share that predict the
            same, by a plain vote; None where there is no prediction, or none of them does.
        rule: the hypothesis that decided; None where none did.
        hypothesis: the same as `rule`.
        observation: for rules about worlds, the world and the element, whether the rule is valid in
            this world, and its cost there.
        expected: the known label or output; present where the row has one.
        right: whether the prediction equals it; present where the row has one.
    """

    row: int
    observation: Mapping[str, Json] = extra_keys()
    label: str | None = None
    prediction: Json
    agreement: float | None
    rule: str | None
    how: str
    reason: str | None
    hypothesis: str | None
    expected: Json = None
    right: bool | None = None


class PredictionFile(Result):
    """A file of predictions that was written.

    Attributes:
        file: path of the file.
        problem: the problem whose bank was applied.
        rows: number of rows.
        predicted: number of rows with a prediction.
        undefined: number of rows without one, by reason.
        columns: names of its columns.
        expected: number of rows whose output or label is known; present where there are some.
        right: number of these that are predicted correctly.
    """

    file: str
    problem: str
    rows: int
    predicted: int
    undefined: Mapping[str, int]
    columns: Sequence[str]
    expected: int | None = None
    right: int | None = None


class Rating(Result):
    """A model's rating of one hypothesis on one question.

    Attributes:
        score: None where none can be read in the answer.
    """

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
    """A summary of the ratings of a problem's bank; `kind` is "summary"."""

    problem: str
    by: str
    kind: str
    hypotheses: int
    scores: Mapping[str, Json]


class RatingSheet(Result):
    """A sheet that was written for people to fill in.

    Attributes:
        rows: number of pairs on it; the JSON key is "items".
        strata: number of pairs by problem and score.
    """

    sheet: str
    rows: int = json_key("items")
    strata: Mapping[str, Mapping[str, int]]


class Agreement(Result):
    """The agreement of two raters on one question, over the n pairs that both rated."""

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
    """The result of `peirce report`: the HTML file that was written."""

    sessions: Sequence[str]
    problems: int
    file: str
    bytes: int
