"""Choose the next token so that it depends only on its own request.

Sampling is the argmax of the logits with Gumbel noise added (the Gumbel-max trick: exactly a draw
from their softmax). The noise is a hash of the request's seed, the position in its answer and the
token. It needs no state and no global generator, and is equal on every device and in every batch.
Small changes of the logits, such as rounding in another order of summation, seldom change such an
argmax.
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
    """Parameters of sampling. With temperature 0 (greedy), top_p, top_k and min_p are None."""

    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None

    def make_processors(
        self, seeds: Sequence[int], padding: Sequence[int], width: int
    ) -> list[Any]:
        """Return logits processors for a batch of prompts of `width` tokens.

        Args:
            padding: The number of leading padding tokens of each prompt.
        """
        found: list[Any] = []
        # It applies only to the row's own tokens: the padding may be the end token.
        if self.repetition_penalty is not None:
            ignored = torch.tensor(padding)
            found.append(RepetitionPenaltyLogitsProcessor(self.repetition_penalty, ignored))
        if not self.temperature:
            return found
        return [*found, *self.make_warpers(), GumbelNoise(seeds, width)]

    def make_warpers(self) -> list[Any]:
        """Return the processors that run before the noise; each uses only one row's logits."""
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


# Valid values in a generation_config: least, most, and whether the least is excluded.
BOUNDS = {"temperature": (0.0, math.inf, False), "top_p": (0.0, 1.0, True),
          "top_k": (0, math.inf, False), "min_p": (0.0, 1.0, False),
          "repetition_penalty": (0.0, math.inf, True)}  # fmt: skip


def resolve_sampling(settings: LocalSettings, defaults: Any, name: str) -> Sampling:
    """Return the sampling parameters of the user's settings and the model's generation_config.

    The user's settings take precedence. A temperature, top_p or top_k set by the user turns
    sampling on; temperature 0 turns it off.

    Raises:
        DataError: The generation_config holds an impossible value.
    """

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


class NanDetector:
    """A logits processor that records the rows of a batch with NaN logits.

    NaN logits define no most likely token. This processor runs before all other processors.
    """

    def __init__(self) -> None:
        self.rows: torch.Tensor | None = None  # bool (rows,)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        found = scores.isnan().any(dim=-1)
        self.rows = found if self.rows is None else self.rows | found
        return scores


class GumbelNoise:
    """A logits processor that adds Gumbel noise to logits (rows, tokens)."""

    def __init__(self, seeds: Sequence[int], width: int) -> None:
        self._seeds = tuple(seeds)
        self._width = width

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        position = input_ids.shape[1] - self._width
        return add_gumbel_noise(scores, [(seed, position) for seed in self._seeds])


def add_gumbel_noise(scores: torch.Tensor, places: Sequence[tuple[int, int]]) -> torch.Tensor:
    """Add Gumbel noise to logits, so that the largest value of a row is a random sample.

    The result is a float32 tensor of shape (rows, tokens).

    Args:
        places: For each row, the seed of its request and the position of the next token.
    """
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
    """Return two words of 32 bits."""
    told = hashlib.blake2b(f"{seed}/{position}".encode(), digest_size=8).digest()
    return int.from_bytes(told[:4], "little"), int.from_bytes(told[4:], "little")


def _mixed(x: torch.Tensor) -> torch.Tensor:
    """Apply a bijection of 32-bit words in int64.

    Both factors are below 2^31, so that no product overflows. It is xor-shift and multiply, as in
    the finalisers of MurmurHash3 and similar hashes.
    """
    word = 0xFFFFFFFF
    x = ((x ^ (x >> 16)) * 0x45D9F3B) & word
    x = ((x ^ (x >> 15)) * 0x7FEB352D) & word
    return x ^ (x >> 16)
