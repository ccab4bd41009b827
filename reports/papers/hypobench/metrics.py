"""Accuracy and macro F1 of a session's predictions on labelled rows (HypoBench, section 4).

The hidden rows of a problem are its validation rows (val), its test rows (ind) and its
out-of-distribution rows (ood). The last step that contains predictions counts. Its field
"inference" is {"strategy", "splits": {name: {"labels": [label or null, …], "reasons": {reason:
rows}, "rows": indices within the split, if not all rows were predicted}}}. If hypotheses were
applied to no row, there is no accuracy.

F1 is the mean of 2 tp / (2 tp + fp + fn) over the labels that occur among the true labels. A row
without a predicted label counts as wrong in both metrics and is not a label of its own. This
happens if a model's answer names no label or no sentence applies. `accuracy` and `f1` are computed
on the test rows, or if there are none on the out-of-distribution rows, or else on the validation
rows. To choose between strategies, banks or methods, use the metrics with the suffix `_val`;
otherwise the choice would use the test data. Numeric labels also have a squared error.

For several problems, intervals are over problems. For a session with one problem, they are over its
rows, whose number is n: Wilson's interval for shares, and the bootstrap for F1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....records import InputSet, Json, Problem, StepRecord
from ....tasks.text.rating_answers import QUALITIES
from ....tools.discovery.identifiability import find_identified
from ....tools.discovery.input_space import InputSpace
from ....tools.discovery.scores import score_exact
from ....tools.label_scores import accuracy, macro_f1
from ...metrics.evaluation import Evaluation, Metric
from ...metrics.statistics import Interval, bootstrap_rows, wilson_interval

# --- Discovery: whether the bank of a session states the rules that made the labels.
#
# Exact rules alone decide, so no model made these values. The true sentences are those of the data
# set (`secret["truths"]`, by which its labels were generated, never findings from the literature
# on a real data set). One that is not an exact rule counts as not found. Ratings by a model are made
# by `peirce rate`.

DISCOVERY_METRICS = (
    Metric("fdr", "higher", "Feature discovery rate (FDR): share of true rules that the bank states at least in part."),
    Metric("rc", "higher", "Relationship correctness (RC): mean overlap of these true rules with the closest statement"
        " of the bank."),
    Metric("hdr", "higher", "Hypothesis discovery rate (HDR): fdr x rc. Banks that claim the same labels for the same"
        " inputs have the same value. A true rule that cannot be read counts as not found."),
    Metric("hdr_read", "higher", "hdr over the true rules that are exact rules only."),
    Metric("rules_stated", None, "Number of true rules (sentences) of the data set."),
    Metric("rules_read", None, "Number of true rules (sentences) that are exact rules, so that a bank can be compared"
        " with them."),
    Metric("precision", "higher", "Mean overlap of the statements that the bank needs with the closest true rule."),
    Metric("identical", "higher", "Share of true rules that the bank states exactly, for all inputs."),
    Metric("identified", None, "Share of true rules that the shown rows distinguish from similar rules."),
    Metric("hdr_identified", "higher", "hdr over the identified rules only."),
    Metric("hdr_released", "higher", "HDR as the published evaluation computes it, with exact rules as the rater."),
    Metric("hdr_paper", "higher", "HDR as the paper defines it by variables, with exact rules as the rater."),
)  # fmt: skip
NAMES = tuple(metric.name for metric in DISCOVERY_METRICS)


def true_sentences(problem: Problem) -> tuple[str, ...]:
    """Return the sentences that generated the labels of a problem; () if they are unknown."""
    return tuple(problem.secret.get("truths") or ())


def discovery_metrics(problem: Problem, bank: Sequence[str]) -> dict[str, float | None]:
    """Return how well a bank of sentences recovers the true sentences of a problem.

    `DISCOVERY_METRICS` lists the metrics. All values are None if the true sentences are unknown.

    Args:
        problem: The problem.
        bank: The sentences, best first.
    """
    truths = true_sentences(problem)
    found: dict[str, float | None] = dict.fromkeys(NAMES)
    if not truths:
        return found
    space = InputSpace(problem)
    told = score_exact(truths, bank, space, problem.public)
    if told is None:
        return found
    known = find_identified(told.rules, problem.shown, space) if told.rules else []
    kept = [pair.overlap for pair, one in zip(told.pairs, known, strict=True) if one]
    return {
        "fdr": told.fdr,
        "rc": told.rc,
        "hdr": told.hdr,
        "hdr_read": told.hdr_read,
        "rules_stated": told.stated,
        "rules_read": told.stated - told.unread,
        "precision": told.precision,
        "identical": told.identical,
        "identified": sum(known) / (len(known) + told.unread),
        "hdr_identified": sum(kept) / len(kept) if kept else None,
        "hdr_released": told.released.hdr,
        "hdr_paper": told.paper.hdr,
    }


SPLITS = {
    "ind": "the test rows",
    "ood": "the rows of another source",
    "val": "the validation rows",
}  # The first existing split provides the scores of the problem.
SPLIT_ROWS = {"ind": "test", "ood": "other-source", "val": "validation"}  # Kinds of rows.
INFERENCE = "inference"  # Field of a step.
GEAR = ("consistency", "generalizability", "beta", "gamma")
UNREADABLE = "unreadable"  # Reason of a row whose answer names no label.

METRICS = (
    Metric("accuracy", "higher", "Share of test rows whose label is predicted correctly."),
    Metric("f1", "higher", "Macro F1 over the labels of the test rows."),
    *(Metric(f"{name}_{split}", "higher", f"{said} {about}.")
      for split, about in SPLITS.items()
      for name, said in (("accuracy", "Accuracy on"), ("f1", "Macro F1 on"))),
    Metric("mse", "lower", "Mean squared error of numeric labels on the test rows, scaled by the range of the"
        " training labels."),
    *(Metric(f"mse_{split}", "lower", f"Mean squared error of numeric labels on {about}.") for split, about in SPLITS.items()),
    Metric("unlabelled", "lower", "Share of the rows to predict that got no label, for any reason."),
    Metric("unreadable", "lower", "Share of the rows to predict for which the judge's answer names no label."),
    Metric("hypotheses", None, "Number of different hypotheses that were judged."),
    Metric("consistency", "higher", "Share of the bank's sentences that predict at least the share tau of their covered"
        " rows correctly."),
    Metric("generalizability", "higher", "Share of the sample space S for which a consistent sentence of the bank predicts a"
        " label."),
    Metric("beta", "higher", "Mean Jaccard distance between the predictions of consistent sentences of the bank."),
    Metric("gamma", "higher", "Mean number of distinct labels per text of S over all consistent sentences."),
    *DISCOVERY_METRICS,
    *(Metric(name, "higher", f"Mean {name} of the bank's sentences, rated from 1 to 5 by a model.")
      for name in QUALITIES),
)  # fmt: skip


@dataclass(frozen=True)
class SplitPredictions:
    """The predicted and the true labels of the rows of one split.

    Args:
        split: Name of the split.
        gold: True label of each row.
        labels: Predicted label of each row; None if there is no prediction.
        rows: Index of each row within the split.
        reasons: Number of rows without a predicted label, by reason.
    """

    split: str
    gold: tuple[str, ...]
    labels: tuple[str | None, ...]
    rows: tuple[int, ...]
    reasons: Mapping[str, int]

    @property
    def correct_count(self) -> int:
        """The number of rows whose predicted label is right."""
        return sum(one == other for one, other in zip(self.gold, self.labels, strict=True))

    @property
    def scores(self) -> tuple[float, float]:
        """The accuracy and the macro F1 of the predicted labels."""
        return label_scores(self.gold, self.labels)


@dataclass(frozen=True)
class Inference:
    """A session's predictions on one problem.

    Args:
        strategy: The strategy that predicted labels with the bank; "" if unknown.
        splits: The predictions on each split that has rows, in the order of `SPLITS`.
    """

    strategy: str
    splits: tuple[SplitPredictions, ...]


def read_predictions(problem: Problem, steps: Sequence[StepRecord]) -> Inference | None:
    """Return the predictions in the last step of a problem that contains any, or None.

    Raises:
        ValueError: The predictions do not match the problem's splits or rows.
    """
    found = next((s.fields[INFERENCE] for s in reversed(steps) if s.fields.get(INFERENCE)), None)
    if found is None:
        return None
    given = found.get("splits") or {}
    if strange := sorted(given.keys() - problem.secret.get("splits", {}).keys()):
        raise ValueError(
            f"{problem.id}: there are predictions for splits that the problem does not have:"
            f" {strange}"
        )
    read = [_labelled(problem, split, given[split]) for split in SPLITS if split in given]
    return Inference(str(found.get("strategy") or ""), tuple(one for one in read if one.gold))


def summarize_predictions(problem: Problem, steps: Sequence[StepRecord]) -> dict[str, Json] | None:
    """Return a summary of a problem's predictions for `peirce show`, or None without predictions.

    The summary is {strategy, entries, splits: {split: {rows, accuracy, f1, unlabelled}}}.

    Raises:
        ValueError: The predictions do not match the problem's splits or rows.
    """
    found = read_predictions(problem, steps)
    if found is None:
        return None
    fields = next(s.fields[INFERENCE] for s in reversed(steps) if s.fields.get(INFERENCE))
    splits: dict[str, Json] = {}
    for one in found.splits:
        accuracy, f1 = one.scores
        splits[one.split] = {
            "rows": len(one.gold), "accuracy": accuracy, "f1": f1,
            "unlabelled": one.labels.count(None),
        }  # fmt: skip
    return {"strategy": found.strategy, "entries": fields.get("entries"), "splits": splits}


def summarize_first_split(problem: Problem, steps: Sequence[StepRecord]) -> dict[str, Json] | None:
    """Return how well a bank predicts the rows of the first split in `SPLITS`, or None.

    The summary is {hypotheses, strategy, right, of, rows, shown, training}: the number of hypotheses
    in the bank, how it was applied, the number of rows whose label is right, the number of rows and
    their kind, the number of shown rows, and that of the rows from which these were drawn. It is None
    if there are no predictions, if they do not match the rows, or if the bank is empty.
    """
    try:
        found = read_predictions(problem, steps)
    except ValueError:
        return None
    if found is None or not found.splits:
        return None
    fields = next(s.fields[INFERENCE] for s in reversed(steps) if s.fields.get(INFERENCE))
    if not fields.get("entries"):
        return None
    one = found.splits[0]
    return {
        "hypotheses": fields["entries"],
        "strategy": found.strategy,
        "right": one.correct_count,
        "of": len(one.gold),
        "rows": SPLIT_ROWS[one.split],
        "shown": len(problem.shown),
        "training": problem.secret.get("training_rows", len(problem.shown)),
    }


def true_labels(problem: Problem, split: str) -> tuple[str, ...]:
    """Return the true labels of a split; () if the problem does not have this split."""
    start, stop = problem.secret.get("splits", {}).get(split, (0, 0))
    return tuple(str(row.output) for row in problem.hidden[start:stop])


def _labelled(problem: Problem, split: str, given: Mapping[str, Json]) -> SplitPredictions:
    true, labels = true_labels(problem, split), tuple(given["labels"])
    places = given.get("rows")
    rows = tuple(range(len(true)) if places is None else places)
    if len(labels) != len(rows) or any(not 0 <= place < len(true) for place in rows):
        raise ValueError(
            f"{problem.id}: {len(labels)} predictions for {len(rows)} rows of {split}, which has"
            f" {len(true)} rows"
        )
    return SplitPredictions(
        split, tuple(true[place] for place in rows), labels, rows, given.get("reasons") or {}
    )


# --- scores ------------------------------------------------------------------


def label_scores(gold: Sequence[str], labels: Sequence[str | None]) -> tuple[float, float]:
    """Return the accuracy, and the macro F1 over the labels that occur in `gold`.

    Args:
        gold: The true label of each row, for at least one row.
        labels: The predicted label of each row. None counts as wrong.
    """
    codes = {label: code for code, label in enumerate(dict.fromkeys((*gold, *labels)))}
    said = [-1 if label is None else codes[label] for label in labels]
    true = [codes[label] for label in gold]
    return accuracy(said, true), macro_f1(said, true)


@dataclass(frozen=True)
class _Kinds:
    """Indicators of labels by kind of row; a kind is a pair of true and predicted label.

    Args:
        true: (kinds, labels), 1 where the true label is that label.
        got: (kinds, labels), 1 where the predicted label is that label.
    """

    true: NDArray[np.float64]
    got: NDArray[np.float64]

    def f1(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return macro F1 (r,) from counts (r, kinds), over the labels that are true of a row."""
        true, got = counts @ self.true, counts @ self.got
        both = counts @ (self.true * self.got)
        stands = true > 0
        of_label = np.where(stands, 2 * both / np.where(stands, true + got, 1), 0)
        return np.asarray(of_label.sum(axis=1) / stands.sum(axis=1), np.float64)


