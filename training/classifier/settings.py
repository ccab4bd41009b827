"""The settings of a classifier training, with their defaults and bounds."""

from __future__ import annotations

from typing import Annotated

from ...records.settings import Number, setting
from ..settings import READS_NUMBER, TrainingSettings


class ClassifierSettings(TrainingSettings):
    """The settings of a classifier training. An invalid value raises UsageError."""

    epochs: int = setting(10, "Maximum number of epochs.", ge=1)
    patience: int = setting(
        3, "Number of epochs without improvement after which training stops.", ge=1
    )
    batch: int = setting(16, "Number of rows per weight update.", ge=1)
    learning_rate: Annotated[Number | None, READS_NUMBER] = setting(
        None,
        "Peak learning rate (default: 2e-4 for an adapter, 5e-5 for all weights, 1e-3"
        " below 10 million weights).",
        gt=0,
        lt=1,
    )
    warmup: Annotated[Number, READS_NUMBER] = setting(0.1, "Share of the updates during which the learning rate rises.", ge=0, lt=1)  # fmt: skip
    weight_decay: Annotated[Number, READS_NUMBER] = setting(0.01, "Weight decay of AdamW.", ge=0)
    max_length: int = setting(512, "Maximum number of tokens per row.", ge=1)
    full: bool | None = setting(
        None, "Train all weights instead of an adapter (default: depends on the model's size)."
    )
    lora_rank: int = setting(16, "Rank of the LoRA adapter.", ge=1)
    lora_alpha: int = setting(
        32, "LoRA alpha: the adapter is scaled by alpha divided by its rank.", ge=1
    )
    lora_dropout: Annotated[Number, READS_NUMBER] = setting(
        0.05, "Dropout of the LoRA adapter.", ge=0, lt=1
    )
    seed: int = setting(0, "Random seed for the order of the rows and the initial weights.")
    report_to: str = setting(
        "none", "Experiment trackers of the transformers library, separated by commas."
    )
