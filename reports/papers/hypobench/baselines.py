"""Baselines for labelled text that use no hypotheses.

The baselines are trained on exactly the rows that the session was shown, and tested on the rows on
which the session was tested.

| name | learns from | how |
|---|---|---|
| majority | the labels | the most frequent label; ties go to the first in the problem's list |
| tfidf | the columns of text | TF-IDF of words and word pairs, logistic regression |
| tree | the other columns, choices one-hot | a decision tree of depth at most 5 |

If there are several columns of text, each column has its own vocabulary. If a row offers two texts
to choose from, the features of the second text are subtracted from those of the first, and the
regression has no intercept. Thus swapping the texts swaps the label. Further columns of text are
not used. No parameter is tuned. The baselines tfidf and tree need scikit-learn (extra `text`) and
are left out without it, which `MISSING_SKLEARN` reports.

A session beats a baseline if its accuracy is higher and an exact McNemar test over the rows is
significant (p < 0.05, two-sided). If a session does not beat all baselines, its hypotheses predict
no better than a baseline, or there are too few rows to show a difference.
"""

from __future__ import annotations

import importlib.util
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from ....records import Json, Problem, StepRecord
from ...metrics.results import DEFAULT_OPTIONS, read_problems
from ...metrics.statistics import LEVEL, wilson_interval
from .metrics import SPLITS, SplitPredictions, label_scores, read_predictions, true_labels

if TYPE_CHECKING:
    from ....store import Store

INSTALL = "pip install 'peirce[text]'"
MISSING_SKLEARN = f"the baselines tfidf and tree are left out: they need scikit-learn, {INSTALL}"
MAJORITY, TFIDF, TREE = "majority", "tfidf", "tree"
TREE_DEPTH = 5
NO_BETTER_TEXT = "it has found nothing beyond it"
CHANCE_TEXT = "the difference may be chance"

Row = Mapping[str, Json]
Predict = Callable[[Sequence[Row]], list[str]]


class BaselineScores(TypedDict):
    """The scores of one baseline on one split: accuracy with its interval over rows, and macro F1.

    "n" is the number of rows.
    """

    name: str
    split: str
    accuracy: float
    low: float
    high: float
    f1: float
    n: int


def has_sklearn() -> bool:
    """Return whether scikit-learn is installed."""
    return importlib.util.find_spec("sklearn") is not None


def fit_baselines(problem: Problem) -> dict[str, Predict]:
    """Train the baselines that apply to a problem on its shown rows, and return them by name.

    tfidf needs a column of text, and tree needs a column that is not text.

    Raises:
        ValueError: The problem has no shown rows.
    """
    rows = [_row(one.input) for one in problem.shown]
    labels = [str(one.output) for one in problem.shown]
    if not rows:
        raise ValueError(f"{problem.id}: no row is shown")
    found = {MAJORITY: _constant(_majority(labels, problem.public["labels"]))}
    if has_sklearn():
        columns = _columns(problem)
        texts = [name for name, kind in columns.items() if kind == "text"]
        fields = {name: kind for name, kind in columns.items() if kind != "text"}
        if texts:
            pair = problem.public.get("shape") == "pair"
            names = texts[:2] if pair else texts
            found[TFIDF] = _fitted(labels, lambda: _words(rows, labels, names, pair))
        if fields:
            found[TREE] = _fitted(labels, lambda: _tree(rows, labels, fields))
    return found


def score_baselines(problem: Problem) -> list[BaselineScores]:
    """Return the scores of every baseline on every split of the problem, in the order of `SPLITS`."""
    found: list[BaselineScores] = []
    models = fit_baselines(problem)
    for split in SPLITS:
        true = true_labels(problem, split)
        rows = _rows_of(problem, split)
        for name, predict in models.items() if true else ():
            labels = predict(rows)
            accuracy, f1 = label_scores(true, labels)
            share = wilson_interval(sum(map(str.__eq__, true, labels)), len(true))
            low, high = share["low"] or 0.0, share["high"] or 0.0
            found.append(
                {"name": name, "split": split, "accuracy": accuracy, "low": low, "high": high,
                 "f1": f1, "n": len(true)}
            )  # fmt: skip
    return found


