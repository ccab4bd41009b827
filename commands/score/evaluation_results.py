"""The result classes of `peirce eval` and of the baselines of labelled text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Metric, Result, extra_keys


class AverageMetric(Metric):
    """A metric averaged over data sets.

    Attributes:
        data_sets: names of the data sets that have a value.
    """

    data_sets: Sequence[str]


class ProblemScores(Result):
    """The metrics of one problem.

    Attributes:
        scores: the value of each metric, by name (None if the problem has no value), and further
            fields that the evaluation adds.
    """

    problem: str
    scores: Mapping[str, Json] = extra_keys()


class Baseline(Result):
    """The scores of one baseline on one split.

    Attributes:
        low: lower bound of the 95% interval of the accuracy.
        high: upper bound of the 95% interval of the accuracy.
        f1: macro F1.
        n: number of rows of the split.
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
    """A summary of one model's ratings of a problem's bank (`peirce rate`).

    Attributes:
        by: the model that rated.
        scores: the mean score of each question, by name.
    """

    problem: str
    by: str
    scores: Mapping[str, Json]


class SessionScores(Result):
    """The metrics of one session, computed over its finished problems.

    Attributes:
        feedback: for rules about worlds, how the solver helped the proposer.
        evaluation: name of the evaluation, such as gear.
        problems: number of finished problems.
        left_out: number of unfinished problems by status.
        breaches: number of breaches of the answer contract (the prompt's rules for an answer), by
            kind.
        malformed: number of malformed hypotheses by reason.
        repaired: number of faults of form, by kind, in answers that were read all the same; None if
            there are none.
        memorising: number of hypotheses that memorise the shown observations.
        left_out_pairs: number of hidden pairs that do not count, because no hypothesis can be
            judged by them.
        by_problem: metrics of each problem; present with `by_problem=True`.
        rows: for labelled text, metrics of each problem with intervals over its rows.
        baselines: for labelled text, the baselines of each problem.
        rated: for labelled text, summaries of ratings by models.
        evaluator: for rules about worlds, exact or released.
        by_regime: for rules about worlds, the metrics of each regime.
        by_theory: for rules about worlds, the metrics of each theory.
        by_difficulty: for rules about worlds, the metrics of each difficulty.
        failures: for rules about worlds, number of rules by outcome: success, or the first type of
            failure in table H.2 of the paper that applies.
        added: fields that the report section of another package adds.
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
    repaired: Mapping[str, int] | None = None
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
    """GEAR's scores for one combination of data set, number of shown pairs and model.

    Attributes:
        n: number of shown pairs; "original" if the data set chooses the shown pairs itself,
            "various" if a file chooses different numbers.
        verdicts: number of hypotheses by verdict.
        stops: number of problems by the reason why they ended.
        undefined: number of undefined predictions on the sample space, by reason.
        memorising: number of hypotheses that memorise the shown observations.
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
    """One row of GEAR's table 3: the metrics of one model, averaged over data sets."""

    model: str
    data_sets: Sequence[str]
    problems: int
    metrics: Mapping[str, AverageMetric]


class CrossModelCell(Result):
    """The scores of one bank of sentences if one model applies the sentences to the rows.

    Attributes:
        bank: id of the session that made the bank, or name of the bank's file.
        proposer: the model that proposed the sentences.
        judge: the model that applies the sentences, or "exact rules".
        inference: the strategy that predicts labels with the bank.
        session: the session that applied the bank.
        scores: mean scores by metric and split; None if there is no value.
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
    """Metrics of reference rules that no session proposed: planted rules, or conditions of
    theories.
    """

    problems: int
    metrics: Mapping[str, Metric]
    by_regime: Mapping[str, Mapping[str, Metric]]


class Evaluation(Result):
    """The result of `peirce eval`: the metrics of one or more sessions.

    Attributes:
        settings: for `gear`, the scores for each combination of data set, number of shown pairs and
            model.
        table3: for `gear`, the rows of the paper's table 3.
        cross_model: for `hypobench`, the scores of each bank with each model that applies it.
        fine_tuned: for `hypobench`, the scores of trained classifiers.
        beside: for `abd`, the metrics of planted rules and of conditions of theories.
        evaluator: for `abd`, exact or released.
        bootstrap: for `abd`, the settings of the intervals.
        tables: for `abd`, the rows of each table, by name of the table.
        notes: sentences about what could not be written to `out`.
        files: the files written to `out`.
        added: fields that the report section of another package adds.
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
