"""Messages of the wrong shape between the owner of a store and its readers harm neither.

Internals: a test speaks to the owner's socket byte by byte, or in its place, and waits less long.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from peirce.records import StoreError
from peirce.store import Store, owner
from peirce.store.owner_socket import socket_path


def framed(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    "message",
    [
        *(b"[]", b'"x"', b"5", b"null", b"true", b"[" * 200_000),
        *(b'{"sql": 5, "params": []}', b'{"sql": "SELECT 1", "params": {"a": 1}}'),
        *(b'{"sql": "SELECT ?", "params": [[[{"b": 5}]]]}', b'{"sql": "SELECT 1", "params": 5}'),
    ],
    ids=lambda message: message[:40].decode(),
)
def test_a_message_of_the_wrong_shape_ends_its_own_connection_alone(
    store: Store, path: Path, message: bytes
) -> None:
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(socket_path(path)))
        link.sendall(framed(message))
        with contextlib.suppress(ConnectionResetError):  # it had not read all
            assert link.recv(100) == b""
    with Store.open(path, write=False) as reader:
        assert reader.sessions() == []


@contextlib.contextmanager
def impostor(path: Path, says: bytes, *, slowly: bool = False) -> Iterator[None]:
    """A program that answers everything it is asked on the socket of a store with the same bytes."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(socket_path(path)))
    listener.listen()

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                link, _ = listener.accept()
                with link, contextlib.suppress(OSError):
                    while link.recv(1 << 16):
                        link.sendall(says)
                        while slowly:
                            link.sendall(b" ")
                            time.sleep(0.05)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.mark.parametrize(
    "answer",
    [
        *(b"[" * 200_000, b'{"rows": 5}', b'{"rows": [5]}', b'{"rows": "abc"}'),
        *(b'{"rows": [[]]}', b'{"rows": [[{"z": 1}]]}', b'{"rows": [[{"b": "%%%"}]]}'),
        *(b'{"rows": [[{"b": 5}]]}', b'{"rows": [[{"f": "x"}]]}'),
    ],
    ids=lambda answer: answer[:40].decode(),
)
def test_an_answer_of_the_wrong_shape_is_refused_in_a_sentence(path: Path, answer: bytes) -> None:
    Store.open(path, write=True).close()
    with (
        impostor(path, framed(answer)),
        pytest.raises(StoreError, match="is no owner of a store"),
    ):
        Store.open(path, write=False)


def test_a_process_number_that_is_none_is_refused_in_a_sentence(path: Path) -> None:
    Store.open(path, write=True).close()
    with (
        impostor(path, framed(b'{"pid": "x"}')),
        pytest.raises(StoreError, match="is no owner of a store"),
    ):
        Store.open(path, write=True)


def test_an_answer_that_trickles_in_is_given_up(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.open(path, write=True).close()
    monkeypatch.setattr(owner, "ANSWER_TIMEOUT_S", 0.5)
    with (
        impostor(path, struct.pack(">I", 200), slowly=True),
        pytest.raises(StoreError, match="does not answer"),
    ):
        Store.open(path, write=False)