def _kinds(gold: Sequence[str], labels: Sequence[str | None]) -> tuple[_Kinds, NDArray[np.intp]]:
    """Return the kinds that occur, and the kind (n,) of each row."""
    known = {label: place for place, label in enumerate(dict.fromkeys(gold))}
    pairs = list(zip(gold, labels, strict=True))
    kinds = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    true, got = np.zeros((len(kinds), len(known))), np.zeros((len(kinds), len(known)))
    for (of, label), place in kinds.items():
        true[place, known[of]] = 1
        if label in known:
            got[place, known[label]] = 1
    return _Kinds(true, got), np.array([kinds[pair] for pair in pairs], np.intp)


def problem_metrics(
    problem: Problem, steps: Sequence[StepRecord], space: InputSet | None = None
) -> dict[str, float | None]:
    """Return the metrics of one problem. A metric is None if there are no predictions for it.

    Args:
        problem: The problem.
        steps: The recorded steps of the problem.
        space: Ignored.

    Raises:
        ValueError: The predictions do not match the problem's splits or rows.
    """
    found: dict[str, float | None] = dict.fromkeys(EVALUATION.metric_names)
    found["hypotheses"] = _hypotheses(steps)
    found |= _of_bank(steps)
    inference = read_predictions(problem, steps)
    if inference is None or not inference.splits:
        return found
    for one in reversed(inference.splits):  # The first split remains as that of the problem.
        accuracy, f1 = one.scores
        error = squared_error(problem, one)
        for name in (one.split, ""):
            found[_named("accuracy", name)], found[_named("f1", name)] = accuracy, f1
            found[_named("mse", name)] = error
    asked, unlabelled, unreadable = _without_label(inference)
    return found | {"unlabelled": unlabelled / asked, "unreadable": unreadable / asked}


