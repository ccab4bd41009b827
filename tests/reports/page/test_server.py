"""`peirce view` over real HTTP: who is let in, what is answered, and that nothing else is.

Internals: what a search over HTTP finds is compared with the contents of each problem.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
import time
from pathlib import Path
from urllib.parse import quote

import peirce
import pytest
from page_sessions import judged, small_problem, steps, write
from peirce.records import StoreError, UsageError

HEADERS = {
    "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "frame-ancestors 'none'",
}  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("server") / "s.duckdb"
    one, two = small_problem("one"), small_problem("täst/ #2 \ud800")
    session = write(path, [
        (one, steps(one, ("an answer", judged(one, "def f(x): return x", "the same")))),
        (two, steps(two, ("a needle", judged(two, "def f(x): return []", "nothing at äll")))),
    ])  # fmt: skip
    hidden = write(path, [(one, ())], settings={"model": "not shown"})
    return path, session, hidden


class Client:
    def __init__(self, viewer):
        self.viewer = viewer
        self.token = viewer.url.split("#token=")[1]
        self.bearer = f"Bearer {self.token}"

    def ask(self, path="/", method="GET", *, bearer=True, host=None, headers=None, body=None):
        """Status, headers, text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.viewer.port, timeout=60)
        told = {"Host": host or f"127.0.0.1:{self.viewer.port}", **(headers or {})}
        if bearer:
            told["Authorization"] = self.bearer if bearer is True else bearer
        connection.request(method, path, body=body, headers=told)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def json(self, path):
        status, headers, text = self.ask(path)
        assert (status, headers["Content-Type"]) == (200, "application/json; charset=utf-8"), text
        return json.loads(text)


def serving(viewer):
    thread = threading.Thread(target=viewer.serve, daemon=True)
    thread.start()
    return thread


@pytest.fixture(scope="module")
def client(store):
    path, session, _ = store
    viewer = peirce.view(session, store=path)
    thread = serving(viewer)
    yield Client(viewer)
    viewer.close()
    thread.join(10)
    assert not thread.is_alive()


def test_the_document_holds_no_data_and_needs_no_token(client, store):
    assert len(client.token) >= 43  # 256 bits
    status, headers, text = client.ask("/", bearer=False)
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert text.startswith("<!doctype html>") and client.token not in text
    assert store[1] not in text and "list_functions" not in text
    assert text == client.ask("/")[2] == client.ask("/?token=wrong")[2]


@pytest.mark.parametrize("path", ["/overview", "/problem?session=SESSION&place=0",
                                  "/search?session=SESSION&words=a", "/nothing", "/overview?token=TOKEN"])  # fmt: skip
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer TOKENx"},
        {"Authorization": "Bearer \xe4\xff"},
        {"Authorization": "Basic TOKEN"},
        {"Authorization": "TOKEN"},
        {"Cookie": "token=TOKEN; peirce-PORT=TOKEN"},
    ],
)
def test_nobody_is_given_data_without_the_token(client, store, path, headers):
    def real(text):
        pairs = (("PORT", str(client.viewer.port)), ("TOKEN", client.token), ("SESSION", store[1]))
        for name, value in pairs:
            text = text.replace(name, value)
        return text

    headers = {name: real(value) for name, value in headers.items()}
    status, answered, text = client.ask(real(path), bearer=False, headers=headers)
    assert (status, answered["Set-Cookie"]) == (403, None)
    assert "token" in text and "<" not in text and client.token not in text


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:PORT", "127.0.0.1.evil.example:PORT",
             "[::1]:PORT", "0.0.0.0:PORT", "LOCALHOST.:PORT", ""],
)  # fmt: skip
def test_another_name_of_the_host_is_refused_even_with_the_token(client, host):
    """Or a page of elsewhere whose name is made to point here could read it (DNS rebinding)."""
    host = host.replace("PORT", str(client.viewer.port)) or " "
    for path in ("/", "/overview"):
        status, headers, _ = client.ask(path, host=host)
        assert (status, headers["Set-Cookie"]) == (403, None)


def test_localhost_is_a_name_of_its_own(client):
    assert client.ask("/", host=f"localhost:{client.viewer.port}")[0] == 200


