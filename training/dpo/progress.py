"""The progress and the measurements that a training reports to its caller while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ...records import Json, Message

SampleAnswers = Callable[[Sequence[Sequence[Message]], int], list[str]]
"""Sample one answer per prompt from the model in training, at temperature 1, by a seed.
An answer is empty where the prompt fills the context of the model."""

MeasureSamples = Callable[[SampleAnswers], Mapping[str, float]]
"""Measure sampled answers: return values by name, at least "instruction_following", the share of
answers that can be parsed. Prompts and seed should be the same at each call. It is called before
training and every `sample_every` periods."""


class TrainingInterrupted(Exception):
    """Raised while the model computes, to end the training at its last finished update."""


@dataclass(frozen=True)
class Progress:
    """The state of a training after an update or a probe.

    Attributes:
        examples: The number of examples seen so far.
        total: The number of examples of the complete training.
        seconds: The training time so far in seconds, including the time before a resume.
        train_loss: The loss of the last update; None before the first update.
        probes: The last probe's values, by stage and then by name of `PROBE_METRICS`.
        weights: The weight of each stage in the current period.
        samples: The last measurements on sampled answers, by name.
        messages: The notes and warnings so far, one sentence each.
        phase: What the training is doing: "train", "tokens", "reference", "probe", "sample" or
            "save".
        reach: How far the schedule can move the draws, as a sentence; empty if it cannot.
    """

    examples: int
    total: int
    seconds: float  # includes the time before a resume
    train_loss: float | None = None
    probes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    samples: Mapping[str, float] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    phase: str = "train"
    reach: str = ""


# --- The names of the points in the log of a training.
#
# A point is a value at a number of examples, for a stage or for none (`""`). A resumed training
# writes points again that it wrote before it was killed, with the same values. The last one counts.

PROBE_METRICS = (
    "probe_loss",
    "probe_accuracy",
    "probe_margin",
    "chosen_logratio",
    "rejected_logratio",
)
"""Values of each stage at each probe: the mean DPO loss; the share of pairs with a higher log-ratio
for the chosen answer than for the rejected one (a tie counts half; TRL's rewards/accuracies); the
mean difference of the two log-ratios times beta (TRL's rewards/margins); the mean log-ratios of
policy over reference, summed over an answer's tokens (nats)."""

CURRICULUM_METRICS = ("ewma", "improvement", "weight", "share", "drawn")
"""Values of each stage at each probe: the averaged loss and the clipped improvement (momentum only,
the latter from the second probe on); the weight in the next period, with mean 1 unless a bound
clips it; its share of that period's draws as a probability; the number of draws so far."""

UPDATE_METRICS = ("train_loss", "learning_rate", "grad_norm", "seconds")
"""Values without a stage, written at each update. Only seconds is written at each probe: the
training time so far, without the time between a stop and a resume."""

SAMPLE_METRICS = ("instruction_following", "consistent")
"""Values without a stage: what the caller's sampler returned, under its names."""

TIMED_PARTS = ("updates", "probes", "samples", "reference", "saving")
"""The parts of the training time: weight updates; probes of the model on validation pairs; sampled
answers, including their judgement; log-probabilities of the reference model; checkpoints and the
trained weights. The remainder, for example drawing pairs and loading libraries, is "other"."""

METRICS = (*PROBE_METRICS, *CURRICULUM_METRICS, *UPDATE_METRICS, *SAMPLE_METRICS)


class TrainingLog(Protocol):
    """An object that records the measurements of a training."""

    def open(self, training: str, settings: Mapping[str, Json]) -> None:
        """Begin the log of a training, or continue the log if the training exists.

        Args:
            training: The id of the training.
            settings: A record with the keys "settings" (the `TrainConfig`), "digest" (the digest of
                the settings), "pairs" (the digest of the pairs), "base" (name and weights digest of
                the base model), "stages" and "pools".
        """

    def log_point(self, examples: int, stage: str, name: str, value: float) -> None:
        """Record one value. A later value with equal `examples`, `stage` and `name` replaces it.

        Args:
            examples: The number of examples seen before the measurement.
            stage: One of `stages.STAGES`; an empty string if the value belongs to no stage.
            name: One of `METRICS`.
            value: The measured value.
        """

    def close(self, status: str, fields: Mapping[str, Json]) -> None:
        """Record the end of the training. A resumed training may open the log again.

        Args:
            status: One of `store.trainings.STATUSES`.
            fields: The final measurements.
        """


class ListLog:
    """A training log in memory. Its `points` map (examples, stage, name) to the measured value."""

    def __init__(self) -> None:
        self.training = ""
        self.settings: dict[str, Json] = {}
        self.points: dict[tuple[int, str, str], float] = {}
        self.status = "running"
        self.fields: dict[str, Json] = {}

    def open(self, training: str, settings: Mapping[str, Json]) -> None:
        """Store the id and the settings of the training, and set the status to "running"."""
        self.training, self.settings, self.status = training, dict(settings), "running"

    def log_point(self, examples: int, stage: str, name: str, value: float) -> None:
        """Store one measured value in `points`."""
        self.points[examples, stage, name] = value

    def close(self, status: str, fields: Mapping[str, Json]) -> None:
        """Store the final status and the final measurements."""
        self.status, self.fields = status, dict(fields)

    def curve(self, stage: str, name: str) -> list[tuple[int, float]]:
        """Return the values with one stage and name as (examples, value), sorted by examples."""
        found = [(at, v) for (at, s, n), v in self.points.items() if (s, n) == (stage, name)]
        return sorted(found)
