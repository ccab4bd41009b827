"""Simulate how far a schedule can move the draws of a training away from equal draws.

The stage weights of a training depend on its probe losses, which are unknown before it starts. This
module therefore runs the schedule and the mixture of the training, without a model, on the courses
of probe losses in `COURSES`. In every course, the loss of every stage begins at ln 2, the DPO loss
before training. The reach is the largest share of examples that differs from equal draws:

    moved = sum over stages of max(0, draws of the stage - its draws with equal weights)

The schedules fixed and single:STAGE ignore the losses, so they have no reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ...records import Json
from .curriculum import Schedule
from .mixture import Mixture
from .settings import TrainConfig

START = math.log(2)  # the DPO loss of every stage before training
ADAPTIVE = ("momentum", "remaining-loss")  # schedules whose weights depend on the probe losses

Course = Callable[[float, int], float]
"""The probe loss of a stage as a share of ln 2, by the share of the training that is over (0 to 1)
and the position of the stage (from 0)."""

_RATES = ((0.03, 0.05), (0.43, 0.2), (0.87, 0.5))  # of the course of three rates: (end, time)


def _fall(over: float, end: float, duration: float) -> float:
    """Return an exponential fall from 1 to `end` with a time constant."""
    return end + (1 - end) * math.exp(-over / duration)


COURSES: Mapping[str, Course] = {
    "one stage falls to 0 at once, the others do not fall":
        lambda over, place: float(over == 0 or place > 0),
    "two stages fall to 0 at once, the others do not fall":
        lambda over, place: float(over == 0 or place > 1),
    "one stage falls steadily to 0, the others do not fall":
        lambda over, place: 1 - over if place == 0 else 1.0,
    "two stages fall steadily to 0 in the first half, the others do not fall":
        lambda over, place: max(0.0, 1 - 2 * over) if place < 2 else 1.0,
    "the stages fall fast, less fast and slowly to .02, .3 and .6":
        lambda over, place: _fall(over, *_RATES[place % 3]),
    "all stages fall equally to 0":
        lambda over, place: 1 - over,
}  # fmt: skip
"""Courses of probe losses by description."""


@dataclass(frozen=True)
class Reach:
    """How far a schedule moves the draws of a training in one course of probe losses.

    Attributes:
        schedule: The name of the schedule.
        course: The name of the course in `COURSES`.
        examples: The number of draws in the training.
        moved: The number of draws that differ from equal draws.
        shares: The share of each stage among all draws.
    """

    schedule: str
    course: str
    examples: int
    moved: int
    shares: Mapping[str, float]

    @property
    def moved_share(self) -> float:
        """The share of the draws that differ from equal draws, from 0 to 1."""
        return self.moved / self.examples

    def describe(self) -> str:
        """Return one sentence for people, which takes this reach as the largest of all courses."""
        shares = "/".join(f"{share:.0%}".removesuffix("%") for share in self.shares.values())
        return (
            f"In {len(COURSES)} simulated courses of the probe losses, {self.schedule} moves at most"
            f" {self.moved_share:.1%} of {self.examples:,} draws (shares of"
            f" {'/'.join(self.shares)}: {shares}%)."
        )

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the reach that `to_record` recorded."""
        return cls(**{name: record[name] for name in cls.__dataclass_fields__})

    def to_record(self) -> dict[str, Json]:
        """Return the reach as a JSON object."""
        return {
            "schedule": self.schedule, "course": self.course, "examples": self.examples,
            "moved": self.moved, "moved_share": self.moved_share, "shares": dict(self.shares),
        }  # fmt: skip


def simulate_reach(settings: TrainConfig, stages: Sequence[str], course: str) -> Reach:
    """Return how far the schedule of a training moves its draws in one course of probe losses.

    Args:
        settings: The settings of the training.
        stages: The stages that have pairs.
        course: A name in `COURSES`.

    Raises:
        UsageError: No stage that the schedule draws has pairs.
    """
    schedule, losses = settings.make_schedule(stages), COURSES[course]
    for period in range(settings.periods):  # the last probe moves no draw
        over = period / max(1, settings.periods - 1)
        schedule.update({s: START * losses(over, place) for place, s in enumerate(stages)})
    return _compare_with_equal(schedule, settings, course)


def find_reach(settings: TrainConfig, stages: Sequence[str]) -> Reach | None:
    """Return the largest reach of a training among all courses; None if its draws cannot move.

    Args:
        settings: The settings of the training.
        stages: The stages that have pairs.
    """
    if settings.schedule not in ADAPTIVE or len(stages) < 2:
        return None
    found = (simulate_reach(settings, stages, course) for course in COURSES)
    return max(found, key=lambda one: one.moved)


def _compare_with_equal(schedule: Schedule, settings: TrainConfig, course: str) -> Reach:
    stages = schedule.stages
    mixture = Mixture(
        {s: [place] for place, s in enumerate(stages)}, settings.seed, settings.period
    )
    equal = [dict.fromkeys(stages, 1.0)] * settings.periods
    drawn, usual = (
        mixture.usage(history, settings.examples) for history in (schedule.history, equal)
    )
    moved = sum(max(0, drawn[stage].draws - usual[stage].draws) for stage in stages)
    shares = {stage: drawn[stage].draws / settings.examples for stage in stages}
    return Reach(schedule.name, course, settings.examples, moved, shares)
