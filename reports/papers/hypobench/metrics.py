"""What a session predicted on labelled rows: accuracy and macro F1 (HypoBench, section 4; `eval
hypobench`).

A problem's hidden rows are its validation rows, its test rows (ind) and its rows of another source
(ood). The predictions are those that stand in the last step that has any, in its field "inference":
{"strategy", "splits": {name: {"labels": [label or null, …], "reasons": {reason: rows}, "rows": places
within the split, where not all were asked}}}. What a session proposed and applied to no row has no
accuracy.

F1 is the mean over the labels that stand among the true ones, each of 2 tp / (2 tp + fp + fn). A row
without a label (a judge's answer that names none, a sentence that does not apply) counts as wrong in
both and is no label of its own. `accuracy` and `f1` are those of the test rows, without any those of
the other source, without any of validation. Which of several strategies, banks or methods to
believe is for `_val` to say; that of the other splits would be chosen on what it is tested on. Labels
that are numbers also have a squared error.

Intervals: of several problems over problems, as everywhere; a session of one problem has them over
its rows, n counting rows: Wilson's of shares, the bootstrap's of F1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....records import InputSet, Json, Problem, StepRecord
from ....tasks.text.rating_answers import QUALITIES
from ....tools.discovery.identified import identified
from ....tools.discovery.scores import exact
from ....tools.discovery.space import Space
from ....tools.label_scores import accuracy, macro_f1
from ...metrics.evaluation import Evaluation, Metric
from ...metrics.statistics import Interval, over_rows, wilson

# --- Whether the bank of a session says what made the labels, as `eval hypobench` gives it.
#
# By exact rules alone: nobody is asked, so each value is one that no model made. The true sentences are
# those of the data set (`secret["truths"]`: what its labels were made by, never the findings that a
# real data set's literature tells); where none of them is an exact rule there is no value. What a model
# rates is `peirce rate`.

DISCOVERY_METRICS = (
    Metric("fdr", "higher", "share of true rules that a sentence of the bank is matched with"),
    Metric("rc", "higher", "mean overlap with the true rules that are matched"),
    Metric("hdr", "higher", "fdr x rc: true rules, each by how much of it a sentence of its own says"),
    Metric("precision", "higher", "overlap with true rules, a sentence of the bank"),
    Metric("identical", "higher", "share of true rules that a sentence says on all inputs alike"),
    Metric("identified", None, "share of true rules that the shown rows tell from their neighbours"),
    Metric("hdr_identified", "higher", "hdr over these rules alone"),
    Metric("hdr_released", "higher", "as the published evaluation counts, with exact rules as rater"),
    Metric("hdr_paper", "higher", "as the paper defines it by variables, with exact rules as rater"),
)  # fmt: skip
NAMES = tuple(metric.name for metric in DISCOVERY_METRICS)


def truths_of(problem: Problem) -> tuple[str, ...]:
    """The sentences that the problem's labels were made by; () where nobody knows."""
    return tuple(problem.secret.get("truths") or ())


def discovered(problem: Problem, bank: Sequence[str]) -> dict[str, float | None]:
    """Every metric of `METRICS`. bank: sentences, best first."""
    truths = truths_of(problem)
    found: dict[str, float | None] = dict.fromkeys(NAMES)
    if not truths:
        return found
    space = Space(problem)
    told = exact(truths, bank, space, problem.public)
    if told is None:
        return found
    known = identified(told.rules, problem.shown, space)
    kept = [pair.overlap for pair, one in zip(told.of_parts, known, strict=True) if one]
    return {
        "fdr": told.fdr,
        "rc": told.rc,
        "hdr": told.hdr,
        "precision": told.precision,
        "identical": told.identical,
        "identified": sum(known) / len(known),
        "hdr_identified": sum(kept) / len(kept) if kept else None,
        "hdr_released": told.released.hdr,
        "hdr_paper": told.paper.hdr,
    }


SPLITS = {
    "ind": "the test rows",
    "ood": "the rows of another source",
    "val": "the validation rows",
}  # the first of them that there is stands for the problem
INFERENCE = "inference"  # the field of a step
GEAR = ("consistency", "generalizability", "beta", "gamma")
UNREADABLE = "unreadable"  # the reason of a row whose answer names no label