# --- comparison with a session -------------------------------------------------


@dataclass(frozen=True)
class BaselineComparison:
    """The comparison of a session with one baseline, on the predicted rows of a split.

    Args:
        split: Name of the split.
        baseline: Name of the baseline.
        n: Number of rows.
        accuracy: Accuracy of the session.
        baseline_accuracy: Accuracy of the baseline.
        p: Two-sided p-value of the exact McNemar test.
    """

    split: str
    baseline: str
    n: int
    accuracy: float
    baseline_accuracy: float
    p: float

    @property
    def beats(self) -> bool:
        """Whether the session is more accurate than the baseline and the difference is
        significant.
        """
        return self.accuracy > self.baseline_accuracy and self.p < 1 - LEVEL


def compare_with_baselines(
    problem: Problem, steps: Sequence[StepRecord]
) -> list[BaselineComparison]:
    """Compare a session's predictions on a problem with every baseline, by split.

    The result is empty if the session predicted no labels.

    Raises:
        ValueError: The predictions do not match the rows of the problem.
    """
    inference = read_predictions(problem, steps)
    if inference is None or not inference.splits:
        return []
    models = fit_baselines(problem)
    found = []
    for one in inference.splits:
        rows = _rows_of(problem, one.split)
        asked = [rows[row] for row in one.rows]
        found += [_compared(one, name, predict(asked)) for name, predict in models.items()]
    return found


def describe_comparisons(compared: Sequence[BaselineComparison]) -> list[str]:
    """Return one sentence per split that compares the session with the baselines.

    If scikit-learn is missing, a further sentence names the missing baselines. The validation split
    is left out if there is another split. The result is empty without comparisons.
    """
    splits = list(dict.fromkeys(one.split for one in compared))
    shown = [split for split in splits if split != "val"] or splits
    said = [
        _describe_comparison([one for one in compared if one.split == split]) for split in shown
    ]
    return [*said, MISSING_SKLEARN] if said and not has_sklearn() else said


def session_baselines(store: Store, session: str) -> list[dict[str, Json]]:
    """Return the baselines of each finished problem of a session.

    The baselines are trained from the store alone. Each object is {"problem", "baselines": the
    result of `score_baselines`, "said": the result of `describe_comparisons`}.
    """
    done = [row for row in store.problems(session) if row.status == "done"]
    return [
        {
            "problem": one.problem.id,
            "baselines": score_baselines(one.problem),
            "said": describe_comparisons(compare_with_baselines(one.problem, one.steps)),
        }
        for one in read_problems(store, session, done, DEFAULT_OPTIONS)
    ]


def _describe_comparison(some: Sequence[BaselineComparison]) -> str:
    one = some[0]
    others = ", ".join(f"{other.baseline} {other.baseline_accuracy:.3f}" for other in some)
    unbeaten = max(
        (o for o in some if not o.beats), key=lambda other: other.baseline_accuracy, default=None
    )
    if unbeaten is None:
        worst = max(other.p for other in some)
        verdict = f"it beats {'all' if len(some) > 1 else 'it'} (p at most {worst:.3g}, McNemar)"
    else:
        why = CHANCE_TEXT if unbeaten.accuracy > unbeaten.baseline_accuracy else NO_BETTER_TEXT
        verdict = f"it does not beat {unbeaten.baseline} (p {unbeaten.p:.3g}, McNemar): {why}"
    return f"{one.split}, {one.n} rows: accuracy {one.accuracy:.3f} beside {others}; {verdict}"


def _compared(one: SplitPredictions, baseline: str, labels: Sequence[str]) -> BaselineComparison:
    mine = [label == true for label, true in zip(one.labels, one.gold, strict=True)]
    other = [label == true for label, true in zip(labels, one.gold, strict=True)]
    only_mine = sum(m and not o for m, o in zip(mine, other, strict=True))
    only_other = sum(o and not m for m, o in zip(mine, other, strict=True))
    n = len(mine)
    p = mcnemar(only_mine, only_other)
    return BaselineComparison(one.split, baseline, n, sum(mine) / n, sum(other) / n, p)


