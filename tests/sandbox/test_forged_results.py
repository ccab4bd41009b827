"""Whatever a child writes as its result, reading it ends in a batch or in `ZygoteLost`, never in an error
of the reader. The frames are drawn from a fixed seed.

Internals: the reader of results gets forged frames here without a child that writes them.
"""

from __future__ import annotations

import json
import random
import struct
from typing import Any

import pytest
from peirce.records import Limits
from peirce.sandbox.inside.frames import frame
from peirce.sandbox.supervisor.zygote import Job, ZygoteLost, parse_batches

LIMITS = Limits()
WHOLE = {"verdict": "ok", "reason_names": [], "limited": False, "cpu_s": 0.0, "nonce": "n"}
ATOMS: list[Any] = [
    None, True, 0, -1, 2**63, 1.5, float("inf"), "ok", "memory", "cancelled", "", "\ud800", "steps",
    "x" * 99, [], {}, ["ok"], {"a": 1}, [[]], ["a", "b"], ["a", "a"], [["a"]], [{"bytes": 0}],
    [{"bytes": True}], [{"bytes": 0, "verdict": []}], [{"bytes": 2, "verdict": "ok", "detail": {}}],
]  # fmt: skip
VALUES = [
    b"1", b"1e400", b"-1e400", b"NaN", b"-Infinity", b'{"$float": ["nan"]}', b'{"$float": "nan"}',
    b'{"$int": " 0x1_0 "}', b'{"$int": "-"}', b'{"$int": 5}', b'{"$dict": [[[{"a": 1}], 2]]}',
    b'{"$dict": [1]}', b'{"$dict": [[1]]}', b'{"$dict": "ab"}', b'{"$dict": null}', b'{"$x": 1}',
    b'{"$dict": [["a", 1], ["a", 2]]}', b'{"": 1}', b"[" * 3000, b'"\\ud83d\\ude00"', b"\xff\xfe1\x00",
    b"", b" ", b"1" * 4400, b'{"a":' * 150 + b"1" + b"}" * 150,
]  # fmt: skip


def read(header: dict[str, Any], body: bytes, keep: Any, count: int, also: int = 0) -> Any:
    job = Job(b"", b"f", "d", b"[]", count, keep, LIMITS)
    further = [Job(b"", b"f", "d", b"[1]", 1, "values", LIMITS)] * also
    data = frame(header, body)
    return parse_batches({"ending": "ok", "reach": 0}, data, "n", job, further)


def body_of(*values: bytes) -> bytes:
    return (
        bytes(len(values)) + struct.pack(f"<{len(values)}I", *map(len, values)) + b"".join(values)
    )


@pytest.mark.parametrize("verdict", [["ok"], {}, {"a": 1}, [[]], 3, None, True])
def test_a_verdict_that_is_no_text_is_out_of_order(verdict: Any) -> None:
    batch, _ = read({**WHOLE, "verdict": verdict}, b"", "codes", 2)
    assert batch.verdict == "protocol" and len(batch.codes) == 2
    part = {**WHOLE, "verdict": verdict, "bytes": 0}
    batch, further = read({**WHOLE, "parts": [part]}, bytes(18), "codes", 2, also=1)
    assert batch.verdict == "ok" and not further


@pytest.mark.parametrize("text", [b"1e400", b"-1e400", b"[1, -1e999]", b"NaN", b"Infinity"])
def test_a_number_beyond_every_float_is_out_of_order(text: bytes) -> None:
    batch, _ = read(WHOLE, body_of(text), "values", 1)
    assert batch.verdict == "protocol" and batch.values is None


def test_no_forged_frame_makes_the_reader_fail() -> None:
    draw = random.Random(7)
    for _ in range(4000):
        keep, count = draw.choice(["values", "codes"]), draw.choice([0, 1, 2, 3])
        header: dict[str, Any] = dict(WHOLE)
        fields = ["verdict", "reason_names", "limited", "cpu_s", "detail", "parts", "extra"]
        for key in draw.sample(fields, draw.choice([0, 0, 1, 2])):
            header[key] = draw.choice(ATOMS)
        values = [draw.choice(VALUES) for _ in range(count)]
        reasons = bytes(draw.choice([0, 0, 0, 1, 255]) for _ in range(count))
        codes = reasons + draw.randbytes(8 * count)
        body = reasons + body_of(*values)[count:] if keep == "values" else codes
        body = body[: draw.choice([len(body), draw.randrange(len(body) + 1)])]
        try:
            batch, further = read(header, body, keep, count, also=draw.choice([0, 1]))
        except ZygoteLost:
            continue
        for one in (batch, *further):
            json.dumps(one.values, allow_nan=False)
            assert len(one.codes) == len(one.reasons)
