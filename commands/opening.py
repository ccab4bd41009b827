"""What applies hypotheses, opened for a family and closed in any case: a sandbox or a solver."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..records import Family, Limits, Oracles, Sandbox
from ..sandbox import open_sandbox
from ..tools.execute import executor

if TYPE_CHECKING:
    from ..tools.solve import Solver


@dataclass(frozen=True)
class Opened:
    """layers: of the sandbox, where there is one."""

    sandbox: Sandbox | None = None
    solver: Solver | None = None
    layers: Mapping[str, bool] = field(default_factory=dict)

    def oracles(self) -> Oracles:
        """With the sandbox's default limits."""
        run = None if self.sandbox is None else executor(self.sandbox, Limits())
        return Oracles(execute=run, solve=self.solver)


@asynccontextmanager
async def opened(
    family: Family,
    *,
    sandbox: str = "process",
    workers: int | None = None,
    strict_sandbox: bool = False,
    solver: str = "fast",
) -> AsyncIterator[Opened]:
    """Opens what the family's hypotheses are applied with. Raises SandboxUnavailable, UsageError."""
    if family.oracle == "solve":
        from ..tools.solve import Solver

        solving = Solver(solver, workers or 1)
        try:
            yield Opened(solver=solving)
        finally:
            await solving.close()
        return
    if family.oracle == "judge":  # exact rules run here, models are opened by their roles
        yield Opened()
        return
    running = await open_sandbox(sandbox, workers, strict_sandbox)
    try:
        yield Opened(sandbox=running, layers=running.layers())
    finally:
        await running.close()
