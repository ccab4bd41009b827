"""The settings of a local model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Literal

from pydantic import field_validator

from ...records import Json, UsageError
from ...records.settings import Number, setting
from ..model_settings import ModelSettings


def check_date(value: str | None) -> str | None:
    """Return the date of prompts, or raise UsageError if it is no date such as 2026-11-29."""
    if value is not None:
        try:
            date.fromisoformat(value)
        except ValueError:
            raise UsageError(f"prompt_date {value!r} is no date: write it as 2026-11-29") from None
    return value


class LocalSettings(ModelSettings):
    """Settings for loading a local model and for sampling its answers."""

    temperature: Number | None = setting(
        None,
        "Sampling temperature; 0 is greedy decoding (default: the model's generation_config).",
        ge=0,
    )
    top_p: Number | None = setting(
        None,
        "Probability mass of nucleus sampling (default: the model's generation_config).",
        gt=0,
        le=1,
    )
    top_k: int | None = setting(
        None,
        "Number of most likely tokens to sample from; 0 is no limit (default: the model's"
        " generation_config).",
        ge=0,
    )
    max_tokens: int = setting(1024, "Maximum number of tokens per answer (1024); a longer answer is cut and finishes with"
        " 'length'.", ge=1)  # fmt: skip
    batch: int | None = setting(None, "Number of requests answered in one batch (default: at most 16; 64 for a small model).", ge=1)  # fmt: skip
    device: str | None = setting(
        None,
        "Device: cpu, cuda, cuda:1, mps, or auto to spread the model over several devices"
        " (default: the first available one).",
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = setting(
        "auto", "Data type of the weights: float32, bfloat16, float16, or auto for the stored type."
    )
    load_in_4bit: bool = setting(False, "Load the weights in 4 bits (NF4, with bitsandbytes).")
    tools: bool = setting(False, "Offer tools through the chat template (default: false).")
    chat_template: str | None = setting(
        None, "Jinja file that replaces the model's chat template, or plain."
    )
    prompt_date: str | None = setting(
        None,
        "Date that the chat template writes into prompts if it writes one, such as 2026-11-29"
        " (default: today).",
    )
    context_tokens: int | None = setting(
        None,
        "Context length in tokens, for prompt and answer together (default: from the"
        " model's configuration).",
        ge=1,
    )
    model_args: Mapping[str, Json] = setting(
        {}, "Variables of the chat template, for example enable_thinking or reasoning_effort."
    )

    @field_validator("prompt_date")
    @classmethod
    def _is_a_date(cls, value: str | None) -> str | None:
        return check_date(value)