METRICS = (
    Metric("accuracy", "higher", "share of test rows that get their label"),
    Metric("f1", "higher", "macro F1 over the labels of test rows"),
    *(Metric(f"{name}_{split}", "higher", f"{said} {about}")
      for split, about in SPLITS.items()
      for name, said in (("accuracy", "accuracy on"), ("f1", "macro F1 on"))),
    Metric("mse", "lower", "mean squared error of numbers, in training ranges, over test rows"),
    *(Metric(f"mse_{split}", "lower", f"the same over {about}") for split, about in SPLITS.items()),
    Metric("unlabelled", "lower", "share of all rows asked that get no label, for any reason"),
    Metric("unreadable", "lower", "share of all rows asked where the judge's answer names none"),
    Metric("hypotheses", None, "different hypotheses that were judged"),
    Metric("consistency", "higher", "share of the bank that is right on tau of what it covers"),
    Metric("generalizability", "higher", "share of S that a consistent sentence of the bank labels"),
    Metric("beta", "higher", "mean Jaccard distance between consistent sentences of the bank"),
    Metric("gamma", "higher", "distinct labels a text of S, consistent sentences together"),
    *DISCOVERY_METRICS,
    *(Metric(name, "higher", f"mean {name} of the bank, 1 to 5, as a model rates it")
      for name in QUALITIES),
)  # fmt: skip


@dataclass(frozen=True)
class Labelled:
    """The n rows of one split that were asked: their true labels, and those that they got. rows: the
    place of each within the split."""

    split: str
    gold: tuple[str, ...]
    labels: tuple[str | None, ...]
    rows: tuple[int, ...]
    reasons: Mapping[str, int]  # of rows without a label

    @property
    def right(self) -> int:
        return sum(one == other for one, other in zip(self.gold, self.labels, strict=True))

    @property
    def scores(self) -> tuple[float, float]:
        return scores(self.gold, self.labels)


@dataclass(frozen=True)
class Inference:
    """What a session predicted of one problem. strategy: how the bank was read; "" where it is not
    said. splits: those with rows, in the order of `SPLITS`."""

    strategy: str
    splits: tuple[Labelled, ...]


def inferred(problem: Problem, steps: Sequence[StepRecord]) -> Inference | None:
    """The predictions of a problem's last step that has any. Raises ValueError where they are not of
    its rows."""
    found = next((s.fields[INFERENCE] for s in reversed(steps) if s.fields.get(INFERENCE)), None)
    if found is None:
        return None
    given = found.get("splits") or {}
    if strange := sorted(given.keys() - problem.secret.get("splits", {}).keys()):
        raise ValueError(f"{problem.id}: predictions of splits that it lacks: {strange}")
    read = [_labelled(problem, split, given[split]) for split in SPLITS if split in given]
    return Inference(str(found.get("strategy") or ""), tuple(one for one in read if one.gold))


def told(problem: Problem, steps: Sequence[StepRecord]) -> dict[str, Json] | None:
    """{strategy, entries, splits: {split: {rows, accuracy, f1, unlabelled}}} of a problem, as `peirce
    show` lists it; None where nothing was predicted. Raises ValueError as `inferred` does."""
    found = inferred(problem, steps)
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


def gold(problem: Problem, split: str) -> tuple[str, ...]:
    """The true labels of a split, () of one that the problem lacks."""
    start, stop = problem.secret.get("splits", {}).get(split, (0, 0))
    return tuple(str(row.output) for row in problem.hidden[start:stop])


def _labelled(problem: Problem, split: str, given: Mapping[str, Json]) -> Labelled:
    true, labels = gold(problem, split), tuple(given["labels"])
    places = given.get("rows")
    rows = tuple(range(len(true)) if places is None else places)
    if len(labels) != len(rows) or any(not 0 <= place < len(true) for place in rows):
        raise ValueError(
            f"{problem.id}: {len(labels)} predictions for {len(rows)} rows of {split}, which has"
            f" {len(true)}"
        )
    return Labelled(
        split, tuple(true[place] for place in rows), labels, rows, given.get("reasons") or {}
    )


# --- scores ------------------------------------------------------------------


def scores(gold: Sequence[str], labels: Sequence[str | None]) -> tuple[float, float]:
    """(accuracy, macro F1 over the labels that stand in gold) of n > 0 rows; None is wrong."""
    codes = {label: code for code, label in enumerate(dict.fromkeys((*gold, *labels)))}
    said = [-1 if label is None else codes[label] for label in labels]
    true = [codes[label] for label in gold]
    return accuracy(said, true), macro_f1(said, true)


