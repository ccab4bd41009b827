"""Control messages to the process that writes a store: they reach the function that it has set, and
nothing that a client sends or omits harms the process.

Internals: a client speaks to the socket byte by byte.
"""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest
from peirce.records import StoreError, UsageError
from peirce.store import Store
from peirce.store.messages import LENGTH, receive, send
from peirce.store.owner_socket import socket_path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.duckdb"


def connect(path: Path) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(20)
    link.connect(str(socket_path(path)))
    return link


def test_a_message_comes_to_the_controller_and_its_answer_back(path: Path) -> None:
    with Store.open(path, write=True) as owner, Store.open(path, write=False) as reader:
        owner.set_controller(lambda message: {"got": message})
        message = {"control": "verb", "session": "a", "number": 3}
        assert reader.control(message) == {"got": message}


def test_an_owner_without_a_controller_says_so(path: Path) -> None:
    with Store.open(path, write=True) as owner, Store.open(path, write=False) as reader:
        sentence = "runs no session that can be controlled"
        for change in (None, lambda message: {}, None):
            owner.set_controller(change)
            if change is None:
                with pytest.raises(StoreError, match=sentence):
                    reader.control({"control": "stop", "session": "a"})
            else:
                assert reader.control({"control": "stop", "session": "a"}) == {}


def test_an_expected_error_of_the_controller_is_told_in_its_sentence(path: Path) -> None:
    def refuse(message):
        raise UsageError("that is no value")

    with Store.open(path, write=True) as owner, Store.open(path, write=False) as reader:
        owner.set_controller(refuse)
        with pytest.raises(StoreError, match="that is no value"):
            reader.control({"control": "adjust", "session": "a"})
        assert reader.query("SELECT 1") == [(1,)]  # on the same connection


def test_nobody_to_control_is_one_sentence(path: Path) -> None:
    own = pytest.raises(StoreError, match=r"is writing .* itself")
    with Store.open(path, write=True) as owner, own:
        owner.control({"control": "stop", "session": "a"})
    with Store.open(path, write=False) as reader:
        with pytest.raises(StoreError, match="no process is writing"):
            reader.control({"control": "stop", "session": "a"})
        with pytest.raises(StoreError, match="open for reading"):
            reader.set_controller(None)


def test_an_owner_that_ends_during_the_answer_is_one_sentence(path: Path) -> None:
    owner = Store.open(path, write=True)
    with Store.open(path, write=False) as reader:
        owner.set_controller(lambda message: time.sleep(0.5) or {})
        closing = threading.Timer(0.1, owner.close)
        closing.start()
        with pytest.raises(StoreError, match="has ended"):
            reader.control({"control": "stop", "session": "a"})
        closing.join()


def test_a_client_that_leaves_in_the_middle_changes_nothing(path: Path) -> None:
    with Store.open(path, write=True) as owner, Store.open(path, write=False) as reader:
        came = []
        owner.set_controller(lambda message: came.append(message) or {})
        for sent in (b"", b"\x00", LENGTH.pack(50), LENGTH.pack(50) + b'{"control": "st'):
            with connect(path) as link:
                link.sendall(sent)
        with connect(path) as link:  # a whole message, whose answer nobody reads
            send(link, {"control": "stop", "session": "gone"})
        assert reader.control({"control": "stop", "session": "here"}) == {}
        until = time.monotonic() + 20
        while len(came) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        assert sorted(one["session"] for one in came) == ["gone", "here"]


@pytest.mark.parametrize(
    "body", [b"[]", b'"stop"', b"{}", b'{"control": NaN}', b"\xff", b"[" * 100_000]
)
def test_what_is_no_message_ends_only_its_connection(path: Path, body: bytes) -> None:
    with Store.open(path, write=True) as owner, Store.open(path, write=False) as reader:
        owner.set_controller(lambda message: {"fine": True})
        with connect(path) as link:
            link.sendall(LENGTH.pack(len(body)) + body)
            assert receive(link) is None
        assert reader.control({"control": "status"}) == {"fine": True}


def test_a_control_message_runs_no_sql(path: Path) -> None:
    with Store.open(path, write=True) as owner, Store.open(path, write=False) as reader:
        owner.set_controller(lambda message: {"control": message["control"]})
        both = {"control": "x", "sql": "DROP TABLE session", "params": []}
        assert reader.control(both) == {"control": "x"}
        assert owner.sessions() == []
