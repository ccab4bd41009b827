"""What the embedded proposer can be set to."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from ...records import UsageError
from ...records.settings import setting
from ..model_settings import ModelSettings
from . import PRESETS


class SearchSettings(ModelSettings):
    """How much is searched, and on how many processes."""

    budget_expansions: int | None = setting(
        None, "candidates looked at before each answer; default: the preset's", ge=1
    )
    preset: str | None = setting(None, f"{', '.join(PRESETS)}; default standard")
    workers: int | None = setting(None, "processes; default one a core, at most 4", ge=1)

    @property
    def preset_name(self) -> str:
        """The preset: that of the model string goes before."""
        return self.model.partition(":")[2] or self.preset or "standard"

    @model_validator(mode="after")
    def _names_a_preset(self) -> Self:
        if self.preset_name not in PRESETS:
            valid = ", ".join(PRESETS)
            raise UsageError(
                f"preset {self.preset_name!r} of model {self.model!r} must be one of {valid}"
            )
        return self
