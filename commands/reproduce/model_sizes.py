"""Sizes of models, for estimates without the model on the disk."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...records import UsageError

REFERENCE_PARAMETERS = 7.6e9  # of the model that the rates of `CostAssumptions` are about
REFERENCE_ADAPTER_SHARE = 0.0425  # weights of its adapter with rank 128, all linear layers
REFERENCE_RANK = 128
_SIZE = re.compile(r"(?<![A-Za-z\d.])(\d+(?:\.\d+)?)\s*([BM])(?![A-Za-z\d])", re.IGNORECASE)
_UNITS = {"B": 1e9, "M": 1e6}


@dataclass(frozen=True)
class ModelSize:
    """The size of a language model.

    Attributes:
        parameters: The number of weights.
        source: Where the size comes from, for the list of assumptions.
        on_disk: Whether the model is on this machine.
        layers: The number of layers; 0 if the shape of the model is unknown.
        hidden: The width of a layer.
        inner: The width of the feed-forward part.
        keys: The total width of keys, and also of values.
        queries: The total width of queries; 0 for `hidden`.
    """

    parameters: float
    source: str
    on_disk: bool = False
    layers: int = 0
    hidden: int = 0
    inner: int = 0
    keys: int = 0
    queries: int = 0

    @property
    def scale(self) -> float:
        """The number of parameters in units of the model that the rates are about."""
        return self.parameters / REFERENCE_PARAMETERS

    def adapter_weights(self, rank: int) -> float:
        """Return the number of weights of a LoRA adapter of all linear layers.

        For an unknown shape, the number is scaled from a 7.6B model by the square root of the
        number of parameters.
        """
        if not self.layers:
            share = REFERENCE_ADAPTER_SHARE * rank / REFERENCE_RANK
            return share * REFERENCE_PARAMETERS * math.sqrt(self.scale)
        wide = self.queries or self.hidden
        ends = 2 * (self.hidden + wide) + 2 * (self.hidden + self.keys) + 3 * (self.hidden + self.inner)  # fmt: skip
        return float(rank * ends * self.layers)


def _known(parameters: float, layers: int, hidden: int, inner: int, keys: int, queries: int = 0) -> ModelSize:  # fmt: skip
    return ModelSize(parameters, "", False, layers, hidden, inner, keys, queries)


# Published configurations, by a part of the model's name in lower case. Longer names come first.
KNOWN: Mapping[str, ModelSize] = {
    "qwen2.5-0.5b": _known(0.494e9, 24, 896, 4_864, 128),
    "qwen2.5-1.5b": _known(1.54e9, 28, 1_536, 8_960, 256),
    "qwen2.5-3b": _known(3.09e9, 36, 2_048, 11_008, 256),
    "qwen2.5-7b": _known(7.62e9, 28, 3_584, 18_944, 512),
    "qwen2.5-14b": _known(14.8e9, 48, 5_120, 13_824, 1_024),
    "qwen2.5-32b": _known(32.8e9, 64, 5_120, 27_648, 1_024),
    "qwen2.5-72b": _known(72.7e9, 80, 8_192, 29_568, 1_024),
    "nextcoder-7b": _known(7.62e9, 28, 3_584, 18_944, 512),
    "llama-3.2-1b": _known(1.24e9, 16, 2_048, 8_192, 512),
    "llama-3.2-3b": _known(3.21e9, 28, 3_072, 8_192, 1_024),
    "llama-3.1-8b": _known(8.03e9, 32, 4_096, 14_336, 1_024),
    "llama-3.3-70b": _known(70.6e9, 80, 8_192, 28_672, 1_024),
    "gemma-2-9b": _known(9.24e9, 42, 3_584, 14_336, 2_048, 4_096),
}


def find_model_size(name: str, folder: Path | None, base_size: str | None) -> ModelSize:
    """Return the size of a model.

    Args:
        name: The name of the model.
        folder: The folder of the model, if it is on this machine.
        base_size: The number of parameters as the user gives it, such as "7.6B".

    Raises:
        UsageError: The size cannot be read from `base_size`, the folder or the name.
    """
    if base_size is not None:
        parameters = parse_parameters(base_size)
        if parameters is None:
            raise UsageError(
                f"--base-size {base_size!r}: give a number of parameters such as 7.6B or 500M"
            )
        return ModelSize(parameters, "--base-size", folder is not None)
    if folder is not None and (found := _read_config(folder)) is not None:
        return found
    known = next((size for part, size in KNOWN.items() if part in name.lower()), None)
    if known is not None:
        source = "the published configuration of this name"
        return ModelSize(known.parameters, source, folder is not None, known.layers, known.hidden,
                         known.inner, known.keys, known.queries)  # fmt: skip
    parameters = parse_parameters(name.rpartition("/")[2])
    if parameters is None:
        raise UsageError(
            f"the size of the base {name!r} is neither in its files nor in its name: add"
            " --base-size, such as --base-size 7.6B"
        )
    return ModelSize(parameters, "the name of the model", folder is not None)


def parse_parameters(text: str) -> float | None:
    """Return the number of parameters that a text such as "7.6B" or "Qwen3-8B" names, or None."""
    found = _SIZE.findall(text)
    return float(found[-1][0]) * _UNITS[found[-1][1].upper()] if found else None


def _read_config(folder: Path) -> ModelSize | None:
    """Return the size that config.json describes, or None if it has other keys."""
    try:
        held: dict[str, Any] = json.loads((folder / "config.json").read_text("utf-8"))
        hidden, layers = int(held["hidden_size"]), int(held["num_hidden_layers"])
        inner, vocabulary = int(held["intermediate_size"]), int(held["vocab_size"])
        heads = int(held["num_attention_heads"])
        width = int(held.get("head_dim") or hidden // heads)
        keys = width * int(held.get("num_key_value_heads") or heads)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    queries = width * heads
    tables = vocabulary * hidden * (1 if held.get("tie_word_embeddings") else 2)
    layer = hidden * (2 * queries + 2 * keys + 3 * inner + 2)
    return ModelSize(tables + layers * layer + hidden, f"{folder.name}/config.json", True, layers,
                     hidden, inner, keys, queries)  # fmt: skip
