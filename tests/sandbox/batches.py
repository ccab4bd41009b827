"""What the tests of every backend share: inputs, tight limits, and what is compared of a batch."""

from __future__ import annotations

from typing import Any

from peirce.records import Batch, InputSet, Limits

TEN = InputSet("ten", tuple([n, n + 1] for n in range(10)))
TIGHT = Limits(
    loop_steps=2_000, input_cpu_s=0.1, cpu_s=1.0, wall_s=4.0, memory_mb=128, output_bytes=200_000
)
IDENTITY = "def f(x):\n    return x"


def values(batch: Batch) -> list[Any]:
    assert batch.verdict == "ok" and batch.values is not None, (batch.verdict, batch.detail)
    return [v.get("value", v.get("undefined")) for v in batch.values]


def result(batch: Batch) -> tuple[Any, ...]:
    """What must not depend on time, place and order."""
    assert batch.verdict == "ok", (batch.verdict, batch.detail)
    return batch.codes.tolist(), [("", *batch.reason_names)[r] for r in batch.reasons]
