"""Messages between parent, zygote and child, the same in both directions.

A frame is 4 bytes of magic, the lengths of header (uint32) and body (uint64), little endian, then
the header, a JSON object, and the body, bytes. Standard library only.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any

PROTOCOL = 4
MAGIC = b"PEI1"
HEAD = struct.Struct("<4sIQ")
HEADER_BYTES = 65_536


class Closed(Exception):
    """Raised when the process at the other end of a stream has ended or sends an invalid frame."""


def frame(header: dict[str, Any], body: bytes = b"") -> bytes:
    """Return a header and a body as one frame of the protocol."""
    return head(header, len(body)) + body


def head(header: dict[str, Any], body_bytes: int) -> bytes:
    """Return the beginning of a message frame: everything except the body."""
    text = json.dumps(header).encode()
    return HEAD.pack(MAGIC, len(text), body_bytes) + text


def read_header(descriptor: int) -> tuple[dict[str, Any], int]:
    """Return a trusted peer's next header and the size of its body, which is not read yet.

    Raises Closed.
    """
    magic, header_size, body_size = HEAD.unpack(read_exactly(descriptor, HEAD.size))
    if magic != MAGIC or header_size > HEADER_BYTES:
        raise Closed
    return json.loads(read_exactly(descriptor, header_size)), body_size


def read_exactly(descriptor: int, size: int) -> bytes:
    """Read `size` bytes. Raises Closed."""
    return bytes(read_into(descriptor, size))


def read_into(descriptor: int, size: int) -> bytearray:
    """Read `size` bytes without leaving a copy in memory. Raises Closed."""
    data = bytearray(size)
    with memoryview(data) as view:
        at = 0
        while at < size:
            count = os.readv(descriptor, [view[at : at + 2**20]])
            if not count:
                raise Closed
            at += count
    return data


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write all bytes of `data` to a file descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