@pytest.mark.parametrize(
    "method", ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "NONSENSE"]
)
def test_nothing_but_get_is_answered(client, method):
    status, headers, text = client.ask(
        "/overview", method, headers={"Origin": "http://evil.example"}
    )
    assert status == 501 and "list_functions" not in text
    assert not [name for name in headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    "path", ["//", "/../../etc/passwd", "/..%2f..%2fetc/passwd", "/page.css", "/%00", "/.", "/overview/", "/index.html",
             "/problem", "/problem?session=SESSION", "/problem?session=SESSION&place=2", "/problem?session=SESSION&place=-1",
             "/problem?session=SESSION&place=99999999999999999999", "/problem?session=SESSION&place=%D9%A1",
             "/problem?session=OTHER&place=0", "/problem?session=&place=0", "/problem?session=last&place=0",
             "/search?session=OTHER&words=a", "/search?words=a"],
)  # fmt: skip
def test_paths_that_are_not_served_give_nothing(client, store, path):
    _, session, other = store
    status, _, text = client.ask(path.replace("SESSION", session).replace("OTHER", other))
    assert (status, text) == (404, "There is nothing at this address.") or (
        path == "//" and status == 200
    )


def test_an_address_that_is_none_is_refused(client):
    assert client.ask("http://[half")[0] == 400


def test_a_problem_is_given_by_its_place_as_the_file_has_it(client, store):
    path, session, _ = store
    told = client.json(f"/problem?session={session}&place=1")
    assert told["problem"]["id"] == "täst/ #2 \ud800"
    from peirce.reports.page import Contents
    from peirce.store import Store

    with Store.open(path, write=False) as opened:
        whole = []
        Contents(opened, [session]).build_overview(receive=lambda *one: whole.append(one[-1]))
    assert [json.loads(json.dumps(one)) for one in whole] == [
        client.json(f"/problem?session={session}&place={place}") for place in (0, 1)
    ]


def test_search_finds_problems_with_every_word(client, store):
    _, session, _ = store

    def found(words):
        return client.json(f"/search?session={session}&words={words}")

    assert found("NEEDLE") == found("nothing+needle") == ["täst/ #2 \ud800"]
    assert found("one") == ["one"] and found("needle+same") == [] and found("%25_") == []
    assert found("%C3%A4LL") == found("def+f")[1:]
    assert len(found("")) == len(found("def+f")) == 2
    assert found("'+OR+1=1+--") == []
    assert found("hidden") == found("reference") == []  # names of fields


def test_a_search_takes_32_words_and_ignores_the_others(client, store):
    session = store[1]
    words = "+".join(["needle"] * 32)
    found = client.json(f"/search?session={session}&words={words}")
    assert len(found) == 1
    assert client.json(f"/search?session={session}&words={words}+absent") == found


def test_an_overview_is_given_once_until_something_happens(client):
    told = client.json("/overview")
    assert told["live"] and told["mark"]
    status, _, text = client.ask(f"/overview?have={quote(told['mark'])}")
    assert (status, text) == (204, "")
    assert client.ask("/overview?have=other")[0] == 200


def test_every_answer_bears_the_headers_that_keep_others_out(client):
    for path, bearer in (("/", True), ("/", False), ("/overview", True), ("/overview", False), ("/nothing", True)):  # fmt: skip
        _, headers, _ = client.ask(path, bearer=bearer)
        assert {name: headers[name] for name in HEADERS} == HEADERS
        assert not [name for name in headers if name.lower().startswith("access-control")]
        assert "Python" not in str(headers)


def test_the_token_stands_in_no_log_and_on_no_page(client, capfd):
    client.ask("/overview")
    client.ask("/?token=wrong", bearer=False)
    client.ask("/nothing", "POST")
    pages = "".join(client.ask(path)[2] for path in ("/", "/overview", "/nothing"))
    assert client.token not in pages
    assert capfd.readouterr() == ("", "")


def listening(port):
    """Addresses on which this machine listens at the port, as the kernel lists them."""
    found = []
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(name).read_text().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            at, number = address.split(":")
            if state == "0A" and int(number, 16) == port:
                found.append(at)
    return found


def test_it_listens_on_the_loopback_address_alone(client):
    if not Path("/proc/net/tcp").exists():
        pytest.skip("NO /proc/net/tcp HERE: THE ADDRESSES THAT ARE LISTENED ON CANNOT BE READ")
    assert listening(client.viewer.port) == ["0100007F"]  # 127.0.0.1


