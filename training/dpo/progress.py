"""What a training tells its caller while it runs, and what it lets the caller measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...records import Message

Ask = Callable[[Sequence[Sequence[Message]], int], list[str]]
"""Prompts and a seed to answers of the model under training, at temperature 1, one each; "" where the
model holds no more than the prompt."""

Sampled = Callable[[Ask], Mapping[str, float]]
"""What a caller measures on answers that it asks for: a number by name, at least
"instruction_following", the share of answers that can be read. Prompts and seed should be the same
at each call. Called before training and every `sample_every` periods."""


@dataclass(frozen=True)
class Progress:
    """What is known after an update or a probe. Of the probe: by stage, then by name of
    `log.PROBES`; weights: by stage, of the present period; said: warnings so far, one sentence each.
    doing: "train", or what takes long beside it: "tokens", "reference", "probe", "sample", "save"."""

    examples: int
    total: int
    seconds: float  # of training so far, those before a resume counted
    train_loss: float | None = None
    probes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    sampled: Mapping[str, float] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    doing: str = "train"
