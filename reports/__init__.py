"""Tables and figures from what a store holds; nothing here knows how a session was run.

The registry of evaluations: a module of this room that defines `EVALUATION` is one, found by
looking, so that a new one is one file.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypedDict

from ..records import InputSet, Json, Problem, StepRecord, UsageError
from .evaluation import Evaluation, Metric
from .statistics import RESAMPLES, Interval, summary

__all__ = [
    "Evaluation",
    "Metric",
    "Scores",
    "default_evaluation",
    "evaluate",
    "evaluation",
    "evaluations",
]

StepsOf = Callable[[Problem], Iterable[StepRecord]]


class Scores(TypedDict):
    """metrics: intervals over problems; by_problem: {"problem": id, metric: value, …} each."""

    evaluation: str
    problems: int
    metrics: dict[str, Interval]
    by_problem: list[dict[str, Json]]


@cache
def _all() -> Mapping[str, Evaluation]:
    found = {}
    for module in pkgutil.iter_modules(__path__):
        one = getattr(importlib.import_module(f".{module.name}", __name__), "EVALUATION", None)
        if isinstance(one, Evaluation):
            found[one.name] = one
    return dict(sorted(found.items()))


def evaluations() -> list[Evaluation]:
    """All evaluations, by name."""
    return list(_all().values())


def evaluation(name: str) -> Evaluation:
    """Raises UsageError where there is none of this name."""
    known = _all()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise UsageError(f"no evaluation {name!r}: there are {', '.join(known)}{meant}")


def default_evaluation(family: str) -> str:
    """The name of the evaluation that fits a family when none is asked for.

    Raises UsageError where none can score it.
    """
    able = [e for e in evaluations() if family in e.families]
    own = [e for e in able if family in e.default_for]
    if not able:
        raise UsageError(f"no evaluation scores the family {family!r}")
    return (own or able)[0].name


def evaluate(
    name: str,
    problems: Sequence[Problem],
    steps: StepsOf | Iterable[StepRecord],
    *,
    spaces: Mapping[str, InputSet] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Scores:
    """Scores problems by the evaluation `name`, from their steps alone.

    problems: those that ended; who has problems that failed (an outage is no score) leaves them
    out and counts them. steps: a function from a problem to its steps, so that predictions of one
    problem at a time are in memory, or all steps in any order. spaces: by problem id, where
    inputs have weights. Raises UsageError where the evaluation does not fit a problem's family.
    """
    chosen = evaluation(name)
    for family in sorted({p.family for p in problems} - chosen.families):
        fit = [e.name for e in evaluations() if family in e.families]
        raise UsageError(
            f"evaluation {name} does not score the family {family!r}: {', '.join(fit) or 'none'} would"
        )
    steps_of = steps if callable(steps) else _grouped(steps)
    results = []
    for problem in problems:
        ordered = sorted(steps_of(problem), key=lambda record: record.step)
        results.append(chosen.of_problem(problem, ordered, (spaces or {}).get(problem.id)))
    return {
        "evaluation": name,
        "problems": len(problems),
        "metrics": summary(results, chosen.metric_names, seed=seed, resamples=resamples),
        "by_problem": [
            {"problem": p.id, **result} for p, result in zip(problems, results, strict=True)
        ],
    }


def _grouped(steps: Iterable[StepRecord]) -> StepsOf:
    by_problem: dict[str, list[StepRecord]] = {}
    for record in steps:
        by_problem.setdefault(record.problem, []).append(record)
    return lambda problem: by_problem.get(problem.id, [])
