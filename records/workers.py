"""Protocols of the workers that compute: processes of this machine, or nodes of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

from .oracles import OpenOracle, OracleKind, OracleSettings
from .problems import InputSet
from .values import Json


class JsonService(Protocol):
    """Worker processes that answer JSON requests, each of which belongs to a problem."""

    async def ask(self, key: str, request: dict[str, Any], space: InputSet) -> dict[str, Any]:
        """Return the reply to a request.

        Args:
            key: A hexadecimal hash. Requests with the same key reach the same process while it
                lives, so that its cached state can be used. With the key "", the request goes to
                the process that has the least to do.
            request: The request. The reply depends on nothing else.
            space: The input set to which the request refers; it is sent when a process lacks it.

        Raises:
            Unavailable: Worker processes died repeatedly on this request.
        """
        ...

    def is_idle(self, key: str) -> bool:
        """Return whether the process of this key has nothing to do; False if that is not known."""
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

    def open_service(self, module: str, workers: int | None) -> JsonService:
        """Return a service whose processes run a module of this package (tools/line_process.py).

        Args:
            module: The full name of the module.
            workers: The number of processes on each node; None for one per core.
        """
        ...

    def describe_nodes(self) -> list[dict[str, Json]]:
        """Return a description of each node that was seen, sorted by name; empty for this machine.

        A description has the keys "name", "cores", "resources", "layers" (of the oracle that was
        opened last: each layer of its sandbox, and whether it is active; None if it is not open
        there), "refused" (why it is not open), "unable" (why the node cannot be used at all, or None)
        and "lost" (whether it has died).
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


class Compute(Protocol):
    """Applies a function of this package to many requests, in this process or on workers.

    Requests and replies are JSON values, and a reply depends on its request alone. Replies come in
    the order of the requests, so that a result does not depend on where it was computed.
    """

    def __call__(self, function: str, requests: Iterable[Json]) -> Iterator[Json]:
        """Yield the reply to each request.

        Args:
            function: The function as "MODULE:NAME", where MODULE is relative to this package, for
                example "tasks.logic.abd:generate".
            requests: The requests. A few of them are taken in advance.

        Raises:
            PeirceError: The function raised it.
            Unavailable: Worker processes died repeatedly on a request.
        """
        ...