def mcnemar(first: int, second: int) -> float:
    """Return the two-sided p-value of an exact McNemar test of two classifiers.

    If both numbers are 0, the value is 1.

    Args:
        first: Number of rows on which only the first classifier is right.
        second: Number of rows on which only the second classifier is right.
    """
    n = first + second
    term, total = 1, 0
    for k in range(min(first, second) + 1):
        total += term
        term = term * (n - k) // (k + 1)
    return min(1.0, float(2 * total / 2**n))


# --- training -------------------------------------------------------------------


def _row(given: Json) -> Row:
    return given if isinstance(given, Mapping) else {"text": given}


def _rows_of(problem: Problem, split: str) -> list[Row]:
    start, stop = problem.secret.get("splits", {}).get(split, (0, 0))
    return [_row(one.input) for one in problem.hidden[start:stop]]


def _columns(problem: Problem) -> dict[str, str]:
    return {name: str(about["kind"]) for name, about in problem.public["columns"].items()}


def _majority(labels: Sequence[str], order: Sequence[str]) -> str:
    counts = Counter(labels)
    return max(order, key=lambda label: counts[label])


def _constant(label: str) -> Predict:
    return lambda rows: [label] * len(rows)


def _fitted(labels: Sequence[str], fit: Callable[[], Predict]) -> Predict:
    """Return a fitted model, or a constant if all rows have the same label."""
    return fit() if len(set(labels)) > 1 else _constant(labels[0])


def _words(rows: Sequence[Row], labels: Sequence[str], texts: list[str], pair: bool) -> Predict:
    """Fit the TF-IDF baseline; texts without words leave the regression with its intercept alone."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    def column_texts(some: Sequence[Row], name: str) -> list[str]:
        return ["" if row.get(name) is None else str(row[name]) for row in some]

    together = [texts] if pair else [[name] for name in texts]
    vectorisers = []
    for names in together:
        one = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
        if any(one.build_analyzer()(t) for name in names for t in column_texts(rows, name)):
            one.fit([text for name in names for text in column_texts(rows, name)])
            vectorisers.append((one, names))

    def features(some: Sequence[Row]) -> Any:
        found = [csr_matrix((len(some), 1))]  # a column of zeros, so that the list is never empty
        for one, names in vectorisers:
            parts = [one.transform(column_texts(some, name)) for name in names]
            found.append(parts[0] - parts[1] if pair else parts[0])
        return hstack(found).tocsr()

    model = LogisticRegression(C=10, max_iter=2_000, fit_intercept=not pair)
    model.fit(features(rows), labels)
    return lambda some: [str(label) for label in model.predict(features(some))] if some else []


def _tree(rows: Sequence[Row], labels: Sequence[str], fields: Mapping[str, str]) -> Predict:
    """Fit the tree baseline on numbers (NaN if missing) and one-hot columns of the shown choices."""
    from sklearn.tree import DecisionTreeClassifier

    values = {
        name: sorted({str(row[name]) for row in rows if row.get(name) is not None})
        for name, kind in fields.items() if kind == "choice"
    }  # fmt: skip

    def features(some: Sequence[Row]) -> list[list[float]]:
        return [
            [
                number
                for name in fields
                for number in (
                    [float(str(row.get(name)) == value) for value in values[name]]
                    if name in values
                    else [_number(row.get(name))]
                )
            ]
            or [0.0]
            for row in some
        ]

    model = DecisionTreeClassifier(max_depth=TREE_DEPTH, random_state=0)
    model.fit(features(rows), labels)
    return lambda some: [str(label) for label in model.predict(features(some))] if some else []


def _number(value: Json) -> float:
    if not isinstance(value, (bool, int, float)) or abs(value) > 1e30:  # exceeds 32 bits
        return math.nan
    return float(value)
