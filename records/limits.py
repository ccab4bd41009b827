"""Resource limits of a hypothesis in the sandbox."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Resource limits for running one hypothesis in the sandbox.

    If the run on one input reaches a limit, the prediction for this input is undefined, and a
    reason is recorded. If the run on all inputs reaches a limit, every prediction of the hypothesis
    is undefined. Loops with `while` are limited by counting their iterations, so that results do
    not depend on the speed of the machine. Limits on CPU time stop code that is slow without such
    loops.
    """

    loop_steps: int = 50_000  # for one input
    recursion: int = 1_000  # frames, for one input
    input_cpu_s: float = 1.0
    value_bytes: int = 100_000  # one output in canonical form
    # This limit and those below hold for the batch; here, a few seconds of CPU.
    batch_loop_steps: int = 100_000_000
    cpu_s: float = 20.0
    wall_s: float = 120.0
    memory_mb: int = 512
    output_bytes: int = 32_000_000
