"""Scores of baselines for labelled text, and comparisons of sessions with them.

The baselines (baseline_models.py) are trained on exactly the rows that the session was shown, and
tested on the rows on which the session was tested.

A session beats a baseline if its accuracy is higher and an exact McNemar test over the rows is
significant (p < 0.05, two-sided). If a session does not beat all baselines, its hypotheses predict
no better than a baseline, or there are too few rows to show a difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from ....records import Json, Problem, StepRecord
from ...metrics.results import DEFAULT_OPTIONS, read_problems
from ...metrics.statistics import LEVEL, wilson_interval
from .baseline_models import OnBaseline, Predict, Row, as_columns, describe_missing, fit_baselines
from .metrics import SPLITS, SplitPredictions, label_scores, read_predictions, true_labels

if TYPE_CHECKING:
    from ....store import Store

NO_BETTER_TEXT = "it has found nothing beyond it"
CHANCE_TEXT = "the difference may be chance"


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


def score_baselines(
    problem: Problem, models: Mapping[str, Predict] | None = None
) -> list[BaselineScores]:
    """Return the scores of every baseline on every split of the problem, in the order of `SPLITS`.

    Args:
        problem: The problem.
        models: The trained baselines; None to train them.
    """
    found: list[BaselineScores] = []
    models = fit_baselines(problem) if models is None else models
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

    @property
    def loses(self) -> bool:
        """Whether the baseline is more accurate and the difference is significant."""
        return self.accuracy < self.baseline_accuracy and self.p < 1 - LEVEL


def compare_with_baselines(
    problem: Problem, steps: Sequence[StepRecord], models: Mapping[str, Predict] | None = None
) -> list[BaselineComparison]:
    """Compare a session's predictions on a problem with every baseline, by split.

    The result is empty if the session predicted no labels.

    Args:
        problem: The problem.
        steps: The steps of the session on it.
        models: The trained baselines; None to train them.

    Raises:
        ValueError: The predictions do not match the rows of the problem.
    """
    inference = read_predictions(problem, steps)
    if inference is None or not inference.splits:
        return []
    models = fit_baselines(problem) if models is None else models
    found = []
    for one in inference.splits:
        rows = _rows_of(problem, one.split)
        asked = [rows[row] for row in one.rows]
        found += [_compared(one, name, predict(asked)) for name, predict in models.items()]
    return found


def describe_comparisons(compared: Sequence[BaselineComparison]) -> list[str]:
    """Return one sentence per split that compares the session with the baselines.

    If a package is missing, a further sentence names the missing baselines. The validation split
    is left out if there is another split. The result is empty without comparisons.
    """
    splits = list(dict.fromkeys(one.split for one in compared))
    shown = [split for split in splits if split != "val"] or splits
    said = [
        _describe_comparison([one for one in compared if one.split == split]) for split in shown
    ]
    missing = describe_missing()
    return [*said, missing] if said and missing else said


def session_baselines(
    store: Store, session: str, on_baseline: OnBaseline | None = None
) -> list[dict[str, Json]]:
    """Return the baselines of each finished problem of a session.

    The baselines are trained from the store alone. Each object is {"problem", "baselines": the
    result of `score_baselines`, "said": the result of `describe_comparisons`}.

    Args:
        store: The open store.
        session: The full id of the session.
        on_baseline: As in `fit_baselines`.
    """
    done = [row for row in store.problems(session) if row.status == "done"]
    found: list[dict[str, Json]] = []
    for one in read_problems(store, session, done, DEFAULT_OPTIONS):
        models = fit_baselines(one.problem, on_baseline)
        scores = score_baselines(one.problem, models)
        comparisons = compare_with_baselines(one.problem, one.steps, models)
        found.append(
            {
                "problem": one.problem.id,
                "baselines": scores,
                "said": describe_comparisons(comparisons),
            }
        )
    return found


def _describe_comparison(some: Sequence[BaselineComparison]) -> str:
    one = some[0]
    others = ", ".join(f"{other.baseline} {other.baseline_accuracy:.3f}" for other in some)
    unbeaten = max(
        (o for o in some if not o.beats), key=lambda other: other.baseline_accuracy, default=None
    )
    if unbeaten is None:
        worst = max(other.p for other in some)
        verdict = f"it beats {'all' if len(some) > 1 else 'it'} (p at most {worst:.3g}, McNemar)"
    elif unbeaten.loses:
        verdict = f"{unbeaten.baseline} is better (p {unbeaten.p:.3g}, McNemar)"
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


def _rows_of(problem: Problem, split: str) -> list[Row]:
    start, stop = problem.secret.get("splits", {}).get(split, (0, 0))
    return [as_columns(one.input) for one in problem.hidden[start:stop]]
