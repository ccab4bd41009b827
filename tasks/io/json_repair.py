"""Read JSON objects that are nearly valid, as models write them.

`repair_object` reads objects with these faults, and names each fault that it met:

- single_quotes: a text in single quotes, or a dictionary as Python prints it;
- smart_quotes: a text in typographic quotes;
- trailing_comma: a comma before a closing bracket;
- unclosed: the text ends before the closing brackets of an object whose values are all complete.

Nothing is guessed: a text that does not end, a missing value or a missing comma stays an error. So a
code that was cut is never read. `describe_surroundings` names what stands around an object that is
valid by itself.

No function here raises, and the work is bounded: at most `MAX_STARTS` braces are tried, and together
they read at most `MAX_CHARACTERS` characters.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...records import Json
from ...tools.python_parser import BudgetSpent, ParsingBudget, parse_python
from .json_text import MAX_STARTS, find_objects

MAX_CHARACTERS = 1_000_000  # of one answer, all attempts together
MAX_NESTING = 40
FENCE, PROSE, SEVERAL = "fence", "prose", "several_objects"
SURROUNDINGS = (FENCE, PROSE, SEVERAL)
SINGLE_QUOTES, SMART_QUOTES = "single_quotes", "smart_quotes"
TRAILING_COMMA, UNCLOSED = "trailing_comma", "unclosed"

_FENCE = re.compile(r"(?:```|~~~)[ \t]*[\w+-]*[ \t]*(?=\r?\n|\Z)|```")
_BLANK = re.compile(r"[ \t\r\n]*")
_BARE = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
_DECODER = json.JSONDecoder(strict=False)  # accept line breaks in strings
_CLOSING = {"“": "”", "„": "“”", "”": "”", "‘": "’", "’": "’", "'": "'", "«": "»"}
# A quote that closes a text is followed by a mark of JSON. A quote within the text, as an apostrophe,
# mostly is not. At the end of the answer it may be either, so the text counts as cut there.
_ENDS = re.compile(r"[ \t\r\n]*[,:}\]]")


@dataclass(frozen=True)
class RepairedObject:
    """An object that was read from text that is not valid JSON.

    Attributes:
        value: The object.
        faults: The names of the faults, each once, in the order of the text.
    """

    value: Mapping[str, Json]
    faults: tuple[str, ...]


def repair_object(text: str, keys: Collection[str]) -> RepairedObject | None:
    """Return the last nearly valid object in a text that has at least one of `keys`, or None.

    The fences and the prose around the object are among the faults.

    Args:
        text: The answer of a model.
        keys: The keys of which the object must have one.
    """
    starts = [at for at, character in enumerate(text) if character == "{"][-MAX_STARTS:]
    budget = _Budget(MAX_CHARACTERS)
    parsing = ParsingBudget()
    found: list[tuple[int, int, Mapping[str, Json], tuple[str, ...]]] = []
    end = 0
    for start in starts:
        if start < end:
            continue
        read = _read_python(text, start, parsing) or _read(text, start, budget)
        if read is not None and any(key in read[0] for key in keys):
            value, end, faults = read
            found.append((start, end, value, faults))
    if not found:
        return None
    start, end, value, faults = found[-1]
    spans = [(one[0], one[1]) for one in found]
    around = _surroundings(text, spans)
    return RepairedObject(value, tuple(dict.fromkeys((*faults, *around))))


def describe_surroundings(text: str, keys: Collection[str]) -> tuple[str, ...] | None:
    """Return what stands around the valid objects in a text: fence, prose and several_objects.

    The result is () if the text is one object, and None if no valid object has one of `keys`.
    """
    spans = find_objects(text, keys).spans
    return _surroundings(text, spans) if spans else None


def _surroundings(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at:start])
        at = end
    around = "".join([*parts, text[at:]])
    bare = _FENCE.sub("", around)
    found = [FENCE] if bare != around else []
    found += [PROSE] if bare.strip(" \t\r\n,;") else []
    return (*found, SEVERAL) if len(spans) > 1 else tuple(found)


def _read_python(
    text: str, start: int, budget: ParsingBudget
) -> tuple[Mapping[str, Json], int, tuple[str, ...]] | None:
    """Read a dictionary as Python prints it, which may escape quotes within its texts."""
    end = text.rfind("}") + 1
    if not re.match(r"\{\s*'", text[start : start + 200]) or end <= start:
        return None
    try:
        value = ast.literal_eval(parse_python(text[start:end], "eval", budget))
        usable = json.loads(json.dumps(value, allow_nan=False))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, BudgetSpent):
        return None
    return (usable, end, (SINGLE_QUOTES,)) if isinstance(usable, dict) else None


class _Unreadable(Exception):
    """Raised where the text is not even nearly JSON."""


class _Budget:
    def __init__(self, characters: int) -> None:
        self.characters = characters

    def take(self, characters: int) -> None:
        self.characters -= characters
        if self.characters < 0:
            raise _Unreadable


def _read(
    text: str, start: int, budget: _Budget
) -> tuple[Mapping[str, Json], int, tuple[str, ...]] | None:
    reader = _Reader(text, budget)
    try:
        value, end = reader.read_value(start, 0)
    except _Unreadable:
        return None
    return (value, end, tuple(dict.fromkeys(reader.faults))) if isinstance(value, dict) else None


class _Reader:
    """A reader of one value by recursive descent.

    Attributes:
        faults: The faults met so far.
    """

    def __init__(self, text: str, budget: _Budget) -> None:
        self.faults: list[str] = []
        self._text = text
        self._budget = budget

    def read_value(self, at: int, depth: int) -> tuple[Json, int]:
        """Return the value that begins at `at`, and the index after it. Raises _Unreadable."""
        mark = self._text[at : at + 1]
        if depth > MAX_NESTING or not mark:
            raise _Unreadable
        if mark in "{[":
            return self._container(at, depth, "}" if mark == "{" else "]")
        if mark == '"' or mark in _CLOSING:
            return self._string(at)
        bare = _BARE.match(self._text, at)
        if bare is None:
            raise _Unreadable
        try:
            return json.loads(bare[0]), bare.end()
        except ValueError:
            raise _Unreadable from None

    def _container(self, at: int, depth: int, closing: str) -> tuple[Json, int]:
        names: list[str] = []
        values: list[Json] = []
        at = self._skip(at + 1)
        while True:
            if self._text[at : at + 1] == closing:
                return self._build(names, values, closing), at + 1
            if closing == "}":
                name, at = self._string(at)
                at = self._skip(at)
                if self._text[at : at + 1] != ":":
                    raise _Unreadable
                names.append(name)
                at = self._skip(at + 1)
            value, at = self.read_value(at, depth + 1)
            values.append(value)
            at = self._skip(at)
            if self._text[at : at + 1] == ",":
                at = self._skip(at + 1)
                if self._text[at : at + 1] == closing:
                    self.faults.append(TRAILING_COMMA)
            elif at == len(self._text) or self._text.startswith("```", at):
                if at == len(self._text) and self._text[at - 1] in "0123456789.eE+-":
                    raise _Unreadable  # a number at the end of the text may be cut
                self.faults.append(UNCLOSED)
                return self._build(names, values, closing), at
            elif self._text[at] != closing:
                raise _Unreadable

    def _build(self, names: list[str], values: list[Json], closing: str) -> Json:
        return dict(zip(names, values, strict=True)) if closing == "}" else values

    def _string(self, at: int) -> tuple[str, int]:
        mark = self._text[at : at + 1]
        if mark == '"':
            try:
                value, end = _DECODER.raw_decode(self._text, at)
            except (ValueError, RecursionError):
                raise _Unreadable from None
            self._budget.take(end - at)
            return str(value), end
        if mark not in _CLOSING or not mark:
            raise _Unreadable
        closing = _CLOSING[mark]
        end = at + 1
        while end < len(self._text):
            one = self._text[end]
            if one == "\\":
                end += 2
                continue
            if one in closing and _ENDS.match(self._text, end + 1):
                break
            end += 1
        self._budget.take(end - at)
        if end >= len(self._text):
            raise _Unreadable
        self.faults.append(SINGLE_QUOTES if mark == "'" else SMART_QUOTES)
        return _unescape(self._text[at + 1 : end]), end + 1

    def _skip(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        end = found.end() if found else at
        self._budget.take(end - at + 1)
        return end


_ESCAPED = re.compile(r"\\(.)|\"", re.DOTALL)


def _unescape(body: str) -> str:
    """Return the text that a body in other quotes stands for, by the escapes of JSON."""
    quoted = _ESCAPED.sub(_as_json, body)
    try:
        return str(json.loads(f'"{quoted}"', strict=False))
    except ValueError:
        return body


def _as_json(found: re.Match[str]) -> str:
    if found[0] in ('"', '\\"'):
        return '\\"'
    return found[1] if found[1] in "'‘’“”„" else found[0]
