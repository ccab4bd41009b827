"""The messages between the process that writes a store and the processes that read it.

A message is a length (4 bytes, big-endian) followed by that many bytes of JSON. The reading process
sends {"sql", "params"}, {"who": true} or {"control": verb, "session": id, …arguments}. The writing
process answers with {"rows": […], "more": bool}, {"pid": n}, {"control": {…}} or {"error": sentence}.
Bytes are sent as {"b": base64}. The verbs of control messages and their answers are documented in
`graphs/runtime/control.py`.
"""

from __future__ import annotations

import base64
import json
import math
import socket
import struct
import time
from typing import Any

from ..records import Json, parse_strictly
from .schema import Row

LENGTH = struct.Struct(">I")
FRAME_BYTES = 1 << 30


def encode(value: Any) -> Json:
    """Return a database value or a query parameter as JSON."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"f": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return {"b": base64.b64encode(value).decode("ascii")}
    if isinstance(value, list | tuple):
        return [encode(part) for part in value]
    return str(value)


def decode(value: Json) -> Any:
    """Return the database value or query parameter that `encode` turned into JSON."""
    if isinstance(value, list):
        return [decode(part) for part in value]
    if isinstance(value, dict):
        return float(value["f"]) if "f" in value else base64.b64decode(value["b"], validate=True)
    return value


def decode_rows(rows: Json) -> list[Row]:
    """Return the database rows in a message.

    Raises:
        ValueError: The message does not contain a list of rows.
    """
    if not isinstance(rows, list) or not all(isinstance(row, list) and row for row in rows):
        raise ValueError("no rows")
    try:
        return [tuple(decode(row)) for row in rows]
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError("no cells") from error


def send(link: socket.socket, message: Json) -> None:
    """Send a message over a socket."""
    data = json.dumps(message).encode("ascii")
    link.sendall(LENGTH.pack(len(data)) + data)


def receive(link: socket.socket, within_s: float | None = None) -> Json | None:
    """Return the next message, or None if the other process closed the connection.

    Args:
        link: The socket.
        within_s: The longest time to wait for the complete message, in seconds; None for no limit.

    Raises:
        TimeoutError: The message is not complete after `within_s` seconds.
        ValueError: The message is not strict JSON, or is nested too deeply.
        ConnectionError: The message is too long.
    """
    until = None if within_s is None else time.monotonic() + within_s
    head = _exactly(link, LENGTH.size, until)
    if head is None:
        return None
    (length,) = LENGTH.unpack(head)
    if length > FRAME_BYTES:
        raise ConnectionError(f"a frame of {length} bytes")
    body = _exactly(link, length, until)
    try:
        return None if body is None else parse_strictly(body)
    except RecursionError as error:
        raise ValueError("JSON that is nested too deeply") from error


def _exactly(link: socket.socket, count: int, until: float | None) -> bytes | None:
    """Return exactly `count` bytes, or None where the connection ends before."""
    parts = bytearray()
    while len(parts) < count:
        if until is not None:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            link.settimeout(left)
        part = link.recv(min(count - len(parts), 1 << 20))
        if not part:
            return None
        parts += part
    return bytes(parts)
