"""What a training reports to its caller while it runs, and what it lets the caller measure."""

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
    """Raised inside a pass through the model to end the training at its last finished update."""


@dataclass(frozen=True)
class Progress:
    """The state of a training after an update or a probe.

    Attributes:
        examples: Examples seen so far.
        total: Examples of the complete training.
        seconds: Training time so far, including the time before a resume.
        train_loss: The loss of the last update.
        probes: By stage, then by name of `PROBE_METRICS`.
        weights: Weights of the current period, by stage.
        samples: The last measurements of the sampler.
        messages: Warnings so far, one sentence each.
        phase: "train", or a long step in between: "tokens", "reference", "probe", "sample", "save".
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

METRICS = (*PROBE_METRICS, *CURRICULUM_METRICS, *UPDATE_METRICS, *SAMPLE_METRICS)


class TrainingLog(Protocol):
    """The log that a training writes its points to."""

    def open(self, training: str, settings: Mapping[str, Json]) -> None:
        """Begin a training, or resume the one of that name.

        Args:
            training: The id of the training.
            settings: The `TrainConfig` record under "settings", its digest, the digest of the pairs
                ("pairs"), the base ("base": name and digest of the weights), "stages" and "pools".
        """

    def log_point(self, examples: int, stage: str, name: str, value: float) -> None:
        """Write a point; writing it again replaces the value.

        Args:
            examples: The number of examples seen before it.
            stage: One of `stages.STAGES`, or an empty string.
            name: One of `METRICS`.
            value: The value.
        """

    def close(self, status: str, fields: Mapping[str, Json]) -> None:
        """End the training; a resume may open it again.

        Args:
            status: One of `store.trainings.STATUSES`.
            fields: The final record.
        """


class ListLog:
    """A log in memory; `points` maps (examples, stage, name) to the value."""

    def __init__(self) -> None:
        self.training = ""
        self.settings: dict[str, Json] = {}
        self.points: dict[tuple[int, str, str], float] = {}
        self.status = "running"
        self.fields: dict[str, Json] = {}

    def open(self, training: str, settings: Mapping[str, Json]) -> None:
        """Begin or resume a training."""
        self.training, self.settings, self.status = training, dict(settings), "running"

    def log_point(self, examples: int, stage: str, name: str, value: float) -> None:
        """Append a point to the list."""
        self.points[examples, stage, name] = value

    def close(self, status: str, fields: Mapping[str, Json]) -> None:
        """Store the final status and record."""
        self.status, self.fields = status, dict(fields)

    def curve(self, stage: str, name: str) -> list[tuple[int, float]]:
        """Return (examples, value) of a name in a stage, sorted by examples."""
        found = [(at, v) for (at, s, n), v in self.points.items() if (s, n) == (stage, name)]
        return sorted(found)
