"""JSON values and the digests that identify requests, problems and inputs."""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeAlias

Json: TypeAlias = Any  # None | bool | int | float | str | list[Json] | dict[str, Json]
Digest: TypeAlias = str


def canonical_json(value: Json) -> str:
    """Return the canonical text of a JSON value: sorted keys, no whitespace, UTF-8 not escaped."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(value: Json) -> Digest:
    """Return the SHA-256 (hex) of `canonical_json(value)`, which identifies requests and inputs."""
    return digest_of_text(canonical_json(value))


def digest_of_text(text: str) -> Digest:
    """Return `digest_of` for a value whose canonical JSON is already available."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
