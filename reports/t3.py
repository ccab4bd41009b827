"""The T3 evaluation (GEAR, section 6.2, tables 2 and 4): pass rates and Top-1/2/3 first, then the
GEAR scores of the same answers. `passing.py` says how answers are counted.

Departure from the paper: none where each problem has three answers. There pass rates are means
over answers, which is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..records import InputSet, Problem, StepRecord
from . import gear, passing
from .evaluation import Evaluation
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
    *passing.METRICS,
    *(metric for name in _GEAR for metric in gear.METRICS if metric.name == name),
    passing.WITHOUT_HIDDEN,
)


def problem_metrics(
    problem: Problem, steps: Sequence[StepRecord], space: InputSet | None = None
) -> dict[str, float | None]:
    """Pass rates, Top-k and the GEAR scores of one problem from its steps."""
    scored = gear.problem_metrics(problem, steps, space)
    return {metric.name: scored[metric.name] for metric in METRICS}


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
