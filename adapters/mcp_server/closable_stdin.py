"""A stdin that a signal can end, so that a server stops in order.

The SDK reads stdin in a thread that nothing can interrupt: after Ctrl-C the server would wait for the
client's next message. So another thread copies stdin to a socket, and the server reads from there. A
signal closes the socket. The server then ends as it does when the client closes stdin: the tools that
are running are cancelled, and their sessions are stored as interrupted.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CHUNK_BYTES = 65_536


class ClosableStdin:
    """The state of the replaced stdin.

    Attributes:
        stopped_by: the number of the signal that ended it; 0 if no signal did.
    """

    def __init__(self) -> None:
        self.stopped_by = 0


@contextlib.contextmanager
def closable_stdin() -> Iterator[ClosableStdin]:
    """Replace `sys.stdin` in a block; call it in the main thread.

    The descriptor 0 then reads from the null device, so child processes cannot take messages of the
    client. The second signal has the effect that it has without this function.
    """
    state = ClosableStdin()
    ours, theirs = socket.socketpair()
    source = os.dup(0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    usual = {number: signal.getsignal(number) for number in SIGNALS}

    def stop(number: int, frame: FrameType | None) -> None:
        state.stopped_by = number
        for one, handler in usual.items():
            signal.signal(one, handler)
        with contextlib.suppress(OSError):
            ours.shutdown(socket.SHUT_WR)

    for number, handler in usual.items():
        if handler is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, stop)
    threading.Thread(target=_copy, args=(source, ours), daemon=True, name="peirce stdin").start()
    stdin = sys.stdin
    try:
        with theirs, theirs.makefile("r", encoding="utf-8", errors="replace") as sys.stdin:
            yield state
    finally:
        sys.stdin = stdin
        for number, handler in usual.items():
            signal.signal(number, handler)


def _copy(source: int, target: socket.socket) -> None:
    """Copy a descriptor to a socket until one of them ends."""
    with contextlib.suppress(OSError):
        while data := os.read(source, CHUNK_BYTES):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
