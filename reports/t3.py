"""Pass rates and Top-1/2/3 on the hidden observations (GEAR, section 6.2, tables 2 and 4).

Answers count in the order of the steps, and within a step as they were given. A pass rate is the
mean, over all answers of a problem, of the share of shown or hidden pairs that an answer gets
right: 0 for an answer that is malformed or undefined there. Top-k is 1 where any of the first k
answers is right on all hidden pairs, whether or not it agrees with the shown ones, and 0
otherwise, also where there are fewer answers. A problem without any answer passes nothing. A
problem without hidden pairs has no hidden pass rate and no Top-k: it is left out of their n and
counted in `without_hidden`.

Departure from the paper: none where each problem has three answers. There pass rates are means
over answers, which is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..records import Agreement, InputSet, Judged, Problem, StepRecord
from . import gear
from .evaluation import Evaluation, Metric
from .statistics import Interval
from .statistics import summary as summarise

_GEAR = (
    "instruction_following",
    "consistency",
    "generalizability",
    "beta",
    "gamma",
    "hypotheses",
)

METRICS = (
    Metric("train_pass", "higher", "share of shown pairs that an answer gets right"),
    Metric("test_pass", "higher", "share of hidden pairs that an answer gets right"),
    Metric("top1", "higher", "the first answer is right on all hidden pairs"),
    Metric("top2", "higher", "one of the first two answers is right on all hidden pairs"),
    Metric("top3", "higher", "one of the first three answers is right on all hidden pairs"),
    *(metric for name in _GEAR for metric in gear.METRICS if metric.name == name),
    Metric("without_hidden", None, "share of problems without hidden pairs"),
)


def problem_metrics(
    problem: Problem, steps: Sequence[StepRecord], space: InputSet | None = None
) -> dict[str, float | None]:
    """Pass rates, Top-k and the GEAR scores of one problem from its steps.

    train_pass, test_pass and Top-k are None where a parsable answer was not compared with the
    problem's pairs: their value is not known.
    """
    judged = gear.all_judged(steps)
    shown = _shares([j.shown for j in judged], judged, len(problem.shown))
    hidden = _shares([j.hidden for j in judged], judged, len(problem.hidden))
    scored = gear.problem_metrics(problem, steps, space)
    return {
        "train_pass": _mean(shown),
        "test_pass": _mean(hidden),
        **{f"top{k}": None if hidden is None else float(1.0 in hidden[:k]) for k in (1, 2, 3)},
        **{name: scored[name] for name in _GEAR},
        "without_hidden": float(not problem.hidden),
    }


def _shares(
    agreements: Sequence[Agreement | None], judged: Sequence[Judged], pairs: int
) -> list[float] | None:
    """The share of right pairs for each answer; None where there are no pairs, or not known."""
    if not pairs:
        return None
    shares = []
    for agreement, one in zip(agreements, judged, strict=True):
        if one.hypothesis is None:
            shares.append(0.0)
        elif agreement is None:
            return None
        else:
            shares.append(sum(mark is True for mark in agreement.marks) / pairs)
    return shares


def _mean(shares: list[float] | None) -> float | None:
    if shares is None:
        return None
    return sum(shares) / len(shares) if shares else 0.0


def summary(results: Sequence[Mapping[str, float | None]], *, seed: int = 0) -> dict[str, Interval]:
    """Means of `problem_metrics` over problems, with intervals."""
    return summarise(results, EVALUATION.metric_names, seed=seed)


EVALUATION = Evaluation(
    name="t3",
    about="pass rates and Top-1/2/3 of the first answers on the hidden observations",
    families=frozenset({"programs"}),
    metrics=METRICS,
    of_problem=problem_metrics,
)
