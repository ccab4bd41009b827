"""JSON values and the digests that identify requests, problems and inputs."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, TypeAlias, TypeGuard

Json: TypeAlias = Any  # None | bool | int | float | str | list[Json] | dict[str, Json]
Digest: TypeAlias = str


def canonical_json(value: Json) -> str:
    """Return `value` as JSON text with sorted keys and no whitespace; non-ASCII text is not
    escaped.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(value: Json) -> Digest:
    """Return the SHA-256 digest (hex) of the canonical JSON of `value`."""
    return digest_of_text(canonical_json(value))


def digest_of_text(text: str) -> Digest:
    """Return the SHA-256 digest (hex) of a text, usually the result of `canonical_json`."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_finite_number(value: object) -> TypeGuard[float]:
    """Return whether `value` is a number or boolean that a float can hold and that is finite.

    JSON allows integers that are too large for a float. `math.isfinite` raises an error for such an
    integer, whereas this function returns False.
    """
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


class TooLarge(ValueError):
    """Raised for a JSON number that is too large for a float. The message is the text of the
    number.
    """


class RepeatedKey(ValueError):
    """Raised for a JSON object in which a key occurs twice."""


def parse_strictly(text: str | bytes) -> Json:
    """Parse JSON from an untrusted source, and reject text that JSON parsers read differently.

    Raises:
        TooLarge: A number is too large for a float.
        RepeatedKey: A key occurs twice in an object.
        ValueError: The text is not JSON, contains NaN or Infinity, or is nested too deeply.
    """
    try:
        return _STRICT.decode(
            text if isinstance(text, str) else str(text, "utf-8", "surrogatepass")
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise TooLarge(text)
    return value


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON number")


def _each_once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise RepeatedKey("a key stands twice")
    return value


_STRICT = json.JSONDecoder(
    parse_float=_finite, parse_constant=_no_constant, object_pairs_hook=_each_once
)