def squared_error(problem: Problem, predictions: SplitPredictions) -> float | None:
    """Return the mean squared error of numeric labels (HypoBench, table 11); None for other labels.

    Errors are divided by the range of the labels. A row without a predicted label has the error 1.
    Labels are numeric if the metadata of the data set says so.
    """
    if not problem.secret.get("made", {}).get("numeric"):
        return None
    names = [float(label) for label in problem.public["labels"]]
    width = max(names) - min(names)
    gaps = (
        1.0 if got is None else (float(got) - float(true)) / width
        for true, got in zip(predictions.gold, predictions.labels, strict=True)
    )
    return sum(gap * gap for gap in gaps) / len(predictions.gold)


def intervals(
    problem: Problem, steps: Sequence[StepRecord], seed: int, resamples: int
) -> dict[str, Interval]:
    """Return the mean of each metric of a problem, with its interval over rows.

    Args:
        problem: The problem.
        steps: The recorded steps of the problem.
        seed: Seed of the bootstrap.
        resamples: Number of bootstrap resamples.
    """
    inference = read_predictions(problem, steps)
    if inference is None or not inference.splits:
        return {}
    found: dict[str, Interval] = {}
    for one in reversed(inference.splits):
        kinds, of_rows = _kinds(one.gold, one.labels)
        accuracy = wilson_interval(one.correct_count, len(one.gold))
        f1 = bootstrap_rows(of_rows, kinds.f1, seed=seed, resamples=resamples)
        for name in (one.split, ""):
            found[_named("accuracy", name)], found[_named("f1", name)] = accuracy, f1
    asked, unlabelled, unreadable = _without_label(inference)
    return found | {
        "unlabelled": wilson_interval(unlabelled, asked), "unreadable": wilson_interval(unreadable, asked)
    }  # fmt: skip


