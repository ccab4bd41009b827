"""Resource limits of a hypothesis in the sandbox."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Resource limits of the sandbox.

    If the run on one input reaches a limit, its prediction is undefined, with a reason. If the run
    on all inputs reaches a limit, every prediction of the hypothesis is undefined. Iterations of
    `while` loops are counted, so that results do not depend on a clock. Limits on CPU time stop
    code without such loops.
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
