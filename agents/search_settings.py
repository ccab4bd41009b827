"""What the embedded proposer can be set to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from ..records import Json
from ..records.settings import setting
from .model_settings import ModelSettings


class SearchSettings(ModelSettings):
    """How much is searched, and on how many processes."""

    budget_expansions: int | None = setting(
        None, "candidates looked at before each answer; default: the preset's", ge=1
    )
    preset: Literal["quick", "standard", "thorough", "tight", "safe"] = setting(
        "standard", "how much is searched, and by which trade-off; `search:PRESET` goes before"
    )
    workers: int | None = setting(None, "processes; default one a core, at most 4", ge=1)

    @classmethod
    def of(cls, model: str, settings: Mapping[str, Json]) -> Self:
        named = model.partition(":")[2]
        return super().of(model, {**settings, "preset": named} if named else settings)
