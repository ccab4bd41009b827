"""Pass rates and Top-1/2/3 on shown and hidden observations (GEAR, section 6.2, tables 2 and 4).

Answers are in the order of the steps, and within a step in the order of the response. The pass rate
of an answer is the share of shown or hidden pairs that the answer gets right. If the answer is
malformed or undefined on the pairs, the rate is 0. The pass rate of a problem is the mean over all
its answers, or 0 without answers. Top-k is 1 if at least one of the first k answers is right on all
hidden pairs, whether or not it is right on the shown pairs. Otherwise, and also if there are fewer
than k answers and none is right, Top-k is 0. A problem without hidden pairs has no hidden pass rate
and no Top-k. It does not count in their n, but in `without_hidden`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Agreement, JudgedHypothesis, Problem
from .evaluation import Metric

METRICS = (
    Metric("train_pass", "higher", "Share of shown pairs that an answer predicts correctly."),
    Metric("test_pass", "higher", "Share of hidden pairs that an answer predicts correctly."),
    Metric(
        "top1", "higher", "Share of problems whose first answer is correct on all hidden pairs."
    ),
    Metric(
        "top2",
        "higher",
        "Share of problems where one of the first two answers is correct on all hidden pairs.",
    ),
    Metric(
        "top3",
        "higher",
        "Share of problems where one of the first three answers is correct on all hidden pairs.",
    ),
)
WITHOUT_HIDDEN = Metric("without_hidden", None, "Share of problems without hidden pairs.")


def pass_rates(problem: Problem, judged: Sequence[JudgedHypothesis]) -> dict[str, float | None]:
    """Return train_pass, test_pass, top1, top2, top3 and without_hidden of one problem.

    A rate or Top-k is None if a parsable answer was not applied to the pairs.

    Args:
        problem: The problem.
        judged: The judged answers to the problem, in order.
    """
    shown = _shares([j.shown for j in judged], judged, len(problem.shown))
    hidden = _shares([j.hidden for j in judged], judged, len(problem.hidden))
    return {
        "train_pass": _mean(shown),
        "test_pass": _mean(hidden),
        **{f"top{k}": None if hidden is None else float(1.0 in hidden[:k]) for k in (1, 2, 3)},
        WITHOUT_HIDDEN.name: float(not problem.hidden),
    }


def _shares(
    agreements: Sequence[Agreement | None], judged: Sequence[JudgedHypothesis], pairs: int
) -> list[float] | None:
    """Return the share of right pairs of each answer; None if unknown or if there are no pairs."""
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
