"""The messages between parent, zygote and child, either way the same.

A frame is 4 bytes of magic, the lengths of header (uint32) and body (uint64), little endian, then the
header, a JSON object, and the body, bytes. Standard library only.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any

PROTOCOL = 3
MAGIC = b"PEI1"
HEAD = struct.Struct("<4sIQ")
HEADER_BYTES = 65_536


class Closed(Exception):
    """The other side of a stream is gone, or talks nonsense."""


def frame(header: dict[str, Any], body: bytes = b"") -> bytes:
    return head(header, len(body)) + body


def head(header: dict[str, Any], body_bytes: int) -> bytes:
    """All of a frame but its body."""
    text = json.dumps(header).encode()
    return HEAD.pack(MAGIC, len(text), body_bytes) + text


def read_header(descriptor: int) -> tuple[dict[str, Any], int]:
    """The next header of a trusted peer, and how many bytes of body follow it, unread. Raises
    Closed."""
    magic, header_size, body_size = HEAD.unpack(read_exactly(descriptor, HEAD.size))
    if magic != MAGIC or header_size > HEADER_BYTES:
        raise Closed
    return json.loads(read_exactly(descriptor, header_size)), body_size


def read_exactly(descriptor: int, size: int) -> bytes:
    """Raises Closed."""
    return bytes(read_into(descriptor, size))


def read_into(descriptor: int, size: int) -> bytearray:
    """As `read_exactly`, with no copy left behind. Raises Closed."""
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
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
