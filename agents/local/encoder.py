"""A sentence encoder in this process: the mean of a transformer's last hidden states.

The folder has the files of the Hugging Face library transformers: a tokenizer, config.json and weights
as safetensors. Weights are read without running code from the folder.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...records import DataError, Json, UsageError

if TYPE_CHECKING:
    from ..term_vectors import Encoder

BATCH = 64  # texts that are encoded together
MAX_TOKENS = 64  # of a text; terms are short
PACKAGES = ("torch", "transformers")


class LocalEncoder:
    """A loaded encoder.

    Args:
        spec: The text that names it.
        digest: The digest of its files.
        tokenizer: Its tokenizer.
        model: The model, which has hidden states.
    """

    def __init__(self, spec: str, digest: str, tokenizer: Any, model: Any) -> None:
        self._spec, self._digest, self._tokenizer, self._model = spec, digest, tokenizer, model

    def settings(self) -> Json:
        """Return the text that names the encoder, and the digest of its files."""
        return {"encoder": self._spec, "digest": self._digest}

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each of n texts, of shape (n, d)."""
        return await asyncio.to_thread(self._encode, list(texts))

    async def close(self) -> None:
        """Release the model."""
        self._model = None

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        import torch

        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token or self._tokenizer.unk_token
        parts = []
        with torch.inference_mode():
            for at in range(0, len(texts), BATCH):
                read = self._tokenizer(
                    texts[at : at + BATCH], padding=True, truncation=True, max_length=MAX_TOKENS,
                    return_tensors="pt", return_token_type_ids=False,
                )  # fmt: skip
                hidden = self._model(**read).last_hidden_state
                mask = read["attention_mask"].unsqueeze(-1).to(hidden.dtype)
                mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
                parts.append(mean.float().numpy())
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)


async def open_local_encoder(spec: str) -> Encoder:
    """Load an encoder.

    Args:
        spec: hf:FOLDER, or hf:ID of the Hugging Face hub.

    Raises:
        UsageError: A package or the folder is missing.
        DataError: A file of the encoder cannot be used.
    """
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(
            f"embeddings {spec!r} needs {', '.join(missing)}: pip install 'peirce[local]'"
        )
    return await asyncio.to_thread(_load, spec)


def _load(spec: str) -> Encoder:
    import transformers

    from .files import digest_files, find_model
    from .model import silence_libraries

    base, adapter = find_model(spec)
    if adapter is not None:
        raise UsageError(f"embeddings {spec!r}: an encoder takes no adapter")
    try:
        with silence_libraries(("transformers",), logging.CRITICAL):
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                base.folder, local_files_only=True, trust_remote_code=False
            )
            model = transformers.AutoModel.from_pretrained(
                base.folder, use_safetensors=True, local_files_only=True, trust_remote_code=False
            )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        told = " ".join(str(error).split())[:200]
        raise DataError(f"encoder {base.name!r} cannot be loaded: {told}") from None
    model.eval()
    return LocalEncoder(spec, digest_files(base.folder), tokenizer, model)
