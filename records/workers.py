"""Protocols of the workers that compute: processes of this machine, or nodes of a cluster."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from .oracles import OpenOracle, OracleKind, OracleSettings
from .problems import InputSet


class JsonService(Protocol):
    """Worker processes that answer JSON requests, each of which belongs to a problem."""

    async def ask(self, key: str, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        """Return the reply to a request.

        Args:
            key: A hexadecimal hash. Requests with the same key reach the same process while it
                lives, so that its cached state can be used.
            request: The request. The reply depends on nothing else.
            space: The input set to which the request refers; it is sent when a process lacks it.

        Raises:
            Unavailable: Worker processes died repeatedly on this request.
        """
        ...

    async def close(self) -> None:
        """Stop the processes of this service."""
        ...


class Workers(Protocol):
    """Runs the work of a session that needs processor time.

    A result may be computed more than once, after a worker died, but is returned once. It does not
    depend on where it was computed.
    """

    async def open_oracle(self, kind: OracleKind, settings: OracleSettings) -> OpenOracle:
        """Open an oracle on every node that can isolate untrusted code.

        Raises:
            SandboxUnavailable: No node can open the oracle.
            UsageError: A setting is invalid.
        """
        ...

    def open_service(self, module: str, workers: int) -> JsonService:
        """Return a service whose processes run a module of this package (tools/line_process.py).

        Args:
            module: The full name of the module.
            workers: The number of processes on each node.
        """
        ...

    async def close(self) -> None:
        """Release the nodes."""
        ...


@runtime_checkable
class UsesWorkers(Protocol):
    """Optional ability of a model whose answers need processor time, such as the embedded search."""

    def use_workers(self, workers: Workers) -> None:
        """Compute the answers on these workers. Call this before the first request."""
        ...
