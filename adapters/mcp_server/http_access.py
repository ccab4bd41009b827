"""Checks before any request over HTTP: host, origin and token; and where the token comes from.

A page in a browser may send requests to 127.0.0.1, and after DNS rebinding with a host name of its
own. So a request must name this server as its host, must come from no other origin, and must carry
the token, which no page knows. The comparison takes the same time for every wrong token.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import secrets
import stat
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, TypeAlias

from ...records.errors import UsageError

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

TOKEN_VARIABLE = "PEIRCE_MCP_TOKEN"
MIN_TOKEN_CHARACTERS = 16
HOSTS = ("127.0.0.1", "localhost", "[::1]")


class AccessCheck:
    """An ASGI application that passes on only requests of clients that know the token.

    Args:
        application: the application that serves the requests.
        port: the port on which the server listens.
        token: the token.
    """

    def __init__(self, application: Application, port: int, token: str) -> None:
        self._application = application
        self._hosts = {f"{host}:{port}".encode() for host in HOSTS}
        self._origins = {b"http://" + host for host in self._hosts}
        self._token = token.encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it with one sentence."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets
            return
        refusal = self.find_refusal(scope["headers"])
        if refusal is None:
            # Only the end of the server cancels a request here; its traceback would tell nothing.
            with contextlib.suppress(asyncio.CancelledError):
                await self._application(scope, receive, send)
            return
        status, sentence = refusal
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": sentence.encode()})

    def find_refusal(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Return status and reason if a request is refused, otherwise None.

        Args:
            headers: the names, in lower case, and the values of the request's headers.
        """
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "The header Host does not name this server."
        if any(value not in self._origins for name, value in headers if name == b"origin"):
            return 403, "Requests from pages of other origins are refused."
        given = [value for name, value in headers if name == b"authorization"]
        kind, _, token = (given[0] if len(given) == 1 else b"").partition(b" ")
        if kind.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self._token):
            return 401, "Send the token of this server: Authorization: Bearer TOKEN."
        return None


def find_token(path: str | Path | None) -> tuple[str, bool]:
    """Return the token of the server, and whether it was made now.

    The token comes from a file, otherwise from $PEIRCE_MCP_TOKEN, otherwise it is made.

    Args:
        path: the path of a file that contains only the token; None for no file.

    Raises:
        UsageError: the file cannot be read or other users may read it, or the token is too short or
            has other characters than printable ASCII without spaces.
    """
    if path is not None:
        place = Path(path).expanduser()
        try:
            if stat.S_IMODE(place.stat().st_mode) & 0o077:
                raise UsageError(f"{place}: other users may read the token: run chmod 600 {place}")
            return _check_token(place.read_text("ascii").strip(), str(place)), False
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{place}: the token cannot be read: {error}") from None
    if token := os.environ.get(TOKEN_VARIABLE):
        return _check_token(token, TOKEN_VARIABLE), False
    return secrets.token_urlsafe(32), True


def _check_token(token: str, source: str) -> str:
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError(f"{source}: a token consists of printable ASCII characters without spaces")
    if len(token) < MIN_TOKEN_CHARACTERS:
        raise UsageError(
            f"{source}: the token must have at least {MIN_TOKEN_CHARACTERS} characters"
        )
    return token
