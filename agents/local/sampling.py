"""How the next token is chosen, so that it depends on its own request alone.

Sampling is the argmax of the logits with Gumbel noise added (the Gumbel-max trick: exactly a draw
from their softmax). The noise is a hash of the request's seed, the position in its answer and the
token: no state and no global generator, alike on every device and in every batch. A small change of
the logits, as other sums of floating-point numbers give, seldom changes such an argmax.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import (
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from ...records import DataError
from .settings import LocalSettings


@dataclass(frozen=True)
class Sampling:
    """temperature 0 is greedy: then top_p, top_k and min_p mean nothing and are None."""

    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None

    def processors(self, seeds: Sequence[int], padding: Sequence[int], width: int) -> list[Any]:
        """For a batch of prompts of `width` tokens, of which the first `padding` are none."""
        found: list[Any] = []
        if self.repetition_penalty is not None:  # of the row's own tokens: padding may be an end
            ignored = torch.tensor(padding)
            found.append(RepetitionPenaltyLogitsProcessor(self.repetition_penalty, ignored))
        if not self.temperature:
            return found
        return [*found, *self.warpers(), Noise(seeds, width)]

    def warpers(self) -> list[Any]:
        """What is done to logits before the noise, which looks at one row's logits alone."""
        found: list[Any] = []
        if not self.temperature:
            return found
        if self.temperature != 1.0:
            found.append(TemperatureLogitsWarper(self.temperature))
        if self.top_k is not None:
            found.append(TopKLogitsWarper(self.top_k))
        if self.top_p is not None:
            found.append(TopPLogitsWarper(self.top_p))
        if self.min_p is not None:
            found.append(MinPLogitsWarper(self.min_p))
        return found


# What a generation_config may say: least, most, and whether the least itself is left out.
BOUNDS = {"temperature": (0.0, math.inf, False), "top_p": (0.0, 1.0, True),
          "top_k": (0, math.inf, False), "min_p": (0.0, 1.0, False),
          "repetition_penalty": (0.0, math.inf, True)}  # fmt: skip


def sampling_of(settings: LocalSettings, defaults: Any, name: str) -> Sampling:
    """What the user set, and where that leaves it open the model's generation_config (defaults).
    A temperature, top_p or top_k of the user's turns sampling on; temperature 0 turns it off.
    Raises DataError where the generation_config says what cannot be."""

    def default(key: str) -> Any:
        value = getattr(defaults, key, None)
        if value is not None and not _can_be(value, *BOUNDS[key], whole=key == "top_k"):
            raise DataError(
                f"the generation_config of {name!r} has {key} {value!r}, which cannot be"
            )
        return value

    def either(key: str, neutral: float) -> Any:
        own = getattr(settings, key, None)
        value = default(key) if own is None else own
        return None if value == neutral else value

    penalty = either("repetition_penalty", 1.0)
    wanted = any(key in settings.model_fields_set for key in ("temperature", "top_p", "top_k"))
    temperature = either("temperature", math.nan)
    if not (wanted or defaults.do_sample) or temperature == 0:
        return Sampling(repetition_penalty=penalty)
    return Sampling(
        1.0 if temperature is None else float(temperature),
        either("top_p", 1.0), either("top_k", 0), either("min_p", 0.0), penalty,
    )  # fmt: skip


def _can_be(value: Any, least: float, most: float, above: bool, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return False
    return math.isfinite(value) and (least < value if above else least <= value) and value <= most


class Broken:
    """Notes the rows whose logits hold NaN, for which no token is the likeliest; called as
    transformers calls its processors, before all others."""

    def __init__(self) -> None:
        self.rows: torch.Tensor | None = None  # bool (rows,)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        found = scores.isnan().any(dim=-1)
        self.rows = found if self.rows is None else self.rows | found
        return scores


class Noise:
    """Adds Gumbel noise to logits (rows, tokens); called as transformers calls its processors."""

    def __init__(self, seeds: Sequence[int], width: int) -> None:
        self._seeds = tuple(seeds)
        self._width = width

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        position = input_ids.shape[1] - self._width
        return noisy(scores, [(seed, position) for seed in self._seeds])


def noisy(scores: torch.Tensor, places: Sequence[tuple[int, int]]) -> torch.Tensor:
    """Logits (rows, tokens) in 32-bit floats with Gumbel noise. places: seed and position of each
    row."""
    keys = [_keys(seed, position) for seed, position in places]
    first, second = (
        torch.tensor([key[which] for key in keys], device=scores.device)[:, None]
        for which in (0, 1)
    )
    tokens = torch.arange(scores.shape[1], device=scores.device)[None, :]
    hashed = _mixed(_mixed(tokens ^ first) ^ second)
    uniform = ((hashed >> 9).float() + 0.5) * 2.0**-23  # in (0, 1), exact in 32-bit floats
    return scores.float() - torch.log(-torch.log(uniform))


def _keys(seed: int, position: int) -> tuple[int, int]:
    """Two words of 32 bits."""
    told = hashlib.blake2b(f"{seed}/{position}".encode(), digest_size=8).digest()
    return int.from_bytes(told[:4], "little"), int.from_bytes(told[4:], "little")


def _mixed(x: torch.Tensor) -> torch.Tensor:
    """A bijection of 32-bit words in int64, so that no product overflows (both factors are below
    2^31): xor-shift and multiply, as in the finalisers of MurmurHash3 and its kin."""
    word = 0xFFFFFFFF
    x = ((x ^ (x >> 16)) * 0x45D9F3B) & word
    x = ((x ^ (x >> 15)) * 0x7FEB352D) & word
    return x ^ (x >> 16)
