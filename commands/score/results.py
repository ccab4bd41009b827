"""Result classes of studies, checks, predictions, ratings, comparisons and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Metric, Result, extra_keys, json_key, optional_key


class StudySession(Result):
    """A session whose problems were used in a study.

    Attributes:
        problems: number of problems that were used.
        left_out: number of unfinished problems, which were not used, by status.
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
        data_set: the data set; absent from the row over all data sets.
        data_sets: the data sets of the row over all data sets.
        n: number of shown pairs, or "all".
        m: number of hidden pairs that test the hypotheses, or "all".
        k: for the study `general`, number of earlier hypotheses in a context, or "all".
        problems: number of problems that count in this row.
        left_out: number of problems that do not count in this row, by reason.
        figures: by name, counts and values with their intervals, as {value, low, high, n,
            undefined}. `undefined` is the number of bootstrap samples without a value.
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
    """The result of `peirce study`: a simulation study over sessions, with its settings.

    reports/papers/gear/studies.py explains the studies. A context is a set of earlier hypotheses.

    Attributes:
        study: defeasible or general.
        draws: number of random draws of hidden pairs, for each problem and number of pairs.
        all_pairs: whether hidden pairs count even if no hypothesis can be judged by them.
        distinct: number of consistent hypotheses, where hypotheses of a problem that make the same
            predictions on all inputs count once.
        without_memorising: whether hypotheses that memorise the shown pairs were left out.
        contexts: for the study `general`, the maximum number of contexts of one size for each
            problem.
        pairs: for the study `general`, the maximum number of comparisons of two hypotheses that one
            context counts as.
        hypotheses: number of consistent hypotheses.
        not_judged: number of consistent hypotheses that were left out because their predictions or
            costs are not known.
        memorising: number of hypotheses that memorise the shown pairs.
        without_consistent: number of problems without a consistent hypothesis.
        hidden_left_out: number of hidden pairs that were left out, by reason.
        rows: the results by data set, number of shown pairs, number of hidden pairs and, for
            `general`, size of the context.
        whole: for the study `defeasible`, the results over all data sets and with all hidden pairs.
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
    """The judgement of the hypothesis in one line of a file, as `peirce check` prints it.

    Attributes:
        problem: id of the problem in the line; None if the line names no problem.
        line: number of the line.
        verdict: consistent, inconsistent, malformed or error.
        reason: why the hypothesis has this verdict; None if there is nothing to explain.
        observations: for each shown observation, whether the hypothesis is right; None if it
            predicts nothing.
        hidden: for each hidden observation, whether the hypothesis is right; None if it predicts
            nothing.
        undefined: number of inputs of the sample space for which the hypothesis predicts nothing,
            by reason.
        breaches: breaches of the answer contract (the rules for an answer in the prompt).
        measures: further measures that the problem's family adds, such as the cost of a rule.
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
    """The prediction for one row of the data.

    Attributes:
        row: number of the row, counted from 1.
        observation: for rules about worlds, the world and the element, whether the rule is valid in
            this world, and the cost of the rule in this world.
        label: for labelled text, the same as `prediction`.
        prediction: for programs, the predicted output (any JSON value); for labelled text, the
            predicted label; for rules about worlds, whether the element is an exception. None if
            there is no prediction.
        agreement: among the hypotheses that predict something for the row, the share that predicts
            `prediction`. None if there is no prediction, or no hypothesis predicts something.
        rule: the hypothesis that decided; None if no single hypothesis decided.
        how: how the prediction was made: "oracle", or for labelled text the kind of decision
            (`graphs.inference.Decision`).
        reason: why there is no prediction; None if there is a prediction.
        hypothesis: the same as `rule`.
        expected: the known label or output; absent if it is not known.
        right: whether the prediction equals `expected`; absent if `expected` is absent.
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
        problem: id of the problem whose hypotheses were applied.
        rows: number of rows.
        predicted: number of rows with a prediction.
        undefined: number of rows without a prediction, by reason.
        columns: names of the columns of the file.
        expected: number of rows with a known output or label; absent if there are none.
        right: number of rows with a known output or label that are predicted correctly.
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
        by: the model that rated.
        wording: hash of the prompts.
        kind: the question: feature, relationship, variable, or a quality such as novelty.
        true: the true sentence or variable to which the hypothesis is compared; None for a quality.
        known: for a quality, digest of the known hypotheses in the prompt; otherwise None.
        score: the rating; None if the answer contains no rating.
        reason: the reason that the model gave.
        said: the complete answer of the model.
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
    """A summary of the ratings of the hypotheses in a problem's bank.

    Attributes:
        by: the model that rated.
        kind: always "summary".
        hypotheses: number of rated hypotheses.
        scores: the scores of each question, by name.
    """

    problem: str
    by: str
    kind: str
    hypotheses: int
    scores: Mapping[str, Json]


class RatingSheet(Result):
    """A sheet on which people rate pairs of a true and a found sentence.

    Attributes:
        sheet: path of the file.
        rows: number of pairs on the sheet; the JSON key is "items".
        strata: number of pairs on the sheet, by problem and by the score that a model gave.
    """

    sheet: str
    rows: int = json_key("items")
    strata: Mapping[str, Mapping[str, int]]


class Agreement(Result):
    """The agreement of two raters on one question, over the `n` pairs that both rated.

    Attributes:
        one: the first rater.
        other: the second rater.
        agreement: share of the pairs with equal ratings.
        within_one: share of the pairs whose ratings differ by at most one step of the scale.
        kappa: Cohen's kappa.
        weighted_kappa: kappa with quadratic weights.
        weighted_kappa_linear: kappa with linear weights.
    """

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


class ComparedSession(Result):
    """A session in the result of `peirce compare`.

    Attributes:
        problems: number of problems.
        left_out: number of failed and unfinished problems, by status. No metric includes them.
        metrics: the main metrics of the session, by name.
        costs: what the session spent on its models for each accepted hypothesis, unit of gamma and
            solved problem, also by role (`reports.costs.summarize_costs`).
        gain: what answers added by their number, and the advice where to stop
            (`reports.marginal_gain.summarize_gain`).
        judging: figures on a second judge and on batches of texts (`reports.judging`); empty, and
            absent from the JSON, if one judge labels single texts.
    """

    session: str
    status: str
    task: str
    method: str
    model: str
    evaluation: str
    problems: int
    left_out: Mapping[str, int]
    metrics: Mapping[str, Metric]
    costs: Mapping[str, Json]
    gain: Mapping[str, Json]
    judging: Mapping[str, Json] = optional_key(default_factory=dict)


class Comparison(Result):
    """The result of `peirce compare`.

    Attributes:
        files: paths of the written files; absent from the JSON if there are none.
    """

    sessions: Sequence[ComparedSession]
    files: Sequence[str] = optional_key(default_factory=list)


class Report(Result):
    """The result of `peirce report`: the HTML file that was written.

    Attributes:
        file: path of the file.
        bytes: size of the file in bytes.
    """

    sessions: Sequence[str]
    problems: int
    file: str
    bytes: int
