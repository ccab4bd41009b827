"""Decide how often pairs of each stage are drawn in each period of a training.

A stage is a class of preference pairs: parsing, consistency or GEAR. Four schedules implement one
Protocol: `momentum` (GEAR, section 6.2), `fixed` (constant shares), `single:STAGE` and
`remaining-loss` (not in the paper). A period is the run of examples between two probes
(measurements on validation pairs). The weights of a period are fixed before its first example is
drawn and never change afterwards. `mixture.py` decides which pair comes next.

The momentum schedule computes weights for R stages (R = 3 unless a stage has no pairs) from the
probe loss L of each stage:

    E(t) = (1 - alpha) E(t-1) + alpha L(t)          E(0) = L(0), probed before training
    m(t) = clip(E(t-1) - E(t), 0, m_max)
    w(t) = clip(R (epsilon + m(t)) / sum over stages of (epsilon + m(t)), w_min, w_max)

The weights of a period have mean 1 before they are clipped, and the mixture divides them by their
sum. These choices are open in the paper or differ from it:
 - Period 0 uses weight 1 for every stage, because no progress is known yet.
 - The weights are normalised and then clipped, as in the released code, and not normalised again.
 - `lag=2` uses the released code's difference E(t-2) - E(t). At its first update E(-1) is E(0), so
   the first difference covers only one update.
 - With the paper's settings the bounds never take effect (`MomentumSchedule.weight_range` returns
   the possible range).
 - A stage without training pairs or validation pairs is left out of every schedule
   (`trainable_stages`). The released code gives a stage without a probe most of the draws.

The momentum schedule prefers what improves fastest. A stage that stops improving has a weight of at most 1,
however large its loss still is. The schedule remaining-loss prefers the stages with the largest
remaining loss instead:

    w(t) = R (min_share + (1 - R min_share) L(t) / sum over stages of L(t))

Before training, the policy equals the reference, so the DPO loss of every stage is ln 2. Therefore
dividing each loss by its initial value would change nothing. All shares lie between min_share and
1 - (R - 1) min_share, and the weights have mean 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, Self

from pydantic import model_validator
from pydantic_core import ErrorDetails

from ...records import DataError, Json, PeirceError, UsageError
from ...records.settings import setting
from ..settings import Real, TrainingSettings
from ..stages import STAGES

REMAINING_LOSS = "remaining-loss"
SCHEDULES = ("momentum", "fixed", REMAINING_LOSS, *(f"single:{stage}" for stage in STAGES))
EQUAL_MIX = ":".join("1" for _ in STAGES)

StageWeights = Mapping[str, float]  # by stage, with mean 1 unless clipped; not probabilities


class Schedule(Protocol):
    """The weights with which a training draws pairs of each stage, in each period.

    All schedules have the same probes, periods and numbers of examples.
    """

    @property
    def name(self) -> str:
        """The name of the schedule, one of `SCHEDULES`."""

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages for which the schedule has a weight. The weight may be 0."""

    @property
    def history(self) -> Sequence[StageWeights]:
        """The weights of every period so far, ending with the current period, as `Mixture` needs
        them.
        """

    def weights(self) -> StageWeights:
        """Return the weights of the current period, which are `history[-1]`."""

    def update(self, losses: Mapping[str, float]) -> StageWeights:
        """Compute and return the weights of the next period from the probe loss of each stage.

        The first call, before the training, only stores the losses with which later losses are
        compared. Each later call begins a new period.
        """

    def state_dict(self) -> Json:
        """Return the state that determines all later weights, as JSON.

        Floats keep their exact values in JSON.
        """

    def load_state_dict(self, state: Json) -> None:
        """Restore a state that `state_dict` returned.

        Raises:
            UsageError: The state belongs to a schedule with another name, other stages or other
                settings.
        """


class DpoSettings(TrainingSettings):
    """Base class of settings whose error messages state the valid values after a semicolon."""

    @classmethod
    def describe_error(cls, error: ErrorDetails, data: Any) -> str:
        """Return one sentence that explains why a value is invalid."""
        said = super().describe_error(error, data)
        return said.replace(": it must be one of", "; valid:").replace(": it must", "; it must")


