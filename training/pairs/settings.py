"""Settings of a set of preference pairs (GEAR, section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import field_validator

from ...records import UsageError
from ...records.settings import Number, Settings, setting


class PairsConfig(Settings):
    """Which pairs are built from the answers of sessions, and how they are split."""

    panel = "Pairs"
    max_length: int | None = setting(
        None, "Leave out pairs of more tokens, prompt and answer together.", metavar="N"
    )
    contexts: Sequence[int | None] = setting(
        (1, 20, 190), "The most contexts of 0, 1 and 2 earlier hypotheses of a problem.",
        metavar="N,N,N|all",
    )  # fmt: skip
    limit: int | None = setting(
        None, "The most pairs of each stage in each split, tasks alike.", metavar="N"
    )
    per_context: Sequence[int | None] = setting(
        (2_000, 15, 15), "The most pairs of each stage of a context of that size.",
        metavar="N,N,N|all",
    )  # fmt: skip
    ratio: Sequence[int] | None = setting(
        None, "Of parsing, consistency and gear in each split, as 1:1:1.", metavar="P:C:G"
    )
    seed: int = setting(0, "Of what is drawn; it moves no problem to another split.")
    split_seed: int = setting(0, "Which problems stand in which split.", metavar="N")
    fractions: Sequence[Number] | None = setting(
        None, "Groups of problems for training, for validation, held out (.5,.1,.4).",
        metavar="A,B,C",
    )  # fmt: skip
    fixed: str | Path | None = setting(
        None, "Groups whose split is given: JSON, an object of lists by split.", metavar="FILE"
    )
    template: str | None = setting(
        None, "Of the prompts: full or compact (as the sessions have it).", metavar="NAME"
    )
    base: str | Path | None = setting(
        None, "A model's folder, for its tokenizer and chat template.", metavar="DIR"
    )

    @field_validator("contexts", "per_context")
    @classmethod
    def _has_three_numbers(cls, value: Sequence[int | None], info: Any) -> Sequence[int | None]:
        if len(value) != 3:
            raise UsageError(
                f"{info.field_name} {list(value)}: three numbers are needed, for contexts of 0, 1"
                " and 2"
            )
        return value

    @field_validator("ratio")
    @classmethod
    def _has_three_parts(cls, value: Sequence[int] | None) -> Sequence[int] | None:
        if value is not None and len(value) != 3:
            raise UsageError(
                f"ratio {list(value)}: three parts are needed, of parsing, consistency, gear"
            )
        return value

    def non_default_names(self) -> list[str]:
        """Return the names of the settings that differ from their defaults."""
        fields = type(self).model_fields
        return [name for name, field in fields.items()
                if _plain(getattr(self, name)) != _plain(field.default)]  # fmt: skip


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
