"""Settings of a DPO training: one place for their names, meanings and defaults.

Defaults of GEAR, section 6, and of the released scripts: LoRA 128/256/.05, beta .5, learning rate 1e-5
with cosine and a warmup of .1, 32 pairs a batch, 51,200 examples, a probe of 300 validation pairs a
stage every 1,280 examples, momentum with alpha .1, epsilon .1, m_max .03 and bounds .8 and 1.2. Ours
where both are silent.

A YAML file holds the same names at its top level. An unknown name is an error. What a name means
stands in `describe(name)`.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ...records import DataError, Digest, Json, UsageError, digest_of
from .curriculum import SCHEDULES, MomentumSettings

LR_SCHEDULES = ("cosine", "linear", "constant_with_warmup", "constant")
COMPUTE = ("auto", "float32", "bfloat16")
STOPS = ("never", "following", "log_ratio", "either")
DEVICES = ("auto", "cpu", "cuda", "mps")
# They change neither the weights nor what is drawn: a training may be resumed with others.
_BESIDE = ("sample_every", "sample_tokens", "log_ratio_warning", "following_drop", "stop",
           "save_every", "keep", "report_to")  # fmt: skip


def _said(default: Any, text: str) -> Any:
    return field(default=default, metadata={"text": text})


@dataclass(frozen=True)
class TrainSettings:
    """UsageError, in one sentence, for a value that makes no sense or does not go with another."""

    # what is drawn
    schedule: str = _said("momentum", f"how often each stage is drawn: {', '.join(SCHEDULES)}")
    examples: int = _said(51_200, "pairs drawn in the whole training")
    period: int = _said(
        1_280, "examples between two probes, a multiple of batch that divides examples"
    )
    batch: int = _said(32, "pairs of one update of the weights")
    seed: int = _said(0, "of the draws, the probes and the adapter's first weights")
    # momentum
    alpha: float = _said(0.1, "momentum: weight of the newest probe loss in its average")
    epsilon: float = _said(0.1, "momentum: what a stage without progress keeps")
    m_max: float = _said(0.03, "momentum: most improvement that counts")
    w_min: float = _said(0.8, "momentum: least weight of a stage (the mean weight is 1)")
    w_max: float = _said(1.2, "momentum: greatest weight of a stage")
    lag: int = _said(1, "momentum: 1 compares with the last average (the paper), 2 with the one before (the released code)")  # fmt: skip
    # loss and updates
    beta: float = _said(0.5, "of DPO")
    learning_rate: float = _said(1e-5, "the highest of the schedule")
    lr_schedule: str = _said("cosine", f"of the learning rate: {', '.join(LR_SCHEDULES)}")
    warmup: float = _said(0.1, "part of the updates in which the learning rate rises")
    weight_decay: float = _said(0.0, "of AdamW")
    max_grad_norm: float = _said(1.0, "gradients are clipped to it")
    # what is trained
    full: bool = _said(False, "train all weights, for small models; without it a LoRA adapter")
    lora_rank: int = _said(128, "rank of the adapter")
    lora_alpha: int = _said(256, "scale of the adapter, over its rank")
    lora_dropout: float = _said(0.05, "of the adapter, where dropout is on")
    lora_targets: str = _said("all-linear", "where adapters stand: all-linear, or names of modules by commas")  # fmt: skip
    dropout: bool = _said(
        False, "leave dropout on; TRL switches it off, and so did the released code"
    )
    # how it is computed
    device: str = _said("auto", f"one of {', '.join(DEVICES)}")
    four_bit: bool | None = _said(None, "base in 4 bits (NF4); without it on a GPU yes, on a CPU and with full no")  # fmt: skip
    compute: str = _said("auto", "float32 or bfloat16; auto is bfloat16 on a GPU, float32 on a CPU")
    device_batch: int = _said(
        8, "pairs on a device at once, a divisor of batch; memory, not the result"
    )
    recompute: bool | None = _said(None, "recompute activations to save memory; without it above 1 billion weights")  # fmt: skip
    precompute: bool = _said(True, "log-probabilities of the reference once for each answer, not at each draw")  # fmt: skip
    max_length: int = _said(2_048, "tokens of prompt and answer; a longer pair is refused and counted, never cut")  # fmt: skip
    chat_template: str = _said("", "a Jinja file in place of the model's own, or plain")
    # probes and what watches over the training
    probe_pairs: int = _said(300, "validation pairs of each stage that are probed")
    sample_every: int = _said(1, "periods between two samples of the answers, where a sampler is given; 0 never")  # fmt: skip
    sample_tokens: int = _said(512, "most tokens of a sampled answer")
    log_ratio_warning: float = _said(-0.5, "a chosen log-ratio of a stage below it is a warning")
    following_drop: float = _said(0.05, "instruction following so far below its first value is a warning")  # fmt: skip
    stop: str = _said("never", f"which of these warnings ends the training: {', '.join(STOPS)}")
    # what is kept
    save_every: int = _said(1, "periods between two checkpoints")
    keep: int = _said(2, "checkpoints that are kept")
    report_to: str = _said(
        "none", "trackers that the libraries know, by commas (tensorboard, wandb, …)"
    )

    def __post_init__(self) -> None:
        for one in dataclasses.fields(self):
            object.__setattr__(self, one.name, _typed(one.name, getattr(self, one.name)))
        self._check_choices()
        self._check_numbers()
        self._check_together()
        self.momentum()

    def momentum(self) -> MomentumSettings:
        names = [one.name for one in dataclasses.fields(MomentumSettings)]
        return MomentumSettings(**{name: getattr(self, name) for name in names})

    @property
    def periods(self) -> int:
        return self.examples // self.period

    @property
    def updates(self) -> int:
        """Of the weights, in the whole training."""
        return self.examples // self.batch

    def record(self) -> dict[str, Json]:
        """As JSON and YAML hold them."""
        return dataclasses.asdict(self)

    @property
    def digest(self) -> Digest:
        """Of all that decides the weights."""
        return digest_of(self.deciding())

    def deciding(self) -> dict[str, Json]:
        """Those that decide the weights; a training may be resumed with other values of the rest."""
        return {key: value for key, value in self.record().items() if key not in _BESIDE}

    @classmethod
    def of(cls, values: Mapping[str, Json]) -> TrainSettings:
        """Settings from a mapping; those that it lacks are the defaults. UsageError for a name that
        is none."""
        known = [one.name for one in dataclasses.fields(cls)]
        for name in values:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, 1)
                hint = f"did you mean {near[0]}?" if near else f"valid: {', '.join(known)}."
                raise UsageError(f"Unknown setting {name!r} of a training; {hint}")
        return cls(**values)

    @staticmethod
    def names_in(path: Path) -> dict[str, Json]:
        """What a YAML file gives, by name, unchecked. DataError for a file that holds no mapping."""
        # ValueError: what looks like a date and is none.
        try:
            told = yaml.safe_load(path.read_text("utf-8")) or {}
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
            cause = " ".join(str(error).split())
            raise DataError(f"The settings {path} cannot be read: {cause}") from None
        if not isinstance(told, dict):
            raise DataError(f"The settings {path} hold no names with values.")
        return told

    def _check_choices(self) -> None:
        for name, valid in (("schedule", SCHEDULES), ("lr_schedule", LR_SCHEDULES), ("stop", STOPS),
                            ("compute", COMPUTE), ("device", DEVICES)):  # fmt: skip
            value = getattr(self, name)
            if value not in valid:
                raise UsageError(f"{name} is {value!r}; valid: {', '.join(valid)}.")
        if not [one for one in self.lora_targets.split(",") if one.strip()]:
            raise UsageError("lora_targets names no modules; all-linear is every linear layer.")

    def _check_numbers(self) -> None:
        for name in ("examples", "period", "batch", "device_batch", "lora_rank", "lora_alpha",
                     "max_length", "probe_pairs", "sample_tokens", "save_every",
                     "keep"):  # fmt: skip
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        if not 0 <= self.seed < 2**32:  # what numpy's generator takes, whose seed transformers sets
            raise UsageError(f"seed is {self.seed}; it must be from 0 to below 2**32.")
        if self.sample_every < 0:
            raise UsageError(f"sample_every is {self.sample_every}; it must be at least 0.")
        for name in ("beta", "learning_rate", "max_grad_norm"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be above 0.")
        for name in ("warmup", "lora_dropout", "following_drop"):
            if not 0 <= getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be from 0 to below 1.")
        if self.weight_decay < 0:
            raise UsageError(f"weight_decay is {self.weight_decay}; it must be at least 0.")

    def _check_together(self) -> None:
        if self.period % self.batch:
            raise UsageError(
                f"A period of {self.period} examples is no multiple of the batch of {self.batch}:"
                " a probe stands between two updates of the weights."
            )
        if self.examples % self.period:
            raise UsageError(
                f"{self.examples} examples are no multiple of the period of {self.period}: the last"
                " probe stands at the end."
            )
        if self.batch % self.device_batch and self.device_batch < self.batch:
            raise UsageError(
                f"A batch of {self.batch} pairs cannot be cut into {self.device_batch} at once"
                " (device_batch)."
            )
        if self.full and self.four_bit:
            raise UsageError("Weights in 4 bits cannot be trained: full goes without four_bit.")


def describe(name: str) -> str:
    """What a setting means, in one line. KeyError for a name that is none."""
    fields = {one.name: one for one in dataclasses.fields(TrainSettings)}
    return str(fields[name].metadata["text"])


def _typed(name: str, value: Any) -> Any:
    """The value as the field's type has it. UsageError for another kind."""
    kinds = _kinds(name)
    if value is None and type(None) in kinds:
        return None
    if bool in kinds:
        fits = isinstance(value, bool)
    elif float in kinds:
        if isinstance(value, str):  # YAML 1.1 reads 1e-5 as a text
            try:
                value = float(value)
            except ValueError:
                raise UsageError(f"{name} is {value!r}; it must be a number.") from None
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        value = _as_float(value) if fits else value
        if fits and not math.isfinite(value):
            raise UsageError(f"{name} is {value}; it must be finite.")
    else:
        fits = isinstance(value, kinds) and not isinstance(value, bool)
    if not fits:
        words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
        raise UsageError(f"{name} is {value!r}; it must be {words[kinds[0]]}.")
    return value


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond the floats
        return math.inf


def _kinds(name: str) -> tuple[type, ...]:
    hint = typing.get_type_hints(TrainSettings)[name]
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