class MomentumSettings(DpoSettings):
    """The settings of the momentum schedule. The defaults come from GEAR, section 6.2."""

    alpha: Real = setting(0.1, "Weight of the latest probe loss in its moving average.", gt=0, le=1)
    epsilon: Real = setting(
        0.1,
        "Constant added to the improvement of each stage, so that a stage without progress is"
        " still drawn.",
        gt=0,
    )
    m_max: Real = setting(0.03, "Maximum improvement that is counted.", gt=0)
    w_min: Real = setting(0.8, "Minimum weight of a stage; the mean weight is 1.")
    w_max: Real = setting(1.2, "Maximum weight of a stage.")
    lag: Literal[1, 2] = setting(1, "Number of updates between the two averages that are compared: 1 as in the paper, 2 as"
        " in the released code.")  # fmt: skip

    @model_validator(mode="after")
    def _bounds_hold_the_mean(self) -> Self:
        if not 0 <= self.w_min <= 1 <= self.w_max:
            raise UsageError(
                f"The bounds of the weights are {self.w_min} and {self.w_max}; the mean weight is 1, "
                "so w_min must be from 0 to 1 and w_max at least 1."
            )
        return self


class ConstantSchedule:
    """The schedules `fixed` and `single:STAGE`: constant weights that do not depend on the
    losses. The weights have mean 1.
    """

    def __init__(self, name: str, weights: StageWeights) -> None:
        self._name = name
        self._weights = dict(weights)
        self._updates = 0

    @property
    def name(self) -> str:
        """Return the name of the schedule, one of `SCHEDULES`."""
        return self._name

    @property
    def stages(self) -> tuple[str, ...]:
        """Return the stages that the schedule draws pairs from."""
        return tuple(self._weights)

    @property
    def history(self) -> Sequence[StageWeights]:
        """Return the weights of all periods so far, oldest first."""
        return [self.weights() for _ in range(max(1, self._updates))]

    def weights(self) -> StageWeights:
        """Return the weights of the stages in the current period."""
        return dict(self._weights)

    def update(self, losses: Mapping[str, float]) -> StageWeights:
        """Begin the next period, and return the constant weights. The losses are ignored."""
        self._updates += 1
        return self.weights()

    def state_dict(self) -> Json:
        """Return the state of the schedule as JSON, for a checkpoint."""
        return {**self._identity(), "updates": self._updates}

    def load_state_dict(self, state: Json) -> None:
        """Restore a state that `state_dict` returned; see `Schedule.load_state_dict`."""
        _refuse_another(state, self._identity())
        self._updates = int(_held(state, "updates"))

    def _identity(self) -> dict[str, Json]:
        return {"schedule": self._name, "stages": list(self._weights)}


class _AdaptiveSchedule:
    """The stages and the weights so far of a schedule whose weights depend on the losses."""

    def __init__(self, stages: Iterable[str]) -> None:
        self._stages = tuple(stages)
        self._history: list[StageWeights] = [dict.fromkeys(self._stages, 1.0)]

    @property
    def stages(self) -> tuple[str, ...]:
        """Return the stages that the schedule draws pairs from."""
        return self._stages

    @property
    def history(self) -> Sequence[StageWeights]:
        """Return the weights of all periods so far, oldest first."""
        return [dict(weights) for weights in self._history]

    def weights(self) -> StageWeights:
        """Return the weights of the stages in the current period."""
        return dict(self._history[-1])