def test_a_port_that_is_taken_is_one_sentence(client, store):
    path, session, _ = store
    with pytest.raises(UsageError, match=rf"cannot listen on --port {client.viewer.port}"):
        peirce.view(session, store=path, port=client.viewer.port)
    with pytest.raises(UsageError, match="--port 70000"):
        peirce.view(session, store=path, port=70_000)


def test_the_token_of_one_viewer_opens_no_other(client, store):
    path, _session, hidden = store
    other = peirce.view(hidden, store=path)
    thread = serving(other)
    try:
        second = Client(other)
        assert second.token != client.token
        assert client.ask("/overview", bearer=second.bearer)[0] == 403
        assert second.ask("/overview", bearer=client.bearer)[0] == 403
        assert [one["session"] for one in second.json("/overview")["sessions"]] == [hidden]
    finally:
        other.close()
        thread.join(10)


def test_a_client_that_sends_nothing_holds_up_nobody(client):
    with socket.create_connection(("127.0.0.1", client.viewer.port)), \
            socket.create_connection(("127.0.0.1", client.viewer.port)) as half:  # fmt: skip
        half.sendall(b"GET / HTTP/1.1\r\nHost: ")
        start = time.monotonic()
        assert client.ask("/nothing")[0] == 404
        assert time.monotonic() - start < 8  # less than such a client is given


def test_a_client_that_goes_away_says_nothing(client, capfd):
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", client.viewer.port)) as one:
            one.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
            )  # reset at once
            told = f"GET /overview HTTP/1.1\r\nHost: 127.0.0.1:{client.viewer.port}\r\nAuthorization: {client.bearer}\r\n\r\n"
            one.sendall(told.encode())
    assert client.ask("/")[0] == 200
    assert capfd.readouterr() == ("", "")


def test_it_closes_while_a_request_runs(store, monkeypatch):
    path, session, _ = store
    viewer = peirce.view(session, store=path)
    thread = serving(viewer)
    reached, go = threading.Event(), threading.Event()

    def stuck():
        reached.set()
        go.wait(30)
        return "late"

    monkeypatch.setattr(viewer, "get_page", stuck)
    asking = threading.Thread(target=lambda: Client(viewer).ask("/"), daemon=True)
    asking.start()
    try:
        assert reached.wait(10)
        start = time.monotonic()
        viewer.close()
        thread.join(10)
        assert not thread.is_alive() and time.monotonic() - start < 5
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", viewer.port), timeout=5).close()
    finally:
        go.set()
        asking.join(10)


def test_one_that_never_served_closes(store):
    path, session, _ = store
    viewer = peirce.view(session, store=path)
    done = threading.Thread(target=viewer.close, daemon=True)
    done.start()
    done.join(5)
    assert not done.is_alive()


def test_a_closed_viewer_answers_no_connection_that_a_browser_holds_open(store):
    path, session, _ = store
    viewer = peirce.view(session, store=path)
    thread = serving(viewer)
    held = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=30)
    told = {"Authorization": Client(viewer).bearer}
    held.request("GET", "/overview", headers=told)
    assert held.getresponse().read()
    viewer.close()
    thread.join(10)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        held.request("GET", "/overview", headers=told)
        held.getresponse()
    held.close()


def test_an_error_of_the_page_is_one_line(store, monkeypatch, capsys):
    path, session, _ = store
    viewer = peirce.view(session, store=path)
    thread = serving(viewer)

    def fails(have):
        raise KeyError("a key\nof two lines")

    monkeypatch.setattr(viewer, "get_overview", fails)
    try:
        status, headers, text = Client(viewer).ask("/overview")
        assert status == 500 and "KeyError" in text
        assert {name: headers[name] for name in HEADERS} == HEADERS
    finally:
        viewer.close()
        thread.join()
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.startswith("peirce: The page cannot show this: KeyError")


def test_a_store_that_went_away_is_said(store, tmp_path):
    path, session, _ = store
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(path.read_bytes())
    viewer = peirce.view(session, store=copy)
    thread = serving(viewer)
    try:
        copy.unlink()
        status, _, text = Client(viewer).ask("/overview")
        assert status == 503 and "copy.duckdb" in text
    finally:
        viewer.close()
        thread.join(10)


def test_a_session_that_is_not_there_is_said_before_anything_listens(store):
    with pytest.raises(StoreError, match=re.escape("no session 'nope'")):
        peirce.view("nope", store=store[0])
