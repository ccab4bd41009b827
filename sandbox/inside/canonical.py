"""The equality rule for predictions, and the 64-bit code that represents a prediction.

The same rule serves every consistency check and every diversity score, in the parent process and
inside the sandbox. Numbers are compared by value: True, 1 and 1.0 are equal, -0.0 is 0, and NaN
equals NaN. Strings are compared exactly. Lists and tuples are compared element by element, and a
list may equal a tuple. Dicts are compared by their items in any order. None equals only None. Sets,
bytes, other objects, instances of subclasses and circular values have no canonical form. A text
with a surrogate pair has no canonical form either, because JSON cannot distinguish the pair from
the single character that it encodes.

The canonical form is the output of `marshal`, version 2, for the normalised value. This format is
documented, self-delimiting and has no references, so different values have different forms. C code
writes it quickly for the flat lists that most hypotheses return. Forms are only written and hashed,
never read.

This file uses only the standard library, because the harness loads it inside the sandbox.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from itertools import chain
from typing import Any

EQUALITY_VERSION = 1
MAX_DEPTH = 100  # nested containers
MAX_BYTES = 100_000
LONG_INT_BITS = 4_096  # `to_json_value` writes longer integers in hexadecimal.

UNREPRESENTABLE = "unrepresentable"
TOO_LARGE = "too_large"

ADDRESS_MARK = b" at 0x"  # in the text of an object without a text of its own

_TEXTLESS = frozenset({int, type(None)})  # exact types that marshal writes in canonical form
_SMALL_INT = 2**256
# In UTF-8: a high surrogate before a low one. Other bytes of a form may look like it by chance.
_SURROGATE_PAIR = re.compile(rb"\xed[\xa0-\xaf].\xed[\xb0-\xbf]", re.DOTALL)
_NAN = b"g" + bytes.fromhex("000000000000f87f")
# The memo stays small, because new pages make a child slower.
_MEMO_BYTES, _MEMO_ENTRIES = 256, 2_048


class Unrepresentable(ValueError):
    """Raised for a value without a canonical form; `reason` is "unrepresentable" or "too_large"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def canonical_bytes(value: Any, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the canonical form of a value: equal values, and only these, have equal bytes.

    Types are compared by identity, so no method of an untrusted object runs.

    Raises:
        Unrepresentable: The reason is "unrepresentable" for types without a canonical form and for
            circular values. It is "too_large" if the form is longer than `max_bytes` or the value
            has more than `MAX_DEPTH` nested containers.
    """
    parts: list[bytes] = []
    _write(value, parts.append, [max_bytes], ())
    return b"".join(parts)


def code_bytes(value: Any, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the code of a value as 8 bytes, little endian: BLAKE2b of its canonical form.

    Raises:
        Unrepresentable: The value has no canonical form of at most `max_bytes` bytes.
    """
    return blake2b(canonical_bytes(value, max_bytes), digest_size=8).digest()


def code_of(value: Any) -> int:
    """Return the code of a value as a signed 64-bit integer.

    Equal values have equal codes. Two unequal values have equal codes with probability 2**-64.

    Raises:
        Unrepresentable: The value has no canonical form.
    """
    return int.from_bytes(code_bytes(value), "little", signed=True)


def make_coder(
    max_bytes: int = MAX_BYTES, check: Callable[[bytes], None] | None = None
) -> Callable[[Any], bytes]:
    """Return a function that computes the codes of many values faster than `code_bytes`.

    The returned function serialises flat lists and grids with one call of C code. It also caches
    the codes of short values, because the outputs of a hypothesis often repeat.

    Args:
        max_bytes: Maximum length of a canonical form.
        check: A function that is called with each form that contains ADDRESS_MARK, and may raise;
            None for no check.
    """
    memo: dict[bytes, bytes] = {}
    known = memo.get
    dumps, is_textless = marshal.dumps, _TEXTLESS.issuperset
    longest = min(max_bytes, _MEMO_BYTES) // 5

    def code(value: Any) -> bytes:
        has_text = False
        try:
            if type(value) is list and len(value) <= longest and is_textless(map(type, value)):
                form = dumps(value, 2)
                if len(form) > max_bytes:
                    raise Unrepresentable(TOO_LARGE)
            elif _is_grid(value, max_bytes // 5 - 1):
                form = dumps(value, 2)
            else:
                form, has_text = canonical_bytes(value, max_bytes), True
        except Unrepresentable:
            raise
        # one huge integer many times, or types that lie about themselves
        except (MemoryError, TypeError, ValueError):
            form, has_text = canonical_bytes(value, max_bytes), True
        found = known(form)
        if found is None:
            repeatable = len(form) <= _MEMO_BYTES
            if has_text and ADDRESS_MARK in form and check is not None:
                check(form)
                repeatable = False  # `check` may accept this form for the current input only
            found = blake2b(form, digest_size=8).digest()
            if repeatable and len(memo) < _MEMO_ENTRIES:
                memo[form] = found
        return found

    return code


def _is_grid(value: Any, most: int) -> bool:
    """Return whether `value` is a list of lists of 32-bit integers, at most `most` in all."""
    return (
        type(value) is list
        and len(value) > 0
        and {list}.issuperset(map(type, value))
        and len(value) + sum(map(len, value)) <= most
        and {int}.issuperset(map(type, chain.from_iterable(value)))
        and max(chain.from_iterable(value), default=0) < 2**31
        and min(chain.from_iterable(value), default=0) >= -(2**31)
    )


def equal(first: Any, second: Any) -> bool:
    """Return whether two values are equal as predictions.

    The result is False if a value has no canonical form.
    """
    try:
        return canonical_bytes(first) == canonical_bytes(second)
    except Unrepresentable:
        return False


def _write(
    value: Any, put: Callable[[bytes], None], left: list[int], path: tuple[int, ...]
) -> None:
    kind = type(value)
    if kind is list or kind is tuple:
        if len(value) + 5 > left[0]:  # Every element takes at least one byte.
            raise Unrepresentable(TOO_LARGE)
        if len(value) * 5 + 5 <= left[0] and _is_flat(value) and _small(value):
            form = marshal.dumps(value if kind is list else list(value), 2)
            if not _SURROGATE_PAIR.search(form):
                _spend(len(form), left)
                put(form)
                return
        path = _deeper(value, path)
        _spend(5, left)
        put(b"[" + len(value).to_bytes(4, "little"))
        for element in value:
            _write(element, put, left, path)
    elif kind is dict:
        path = _deeper(value, path)
        _spend(2, left)
        put(b"{")
        for pair in sorted(_pairs(value, left, path)):
            put(b"".join(pair))
        put(b"0")
    elif kind is float:
        _write_float(value, put, left)
    elif kind is bool or kind is int:
        if value.bit_length() // 8 > left[0]:
            raise Unrepresentable(TOO_LARGE)
        _emit(marshal.dumps(int(value), 2), put, left)
    elif kind is str:
        if len(value) > left[0]:
            raise Unrepresentable(TOO_LARGE)
        form = marshal.dumps(value, 2)
        if _SURROGATE_PAIR.search(form, 5):
            raise Unrepresentable(UNREPRESENTABLE)
        _emit(form, put, left)
    elif value is None:
        _emit(b"N", put, left)
    else:
        raise Unrepresentable(UNREPRESENTABLE)


def _pairs(
    value: dict[Any, Any], left: list[int], path: tuple[int, ...]
) -> list[tuple[bytes, bytes]]:
    pairs = []
    for key, item in value.items():
        key_parts: list[bytes] = []
        item_parts: list[bytes] = []
        _write(key, key_parts.append, left, path)
        _write(item, item_parts.append, left, path)
        pairs.append((b"".join(key_parts), b"".join(item_parts)))
    return pairs


def _is_flat(value: Any) -> bool:
    """Return whether all elements have a flat type.

    Types are compared by identity alone, because a type with its own metaclass may lie to a set.
    """
    return all(
        kind is int or kind is str or element is None
        for element, kind in zip(value, map(type, value), strict=True)
    )


def _small(value: Any) -> bool:
    """Return whether one C call writes the elements within a bound.

    The same huge integer could otherwise occur many times.
    """
    if {int}.issuperset(map(type, value)):
        return not value or (min(value) > -_SMALL_INT and max(value) < _SMALL_INT)
    return all(
        element.bit_length() <= 256 if type(element) is int else not element or len(element) <= 64
        for element in value
    )


def _write_float(value: float, put: Callable[[bytes], None], left: list[int]) -> None:
    if value != value:
        _emit(_NAN, put, left)
    elif value.is_integer():
        _emit(marshal.dumps(int(value), 2), put, left)
    else:
        _emit(marshal.dumps(value, 2), put, left)


def _emit(form: bytes, put: Callable[[bytes], None], left: list[int]) -> None:
    _spend(len(form), left)
    put(form)


def _spend(size: int, left: list[int]) -> None:
    left[0] -= size
    if left[0] < 0:
        raise Unrepresentable(TOO_LARGE)


def _deeper(value: Any, path: tuple[int, ...]) -> tuple[int, ...]:
    if id(value) in path:
        raise Unrepresentable(UNREPRESENTABLE)
    if len(path) >= MAX_DEPTH:
        raise Unrepresentable(TOO_LARGE)
    return (*path, id(value))


# --- Values as JSON ----------------------------------------------------------


def to_json_value(value: Any) -> Any:
    """Return `value` as a JSON value that `stored_bytes` can read.

    Tuples become lists. Values that JSON lacks are written as {"$float": "nan" | "inf" | "-inf"},
    {"$int": "0x..."} for integers beyond 4,096 bits, and {"$dict": [[key, value], ...]} for dicts
    with a key that is not a string or begins with "$". The value must have a canonical form.
    """
    kind = type(value)
    if kind is list or kind is tuple:
        return [to_json_value(element) for element in value]
    if kind is dict:
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: to_json_value(item) for key, item in value.items()}
        return {"$dict": [[to_json_value(key), to_json_value(item)] for key, item in value.items()]}
    if kind is float and (value != value or value in (float("inf"), float("-inf"))):
        return {"$float": repr(value)}
    if kind is int and value.bit_length() > LONG_INT_BITS:
        return {"$int": hex(value)}
    return value


def stored_bytes(
    value: Any, max_bytes: int = MAX_BYTES, known: Mapping[int, tuple[Any, bytes]] | None = None
) -> bytes:
    """Return the canonical form of the value that `to_json_value` converted to `value`.

    No dict of the value is created, because untrusted keys could all have the same hash.

    Args:
        value: A result of `to_json_value`.
        max_bytes: Maximum length of the canonical form.
        known: Forms of some lists in `value`, which are then not computed again. The key is the
            `id` of a list; the entry holds the list and its form.

    Raises:
        Unrepresentable: The reasons are those of `canonical_bytes`.
        ValueError: The value has an unknown tag or a duplicate key.
    """
    parts: list[bytes] = []
    try:
        _write_stored(value, parts.append, [max_bytes], 0, known or {})
    except TypeError as error:
        raise ValueError("a stored value of another form") from error
    return b"".join(parts)


def list_bytes(forms: list[bytes]) -> bytes:
    """Return the canonical form of a list from the canonical forms of its elements."""
    return b"[" + len(forms).to_bytes(4, "little") + b"".join(forms)


def code_of_stored(value: Any, max_bytes: int = MAX_BYTES) -> int:
    """Return the code of the value that `to_json_value` converted to `value`."""
    digest = blake2b(stored_bytes(value, max_bytes), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _write_stored(
    value: Any,
    put: Callable[[bytes], None],
    left: list[int],
    depth: int,
    known: Mapping[int, tuple[Any, bytes]],
) -> None:
    if depth > MAX_DEPTH:
        raise Unrepresentable(TOO_LARGE)
    if type(value) is list:
        if id(value) in known:
            _emit(known[id(value)][1], put, left)
            return
        if len(value) + 5 > left[0]:
            raise Unrepresentable(TOO_LARGE)
        if len(value) * 5 + 5 <= left[0] and _is_flat(value):
            _write(value, put, left, ())
            return
        _spend(5, left)
        put(b"[" + len(value).to_bytes(4, "little"))
        for element in value:
            _write_stored(element, put, left, depth + 1, known)
        return
    if type(value) is not dict:
        _write(value, put, left, ())
        return
    tag, body = next(iter(value.items())) if len(value) == 1 else ("", None)
    if tag == "$float" and body in ("nan", "inf", "-inf"):
        _write_float(float(body), put, left)
    elif tag == "$int" and type(body) is str:
        _write(int(body, 16), put, left, ())
    elif tag.startswith("$") and not (tag == "$dict" and type(body) is list):
        raise ValueError(f"{tag!r} is no tag of a stored value ($float, $int, $dict)")
    else:
        pairs = []
        for key, item in body or () if tag == "$dict" else value.items():
            sides: tuple[list[bytes], list[bytes]] = ([], [])
            _write_stored(key, sides[0].append, left, depth + 1, known)
            _write_stored(item, sides[1].append, left, depth + 1, known)
            if sides[0][0] == b"{":
                raise ValueError("a stored dict with a dict as a key")
            pairs.append((b"".join(sides[0]), b"".join(sides[1])))
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a stored dict with a key that stands twice")
        _spend(2, left)
        put(b"{")
        for pair in sorted(pairs):
            put(b"".join(pair))
        put(b"0")
