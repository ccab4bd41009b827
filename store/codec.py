"""The encoding of arrays, text and JSON in the columns of a store.

An array of numbers is stored as a blob under the digest of its content. The digest is the SHA-256
of the array's dtype, shape and little-endian bytes, so equal arrays of several calls and
predictions are stored once. A blob has this format:

    "PV1"  form (1 byte)  packed (1 byte)  dtype (8 bytes, ASCII)  ndim (1 byte)
    shape (8 bytes each)  body

Form 0 is raw: the body holds all items. Form 1 is constant: the body holds one item. Forms 2 and 3
have a palette: the body holds the number of distinct items (4 bytes), the distinct items, and an
index of 1 or 2 bytes for each item. If packed is 1, the body is compressed by zlib at level 1. It
is compressed only if this saves enough space.

JSON is stored as text in Python's dialect, so NaN and Infinity are kept. DuckDB accepts only UTF-8,
but the output of a model may contain lone surrogates. A text with lone surrogates is stored as
`ESCAPE_MARK` followed by its ASCII JSON form, so that the exact text can be restored.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records import Digest, Json, Problem, StoreError, Verdict, canonical_json

RAW, CONSTANT, PALETTE_1, PALETTE_2 = range(4)
HEADER = struct.Struct("<3sBB8sB")
MAGIC = b"PV1"
SAMPLE_BYTES = 4_096  # bytes compressed on trial before the complete body is compressed
MAX_COMPRESSED_SHARE = 0.75  # compress only where the result is smaller than this share
MOST = 1 << 27  # bytes of one decompressed cell; a store that someone sends may claim any size

Vector = NDArray[Any]


def _plain(array: Vector) -> Vector:
    """Return the array in C order with little-endian bytes.

    Raises:
        TypeError: The array does not hold numbers.
    """
    if array.dtype.kind not in "biuf":
        raise TypeError(f"a vector holds numbers, not {array.dtype}")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def vector_digest(array: Vector) -> Digest:
    """Return the SHA-256 of an array's dtype, shape and items as hexadecimal text."""
    plain = _plain(array)
    seen = hashlib.sha256(f"{plain.dtype.str}{plain.shape}".encode())
    seen.update(plain.data if plain.size else b"")
    return seen.hexdigest()


def _palette(flat: Vector) -> tuple[int, bytes] | None:
    """Return form and body if the items have few distinct values, else None."""
    if flat.itemsize == 1 or flat.size < 64 or flat.dtype.kind == "f":
        return None  # equal floats may differ in their bytes (0.0 and -0.0)
    if np.unique(flat[:512]).size > 480:
        return None
    values, places = np.unique(flat, return_inverse=True)
    if values.size > 65_536 or values.size * 4 > flat.size:
        return None
    small = values.size <= 256
    body = struct.pack("<I", values.size) + values.tobytes()
    body += places.astype(np.uint8 if small else "<u2").tobytes()
    return (PALETTE_1 if small else PALETTE_2), body


def _packed(body: bytes) -> tuple[int, bytes]:
    """Return the packed flag and the body, compressed where that saves enough."""
    if len(body) < 64:
        return 0, body
    if len(body) > 2 * SAMPLE_BYTES:
        middle = len(body) // 2
        sample = body[middle : middle + SAMPLE_BYTES]
        if len(zlib.compress(sample, 1)) > MAX_COMPRESSED_SHARE * len(sample):
            return 0, body
    small = zlib.compress(body, 1)
    return (1, small) if len(small) < MAX_COMPRESSED_SHARE * len(body) else (0, body)


def encode_vector(array: Vector) -> bytes:
    """Return the bytes under which an array of numbers is stored; `decode_vector` restores it.

    Raises:
        TypeError: The array does not hold numbers.
        StoreError: The array has more than `MOST` bytes, which `decode_vector` would refuse.
    """
    plain = _plain(array)
    if plain.nbytes > MOST:
        raise StoreError(f"a vector has {plain.nbytes} bytes, and a store holds {MOST} at most")
    flat = plain.reshape(-1)
    data = flat.tobytes()
    item = flat.itemsize
    if flat.size > 1 and data[item:] == data[:-item]:
        form, body = CONSTANT, data[:item]
    else:
        form, body = _palette(flat) or (RAW, data)
    packed, body = _packed(body)
    head = HEADER.pack(MAGIC, form, packed, plain.dtype.str.encode(), plain.ndim)
    return head + struct.pack(f"<{plain.ndim}Q", *plain.shape) + body


def inflate(data: bytes, most: int = MOST) -> bytes:
    """Decompress zlib data from the store, and return the result.

    Raises:
        zlib.error: The data are damaged, or the result is longer than `most` bytes.
    """
    stream = zlib.decompressobj()
    found = stream.decompress(data, most + 1)
    if len(found) > most:
        raise zlib.error(f"it has more than {most} bytes when decompressed")
    if not stream.eof:
        raise zlib.error("its compressed data is truncated")
    return found