@dataclass(frozen=True)
class _Kinds:
    """A row's kind is its true label with the one it got. true, got, both: (kinds, labels), 1 where
    the true one, the one got, or both are that label."""

    true: NDArray[np.float64]
    got: NDArray[np.float64]

    def f1(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Macro F1 (r,) of how often (r, kinds) each kind stands: over the labels that are true of
        one there."""
        true, got = counts @ self.true, counts @ self.got
        both = counts @ (self.true * self.got)
        stands = true > 0
        of_label = np.where(stands, 2 * both / np.where(stands, true + got, 1), 0)
        return np.asarray(of_label.sum(axis=1) / stands.sum(axis=1), np.float64)


def _kinds(gold: Sequence[str], labels: Sequence[str | None]) -> tuple[_Kinds, NDArray[np.intp]]:
    """The kinds that there are, and (n,) that of each row."""
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
    """Of one problem, None what it did not predict. Raises ValueError as `inferred` does."""
    found: dict[str, float | None] = dict.fromkeys(EVALUATION.metric_names)
    found["hypotheses"] = _hypotheses(steps)
    found |= _of_bank(steps)
    inference = inferred(problem, steps)
    if inference is None or not inference.splits:
        return found
    for one in reversed(inference.splits):  # the first is left as that of the problem
        accuracy, f1 = one.scores
        error = squared_error(problem, one)
        for name in (one.split, ""):
            found[_named("accuracy", name)], found[_named("f1", name)] = accuracy, f1
            found[_named("mse", name)] = error
    asked, unlabelled, unreadable = _without_label(inference)
    return found | {"unlabelled": unlabelled / asked, "unreadable": unreadable / asked}


def squared_error(problem: Problem, one: Labelled) -> float | None:
    """Of a data set whose labels are numbers (its metadata says so), in units of the range of the
    training labels (HypoBench, table 11); 1, the whole range, for a row without a label."""
    if not problem.secret.get("made", {}).get("numeric"):
        return None
    names = [float(label) for label in problem.public["labels"]]
    width = max(names) - min(names)
    gaps = (
        1.0 if got is None else (float(got) - float(true)) / width
        for true, got in zip(one.gold, one.labels, strict=True)
    )
    return sum(gap * gap for gap in gaps) / len(one.gold)


def intervals(
    problem: Problem, steps: Sequence[StepRecord], seed: int, resamples: int
) -> dict[str, Interval]:
    """Of the metrics that the problem has, over its rows."""
    inference = inferred(problem, steps)
    if inference is None or not inference.splits:
        return {}
    found: dict[str, Interval] = {}
    for one in reversed(inference.splits):
        kinds, of_rows = _kinds(one.gold, one.labels)
        accuracy = wilson(one.right, len(one.gold))
        f1 = over_rows(of_rows, kinds.f1, seed=seed, resamples=resamples)
        for name in (one.split, ""):
            found[_named("accuracy", name)], found[_named("f1", name)] = accuracy, f1
    asked, unlabelled, unreadable = _without_label(inference)
    return found | {
        "unlabelled": wilson(unlabelled, asked), "unreadable": wilson(unreadable, asked)
    }  # fmt: skip


def _named(metric: str, split: str) -> str:
    return f"{metric}_{split}" if split else metric


def _without_label(inference: Inference) -> tuple[int, int, int]:
    """Rows asked, those of them without a label, those without one that could be read."""
    labels = [label for one in inference.splits for label in one.labels]
    unreadable = sum(int(one.reasons.get(UNREADABLE, 0)) for one in inference.splits)
    return len(labels), labels.count(None), unreadable


def _hypotheses(steps: Sequence[StepRecord]) -> int:
    judged = (one for step in steps for answer in step.answers for one in answer.judged)
    return len({one.hypothesis.digest for one in judged if one.hypothesis is not None})


def _of_bank(steps: Sequence[StepRecord]) -> dict[str, float | None]:
    """GEAR's scores of the bank that was read, as the step that read it says them."""
    fields = [step.fields.get(INFERENCE) or {} for step in reversed(steps)]
    read = next((one for one in fields if one), {})
    told = read.get("gear") or {}
    return {name: told[name] for name in GEAR if told.get(name) is not None}


EVALUATION = Evaluation(
    name="hypobench",
    about="accuracy and macro F1 of what a session predicted, discovery scores of its bank",
    families=frozenset({"text"}),
    metrics=METRICS,
    of_problem=problem_metrics,
    over_rows=intervals,
    of_bank=discovered,
    main=("accuracy", "f1", "accuracy_ood", "mse", "hdr"),
)
