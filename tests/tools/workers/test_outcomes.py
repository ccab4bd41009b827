"""What leaves a node of a cluster are bytes, and only those that encode_outcome wrote are read.

Internals: only this module reads bytes of a node, which no public function passes on.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from peirce.records import Outcome
from peirce.tools.workers.outcomes import decode_outcome, encode_outcome


def test_an_outcome_comes_back() -> None:
    codes, reasons = np.array([3, -1, 2**62]), np.array([0, 1, 0], np.uint8)
    response = {"verdict": "ok", "detail": "naïve \ud83d", "reason_names": ["TypeError"]}
    found = decode_outcome(encode_outcome(Outcome(response, {"codes": codes, "reasons": reasons})))
    assert found.response == response
    assert {name: one.tolist() for name, one in found.vectors.items()} == {
        "codes": codes.tolist(), "reasons": reasons.tolist(),
    }  # fmt: skip
    assert [one.dtype for one in found.vectors.values()] == [np.int64, np.uint8]


def _head(vectors: object, **more: object) -> bytes:
    return json.dumps({"response": 1, "vectors": vectors, **more}).encode() + b"\n"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"[]\n",
        b"{}\n",
        _head([])[:-1],
        _head([], more=1),
        _head([["codes", "<i8", 2]]) + b"\0" * 8,
        _head([["codes", "<i8", 1]]) + b"\0" * 9,
        _head([["codes", "<i8", -1]]),
        _head([["codes", "<i8", True]]) + b"\0" * 8,
        _head([["codes", "|O", 1]]) + b"\0" * 8,
        _head([[1, "<i8", 1]]) + b"\0" * 8,
        _head([["codes", "<i8"]]),
        b'{"response": NaN, "vectors": []}\n',
    ],
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_outcome(data)