def decode_vector(blob: bytes, items: int | None = None) -> Vector:
    """Return the array that `encode_vector` stored as `blob`, as a read-only array.

    Args:
        blob: The stored bytes.
        items: The largest number of items that the array may have; None for no limit.

    Raises:
        StoreError: The blob is invalid, or its array has more than `items` items or `MOST` bytes.
    """
    try:
        return _decode(blob, items)
    except (struct.error, zlib.error, ValueError, TypeError, IndexError, MemoryError) as error:
        raise StoreError(f"a vector of the store cannot be read: {error}") from error


def _decode(blob: bytes, items: int | None) -> Vector:
    magic, form, packed, name, ndim = HEADER.unpack_from(blob)
    if magic != MAGIC:
        raise ValueError(f"it begins with {bytes(magic)!r}, not {MAGIC!r}")
    dtype = np.dtype(name.rstrip(b"\0").decode("ascii"))
    shape = struct.unpack_from(f"<{ndim}Q", blob, HEADER.size)
    if dtype.kind not in "biuf":
        raise ValueError(f"its items are {dtype}, not numbers")
    size = math.prod(shape)
    if items is not None and size > items:
        raise ValueError(f"it has {size} items where {items} are expected")
    if size * dtype.itemsize > MOST:
        raise ValueError(f"it claims {size} items, and a vector has {MOST} bytes at most")
    body = blob[HEADER.size + 8 * ndim :]
    if packed:
        most = size * dtype.itemsize if form in (RAW, CONSTANT) else 4 + (1 << 19) + 2 * size
        body = inflate(body, most)
    if form == RAW:
        flat = np.frombuffer(body, dtype)
    elif form == CONSTANT:
        flat = np.full(size, np.frombuffer(body, dtype)[0])
    elif form in (PALETTE_1, PALETTE_2):
        (count,) = struct.unpack_from("<I", body)
        values = np.frombuffer(body, dtype, count, 4)
        places = np.frombuffer(
            body, np.uint8 if form == PALETTE_1 else "<u2", size, 4 + values.nbytes
        )
        flat = values[places]
    else:
        raise ValueError(f"its form {form} is unknown")
    array = flat.reshape(shape)
    array.flags.writeable = False
    return array


def is_intact(digest: Digest, blob: bytes) -> bool:
    """Return whether the array that is stored as `blob` has the digest `digest`."""
    try:
        return vector_digest(decode_vector(blob)) == digest
    except StoreError:
        return False


ESCAPE_MARK = "\ufdd0"  # a noncharacter; a text that begins with it is escaped as well


