"""The settings of a DPO training, with their meanings and defaults.

The defaults come from GEAR, section 6, and from its released scripts: LoRA with rank 128, alpha 256
and dropout .05; beta .5; learning rate 1e-5 with a cosine schedule and a warmup of .1; 32 pairs per
batch; 51,200 examples; a probe of 300 validation pairs per stage every 1,280 examples; and momentum
with alpha .1, epsilon .1, m_max .03 and bounds .8 and 1.2. All other defaults are our own.

A YAML file has the names of the settings at its top level. An unknown name is an error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import field_validator, model_validator

from ...records import DataError, Digest, Json, UsageError, digest_of
from ...records.settings import setting
from ...tasks.io.yaml_file import read_yaml
from ..settings import Real
from .curriculum import (
    EQUAL_MIX,
    SCHEDULES,
    DpoSettings,
    MomentumSettings,
    Schedule,
    make_schedule,
    parse_mix,
)

STOP_SETTINGS = ("stop", "log_ratio_warning", "following_drop")  # which warnings end a training
# These settings decide how the work is divided, not what is trained. Sums may differ in the last
# digits.
MEMORY_SETTINGS = ("device_batch", "recompute", "attention")
# These settings change neither the weights nor the draws, so a resume may change them.
_BESIDE = (*MEMORY_SETTINGS, "sample_every", "sample_tokens", "log_ratio_warning",
           "following_drop", "stop", "save_every", "keep", "report_to")  # fmt: skip


class TrainConfig(DpoSettings):
    """The settings of a DPO training. Invalid values and combinations raise UsageError."""

    # draws
    schedule: str = setting(
        "momentum", f"Schedule that decides how often each stage is drawn: {', '.join(SCHEDULES)}."
    )
    examples: int = setting(51_200, "Total number of pairs drawn for training.", ge=1)
    period: int = setting(1_280, "Number of examples between two probes; must be a multiple of batch and divide examples.", ge=1)  # fmt: skip
    batch: int = setting(32, "Number of pairs per weight update.", ge=1)
    seed: int = setting(
        0, "Random seed for the draws, the probes and the initial weights of the adapter."
    )
    # momentum
    alpha: Real = setting(
        0.1, "Momentum schedule: weight of the latest probe loss in its moving average."
    )
    epsilon: Real = setting(
        0.1, "Momentum schedule: constant added to the improvement of each stage."
    )
    m_max: Real = setting(0.03, "Momentum schedule: maximum improvement that is counted.")
    w_min: Real = setting(
        0.8, "Momentum schedule: minimum weight of a stage; the mean weight is 1."
    )
    w_max: Real = setting(1.2, "Momentum schedule: maximum weight of a stage.")
    lag: int = setting(
        1,
        "Momentum schedule: 1 compares with the previous average (the paper), 2 with the one"
        " before it (the released code).",
    )
    # other schedules
    mix: str = setting(
        EQUAL_MIX,
        "Schedule fixed: parts of parsing, consistency and gear among the draws, such as 3:1:1.",
    )
    min_share: Real = setting(
        0.1, "Schedule remaining-loss: minimum share of the draws for each stage.", ge=0, le=0.33
    )
    # loss and updates
    beta: Real = setting(0.5, "Beta of the DPO loss.", gt=0)
    learning_rate: Real = setting(1e-5, "Peak learning rate.", gt=0)
    lr_schedule: Literal["cosine", "linear", "constant_with_warmup", "constant"] = setting(
        "cosine", "Schedule of the learning rate: cosine, linear, constant_with_warmup or constant."
    )
    warmup: Real = setting(
        0.1, "Share of the updates during which the learning rate rises.", ge=0, lt=1
    )
    weight_decay: Real = setting(0.0, "Weight decay of AdamW.", ge=0)
    max_grad_norm: Real = setting(1.0, "Maximum norm to which gradients are clipped.", gt=0)
    # trained weights
    full: bool = setting(
        False, "Train all weights instead of a LoRA adapter; meant for small models."
    )
    lora_rank: int = setting(128, "Rank of the LoRA adapter.", ge=1)
    lora_alpha: int = setting(
        256, "LoRA alpha: the adapter is scaled by alpha divided by its rank.", ge=1
    )
    lora_dropout: Real = setting(
        0.05, "Dropout of the LoRA adapter; used only with dropout.", ge=0, lt=1
    )
    lora_targets: str = setting("all-linear", "Modules that get an adapter: all-linear, or module names separated by commas.")  # fmt: skip
    dropout: bool = setting(False, "Keep dropout enabled; TRL and the released code disable it.")  # fmt: skip
    # computation
    device: Literal["auto", "cpu", "cuda", "mps"] = setting(
        "auto", "Device to train on: auto, cpu, cuda or mps."
    )
    four_bit: bool | None = setting(None, "Load the base model in 4 bits, NF4 (default: on a GPU, unless full is set or FSDP2 is used).")  # fmt: skip
    compute: Literal["auto", "float32", "bfloat16"] = setting(
        "auto",
        "Data type of the computation: float32 or bfloat16; auto is bfloat16 on a GPU"
        " and float32 on a CPU.",
    )
    attention: Literal["auto", "sdpa", "flash_attention_2", "eager"] = setting(
        "auto",
        "Implementation of attention: sdpa, flash_attention_2 (needs the package flash-attn, a GPU and"
        " bfloat16) or eager; auto is sdpa if the model supports it, otherwise eager.",
    )
    device_batch: int = setting(8, "Number of pairs on a device at a time, a divisor of batch; affects memory use, not the"
        " result.", ge=1)  # fmt: skip
    recompute: bool | None = setting(None, "Recompute activations to save memory (default: above 1 billion weights).")  # fmt: skip
    precompute: bool = setting(True, "Compute the reference model's log-probabilities once per answer instead of at each"
        " draw.")  # fmt: skip
    max_length: int = setting(
        2_048,
        "Maximum number of tokens of prompt and answer together; a longer pair is left"
        " out and counted, never truncated.",
        ge=1,
    )
    chat_template: str = setting(
        "", "Jinja file that replaces the model's chat template, or plain."
    )
    render_anew: bool = setting(
        False,
        "Render the prompts with the base's own chat template and its default variables, even if the"
        " sessions rendered them in another way. A date in the template is that of the first start.",
    )
    # probes and warnings
    probe_pairs: int = setting(300, "Number of validation pairs per stage in each probe.", ge=1)
    sample_every: int = setting(
        1, "Number of periods between two samples of the model's answers; 0 takes no samples.", ge=0
    )
    sample_tokens: int = setting(512, "Maximum number of tokens of a sampled answer.", ge=1)
    log_ratio_warning: Real = setting(
        -0.5, "Warn if the chosen log-ratio of a stage falls below this value."
    )
    following_drop: Real = setting(
        0.05, "Warn if instruction following falls this far below its initial value.", ge=0, lt=1
    )
    stop: Literal["never", "following", "log_ratio", "either"] = setting(
        "never", "Warning that ends the training: never, following, log_ratio or either."
    )
    # checkpoints and trackers
    save_every: int = setting(1, "Number of periods between two checkpoints.", ge=1)
    keep: int = setting(2, "Number of checkpoints to keep.", ge=1)
    report_to: str = setting("none", "Experiment trackers of the transformers library, separated by commas (tensorboard,"
        " wandb, …).")  # fmt: skip

    def momentum_settings(self) -> MomentumSettings:
        """Return the settings of the momentum schedule."""
        return MomentumSettings(**self.model_dump(include=set(MomentumSettings.model_fields)))

    def make_schedule(self, stages: Sequence[str]) -> Schedule:
        """Return a new schedule with these settings for the stages that have pairs.

        Raises:
            UsageError: No stage that the schedule draws has pairs.
        """
        return make_schedule(
            self.schedule, stages, self.momentum_settings(), mix=self.mix, min_share=self.min_share
        )

    @property
    def periods(self) -> int:
        """The number of periods in the training."""
        return self.examples // self.period

    @property
    def updates(self) -> int:
        """The number of weight updates in the training."""
        return self.examples // self.batch

    @property
    def digest(self) -> Digest:
        """The digest of the settings that determine the trained weights (`decisive_settings`)."""
        return digest_of(self.decisive_settings())

    def decisive_settings(self) -> dict[str, Json]:
        """Return the settings that determine the trained weights.

        A resumed training may change only the other settings.
        """
        return {key: value for key, value in self.to_record().items() if key not in _BESIDE}

    @classmethod
    def from_mapping(cls, values: Mapping[str, Json]) -> Self:
        """Return the settings that a mapping of names to values describes.

        Raises:
            UsageError: A name is unknown, or a value is invalid.
        """
        return cls.model_validate(values)

    @staticmethod
    def read_yaml(path: Path) -> dict[str, Json]:
        """Return the settings in a YAML file as a mapping, without checking names and values.

        Raises:
            DataError: The file cannot be read, or does not contain a mapping.
        """
        try:
            told = read_yaml(path, path.read_bytes()).value
        except OSError as error:
            cause = error.strerror or error
            raise DataError(f"The settings file {path} cannot be read: {cause}") from None
        if not isinstance(told, dict):
            raise DataError(
                f"The settings file {path} must contain a mapping of setting names to values."
            )
        return told

    @field_validator("schedule")
    @classmethod
    def _is_a_schedule(cls, value: str) -> str:
        if value not in SCHEDULES:
            raise ValueError(f"schedule is {value!r}: it must be one of {', '.join(SCHEDULES)}")
        return value

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if not [one for one in self.lora_targets.split(",") if one.strip()]:
            raise UsageError(
                "lora_targets names no modules: use --lora-targets all-linear for every linear"
                " layer."
            )
        if self.batch % self.device_batch and self.device_batch < self.batch:
            raise UsageError(
                f"A batch of {self.batch} pairs cannot be divided into parts of"
                f" {self.device_batch} pairs (device_batch): use"
                f" {_flags('--device-batch', _nearest(self.device_batch, _divisors(self.batch)))}."
            )
        if self.period % self.batch:
            raise UsageError(
                f"The period of {self.period} examples is not a multiple of the batch of"
                f" {self.batch}, so a probe would fall within a weight update: use"
                f" {self._valid_periods()}{self._smaller(self.period, self.examples)}."
            )
        if self.examples % self.period:
            below = self.examples // self.period * self.period
            nearest = _flags("--examples", [one for one in (below, below + self.period) if one])
            raise UsageError(
                f"{self.examples} examples are not a multiple of the period of {self.period}, so"
                f" the last probe would not fall at the end of the training: use {nearest}"
                f"{self._smaller(self.examples, self.examples)}."
            )
        if self.full and self.four_bit:
            raise UsageError(
                "Weights in 4 bits cannot be trained: leave out --four-bit to train all weights"
                " (--full), or leave out --full to train an adapter."
            )
        self.momentum_settings()
        parse_mix(self.mix)
        return self

    def _valid_periods(self) -> str:
        """Return the flags of the nearest periods that fit the batch and, if any do, the examples."""
        fitting = [one for one in _divisors(self.examples) if one % self.batch == 0]
        below = self.period // self.batch * self.batch
        others = [one for one in (below, below + self.batch) if one]
        return _flags("--period", _nearest(self.period, fitting) if fitting else others)

    def _smaller(self, period: int, examples: int) -> str:
        """Return flags that keep a number of examples, with a period and a batch that fit it."""
        fitting = [
            one for one in _divisors(math.gcd(period, examples))
            if one <= self.batch and (one <= self.device_batch or one % self.device_batch == 0)
        ]  # fmt: skip
        batch = "" if fitting[-1] == self.batch else f" --batch {fitting[-1]}"
        shorter = "" if period == self.period else f" --period {period}"
        return f", or keep {examples} examples with{shorter}{batch}"


def _divisors(number: int) -> list[int]:
    """Return all divisors of a positive number, ascending."""
    small = [one for one in range(1, math.isqrt(number) + 1) if number % one == 0]
    return sorted({*small, *(number // one for one in small)})


def _nearest(value: int, valid: Sequence[int]) -> list[int]:
    """Return the nearest valid values below and above a value."""
    return [*[one for one in valid if one < value][-1:], *[one for one in valid if one > value][:1]]


def _flags(flag: str, values: Sequence[int]) -> str:
    return " or ".join(f"{flag} {value}" for value in values)
