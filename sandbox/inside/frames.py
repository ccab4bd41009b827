"""The message format between parent process, zygote and child, the same in both directions.

A message is a frame of 4 magic bytes, the length of the header (uint32) and of the body (uint64),
both little endian, the header as a JSON object, and the body. This file uses only the standard
library.
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
    """Return a header and a body as one message frame."""
    return head(header, len(body)) + body


def head(header: dict[str, Any], body_bytes: int) -> bytes:
    """Return the beginning of a message frame: everything except the body."""
    text = json.dumps(header).encode()
    return HEAD.pack(MAGIC, len(text), body_bytes) + text


def read_header(descriptor: int) -> tuple[dict[str, Any], int]:
    """Read the next header from a trusted process, and return it with the size of the body.

    The body is not read.

    Raises:
        Closed: The stream has ended or the frame is invalid.
    """
    header, body_size, _ = read_forwardable(descriptor)
    return header, body_size


def read_forwardable(descriptor: int) -> tuple[dict[str, Any], int, bytes]:
    """Read the next header as `read_header` does; return also the bytes that were read.

    These bytes can be written to another process, which reads the same header from them.

    Raises:
        Closed: The stream has ended or the frame is invalid.
    """
    start = read_exactly(descriptor, HEAD.size)
    magic, header_size, body_size = HEAD.unpack(start)
    if magic != MAGIC or header_size > HEADER_BYTES:
        raise Closed
    text = read_exactly(descriptor, header_size)
    return json.loads(text), body_size, start + text


def read_exactly(descriptor: int, size: int) -> bytes:
    """Read exactly `size` bytes from a descriptor.

    Raises:
        Closed: The stream ended before.
    """
    return bytes(read_into(descriptor, size))


def read_into(descriptor: int, size: int) -> bytearray:
    """Read exactly `size` bytes into a new bytearray, without leaving a second copy in memory.

    Raises:
        Closed: The stream ended before.
    """
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
