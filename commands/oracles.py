"""Open and close the oracle (the sandbox or the solver) that applies the hypotheses of a family."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ..records import (
    Family,
    Limits,
    OpenOracle,
    OpensOracle,
    Oracles,
    OracleSettings,
    Workers,
)
from ..tools.workers import open_workers


@dataclass(frozen=True)
class OpenedOracle:
    """An open oracle (the sandbox or the solver that applies hypotheses), together with its name.

    Args:
        name: the kind of oracle; "" if the family has no oracle.
        oracle: the open oracle; None if the family has no oracle to open.
    """

    name: str = ""
    oracle: OpenOracle | None = None

    @property
    def layers(self) -> Mapping[str, bool]:
        """The isolation layers of the sandbox, each with whether it is active; empty without a
        sandbox.
        """
        return {} if self.oracle is None else self.oracle.layers()

    def make_oracles(self) -> Oracles:
        """Return the oracle in the form that families use, with the default limits."""
        if self.oracle is None:
            return Oracles()
        return Oracles().with_oracle(self.name, self.oracle.with_limits(Limits()))


@asynccontextmanager
async def open_oracles(
    family: Family, settings: OracleSettings | None = None, cluster: str = "local"
) -> AsyncIterator[OpenedOracle]:
    """Open the oracle that applies the family's hypotheses, and close it at the end of the block.

    Args:
        family: the family. If it needs no oracle, an empty `OpenedOracle` is yielded.
        settings: the settings of the sandbox or the solver; None for the defaults.
        cluster: the value of `--cluster`.

    Raises:
        SandboxUnavailable: the sandbox cannot be started here, or on no node.
        UsageError: the settings are invalid.
        Unavailable: the cluster cannot be reached.
    """
    workers = await open_workers(cluster, None if settings is None else settings.workers)
    try:
        async with open_oracles_on(workers, family, settings) as opened:
            yield opened
    finally:
        await workers.close()


@asynccontextmanager
async def open_oracles_on(
    workers: Workers, family: Family, settings: OracleSettings | None = None
) -> AsyncIterator[OpenedOracle]:
    """Open the oracle that applies the family's hypotheses on open workers, as `open_oracles`
    does.
    """
    if not isinstance(family, OpensOracle):
        yield OpenedOracle()
        return
    oracle = await workers.open_oracle(family.oracle_kind, settings or OracleSettings())
    try:
        yield OpenedOracle(family.oracle_kind.name, oracle)
    finally:
        await oracle.close()
