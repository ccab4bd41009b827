"""Refuses requests of web pages that were not meant to reach the server.

`langgraph dev` has no password, and by default it answers the pages of every web site that is open in
a browser on the same machine. `langgraph.json` names `app` as the server's own app, so that the server
runs this middleware first. It refuses a request whose `Origin` is another site than LangGraph Studio,
and one whose `Host` is not this machine (a site could give its own name this machine's address).
Programs on the machine send no `Origin` and are not stopped.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse

ORIGINS_VARIABLE = "PEIRCE_STUDIO_ORIGINS"
STUDIO = "https://smith.langchain.com"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def allowed_origins() -> frozenset[str]:
    """Return the origins, besides this machine's own, whose pages may call the server:
    $PEIRCE_STUDIO_ORIGINS, with commas between them (default: LangGraph Studio).
    """
    listed = os.environ.get(ORIGINS_VARIABLE, STUDIO).split(",")
    return frozenset(one.strip().rstrip("/") for one in listed if one.strip())


def is_allowed(host: str, origin: str | None) -> bool:
    """Return whether a request may pass.

    Args:
        host: The header Host.
        origin: The header Origin; None if there is none.
    """
    if _host_name(f"//{host}") not in LOOPBACK:
        return False
    return origin is None or origin in allowed_origins() or _host_name(origin) in LOOPBACK


def _host_name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


class OriginGuard:
    """ASGI middleware that answers 403 to requests that are not allowed."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] in ("http", "websocket"):
            headers = {key.lower(): value.decode("latin-1") for key, value in scope["headers"]}
            if not is_allowed(headers.get(b"host", ""), headers.get(b"origin")):
                refusal = PlainTextResponse(
                    f"refused: this server answers only this machine and the origins in"
                    f" {ORIGINS_VARIABLE}\n",
                    status_code=403,
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


app = Starlette(middleware=[Middleware(OriginGuard)])