class MomentumSchedule(_AdaptiveSchedule):
    """A schedule that gives more weight to the stages that improve fastest (GEAR, section 6.2).

    The module docstring has the formula.

    Attributes:
        averages: The averaged loss E of each stage at the last update; empty before the first
            update.
        improvements: The improvement m of each stage at the last update; empty until the second
            update.
    """

    def __init__(self, stages: Iterable[str], settings: MomentumSettings | None = None) -> None:
        super().__init__(stages)
        self.settings = settings or MomentumSettings()
        self.averages: dict[str, float] = {}
        self.improvements: dict[str, float] = {}
        self._before: dict[str, float] = {}  # the averages one update before `averages`

    @property
    def name(self) -> str:
        """Return the name of the schedule, one of `SCHEDULES`."""
        return "momentum"

    def update(self, losses: Mapping[str, float]) -> StageWeights:
        """Compute and return the weights of the next period; see `Schedule.update`.

        Raises:
            PeirceError: A loss is missing or not finite. The schedule is then unchanged.
        """
        newest = {stage: _loss_of(stage, losses) for stage in self._stages}
        if not self.averages:
            self.averages = self._before = newest
            return self.weights()
        one = self.settings
        averages = {s: (1 - one.alpha) * self.averages[s] + one.alpha * newest[s] for s in newest}
        since = self.averages if one.lag == 1 else self._before
        self.improvements = {s: _clip(since[s] - averages[s], 0.0, one.m_max) for s in newest}
        self._before, self.averages = self.averages, averages
        self._history.append(self._weighted(self.improvements))
        return self.weights()

    def weight_range(self) -> tuple[float, float]:
        """Return the smallest and the largest weight that any losses can produce.

        A bound outside this range has no effect. With the defaults the range is 3 x .10 / .36 =
        .833 to 3 x .13 / .33 = 1.182.
        """
        count, one = len(self._stages), self.settings
        least = count * one.epsilon / (count * one.epsilon + (count - 1) * one.m_max)
        most = count * (one.epsilon + one.m_max) / (count * one.epsilon + one.m_max)
        return max(least, one.w_min), min(most, one.w_max)

    def state_dict(self) -> Json:
        """Return the state of the schedule as JSON, for a checkpoint."""
        return {
            **self._identity(),
            "averages": dict(self.averages),
            "before": dict(self._before),
            "improvements": dict(self.improvements),
            "history": [dict(weights) for weights in self._history],
        }

    def load_state_dict(self, state: Json) -> None:
        """Restore a state that `state_dict` returned; see `Schedule.load_state_dict`."""
        _refuse_another(state, self._identity())
        held = {key: _held(state, key) for key in ("averages", "before", "improvements", "history")}
        self.averages, self._before = dict(held["averages"]), dict(held["before"])
        self.improvements = dict(held["improvements"])
        self._history = [dict(weights) for weights in held["history"]]

    def _weighted(self, improvements: Mapping[str, float]) -> StageWeights:
        one = self.settings
        raw = {stage: one.epsilon + m for stage, m in improvements.items()}
        total = math.fsum(raw.values())
        return {
            s: _clip(len(raw) * share / total, one.w_min, one.w_max) for s, share in raw.items()
        }

    def _identity(self) -> dict[str, Json]:
        return {
            "schedule": self.name,
            "stages": list(self._stages),
            "settings": self.settings.to_record(),
        }


class RemainingLossSchedule(_AdaptiveSchedule):
    """A schedule that gives more weight to the stages with the largest remaining loss.

    The module docstring has the formula. If all losses are 0, the weights are equal.

    Args:
        stages: The stages to draw from.
        min_share: The minimum share of the draws for each stage, at most 1 / the number of stages.

    Raises:
        UsageError: The minimum share is invalid.
    """

    def __init__(self, stages: Iterable[str], min_share: float = 0.1) -> None:
        super().__init__(stages)
        if not 0 <= min_share * len(self._stages) <= 1:
            raise UsageError(
                f"min_share is {min_share:g}; it must be from 0 to 1 / {len(self._stages)}, because"
                f" {len(self._stages)} stages share the draws."
            )
        self.min_share = min_share
        self._updates = 0

    @property
    def name(self) -> str:
        """Return the name of the schedule, one of `SCHEDULES`."""
        return REMAINING_LOSS

    def update(self, losses: Mapping[str, float]) -> StageWeights:
        """Compute and return the weights of the next period; see `Schedule.update`.

        Raises:
            PeirceError: A loss is missing, not finite or negative. The schedule is then unchanged.
        """
        newest = {stage: _loss_of(stage, losses) for stage in self._stages}
        least = min(newest, key=newest.__getitem__)
        if newest[least] < 0:
            raise PeirceError(
                f"The probe loss of the stage {least} is {newest[least]}; a DPO loss is at least 0."
            )
        self._updates += 1
        if self._updates > 1:
            self._history.append(self._weighted(newest))
        return self.weights()

    def state_dict(self) -> Json:
        """Return the state of the schedule as JSON, for a checkpoint."""
        return {**self._identity(), "updates": self._updates, "history": self.history}

    def load_state_dict(self, state: Json) -> None:
        """Restore a state that `state_dict` returned; see `Schedule.load_state_dict`."""
        _refuse_another(state, self._identity())
        updates, history = _held(state, "updates"), _held(state, "history")
        self._updates, self._history = int(updates), [dict(weights) for weights in history]

    def _weighted(self, losses: Mapping[str, float]) -> StageWeights:
        count, total = len(losses), math.fsum(losses.values())
        if total == 0:
            return dict.fromkeys(losses, 1.0)
        free = 1 - count * self.min_share
        return {s: count * (self.min_share + free * loss / total) for s, loss in losses.items()}

    def _identity(self) -> dict[str, Json]:
        return {"schedule": self.name, "stages": list(self._stages), "min_share": self.min_share}


