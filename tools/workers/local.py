"""The workers of this machine, which need no cluster."""

from __future__ import annotations

import os

from ...records import Json, JsonService, OpenOracle, OracleKind, OracleSettings
from .line_pool import LinePool


class LocalWorkers:
    """The `records.Workers` of this machine."""

    async def open_oracle(self, kind: OracleKind, settings: OracleSettings) -> OpenOracle:
        """Open the oracle on this machine."""
        return await kind.open(settings)

    def open_service(self, module: str, workers: int | None) -> JsonService:
        """Return a pool of processes of this machine."""
        return LinePool(module, workers or os.cpu_count() or 1)

    def describe_nodes(self) -> list[dict[str, Json]]:
        """Return an empty list: the work is done on this machine."""
        return []

    async def close(self) -> None:
        """Do nothing: each oracle and service is closed by its owner."""
