"""Settings of a DPO training: their names, meanings and defaults.

The defaults are those of GEAR, section 6, and of the released scripts: LoRA 128/256/.05, beta .5,
learning rate 1e-5 with cosine and a warmup of .1, 32 pairs per batch, 51,200 examples, a probe of
300 validation pairs per stage every 1,280 examples, momentum with alpha .1, epsilon .1, m_max .03
and bounds .8 and 1.2. Where both are silent, the defaults are our own.

A YAML file has the same names at its top level. An unknown name is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import field_validator, model_validator

from ...records import DataError, Digest, Json, UsageError, digest_of
from ...records.settings import setting
from ...tasks.io.yaml_file import read_yaml
from ..settings import Real
from .curriculum import SCHEDULES, DpoSettings, MomentumSettings

# These settings change neither the weights nor the draws, so a resume may change them.
_BESIDE = ("sample_every", "sample_tokens", "log_ratio_warning", "following_drop", "stop",
           "save_every", "keep", "report_to")  # fmt: skip


class TrainConfig(DpoSettings):
    """Settings of a DPO training; invalid values and combinations raise UsageError."""

    # draws
    schedule: str = setting("momentum", f"how often each stage is drawn: {', '.join(SCHEDULES)}")
    examples: int = setting(51_200, "pairs drawn in the whole training", ge=1)
    period: int = setting(1_280, "examples between two probes, a multiple of batch that divides examples", ge=1)  # fmt: skip
    batch: int = setting(32, "pairs of one update of the weights", ge=1)
    seed: int = setting(0, "of the draws, the probes and the adapter's first weights")
    # momentum
    alpha: Real = setting(0.1, "momentum: weight of the newest probe loss in its average")
    epsilon: Real = setting(0.1, "momentum: what a stage without progress keeps")
    m_max: Real = setting(0.03, "momentum: most improvement that counts")
    w_min: Real = setting(0.8, "momentum: least weight of a stage (the mean weight is 1)")
    w_max: Real = setting(1.2, "momentum: greatest weight of a stage")
    lag: int = setting(
        1,
        "momentum: 1 compares with the last average (the paper), 2 with the one before (the released code)",
    )
    # loss and updates
    beta: Real = setting(0.5, "of DPO", gt=0)
    learning_rate: Real = setting(1e-5, "the highest of the schedule", gt=0)
    lr_schedule: Literal["cosine", "linear", "constant_with_warmup", "constant"] = setting(
        "cosine", "of the learning rate: cosine, linear, constant_with_warmup, constant"
    )
    warmup: Real = setting(0.1, "part of the updates in which the learning rate rises", ge=0, lt=1)
    weight_decay: Real = setting(0.0, "of AdamW", ge=0)
    max_grad_norm: Real = setting(1.0, "gradients are clipped to it", gt=0)
    # trained weights
    full: bool = setting(False, "train all weights, for small models; without it a LoRA adapter")
    lora_rank: int = setting(128, "rank of the adapter", ge=1)
    lora_alpha: int = setting(256, "scale of the adapter, over its rank", ge=1)
    lora_dropout: Real = setting(0.05, "of the adapter, where dropout is on", ge=0, lt=1)
    lora_targets: str = setting("all-linear", "where adapters stand: all-linear, or names of modules by commas")  # fmt: skip
    dropout: bool = setting(False, "leave dropout on; TRL switches it off, and so did the released code")  # fmt: skip
    # computation
    device: Literal["auto", "cpu", "cuda", "mps"] = setting("auto", "one of auto, cpu, cuda, mps")
    four_bit: bool | None = setting(None, "base in 4 bits (NF4); without it on a GPU yes, on a CPU and with full no")  # fmt: skip
    compute: Literal["auto", "float32", "bfloat16"] = setting(
        "auto", "float32 or bfloat16; auto is bfloat16 on a GPU, float32 on a CPU"
    )
    device_batch: int = setting(8, "pairs on a device at once, a divisor of batch; memory, not the result", ge=1)  # fmt: skip
    recompute: bool | None = setting(None, "recompute activations to save memory; without it above 1 billion weights")  # fmt: skip
    precompute: bool = setting(True, "log-probabilities of the reference once for each answer, not at each draw")  # fmt: skip
    max_length: int = setting(
        2_048, "tokens of prompt and answer; a longer pair is refused and counted, never cut", ge=1
    )
    chat_template: str = setting("", "a Jinja file in place of the model's own, or plain")
    # probes and warnings
    probe_pairs: int = setting(300, "validation pairs of each stage that are probed", ge=1)
    sample_every: int = setting(
        1, "periods between two samples of the answers, where a sampler is given; 0 never", ge=0
    )
    sample_tokens: int = setting(512, "most tokens of a sampled answer", ge=1)
    log_ratio_warning: Real = setting(-0.5, "a chosen log-ratio of a stage below it is a warning")
    following_drop: Real = setting(
        0.05, "instruction following so far below its first value is a warning", ge=0, lt=1
    )
    stop: Literal["never", "following", "log_ratio", "either"] = setting(
        "never", "which of these warnings ends the training: never, following, log_ratio, either"
    )
    # checkpoints and trackers
    save_every: int = setting(1, "periods between two checkpoints", ge=1)
    keep: int = setting(2, "checkpoints that are kept", ge=1)
    report_to: str = setting("none", "trackers that the libraries know, by commas (tensorboard, wandb, …)")  # fmt: skip

    def momentum_settings(self) -> MomentumSettings:
        """Return the settings of the momentum schedule."""
        return MomentumSettings(**self.model_dump(include=set(MomentumSettings.model_fields)))

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
        """The digest of the settings that determine the weights."""
        return digest_of(self.decisive_settings())

    def decisive_settings(self) -> dict[str, Json]:
        """Return the settings that determine the weights; a resume may change the others."""
        return {key: value for key, value in self.to_record().items() if key not in _BESIDE}

    @classmethod
    def from_mapping(cls, values: Mapping[str, Json]) -> Self:
        """Return settings from a mapping; raises UsageError for an unknown name."""
        return cls.model_validate(values)

    @staticmethod
    def read_yaml(path: Path) -> dict[str, Json]:
        """Return the settings in a YAML file, unchecked; raises DataError where it has none."""
        try:
            told = read_yaml(path, path.read_bytes()).value
        except OSError as error:
            cause = error.strerror or error
            raise DataError(f"The settings {path} cannot be read: {cause}") from None
        if not isinstance(told, dict):
            raise DataError(f"The settings {path} hold no names with values.")
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
            raise UsageError("lora_targets names no modules; all-linear is every linear layer.")
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
        self.momentum_settings()
        return self
