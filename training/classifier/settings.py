"""Settings of a classifier: their names, defaults and bounds."""

from __future__ import annotations

from typing import Annotated

from ...records.settings import Number, setting
from ..settings import READS_NUMBER, TrainingSettings


class ClassifierSettings(TrainingSettings):
    """Settings of a classifier; an invalid value raises UsageError."""

    epochs: int = setting(10, "passes at most", ge=1)
    patience: int = setting(3, "passes without a better one, after which it ends", ge=1)
    batch: int = setting(16, "rows of one update of the weights", ge=1)
    learning_rate: Annotated[Number | None, READS_NUMBER] = setting(
        None, "2e-4 of an adapter, 5e-5 of a whole model, 1e-3 below 10 million weights", gt=0, lt=1
    )
    warmup: Annotated[Number, READS_NUMBER] = setting(0.1, "part of the updates in which the learning rate rises", ge=0, lt=1)  # fmt: skip
    weight_decay: Annotated[Number, READS_NUMBER] = setting(0.01, "of AdamW", ge=0)
    max_length: int = setting(512, "tokens of a row", ge=1)
    full: bool | None = setting(None, "train all weights; without it by the model's size")
    lora_rank: int = setting(16, "rank of the adapter", ge=1)
    lora_alpha: int = setting(32, "scale of the adapter, over its rank", ge=1)
    lora_dropout: Annotated[Number, READS_NUMBER] = setting(0.05, "of the adapter", ge=0, lt=1)
    seed: int = setting(0, "of the rows' order and the first weights")
    report_to: str = setting("none", "trackers that the libraries know, by commas")
