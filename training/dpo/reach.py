"""Simulate how far a schedule can move the draws of a training away from equal draws.

The stage weights of a training depend on its probe losses, which are unknown before it starts. This
module therefore runs the schedule and the mixture of the training, without a model, on the courses
of probe losses in `COURSES`. In every course, the loss of every stage begins at ln 2, the DPO loss
before training. The reach is the largest share of examples that differs from equal draws:

    moved = sum over stages of max(0, draws of the stage - its draws with equal weights)

Two of the courses come from a linear program (`tests/training/dpo/test_reach.py`): for lag 1 and for
lag 2, they are the ones in which momentum with the published settings moves most, among all courses
in which no loss rises. With other settings, another course may move more. `bound_moved_share`
therefore returns a share that no course exceeds.

The schedules fixed and single:STAGE ignore the losses, so they have no reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ...records import Json
from .curriculum import MomentumSchedule, Schedule
from .mixture import Mixture
from .settings import TrainConfig

START = math.log(2)  # the DPO loss of every stage before training
ADAPTIVE = ("momentum", "remaining-loss")  # schedules whose weights depend on the probe losses

Course = Callable[[float, int], float]
"""The probe loss of a stage as a share of ln 2, by the share of the training that is over (0 to 1)
and the position of the stage (from 0)."""

_RATES = ((0.03, 0.05), (0.43, 0.2), (0.87, 0.5))  # of the course of three rates: (end, time)


def _drop(over: float, rest: float, end: float) -> float:
    """Return a fall from 1 to `rest` at once, and from there steadily to 0 at the time `end`."""
    return 1.0 if over == 0 else max(0.0, rest * (1 - over / end))


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
    "one stage falls to .64 at once, then steadily to 0 at 40% of the training, the others do not fall":
        lambda over, place: _drop(over, 0.64, 0.4) if place == 0 else 1.0,
    "one stage falls to .8 at once, then steadily to 0 at 95% of the training, the others do not fall":
        lambda over, place: _drop(over, 0.8, 0.95) if place == 0 else 1.0,
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
        bound: A share of the draws that differs from equal draws in no course in which no probe loss
            rises, apart from rounding (`bound_moved_share`).
    """

    schedule: str
    course: str
    examples: int
    moved: int
    shares: Mapping[str, float]
    bound: float

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
            f" {'/'.join(self.shares)}: {shares}%); while no probe loss rises, it cannot move more than"
            f" {self.bound:.1%}."
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
            "bound": self.bound,
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


def bound_moved_share(
    settings: TrainConfig, stages: Sequence[str], *, rising: bool = False
) -> float:
    """Return a share of the draws that momentum or remaining-loss moves in no course of probe losses.

    The bound applies to the expected numbers of draws. `Mixture` rounds them up or down in each
    period. Suppose that k of n stages gain draws, and that the improvements of these k stages have
    the sum M in a period. Their share of this period is then at most (k epsilon + M) / (n epsilon + M).
    This function is concave in M, so its mean over the periods is at most its value at the mean of M.
    If no loss rises, the average loss of a stage falls by at most ln 2 (1 - (1 - alpha)^(P - 1)) in P
    periods, and lag 2 counts every fall twice.

    Args:
        settings: The settings of the training, with an adaptive schedule.
        stages: The stages that have pairs.
        rising: Whether probe losses may also rise during the training.

    Raises:
        UsageError: No stage that the schedule draws has pairs.
    """
    schedule, n, later = settings.make_schedule(stages), len(stages), settings.periods - 1
    if later == 0:
        return 0.0  # the first period draws all stages equally
    if not isinstance(schedule, MomentumSchedule):
        most = 1 - (n - 1) * settings.min_share
        return (most - 1 / n) * later / settings.periods
    one, (low, high) = schedule.settings, schedule.weight_range()
    fall = math.inf if rising else START * (1 - (1 - one.alpha) ** later) * one.lag / later
    # Bounds of the weights can pass draws from one gaining stage to another. Then the improvements of
    # all stages count.
    cut = one.w_min >= low or one.w_max <= high
    shares = []
    for k in range(1, n):
        improvement = min(k * one.m_max, (n if cut else k) * fall)
        free = (k * one.epsilon + improvement) / (n * one.epsilon + improvement)
        bounded = k * one.w_max / (k * one.w_max + (n - k) * one.w_min)
        shares.append(min(free, bounded) - k / n)
    return max(shares) * later / settings.periods


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
    bound = bound_moved_share(settings, stages)
    return Reach(schedule.name, course, settings.examples, moved, shares, bound)
