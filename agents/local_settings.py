"""What a local model can be set to, and what of it is refused before anything is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..records import Json, UsageError

SETTINGS: dict[str, str] = {
    "temperature": "of sampling, 0 is greedy; without it what the model's generation_config says",
    "top_p": "of sampling, likewise",
    "top_k": "of sampling, likewise; 0 is no limit",
    "max_tokens": "of one answer, default 1024; what is cut there finishes with 'length'",
    "batch": "requests answered side by side, default 16 at most; 64 of a small model",
    "device": "cpu, cuda, cuda:1, mps, or auto (spread over several); default the first there is",
    "dtype": "float32, bfloat16 or float16; default auto: as the weights are stored",
    "load_in_4bit": "true loads 4-bit weights (NF4, by bitsandbytes)",
    "tools": "true offers tools through the chat template; default false",
    "chat_template": "a Jinja file in place of the model's own, or plain",
    "context_tokens": "what the model holds, prompt and answer; default what it says of itself",
    "model_args": "variables of the chat template, as enable_thinking or reasoning_effort",
}
DEFAULTS = {"max_tokens": 1024, "tools": False}
DTYPES = ("auto", "float32", "bfloat16", "float16")


def check_settings(spec: str, given: Mapping[str, Json]) -> None:
    """Raises UsageError for a setting of another kind, or beyond its bounds."""

    def wrong(key: str, must: str) -> UsageError:
        return UsageError(f"{key} {given[key]!r} of model {spec!r} must be {must}")

    lowest = {"temperature": 0, "top_p": 0, "top_k": 0, "max_tokens": 1, "batch": 1, "context_tokens": 1}  # fmt: skip
    for key, low in lowest.items():
        value: Any = given.get(key, low)
        kind: Any = int | float if key in ("temperature", "top_p") else int
        if isinstance(value, bool) or not isinstance(value, kind) or not value >= low:
            raise wrong(key, f"a {'whole ' if kind is int else ''}number of at least {low}")
    if not 0 < given.get("top_p", 1) <= 1:
        raise wrong("top_p", "above 0 and at most 1")
    for key in ("tools", "load_in_4bit"):
        if not isinstance(given.get(key, False), bool):
            raise wrong(key, "true or false")
    for key in ("device", "chat_template"):
        if not isinstance(given.get(key, ""), str):
            raise wrong(key, "a text")
    if given.get("dtype", "auto") not in DTYPES:
        raise wrong("dtype", f"one of {', '.join(DTYPES)}")
    if not isinstance(given.get("model_args", {}), Mapping):
        raise wrong("model_args", "a mapping")
