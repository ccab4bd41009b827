"""Assemble the arguments of a streamed tool call, and tell whether they are complete."""

from __future__ import annotations

import json
import re
import sys

from ...records import Json

SHORT = 64  # characters; arguments up to this length may be parsed again with each piece
MARKS = re.compile(r'[\\"{}\[\]]')


class Arguments:
    """The arguments of a streamed tool call, which arrive in pieces.

    Checking for completeness takes linear time in total. Each character is read once, until the
    first bracket or string closes; then the text is parsed once. Short text without a closed
    bracket or string, such as a number, is parsed after each piece.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._size = 0
        self._read = 0  # number of parts read
        self._depth = 0  # brackets that are open
        self._quoted = False
        self._escaped = False  # whether the next character follows a backslash
        self._closed = False
        self._complete: bool | None = None  # once closed; more text does not complete it

    def add(self, text: str) -> None:
        """Append a piece of the text of the arguments, as the stream delivers it."""
        if text:
            self.parts.append(text)
            self._size += len(text)

    def is_complete(self) -> bool:
        """Return whether the text received so far is complete JSON."""
        while not self._closed and self._read < len(self.parts):
            self._closed = self._read_part(self.parts[self._read])
            self._read += 1
        if self._complete is None and self._closed:
            self._complete = is_json("".join(self.parts))
        if self._complete is None and self._size <= SHORT:
            return is_json("".join(self.parts))
        return bool(self._complete)

    def _read_part(self, part: str) -> bool:
        """Return whether the part closes the first bracket or string."""
        skipped = 0 if self._escaped else -1
        self._escaped = False
        for match in MARKS.finditer(part):
            at, mark = match.start(), match[0]
            if at == skipped:
                continue
            if mark == "\\":
                skipped = at + 1
                self._escaped = self._quoted and skipped == len(part)
            elif mark == '"':
                self._quoted = not self._quoted
            elif not self._quoted:
                self._depth += 1 if mark in "{[" else -1
            if self._depth <= 0 and not self._quoted and mark != "\\":
                return True
        return False


def parse_json(text: bytes | str) -> Json:
    """Parse the JSON of an endpoint, replacing numbers that strict JSON cannot store.

    NaN and Infinity become None. A number that is too large for a float becomes the largest float.
    """
    return json.loads(text, parse_constant=lambda name: None, parse_float=_finite)


def _finite(text: str) -> float:
    largest = sys.float_info.max
    return min(max(float(text), -largest), largest)


def is_json(text: bytes | str) -> bool:
    """Return whether a text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
