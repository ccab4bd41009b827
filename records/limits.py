"""What a hypothesis may use in the sandbox."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Of the sandbox. A limit on one input gives that input a reason; a limit on the batch gives
    the whole hypothesis one verdict. Passes of `while` loops are counted, which no clock decides;
    CPU times are for what that does not catch."""

    loop_steps: int = 50_000  # one input
    recursion: int = 1_000  # one input, frames
    input_cpu_s: float = 1.0
    value_bytes: int = 100_000  # one output in canonical form
    batch_loop_steps: int = 100_000_000  # batch, from here on: a few seconds of CPU
    cpu_s: float = 20.0
    wall_s: float = 120.0
    memory_mb: int = 512
    output_bytes: int = 32_000_000
