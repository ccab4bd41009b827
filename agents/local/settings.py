"""The settings of a local model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ...records import Json
from ...records.settings import Number, setting
from ..model_settings import ModelSettings


class LocalSettings(ModelSettings):
    """Settings for sampling, answering and loading."""

    temperature: Number | None = setting(
        None, "of sampling, 0 is greedy; without it what the model's generation_config says", ge=0
    )
    top_p: Number | None = setting(None, "of sampling, likewise", gt=0, le=1)
    top_k: int | None = setting(None, "of sampling, likewise; 0 is no limit", ge=0)
    max_tokens: int = setting(1024, "of one answer, default 1024; what is cut there finishes with 'length'", ge=1)  # fmt: skip
    batch: int | None = setting(None, "requests answered side by side, default 16 at most; 64 of a small model", ge=1)  # fmt: skip
    device: str | None = setting(
        None, "cpu, cuda, cuda:1, mps, or auto (spread over several); default the first there is"
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = setting(
        "auto", "float32, bfloat16 or float16; default auto: as the weights are stored"
    )
    load_in_4bit: bool = setting(False, "true loads 4-bit weights (NF4, by bitsandbytes)")
    tools: bool = setting(False, "true offers tools through the chat template; default false")
    chat_template: str | None = setting(None, "a Jinja file in place of the model's own, or plain")
    context_tokens: int | None = setting(
        None, "what the model holds, prompt and answer; default what it says of itself", ge=1
    )
    model_args: Mapping[str, Json] = setting(
        {}, "variables of the chat template, as enable_thinking or reasoning_effort"
    )
