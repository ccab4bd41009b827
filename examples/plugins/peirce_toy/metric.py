"""Evaluation `intervals`: how wide the consistent intervals of a problem are."""

from __future__ import annotations

from collections.abc import Sequence

from peirce.records import InputSet, Problem, StepRecord
from peirce.reports import Evaluation, Metric

from .family import NAME, bounds_of


def of_problem(
    problem: Problem, steps: Sequence[StepRecord], space: InputSet | None = None
) -> dict[str, float | None]:
    widths = [
        high - low + 1
        for step in steps
        for answered in step.answers
        for judged in answered.judged
        if judged.verdict.consistent and judged.hypothesis is not None
        for low, high in [bounds_of(judged.hypothesis.text) or (0, -1)]
    ]
    return {"width": sum(widths) / len(widths) if widths else None, "answers": float(len(steps))}


EVALUATION = Evaluation(
    name="intervals",
    about="how wide the consistent intervals are",
    families=frozenset({NAME}),
    metrics=(
        Metric("width", "lower", "mean width of the consistent intervals"),
        Metric("answers", None, "answers"),
    ),
    problem_metrics=of_problem,
)
