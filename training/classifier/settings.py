"""Settings of a classifier: their names, defaults and bounds."""

from __future__ import annotations

import contextlib
import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from ...records import Json, UsageError


@dataclass(frozen=True)
class ClassifierSettings:
    """UsageError for a value that makes no sense. learning_rate None: 2e-4 of an adapter, 5e-5 of a
    whole model, 1e-3 below 10 million weights. full None: by the model's size."""

    epochs: int = 10
    patience: int = 3  # passes without a better one, after which it ends
    batch: int = 16
    learning_rate: float | None = None
    warmup: float = 0.1
    weight_decay: float = 0.01
    max_length: int = 512
    full: bool | None = None
    lora_rank: int = 16
    lora_alpha: int = 32
    lora_dropout: float = 0.05
    seed: int = 0
    report_to: str = "none"

    def __post_init__(self) -> None:
        for one in fields(self):
            told = _read(getattr(self, one.name), str(one.type))
            object.__setattr__(self, one.name, told)
            _check_kind(one.name, told, str(one.type))
        for name in ("epochs", "patience", "batch", "max_length", "lora_rank", "lora_alpha"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}: it must be at least 1")
        if self.learning_rate is not None and not 0 < self.learning_rate < 1:
            raise UsageError(f"learning_rate is {self.learning_rate}: it must be above 0, below 1")
        for name in ("warmup", "lora_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}: it must be from 0 to below 1")
        if not 0 <= self.weight_decay < math.inf:
            raise UsageError(f"weight_decay is {self.weight_decay}: it must be at least 0")
        if not 0 <= self.seed < 2**32:  # what numpy's generator takes, whose seed transformers sets
            raise UsageError(f"seed is {self.seed}: it must be from 0 to below 2**32")

    def record(self) -> dict[str, Json]:
        return asdict(self)


def _read(value: Any, declared: str) -> Any:
    """A text that is a number, where one is needed: YAML 1.1 reads 1e-4 as a text."""
    if isinstance(value, str) and declared.startswith("float"):
        with contextlib.suppress(ValueError):
            return float(value)
    return value


def _check_kind(name: str, value: Any, declared: str) -> None:
    words = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a text"}
    kinds: dict[str, Any] = {"int": int, "float": (int, float), "bool": bool, "str": str}
    if value is None and "None" in declared:
        return
    kind = declared.split(" ")[0]
    if not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind != "bool"):
        raise UsageError(f"{name} is {value!r}: it must be {words[kind]}")
