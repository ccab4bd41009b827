"""What applies hypotheses, opened for a family and closed in any case: a sandbox or a solver."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ..records import Family, Limits, OpenOracle, OpensOracle, Oracles, OracleSettings


@dataclass(frozen=True)
class Opened:
    """name: of the kind of oracle. oracle: None where the family has none that is opened."""

    name: str = ""
    oracle: OpenOracle | None = None

    @property
    def layers(self) -> Mapping[str, bool]:
        """Of the sandbox, where there is one."""
        return {} if self.oracle is None else self.oracle.layers()

    def oracles(self) -> Oracles:
        """With the default limits."""
        if self.oracle is None:
            return Oracles()
        return Oracles().having(self.name, self.oracle.bound(Limits()))


@asynccontextmanager
async def opened(family: Family, settings: OracleSettings | None = None) -> AsyncIterator[Opened]:
    """Opens what the family's hypotheses are applied with. Raises SandboxUnavailable, UsageError."""
    if not isinstance(family, OpensOracle):
        yield Opened()
        return
    oracle = await family.opens.open(settings or OracleSettings())
    try:
        yield Opened(family.opens.name, oracle)
    finally:
        await oracle.close()
