"""Open the oracle (sandbox or solver) that applies a family's hypotheses, and close it later."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ..records import Family, Limits, OpenOracle, OpensOracle, Oracles, OracleSettings


@dataclass(frozen=True)
class OpenedOracle:
    """An opened oracle together with its name.

    Args:
        name: the kind of oracle; "" where the family has none.
        oracle: None where the family has no oracle to open.
    """

    name: str = ""
    oracle: OpenOracle | None = None

    @property
    def layers(self) -> Mapping[str, bool]:
        """The layers of the sandbox and whether each is active; empty without a sandbox."""
        return {} if self.oracle is None else self.oracle.layers()

    def make_oracles(self) -> Oracles:
        """Return the oracles of the family, bound to the default limits."""
        if self.oracle is None:
            return Oracles()
        return Oracles().with_oracle(self.name, self.oracle.with_limits(Limits()))


@asynccontextmanager
async def open_oracles(
    family: Family, settings: OracleSettings | None = None
) -> AsyncIterator[OpenedOracle]:
    """Open the oracle that applies the family's hypotheses, and close it at the end of the block.

    Raises:
        SandboxUnavailable: the sandbox cannot be started here.
        UsageError: the settings are invalid.
    """
    if not isinstance(family, OpensOracle):
        yield OpenedOracle()
        return
    oracle = await family.oracle_kind.open(settings or OracleSettings())
    try:
        yield OpenedOracle(family.oracle_kind.name, oracle)
    finally:
        await oracle.close()
