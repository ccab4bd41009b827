"""The form in which the result of an oracle travels from a node to the driver.

A result that was computed near untrusted code is never pickled. It travels as bytes: a JSON header
in one line, then the arrays that the header describes. `decode_outcome` checks everything that it
reads.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ...records import Outcome, parse_strictly

MAX_REPLY_BYTES = 1 << 30
_TYPES = ("|b1", "|i1", "|u1", "<i8", "<f8")


def encode_outcome(outcome: Outcome) -> bytes:
    """Return the bytes of a result in the form of the journal."""
    arrays = {name: np.ascontiguousarray(array) for name, array in outcome.vectors.items()}
    header = {
        "response": outcome.response,
        "vectors": [[name, array.dtype.str, len(array)] for name, array in arrays.items()],
    }
    return b"".join(
        [json.dumps(header).encode(), b"\n", *(array.tobytes() for array in arrays.values())]
    )


def decode_outcome(data: bytes) -> Outcome:
    """Return the result that `encode_outcome` wrote.

    Raises:
        ValueError: The bytes are malformed.
    """
    if len(data) > MAX_REPLY_BYTES:
        raise ValueError(f"it has {len(data):,} bytes")
    line, mark, body = data.partition(b"\n")
    header = parse_strictly(line)
    if not mark or type(header) is not dict or set(header) != {"response", "vectors"}:
        raise ValueError("it has no header")
    vectors: dict[str, np.ndarray[Any, Any]] = {}
    at = 0
    for entry in header["vectors"]:
        name, kind, count = entry
        if type(name) is not str or kind not in _TYPES or type(count) is not int or count < 0:
            raise ValueError("its header describes an unknown array")
        array = np.frombuffer(body, np.dtype(kind), count, at)  # a ValueError if too short
        vectors[name] = array.copy()
        at += array.nbytes
    if at != len(body):
        raise ValueError("its arrays have other sizes than its header says")
    return Outcome(header["response"], vectors)
