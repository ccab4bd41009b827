"""Choose the next token of an answer independently of the other requests in its batch.

A token is sampled by adding Gumbel noise to the logits and taking the largest value (the Gumbel-max
trick), which is exactly a draw from the softmax of the logits. The noise is a hash of the request's
seed, the position in the answer and the token. It needs no random generator, and is equal on every
device and in every batch. Small changes of the logits, for example through rounding, seldom change
the sampled token.
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
    """Sampling parameters. With temperature 0 (greedy decoding), top_p, top_k and min_p are
    None.
    """

    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None

    def make_processors(
        self, seeds: Sequence[int], padding: Sequence[int], width: int
    ) -> list[Any]:
        """Return the logits processors for one batch of prompts.

        Args:
            seeds: The seed of each request.
            padding: The number of padding tokens at the beginning of each prompt.
            width: The number of tokens of each prompt, including the padding.
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
        """Return the logits processors that run before the Gumbel noise is added.

        Each of these processors uses only the logits of a single row.
        """
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
    """Combine the user's settings and the model's generation_config into sampling parameters.

    The user's settings take precedence. If the user sets a temperature, top_p or top_k, tokens are
    sampled. With temperature 0, decoding is greedy.

    Args:
        settings: The user's settings.
        defaults: The generation_config of the model.
        name: The name of the model, for error messages.

    Raises:
        DataError: The generation_config contains an invalid value.
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
    """A logits processor that records which rows of a batch have NaN logits.

    With NaN logits, no most likely token exists. This processor must run before all others.
    """

    def __init__(self) -> None:
        self.rows: torch.Tensor | None = None  # bool (rows,)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        found = scores.isnan().any(dim=-1)
        self.rows = found if self.rows is None else self.rows | found
        return scores


class GumbelNoise:
    """A logits processor that adds Gumbel noise to logits of shape (rows, tokens)."""

    def __init__(self, seeds: Sequence[int], width: int) -> None:
        self._seeds = tuple(seeds)
        self._width = width

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        position = input_ids.shape[1] - self._width
        return add_gumbel_noise(scores, [(seed, position) for seed in self._seeds])


def add_gumbel_noise(scores: torch.Tensor, places: Sequence[tuple[int, int]]) -> torch.Tensor:
    """Add Gumbel noise to logits, so that the largest value of each row is a random sample.

    Args:
        scores: The logits, a tensor of shape (rows, tokens).
        places: For each row, the seed of its request and the position of the next token in its
            answer.

    Returns:
        A float32 tensor of shape (rows, tokens).
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
