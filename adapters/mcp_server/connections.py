"""Connections over HTTP, limited in number and in the time that a client takes for its first request.

Whoever can connect needs no token for it. Without a limit, clients that send nothing would use up the
open files of the process, which would then end.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 256  # at the same time; a further one is closed at once
FIRST_REQUEST_S = 10.0  # from the connection until its first request has a complete head


class LimitedProtocol(H11Protocol):  # type: ignore[misc]
    """The protocol of uvicorn with these limits."""

    _is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take a connection, or close it."""
        if len(self.connections) >= MAX_CONNECTIONS:
            self._is_refused = True
            transport.abort()
            return
        super().connection_made(transport)
        self.loop.call_later(FIRST_REQUEST_S, self._close_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        if not self._is_refused:
            super().connection_lost(exc)

    def _close_if_silent(self) -> None:
        cycle: Any = self.cycle
        if cycle is None and not self.transport.is_closing():
            self.transport.abort()
