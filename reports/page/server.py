"""A local web server for the page of running sessions.

The server binds to 127.0.0.1 and requires a token of 256 bits. The printed URL contains the token
in its fragment, which browsers do not send to a server. The page stores the token in the tab's
sessionStorage, removes it from the address, and sends it with each request as `Authorization:
Bearer TOKEN`. Unlike cookies, sessionStorage is not visible to other ports. The HTML document
itself contains no data and needs no token. Requests with another host name are refused (DNS
rebinding). Only GET is answered, and no other site may read or frame the response. The store is
only read.

 - `/`                    the page without data
 - `/overview?have=MARK`  the overview; status 204 if it has not changed since MARK
 - `/problem?session=&place=`   a problem by its index in the session
 - `/search?session=&words=`  ids of problems that contain the words
"""

from __future__ import annotations

import contextlib
import hmac
import json
import re
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qs, urlsplit

from ...records import Json, PeirceError, UsageError
from .contents import Contents
from .document import encode_json, render_page

if TYPE_CHECKING:
    from ...store import Store

HOST = "127.0.0.1"
WORDS = 32  # of a search; further words are ignored, because each costs time under the lock
REQUEST_TIMEOUT_S = 10.0  # Time limit for a client to send its request.
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # beside that of the document
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Viewer:
    """A local web server that shows the page of sessions until it is closed.

    Args:
        open_store: Returns a context manager that opens the store for one request.
        sessions: Ids of the sessions on the page.
        evaluation: Name of the evaluation; None for the default of each session's family.
        port: Port on 127.0.0.1; 0 chooses a free port.

    Raises:
        UsageError: The port cannot be used.
    """

    def __init__(
        self,
        open_store: Callable[[], AbstractContextManager[Store]],
        sessions: Sequence[str],
        evaluation: str | None = None,
        port: int = 0,
    ) -> None:
        self._opened = open_store
        self._sessions = list(sessions)
        self._evaluation = evaluation
        self._token = secrets.token_urlsafe(32)
        self._lock = threading.Lock()
        self._serving = False
        self.closed = False
        self._mark = ""
        self._overview: dict[str, Json] = {}
        try:
            self._server = _Server((HOST, port), _handler(self))
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"cannot listen on --port {port}: {error}. Choose another port, or 0 for a free one"
            ) from None
        self.port = self._server.server_address[1]

    @property
    def url(self) -> str:
        """The URL of the page, including the token. Anyone who has the URL can see the page."""
        return f"http://{HOST}:{self.port}/#token={self._token}"

    def serve(self) -> None:
        """Serve requests until `close` is called or KeyboardInterrupt is raised."""
        self._serving = True
        self._server.serve_forever(poll_interval=0.2)

    def close(self) -> None:
        """Stop `serve`. This method can be called from any thread.

        It does not wait for responses in progress. Open connections get no further responses.
        """
        self.closed = True
        if self._serving:  # `shutdown` waits for `serve` and would never return without it.
            self._server.shutdown()
        self._server.server_close()

    def check_token(self, token: str) -> bool:
        """Return whether `token` is the server's token, compared in constant time."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())

    # --- Responses. The lock lets one request at a time read the store.

    def get_page(self) -> str:
        """Return the HTML of the page without data. The page's script requests the data."""
        return "".join(render_page({"live": True, "sessions": []}, (), live=True))

    def get_overview(self, known_mark: str) -> str | None:
        """Return the overview of the page as JSON, or None if it has not changed.

        Args:
            known_mark: The version mark of the overview that the page has.
        """
        told = self._renew_overview()
        return None if told["mark"] == known_mark else encode_json(told)

    def get_problem(self, session: str, index: str) -> str | None:
        """Return the details of a problem as JSON, or None if there is no such problem.

        Args:
            session: Id of the session.
            index: Index of the problem in the session, as text.
        """
        with self._lock, self._opened() as store:
            if session not in self._sessions or not re.fullmatch("[0-9]{1,9}", index):
                return None
            ids = [row.problem.id for row in store.problems(session)]
            if int(index) >= len(ids):
                return None
            contents = Contents(store, self._sessions, self._evaluation)
            return encode_json(contents.build_problem(session, ids[int(index)]))

    def search(self, session: str, words: str) -> str | None:
        """Return the ids of the problems that contain all words, as JSON.

        The result is None if the session is not on the page.

        Args:
            session: Id of the session.
            words: The words, separated by white space.
        """
        with self._lock, self._opened() as store:
            if session not in self._sessions:
                return None
            return encode_json(store.find_problems(session, words.split()[:WORDS]))

    def _renew_overview(self) -> dict[str, Json]:
        with self._lock, self._opened() as store:
            mark = json.dumps([store.progress(session) for session in self._sessions])
            if mark != self._mark:
                contents = Contents(store, self._sessions, self._evaluation)
                self._overview = contents.build_overview(live=True) | {"mark": mark}
                self._mark = mark
            return self._overview


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Report an error in one line, on stderr and to the browser; ignore a closed connection."""
        error = sys.exception()
        if isinstance(error, OSError):
            return
        why = f"The page cannot show this: {type(error).__name__}: {error}"
        print(f"peirce: {' '.join(why.split())}", file=sys.stderr)
        # The response to this request has not begun: what fails is the reading of the store.
        body = why.encode("utf-8", "replace")
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        fields = {
            **HEADERS, "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": str(len(body)), "Connection": "close",
        }  # fmt: skip
        lines = [
            f"HTTP/1.1 {status.value} {status.phrase}",
            *map(": ".join, fields.items()),
            "",
            "",
        ]
        with contextlib.suppress(OSError):
            cast(socket.socket, request).sendall("\r\n".join(lines).encode("ascii") + body)


def _handler(viewer: Viewer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = REQUEST_TIMEOUT_S
        protocol_version = "HTTP/1.1"
        server_version, sys_version = "peirce", ""

        def do_GET(self) -> None:
            if viewer.closed:
                self.close_connection = True
                return None
            try:
                asked = urlsplit(self.path)
            except ValueError:
                return self._say(HTTPStatus.BAD_REQUEST, "This is not a valid address.")
            query = {key: values[0] for key, values in parse_qs(asked.query).items()}
            if self.headers.get("Host") not in (
                f"{HOST}:{viewer.port}",
                f"localhost:{viewer.port}",
            ):
                return self._say(
                    HTTPStatus.FORBIDDEN, "This server only answers requests to its own address."
                )
            if asked.path == "/":
                return self._say(HTTPStatus.OK, viewer.get_page(), "text/html")
            scheme, _, token = self.headers.get("Authorization", "").partition(" ")
            if scheme != "Bearer" or not viewer.check_token(token):
                return self._say(
                    HTTPStatus.FORBIDDEN,
                    "Open the complete address that `peirce view` printed, including its token.",
                )
            try:
                self._answer(asked.path, query)
            except PeirceError as error:
                self._say(HTTPStatus.SERVICE_UNAVAILABLE, str(error))

        def _answer(self, path: str, query: dict[str, str]) -> None:
            session = query.get("session", "")
            if path == "/overview":
                told = viewer.get_overview(query.get("have", ""))
                return self._say(
                    HTTPStatus.OK if told else HTTPStatus.NO_CONTENT, told or "", _JSON
                )
            if path == "/problem":
                told = viewer.get_problem(session, query.get("place", ""))
            elif path == "/search":
                told = viewer.search(session, query.get("words", ""))
            else:
                told = None
            if told is None:
                return self._say(HTTPStatus.NOT_FOUND, "There is nothing at this address.")
            self._say(HTTPStatus.OK, told, _JSON)

        def _say(self, status: HTTPStatus, text: str, kind: str = "text/plain") -> None:
            body = text.encode("utf-8", "replace")
            self.send_response(status)
            for name, value in HEADERS.items():
                self.send_header(name, value)
            if status != HTTPStatus.NO_CONTENT:
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing: a line for each request would hide what else is printed."""

    return Handler


_JSON = "application/json"
