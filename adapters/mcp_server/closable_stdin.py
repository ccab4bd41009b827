"""A stdin that a signal can end, so that a server stops in order.

The SDK reads stdin in a thread that nothing can interrupt: after Ctrl-C the server would wait for the
client's next message. So another thread copies stdin to a socket, and the server reads from there. A
signal closes the socket. The server then ends as it does when the client closes stdin: the tools that
are running are cancelled, and their sessions are stored as interrupted.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from types import FrameType

import pydantic_core

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CHUNK_BYTES, HEAD_BYTES = 65_536, 1_024
MAX_LINE_BYTES = 8_000_000  # of one message; arguments have a limit of their own (arguments.py)
# Methods that are not found, in place of messages that cannot be read.
TOO_LONG = f"message of more than {MAX_LINE_BYTES:,} bytes"
NO_JSON = "message that is no valid JSON"
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[\w-]{1,100}")')


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
    with open(os.devnull, "rb") as nothing:
        try:
            source = os.dup(0)
        except OSError:  # the caller has closed stdin
            source = os.dup(nothing.fileno())
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
    """Copy lines from a descriptor to a socket until one of them ends."""
    line, is_too_long = bytearray(), False
    with contextlib.suppress(OSError):
        while data := os.read(source, CHUNK_BYTES):
            *ends, rest = data.split(b"\n")
            for end in ends:
                if not is_too_long:
                    line += end
                if is_too_long or len(line) > MAX_LINE_BYTES:
                    line = bytearray(_replace_message(bytes(line), TOO_LONG))
                elif not _is_json(line):
                    line = bytearray(_replace_message(bytes(line), NO_JSON))
                target.sendall(line + b"\n")
                line.clear()
                is_too_long = False
            if not is_too_long:
                line += rest
            if len(line) > MAX_LINE_BYTES:
                del line[HEAD_BYTES:]
                is_too_long = True
        target.sendall(line)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _is_json(line: bytes | bytearray) -> bool:
    """Return whether the SDK, which uses the same parser, can read a message.

    It cannot read a lone surrogate or an integer of over 4,300 digits, and would not answer at all:
    the client would wait for its time limit.
    """
    try:
        pydantic_core.from_json(bytes(line))
    except ValueError:
        return False
    return True


def _replace_message(line: bytes, fault: str) -> bytes:
    """Return a request with the id of a message that cannot be read, to which the answer is an error.

    Reading a message that is too long would take gigabytes of memory. Clients write the id at the
    beginning, or at the end. A line without an id is returned as it is, cut to its beginning.
    """
    found = _ID.search(line[:HEAD_BYTES]) or _ID.search(line[-HEAD_BYTES:])
    if found is None:
        return line[:HEAD_BYTES]
    number = found[1].decode("ascii", "replace")
    return f'{{"jsonrpc": "2.0", "id": {number}, "method": "{fault}"}}'.encode()
