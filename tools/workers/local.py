"""The workers of this machine, which need no cluster."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...records import JsonService, NodeReport, OpenOracle, OracleKind, OracleSettings
from ...records.workers import Item, Result
from .line_pool import LinePool


class LocalWorkers:
    """The `records.Workers` of this machine."""

    async def open_oracle(self, kind: OracleKind, settings: OracleSettings) -> OpenOracle:
        """Open the oracle on this machine."""
        return await kind.open(settings)

    def open_service(self, module: str, workers: int) -> JsonService:
        """Return a pool of processes of this machine."""
        return LinePool(module, workers)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results, which are computed in this process when they are asked for."""
        return map(function, items)

    def nodes(self) -> Sequence[NodeReport]:
        """Return a report of this machine."""
        return [NodeReport(platform.node(), os.cpu_count() or 1)]

    async def close(self) -> None:
        """Do nothing: each oracle and service is closed by its owner."""
