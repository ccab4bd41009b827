"""DPO by preference pairs, drawn by a schedule of stages (GEAR, section 6.2): `train`.

    log = ListLog()
    train("models/base", table, TrainSettings(schedule="momentum"), Path("runs/first"), log)

What lies in the folder of a training afterwards, and what of it is there at any moment:

    training.json        settings, pairs and base by digest, status, what was measured at the end
    checkpoints/         checkpoint-N after update N, with the curriculum's state; `resume` needs them
    adapter/ or model/   the trained weights (model/ with `full`), with the tokenizer, once it is done
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..records import Json, Message
from .log import TrainingLog
from .settings import TrainSettings

if TYPE_CHECKING:
    from .pair_table import PairTable

Ask = Callable[[Sequence[Sequence[Message]], int], list[str]]
"""Prompts and a seed to answers of the model under training, at temperature 1, one each."""

Sampled = Callable[[Ask], Mapping[str, float]]
"""What a caller measures on answers that it asks for: a number by name, at least
"instruction_following", the share of answers that can be read. Prompts and seed should be the same
at each call. Called before training and every `sample_every` periods."""


@dataclass(frozen=True)
class Progress:
    """What is known after an update or a probe. Of the probe: by stage, then by name of
    `log.PROBES`; weights: by stage, of the present period."""

    examples: int
    total: int
    seconds: float  # since this process began to train
    train_loss: float | None = None
    probes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    sampled: Mapping[str, float] = field(default_factory=dict)
    said: tuple[str, ...] = ()  # warnings so far, each one sentence
    doing: str = "train"  # or "tokens", "reference", "probe", "sample", "save"


@dataclass(frozen=True)
class Trained:
    """What a training came to. status: done, stopped (by a warning, at a probe) or interrupted (by
    `interrupt`; `resume=True` goes on). model: the folder of adapter or model, None where interrupted."""

    training: str
    out: Path
    status: str
    examples: int
    model: Path | None
    fields: Mapping[str, Json]  # as training.json holds them


def train(
    base: str,
    table: PairTable,
    settings: TrainSettings,
    out: Path,
    log: TrainingLog,
    *,
    sampled: Sampled | None = None,
    progress: Callable[[Progress], None] | None = None,
    interrupt: Callable[[], bool] | None = None,
    resume: bool = False,
) -> Trained:
    """Trains `base` (a folder, an id of the hub, or BASE+ADAPTER, as `hf:` takes them) on the
    training pairs of `table` and probes its validation pairs.

    interrupt: asked after each update; true ends the training there, with a checkpoint.
    resume: goes on from the last whole checkpoint in `out` (from the start where there is none).
    UsageError where `out` holds another training (or any, without `resume`), for a base, pairs or
    settings that do not fit each other; DataError for files that cannot be read.
    """
    raise NotImplementedError
