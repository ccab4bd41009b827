"""The steps of the experiment of GEAR's table 4, in the order in which they are done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...records import Problem
from ...training.splits import Split, problem_group
from .published_files import DataSet
from .settings import ReproductionConfig

BASE = "base"
PAIRS_STEP, RESULTS_STEP = "pairs", "results"
StepKind: TypeAlias = Literal["collect", "pairs", "train", "evaluate", "results"]


@dataclass(frozen=True)
class Step:
    """A step of the experiment.

    Attributes:
        name: The name, by which a finished step is known.
        kind: The kind of the step.
        model: For collect, the model; for train and evaluate, the schedule or "base".
        data_set: For collect and evaluate, the data set.
        shown: For collect, the number of shown pairs.
        problems: For collect and evaluate, the ids of the problems.
    """

    name: str
    kind: StepKind
    model: str = ""
    data_set: DataSet | None = None
    shown: int = 0
    problems: tuple[str, ...] = ()


def plan_steps(
    config: ReproductionConfig, data_sets: Sequence[DataSet], splits: Mapping[str, Split]
) -> list[Step]:
    """Return all steps.

    Sessions of collecting models are on training and validation problems alone. Each trained model
    is evaluated right after its training.

    Args:
        config: The settings.
        data_sets: The data sets.
        splits: The split of each group of problems.
    """
    steps = []
    for model in dict.fromkeys(config.collect):
        for one in data_sets:
            for n, ids in one.shown.items():
                chosen = tuple(
                    problem.id for problem in one.problems
                    if problem.id in ids and _split(problem, splits) is not Split.HELD_OUT
                )  # fmt: skip
                if chosen:
                    name = f"collect {model} {one.task} {n}"
                    steps.append(Step(name, "collect", model, one, n, chosen))
    steps.append(Step(PAIRS_STEP, "pairs"))
    for variant in (BASE, *config.schedule):
        if variant != BASE:
            steps.append(Step(f"train {variant}", "train", variant))
        for one in data_sets:
            held = [p.id for p in one.problems if _split(p, splits) is Split.HELD_OUT]
            if held:
                chosen = tuple(held[: config.held_out])
                name = f"evaluate {variant} {one.task}"
                steps.append(Step(name, "evaluate", variant, one, 0, chosen))
    return [*steps, Step(RESULTS_STEP, "results")]


def _split(problem: Problem, splits: Mapping[str, Split]) -> Split:
    return splits[problem_group(problem)]
