"""The T3 evaluation (GEAR, section 6.2, tables 2 and 4): pass rates and Top-1/2/3 first, then the
GEAR scores of the same answers. `passing.py` says how answers are counted.

Of a session of method `t3` every metric is of one round of one problem, by the rounds that its steps
name; then come the mean over the problem's rounds that have a value, and the mean over problems,
whose intervals draw problems with all their rounds. A round without any answer is left out, a
problem without any counts as one round. A session of another method is one round.

Beside these stand the rates of answers that say little (among well-formed ones whose predictions
over S are known): constant ones, which predict one and the same on all of S, and narrow ones, which
are defined on less than 80% of it. A tuned proposer may collapse into either, and consistency alone
does not show it.

Departures from the paper: problems are averaged last, where it averages rounds last, so that
intervals can be over problems; the two means are equal where every round has a value. Its beta and
gamma are those of `beta_of_two` and `gamma_of_two`, its consistency is `consistency_of_parsed`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ....records import UNASKED, InputSet, Judged, Predictions, Problem, StepRecord
from ....tools.gear.scores import prediction_share
from ...metrics import passing
from ...metrics.evaluation import Evaluation, Metric
from ...metrics.results import all_judged
from ...metrics.statistics import Interval
from ...metrics.statistics import summary as summarise
from ..gear import metrics

WIDE = 0.8  # share of S
_GEAR = (
    "instruction_following",
    "consistency",
    "consistency_of_parsed",
    "generalizability",
    "beta",
    "gamma",
    "beta_of_two",
    "gamma_of_two",
    "hypotheses",
)
_OWN = (
    Metric("constant", "lower", "share of answers that predict one and the same on all of S"),
    Metric("narrow", "lower", "share of answers that are defined on less than 80% of S"),
)
ROUNDS = Metric("rounds", None, "rounds a problem that hold answers")

METRICS = (
    *passing.METRICS,
    *(metric for name in _GEAR for metric in metrics.METRICS if metric.name == name),
    *_OWN,
    ROUNDS,
    passing.WITHOUT_HIDDEN,
)


def problem_metrics(
    problem: Problem, steps: Sequence[StepRecord], space: InputSet | None = None
) -> dict[str, float | None]:
    """Pass rates, Top-k, the GEAR scores and the rates of constant and narrow answers of one problem:
    of each of its rounds, then their means over the rounds that have a value."""
    rounds = by_round(steps)
    found = [_of_round(problem, own, space) for own in rounds]
    counted = {ROUNDS.name: float(sum(map(bool, rounds)))}
    return {
        name: counted[name] if name in counted else _mean([one[name] for one in found])
        for name in EVALUATION.metric_names
    }


def by_round(steps: Sequence[StepRecord]) -> list[list[StepRecord]]:
    """The steps of each round, in order; where none names its round they are one. Never empty. A bank
    that is read at the end, in a step of no round, is left out."""
    rounds: dict[int, list[StepRecord]] = {}
    named = any("round" in record.fields for record in steps)
    for record in steps:
        if named and "round" not in record.fields:
            continue
        rounds.setdefault(int(record.fields.get("round", 1)), []).append(record)
    return [rounds[number] for number in sorted(rounds)] or [[]]


def _of_round(
    problem: Problem, steps: Sequence[StepRecord], space: InputSet | None
) -> dict[str, float | None]:
    scored = metrics.problem_metrics(problem, steps, space)
    return scored | _saying_little(all_judged(steps), space)


def _saying_little(judged: Sequence[Judged], space: InputSet | None) -> dict[str, float | None]:
    weights = None if space is None else space.weights
    known = [one.space for one in judged if one.space and one.space.verdict != UNASKED]
    narrow = [float(prediction_share(one.defined, weights) < WIDE) for one in known]
    return {"constant": _mean([float(is_constant(one)) for one in known]), "narrow": _mean(narrow)}


def is_constant(predictions: Predictions) -> bool:
    """Whether it is defined on all of S (n,) and says the same everywhere; not where S is empty."""
    codes = predictions.codes
    return bool(len(codes) and predictions.defined.all() and np.all(codes == codes[0]))


def _mean(values: Sequence[float | None]) -> float | None:
    kept = [value for value in values if value is not None]
    return sum(kept) / len(kept) if kept else None


def summary(results: Sequence[Mapping[str, float | None]], *, seed: int = 0) -> dict[str, Interval]:
    """Means of `problem_metrics` over problems, with intervals."""
    return summarise(results, EVALUATION.metric_names, seed=seed)


EVALUATION = Evaluation(
    name="t3",
    about="pass rates and Top-1/2/3 of three answers on the hidden observations, by round",
    families=None,
    metrics=METRICS,
    of_problem=problem_metrics,
    every_space=True,
)
