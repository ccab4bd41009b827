"""The details of problems as a page holds them: compressed blocks in script elements."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

BLOCK = re.compile(r'<script type="text/plain" data-first="([0-9]+)">([A-Za-z0-9+/]*=*)</script>')


def read_blocks(page: str) -> dict[int, Any]:
    """The details of each problem of a page, by the number of the problem."""
    found: dict[int, Any] = {}
    for first, packed in BLOCK.findall(page):
        lines = zlib.decompress(base64.b64decode(packed, validate=True)).decode("ascii")
        for number, line in enumerate(lines.split("\n"), int(first)):
            assert number not in found
            found[number] = json.loads(line)
    return found


def read_text(page: str) -> str:
    """The text of a page with the details of its problems, as JSON, in place of the compressed blocks."""
    return BLOCK.sub("", page) + json.dumps(list(read_blocks(page).values()))