def _named(metric: str, split: str) -> str:
    return f"{metric}_{split}" if split else metric


def _without_label(inference: Inference) -> tuple[int, int, int]:
    """Return the numbers of predicted rows, of rows without a label and of unreadable answers."""
    labels = [label for one in inference.splits for label in one.labels]
    unreadable = sum(int(one.reasons.get(UNREADABLE, 0)) for one in inference.splits)
    return len(labels), labels.count(None), unreadable


def _hypotheses(steps: Sequence[StepRecord]) -> int:
    judged = (one for step in steps for answer in step.answers for one in answer.judged)
    return len({one.hypothesis.digest for one in judged if one.hypothesis is not None})


def _of_bank(steps: Sequence[StepRecord]) -> dict[str, float | None]:
    """Return GEAR's scores of the bank from the step that applied it."""
    fields = [step.fields.get(INFERENCE) or {} for step in reversed(steps)]
    read = next((one for one in fields if one), {})
    told = read.get("gear") or {}
    return {name: told[name] for name in GEAR if told.get(name) is not None}


EVALUATION = Evaluation(
    name="hypobench",
    about=(
        "Accuracy and macro F1 of the predictions of a session, and discovery scores of its bank."
    ),
    families=frozenset({"text"}),
    metrics=METRICS,
    problem_metrics=problem_metrics,
    row_intervals=intervals,
    bank_metrics=discovery_metrics,
    main=("accuracy", "f1", "accuracy_ood", "mse", "hdr"),
)
