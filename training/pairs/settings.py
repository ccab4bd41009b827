"""The settings of a set of preference pairs (GEAR, section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import field_validator

from ...records import UsageError
from ...records.settings import Number, Settings, setting


class PairsConfig(Settings):
    """Settings that determine which pairs are built from the answers of sessions, and their
    splits.
    """

    panel = "Pairs"
    max_length: int | None = setting(
        None,
        "Maximum number of tokens of prompt and answer together; longer pairs are left out.",
        metavar="N",
    )
    contexts: Sequence[int | None] = setting(
        (1, 20, 190), "Maximum number of contexts per problem with 0, 1 and 2 earlier hypotheses.",
        metavar="N,N,N|all",
    )  # fmt: skip
    limit: int | None = setting(
        None,
        "Maximum number of pairs per stage in each split, shared equally among the tasks.",
        metavar="N",
    )
    per_context: Sequence[int | None] = setting(
        (2_000, 15, 15), "Maximum number of pairs per stage from one context with 0, 1 and 2 earlier"
            " hypotheses.",
        metavar="N,N,N|all",
    )  # fmt: skip
    ratio: Sequence[int] | None = setting(
        None,
        "Ratio of parsing, consistency and gear pairs in each split, for example 1:1:1.",
        metavar="P:C:G",
    )
    seed: int = setting(
        0, "Random seed for drawing pairs; it does not change the split of a problem."
    )
    split_seed: int = setting(0, "Seed that assigns problems to splits.", metavar="N")
    fractions: Sequence[Number] | None = setting(
        None, "Shares of problem groups for training, for validation and held out (default:"
              " .5,.1,.4).",
        metavar="A,B,C",
    )  # fmt: skip
    fixed: str | Path | None = setting(
        None,
        "JSON file that fixes the split of some groups: an object with a list of groups"
        " for each split.",
        metavar="FILE",
    )
    template: str | None = setting(
        None,
        "Prompt template: full or compact (default: the template of the sessions).",
        metavar="NAME",
    )
    base: str | Path | None = setting(
        None, "Folder of the model whose tokenizer and chat template are used.", metavar="DIR"
    )

    @field_validator("contexts", "per_context")
    @classmethod
    def _has_three_numbers(cls, value: Sequence[int | None], info: Any) -> Sequence[int | None]:
        if len(value) != 3:
            raise UsageError(
                f"{info.field_name} {list(value)}: give three numbers, for contexts of 0, 1 and"
                " 2 earlier hypotheses"
            )
        return value

    @field_validator("ratio")
    @classmethod
    def _has_three_parts(cls, value: Sequence[int] | None) -> Sequence[int] | None:
        if value is not None and len(value) != 3:
            raise UsageError(
                f"ratio {list(value)}: give three parts, for parsing, consistency and gear"
            )
        return value

    def non_default_names(self) -> list[str]:
        """Return the names of the settings whose values differ from the defaults."""
        fields = type(self).model_fields
        return [name for name, field in fields.items()
                if _plain(getattr(self, name)) != _plain(field.default)]  # fmt: skip


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
