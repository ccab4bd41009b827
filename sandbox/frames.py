"""The messages between parent, zygote and child, either way the same.

A frame is 4 bytes of magic, the lengths of header (uint32) and body (uint64), little endian, then the
header, a JSON object, and the body, bytes. Standard library only.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any

PROTOCOL = 1
MAGIC = b"PEI1"
HEAD = struct.Struct("<4sIQ")
HEADER_BYTES = 65_536


class Closed(Exception):
    """The other side of a stream is gone, or talks nonsense."""


def frame(header: dict[str, Any], body: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return HEAD.pack(MAGIC, len(text), len(body)) + text + body


def read_frame(descriptor: int) -> tuple[dict[str, Any], bytes]:
    """The next frame of a trusted peer. Raises Closed."""
    magic, header_size, body_size = HEAD.unpack(_read_exactly(descriptor, HEAD.size))
    if magic != MAGIC or header_size > HEADER_BYTES:
        raise Closed
    header = json.loads(_read_exactly(descriptor, header_size))
    return header, _read_exactly(descriptor, body_size)


def _read_exactly(descriptor: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = os.read(descriptor, min(size - len(data), 2**20))
        if not chunk:
            raise Closed
        data += chunk
    return bytes(data)


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
