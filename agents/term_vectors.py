"""Vectors of terms for the built-in search (`--model-arg embeddings=…`).

    URL#NAME, PROVIDER:NAME    an endpoint with /v1/embeddings (agents/endpoint/embeddings.py)
    hf:FOLDER                  a sentence encoder in this process (agents/local/encoder.py)

The search groups terms into themes. With vectors of an encoder, terms of similar meaning come into one
theme, and not terms that occur in the same texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..records import Json

DIMENSIONS = 64  # of the vectors that the search receives
DIGITS = 5  # after the point

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """A source of vectors for texts."""

    def settings(self) -> Json:
        """Return what the session records about the encoder."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector for each of n texts, of shape (n, d).

        Raises:
            Unavailable: The encoder gave no vectors.
        """
        ...

    async def close(self) -> None:
        """Release what the encoder holds."""
        ...


async def open_encoder(spec: str) -> Encoder:
    """Open the encoder that `spec` names. An endpoint is not asked anything yet.

    Raises:
        UsageError: The text names no encoder, or a package or the key is missing.
        DataError: A file of a local encoder is missing or damaged.
    """
    if spec.partition(":")[0] == "hf":
        from .local.encoder import open_local_encoder

        return await open_local_encoder(spec)
    from .endpoint.embeddings import open_endpoint_encoder

    return open_endpoint_encoder(spec)


def reduce_vectors(vectors: Mapping[str, NDArray[np.float32]]) -> dict[str, list[float]]:
    """Return vectors as JSON with at most `DIMENSIONS` dimensions, their principal components.

    Only angles between vectors matter to the search, so that each vector has the length 1 first.

    Args:
        vectors: Vectors of one length by text.
    """
    table = np.array(list(vectors.values()), np.float64)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    table = table / np.where(lengths > 0, lengths, 1.0)
    if table.shape[1] > DIMENSIONS:
        _, basis = np.linalg.eigh(table.T @ table)
        table = table @ basis[:, -DIMENSIONS:]
    return dict(zip(vectors, table.round(DIGITS).tolist(), strict=True))
