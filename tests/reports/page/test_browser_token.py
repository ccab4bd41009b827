"""The token of `peirce view` in a browser: it reaches its own server in one header and nobody else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import peirce
import pytest
from page_sessions import judged, small_problem, steps, write
from page_tab import Tab

OpenTab = Callable[..., Tab]


class Neighbour:
    """Another server on this machine, which writes down what browsers send to it."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        neighbour = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                neighbour.requests.append(f"{self.requestline}\n{self.headers}")
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>neighbour</title>")

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def neighbour() -> Iterator[Neighbour]:
    one = Neighbour()
    yield one
    one.close()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    path = tmp_path_factory.mktemp("token") / "s.duckdb"
    problem = small_problem("one")
    made = steps(problem, ("an answer", judged(problem, "def f(x): return x", "the same")))
    return path, write(path, [(problem, made)])


@contextmanager
def viewing(stored: tuple[Path, str], port: int = 0) -> Iterator[Any]:
    path, session = stored
    viewer = peirce.view(session, store=path, port=port)
    thread = threading.Thread(target=viewer.serve, daemon=True)
    thread.start()
    try:
        yield viewer
    finally:
        viewer.close()
        thread.join(10)


ROWS = "#problems tbody tr"
CLOSED = "text=Open the complete address that `peirce view` printed"


def test_a_server_on_another_port_sees_no_token(
    stored: tuple[Path, str], neighbour: Neighbour, tab: OpenTab
) -> None:
    page = tab().page
    with viewing(stored) as viewer:
        token = viewer.url.split("token=")[1]
        page.goto(viewer.url)
        page.wait_for_selector(ROWS)
        # By a link, which would send a Referer, and by its address; cookies go with both.
        page.evaluate(
            "url => { const a = document.createElement('a'); a.href = url; document.body.append(a); a.click(); }",
            neighbour.url,
        )
        page.wait_for_url(neighbour.url)
        page.goto(neighbour.url + "again")
        assert page.evaluate("() => document.cookie + JSON.stringify(sessionStorage)") == "{}"
    shown = "\n".join(neighbour.requests)
    assert len(neighbour.requests) >= 2 and "again" in shown
    assert token not in shown and "Cookie" not in shown
    assert f":{viewer.port}" not in shown  # in a Referer of the link


def test_the_token_is_sent_in_one_header_and_stands_in_no_address(
    stored: tuple[Path, str], tab: OpenTab
) -> None:
    page = tab()
    sent: list[Any] = []
    page.page.on("request", lambda request: sent.append(request))
    with viewing(stored) as viewer:
        token = viewer.url.split("token=")[1]
        page.page.goto(viewer.url)
        page.page.wait_for_selector(ROWS)
        assert page.page.url == f"http://127.0.0.1:{viewer.port}/"
        assert page.page.evaluate("() => history.length") <= 2
        assert page.page.context.cookies() == []
        assert page.page.title() == "Peirce · list_functions"
        page.page.click("#problems tbody a >> nth=0")
        page.page.wait_for_selector(".problem h3")
    for request in sent:
        headers = request.all_headers()
        own = headers.pop("authorization", "")
        document = request.url.split("#")[0] == f"http://127.0.0.1:{viewer.port}/"
        assert own == ("" if document else f"Bearer {token}")
        assert token not in str(headers) and token not in request.url.split("#")[0]
    assert len(sent) >= 3 and page.said == []


def test_a_reload_keeps_the_page_and_a_new_tab_is_told_what_to_open(
    stored: tuple[Path, str], tab: OpenTab
) -> None:
    one, other = tab(), tab()
    with viewing(stored) as viewer:
        one.page.goto(viewer.url)
        one.page.click("#problems tbody a >> nth=0")
        one.page.wait_for_selector(".problem h3")
        address = one.page.url
        one.page.reload()
        one.page.wait_for_selector(".problem h3")  # the address of the problem leads back to it
        assert one.page.url == address
        other.page.goto(f"http://127.0.0.1:{viewer.port}/")
        other.page.wait_for_selector(CLOSED)
        assert other.count("main tbody tr") == 0 and "one" not in other.page.inner_text("main")
        # The printed address put into the same tab changes the fragment alone.
        other.page.goto(viewer.url)
        other.page.wait_for_selector(ROWS)
        assert other.page.url == f"http://127.0.0.1:{viewer.port}/"


def test_the_address_of_a_new_server_on_the_same_port_is_taken(
    stored: tuple[Path, str], tab: OpenTab
) -> None:
    page = tab().page
    with viewing(stored) as viewer:
        page.goto(viewer.url)
        page.wait_for_selector(ROWS)
    with viewing(stored, viewer.port) as second:
        page.reload()
        page.wait_for_selector(CLOSED)
        page.goto(second.url)
        page.wait_for_selector(ROWS)


def test_another_origin_can_neither_read_nor_frame_the_page(
    stored: tuple[Path, str], neighbour: Neighbour, tab: OpenTab
) -> None:
    page = tab().page
    with viewing(stored) as viewer:
        token = viewer.url.split("token=")[1]
        page.goto(neighbour.url)
        for name in ("", "overview"):
            for headers in ({}, {"Authorization": f"Bearer {token}"}):
                read = page.evaluate(
                    "([url, headers]) => fetch(url, { headers }).then((one) => one.text(), () => 'refused')",
                    [f"http://127.0.0.1:{viewer.port}/{name}", headers],
                )
                assert read == "refused"
        page.evaluate(
            "url => { const one = document.createElement('iframe'); one.src = url; document.body.append(one); }",
            viewer.url,
        )
        page.wait_for_timeout(500)
        framed = [one for one in page.frames if one != page.main_frame]
        assert all(one.query_selector("#problems") is None for one in framed)
