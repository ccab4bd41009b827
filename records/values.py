"""JSON values, and the digests by which requests, problems and inputs are named."""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeAlias

Json: TypeAlias = Any  # None | bool | int | float | str | list[Json] | dict[str, Json]
Digest: TypeAlias = str


def canonical_json(value: Json) -> str:
    """One text for one JSON value: sorted keys, no blanks, UTF-8 kept."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(value: Json) -> Digest:
    """SHA-256 (hex) of `canonical_json(value)`; how requests, problems and inputs are named."""
    return digest_of_text(canonical_json(value))


def digest_of_text(text: str) -> Digest:
    """`digest_of` of a value whose canonical JSON is at hand."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