def is_utf8(text: str) -> bool:
    """Return whether a text can be encoded as UTF-8, which means that it has no lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def encode_text(text: str) -> str:
    """Return a text in the form in which the store holds it; `decode_text` restores it."""
    if is_utf8(text) and not text.startswith(ESCAPE_MARK):
        return text
    return ESCAPE_MARK + json.dumps(text)


def decode_text(cell: str) -> str:
    """Return the text that the store holds in a column; this is the inverse of `encode_text`."""
    if not cell.startswith(ESCAPE_MARK):
        return cell
    return str(decode_json(cell[len(ESCAPE_MARK) :], "an escaped text", str))


def encode_json(value: Json) -> str:
    """Return a JSON value in the form in which the store holds it; `decode_json` restores it."""
    return encode_canonical_json(canonical_json(value))


def encode_canonical_json(text: str) -> str:
    """Return text that is already canonical JSON in the form in which the store holds it."""
    if is_utf8(text):
        return text
    return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))


def decode_json(cell: str, column: str, kind: type = object) -> Json:
    """Return the JSON value that the store holds in a column.

    Args:
        cell: The stored text.
        column: The table and column, such as "call.response", for error messages.
        kind: The Python type that the value must have.

    Raises:
        StoreError: The text is not JSON, or its value does not have this type.
    """
    if cell == "{}" and kind is dict:  # most cells of some columns
        return {}
    if cell == "[]" and kind is list:
        return []
    try:
        value = json.loads(cell)
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"the store is damaged: {column} holds no JSON: {error}") from error
    if not isinstance(value, kind):
        held = json.dumps(value)
        raise StoreError(
            f"the store is damaged: {column} holds {held[:40]} where a JSON {_KINDS[kind]} belongs"
        )
    return value


MANY_VALUES, MOST_DISTINCT = 1_000, 256  # of a list that is stored by its distinct values


def encode_values(values: Sequence[Json]) -> str:
    """Return a list of JSON values in the form in which the store holds it.

    A long list with few distinct values, such as the labels that a sentence gives to many rows, is an
    object with the distinct values and their places. Any other list is JSON.
    """
    if len(values) < MANY_VALUES:
        return encode_json(values)
    numbers: dict[str, int] = {}
    known: dict[
        int, int
    ] = {}  # the number of a value by its identity, as long as `values` holds it
    places = bytearray()
    for value in values:
        number = known.get(id(value))
        if number is None:
            number = numbers.setdefault(canonical_json(value), len(numbers))
            known[id(value)] = number
        if number >= MOST_DISTINCT:
            return encode_json(values)
        places.append(number)
    packed = base64.b64encode(zlib.compress(bytes(places), 6)).decode("ascii")
    return encode_json({"values": [json.loads(text) for text in numbers], "places": packed})


def decode_values(cell: str, column: str) -> list[Json]:
    """Return the list of JSON values that `encode_values` stored as `cell`.

    Args:
        cell: The stored text.
        column: The table and column, for error messages.

    Raises:
        StoreError: The text is neither a list nor an object with values and places.
    """
    if not cell.startswith("{"):
        found: list[Json] = decode_json(cell, column, list)
        return found
    held = decode_json(cell, column, dict)
    try:
        places = inflate(base64.b64decode(held["places"], validate=True))
        values = held["values"]
        return [values[place] for place in places]
    except (KeyError, IndexError, TypeError, ValueError, zlib.error) as error:
        raise StoreError(f"the store is damaged: {column} cannot be read: {error}") from error


class StoredSettings(dict[str, Any]):
    """The settings of a stored session, pair set or training.

    `settings[key]` raises StoreError instead of KeyError if the key is missing, because only a
    damaged store lacks a key. Objects inside the settings behave in the same way.
    """

    def __init__(self, held: Mapping[str, Any], column: str) -> None:
        super().__init__(
            {
                key: StoredSettings(value, f"{column}.{key}") if isinstance(value, dict) else value
                for key, value in held.items()
            }
        )
        self._column = column

    def __or__(self, other: Mapping[str, Any]) -> StoredSettings:  # type: ignore[override]
        return StoredSettings({**self, **other}, self._column)

    def __missing__(self, key: str) -> Any:
        raise StoreError(f"the store is damaged: {self._column} has no key {key!r}")

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)  # a copy is no longer a part of a store


# The types that settings of a session have where they are set, and which of them may be null.
SESSION_SETTINGS: Mapping[str, type] = {
    "family": str,
    "task": str,
    "method": str,
    "answer_format": str,
    "model": str,
    "seed": int,
    "versions": dict,
    "model_settings": dict,
    "repairer_settings": dict,
    "roles": dict,
    "text": dict,
    "limits": dict,
    "operational": dict,
    "operational.config": dict,
    "operational.data": dict,
    "operational.layers": dict,
    "operational.model_options": dict,
    "operational.players": dict,
}
NULLABLE = frozenset(
    {"model", "model_settings", "seed", "repairer_settings", "roles", "text", "operational.data", "operational.layers",
     "operational.model_options", "operational.players"}
)  # fmt: skip


def settings_of(cell: str, column: str, kinds: Mapping[str, type] = {}) -> StoredSettings:
    """Parse settings that the store holds in a column, and check their types.

    Args:
        cell: The stored text.
        column: The table and column, such as "pair_set.settings", for error messages.
        kinds: The required type of some settings, by key. The key of a setting in an inner object
            is written "outer.inner" and comes after the key of this object. Settings in `NULLABLE`
            may be null.

    Raises:
        StoreError: The text is not a JSON object, or a value has a different type.
    """
    held = decode_json(cell, column, dict)
    for key, kind in kinds.items():
        outer, _, inner = key.partition(".")
        place, name = (held.get(outer, {}), inner) if inner else (held, outer)
        if name not in place or (place[name] is None and key in NULLABLE):
            continue
        value = place[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            shown = json.dumps(value)[:40]
            raise StoreError(
                f"the store is damaged: {column}.{key} holds {shown} where a JSON {_KINDS[kind]}"
                " belongs"
            )
    return StoredSettings(held, column)


_KINDS: dict[type, str] = {int: "integer", dict: "object", list: "array", str: "string"}


def verdict_of(cell: str) -> Verdict:
    """Return the verdict that the store holds as `cell`.

    Raises:
        StoreError: The text is not a verdict.
    """
    try:
        return Verdict(cell)
    except ValueError as error:
        raise StoreError(f"the store is damaged: verdict.verdict holds {cell[:40]!r}") from error


def problem_of(cell: str) -> Problem:
    """Return the problem that the store holds as `cell`.

    Raises:
        StoreError: The text is not JSON, or the problem is incomplete.
    """
    data = decode_json(cell, "problem.data", dict)
    try:
        return Problem.from_json(data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(
            f"the store is damaged: problem.data of problem {str(data.get('id'))[:40]!r} is not a "
            f"whole problem: {error}"
        ) from error