def parse_mix(mix: str) -> dict[str, float]:
    """Return the part of each stage in a mix such as "3:1:1", in the order of `STAGES`.

    Raises:
        UsageError: The mix does not have one number of at least 0 for each stage, or all are 0.
    """
    try:
        parts = [float(part) for part in mix.split(":")]
    except ValueError:
        parts = []
    if (
        len(parts) != len(STAGES)
        or not all(0 <= part < math.inf for part in parts)
        or not any(parts)
    ):
        raise UsageError(
            f"mix is {mix!r}; it must be {len(STAGES)} numbers of at least 0 for"
            f" {', '.join(STAGES)}, separated by colons, such as 3:1:1."
        )
    return dict(zip(STAGES, parts, strict=True))


def make_schedule(
    name: str,
    stages: Sequence[str] = STAGES,
    momentum: MomentumSettings | None = None,
    *,
    mix: str = EQUAL_MIX,
    min_share: float = 0.1,
) -> Schedule:
    """Return the schedule `name`, which decides how often pairs of each stage are drawn.

    Args:
        name: One of `SCHEDULES`.
        stages: The stages of `STAGES` that have pairs (`trainable_stages`).
        momentum: The settings of the momentum schedule; the other schedules ignore this argument.
        mix: The parts of the stages in the schedule fixed (`parse_mix`); the others ignore it.
        min_share: The minimum share of each stage in the schedule remaining-loss; the others ignore
            it.

    Raises:
        UsageError: The name is unknown, the mix or the minimum share is invalid, or no stage that
            the schedule draws has pairs.
    """
    if name not in SCHEDULES:
        raise UsageError(f"Unknown schedule {name!r}; valid: {', '.join(SCHEDULES)}.")
    if not stages:
        raise UsageError("No stage has pairs, so there is nothing to train on.")
    if name == "momentum":
        return MomentumSchedule(stages, momentum)
    if name == REMAINING_LOSS:
        return RemainingLossSchedule(stages, min_share)
    if name == "fixed":
        parts = {stage: part for stage, part in parse_mix(mix).items() if stage in stages}
        total = math.fsum(parts.values())
        if not total:
            raise UsageError(
                f"The mix {mix} has nothing to train on: only {', '.join(stages)} has pairs."
            )
        return ConstantSchedule(name, {s: len(parts) * part / total for s, part in parts.items()})
    only = name.removeprefix("single:")
    if only not in stages:
        raise UsageError(f"{name} has nothing to train on: only {', '.join(stages)} has pairs.")
    return ConstantSchedule(name, {stage: float(len(stages)) * (stage == only) for stage in stages})


def trainable_stages(
    training: Mapping[str, int], validation: Mapping[str, int]
) -> tuple[tuple[str, ...], list[str]]:
    """Return the stages that can be trained and probed, and one sentence for each excluded stage.

    A stage is excluded if it has no training pairs or no validation pairs. The result does not
    depend on the schedule, so different schedules can be compared on the same stages.

    Args:
        training: The number of training pairs of each stage.
        validation: The number of validation pairs of each stage.

    Raises:
        UsageError: No stage is left.
    """
    stages, said = [], []
    for stage in STAGES:
        lacking = [
            split
            for split, counts in (("training", training), ("validation", validation))
            if counts.get(stage, 0) < 1
        ]
        if lacking:
            said.append(
                f"The stage {stage} is left out: it has no {' and no '.join(lacking)} pairs."
            )
        else:
            stages.append(stage)
    if not stages:
        raise UsageError(f"There is nothing to train on. {' '.join(said)}")
    return tuple(stages), said


def _loss_of(stage: str, losses: Mapping[str, float]) -> float:
    if stage not in losses:
        given = ", ".join(losses) or "none"
        raise PeirceError(f"No probe loss of the stage {stage} was given; given: {given}.")
    loss = float(losses[stage])
    if not math.isfinite(loss):
        raise PeirceError(
            f"The probe loss of the stage {stage} is {loss}: training has diverged. Start again"
            " with a lower learning rate."
        )
    return loss


def _clip(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


def _held(state: Json, key: str) -> Json:
    if not isinstance(state, dict) or key not in state:
        raise DataError(
            f"The saved state of the curriculum has no {key!r}: it is cut or no such state."
        )
    return state[key]


def _refuse_another(state: Json, wanted: Mapping[str, Json]) -> None:
    for key, value in wanted.items():
        if (saved := _held(state, key)) != value:
            raise UsageError(
                f"The checkpoint was trained with {key} {saved}, not {value}. Resume with the"
                " same value, or start a new training."
            )
