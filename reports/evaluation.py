"""What an evaluation is. A module of this room that defines `EVALUATION` is one: it turns the
stored steps of a problem into numbers, and never calls a model or a tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ..records import InputSet, Problem, StepRecord


@dataclass(frozen=True)
class Metric:
    """better: the good direction; None where more is neither good nor bad."""

    name: str
    better: Literal["higher", "lower"] | None
    about: str

    @property
    def arrow(self) -> str:
        return {"higher": "↑", "lower": "↓", None: ""}[self.better]


class ProblemMetrics(Protocol):
    def __call__(
        self, problem: Problem, steps: Sequence[StepRecord], space: InputSet | None = None
    ) -> dict[str, float | None]:
        """One value for each metric, None where the problem has none.

        steps: of this problem alone, in order. space: its sample space, where the evaluation
        needs the weights of its inputs; without it all inputs weigh the same.
        """
        ...


@dataclass(frozen=True)
class Evaluation:
    """families: those it can score. default_for: those it is the evaluation of by default."""

    name: str
    about: str
    families: frozenset[str]
    metrics: tuple[Metric, ...]
    of_problem: ProblemMetrics
    default_for: frozenset[str] = frozenset()

    @property
    def metric_names(self) -> tuple[str, ...]:
        return tuple(metric.name for metric in self.metrics)
