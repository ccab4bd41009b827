"""Parsers for JSON and Python literals in untrusted text.

`find_objects` finds JSON objects in a model's answer. The answer may be one object, contain objects
within prose or code fences, or contain several drafts. `find_objects` never raises. Its work is
bounded, because decoding starts at `MAX_STARTS` braces at most.

`parse_json` and `parse_literal` read values from files and report the place of an error. They also
reject values that parse but cannot be used: a number too large for a float, a lone surrogate, deep
nesting, or an object with a repeated key.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...records import DataError, Json, RepeatedKey, TooLarge, parse_strictly
from ...tools.python_parser import parse_python
from .messages import shorten

MAX_STARTS = 40  # braces to try; the last ones, because drafts come first
_DECODER = json.JSONDecoder(strict=False)  # accept line breaks in strings


@dataclass(frozen=True)
class FoundObjects:
    """The JSON objects found in a text.

    Attributes:
        objects: The objects with at least one of the requested keys, in the order of the text.
        is_whole_text: Whether the last object makes up the complete text.
        truncated: Whether the text contains no object, only the beginning of an unfinished object.
        spans: The index of the first character of each object, and the index after its last.
    """

    objects: tuple[Mapping[str, Json], ...]
    is_whole_text: bool
    truncated: bool
    spans: tuple[tuple[int, int], ...] = ()


def find_objects(text: str, keys: Collection[str]) -> FoundObjects:
    """Find the JSON objects in a text that have at least one of `keys`.

    Objects nested within a found object are skipped.
    """
    starts = [at for at, character in enumerate(text) if character == "{"]
    found: list[Mapping[str, Json]] = []
    spans: list[tuple[int, int]] = []
    end, bare, cut = 0, False, False
    for start in starts[-MAX_STARTS:]:
        if start < end:
            continue
        try:
            value, after = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            cut = cut or not text[error.pos :].strip() or error.msg.startswith("Unterminated")
            continue
        except (ValueError, RecursionError):  # a number with too many digits, or endless nesting
            continue
        if any(key in value for key in keys):
            found.append(value)
            spans.append((start, after))
            bare = not text[:start].strip() and not text[after:].strip()
            end = after
    return FoundObjects(tuple(found), bare, cut and not found, tuple(spans))


def build_object_schema(**properties: str) -> dict[str, Json]:
    """Return the JSON schema of an object whose properties are strings.

    Args:
        properties: the description of each property, by name. All properties are required and no
            others are allowed, because endpoints with strict structured output demand both.
    """
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": about} for name, about in properties.items()
        },
        "required": list(properties),
        "additionalProperties": False,
    }


TOKEN_PATTERN = re.compile(
    r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?'
)  # strings and numbers
STRUCTURE_PATTERN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]')  # strings and structural characters
MAX_DEPTH = 200  # nested lists and objects
SURROGATE_PATTERN = re.compile("[\ud800-\udfff]")


class Unusable(DataError):
    """An error for a value that parses but cannot be used; no other parser should be tried on the
    text.
    """


class NotFinite(Unusable):
    """A number that is too large for a float, such as 1e400."""


def parse_json(text: str, where: str) -> Json:
    """Parse JSON from untrusted text.

    Args:
        text: The JSON text.
        where: The beginning of error messages: the file name, and also the line number if `text` is
            one line of the file.

    Raises:
        NotFinite: A number is too large for a float; the error names line and field.
        Unusable: The value has a repeated key, a lone surrogate or deep nesting.
        DataError: The text is not JSON.
    """
    whole = "\n" in text
    try:
        value = parse_strictly(text)
    except json.JSONDecodeError as error:
        line = f", line {error.lineno}" if whole else ""
        reason = error.msg.removesuffix(" at")  # some messages end with it
        raise DataError(f"{where}{line}: not JSON: {reason} at column {error.colno}") from error
    except TooLarge as error:
        line = f", line {_find_number_line(text, str(error))}" if whole else ""
        field = f", {name}" if (name := _find_infinite_field(text)) else ""
        raise NotFinite(
            f"{where}{line}{field}: {shorten(str(error))} is larger than any float"
        ) from None
    except RepeatedKey:
        key, at = _find_repeated_key(text)
        line = f", line {at}" if whole else ""
        raise Unusable(f"{where}{line}: the key {shorten(ascii(key))} occurs twice") from None
    except ValueError as error:
        raise DataError(f"{where}: this JSON cannot be used: {shorten(str(error))}") from error
    if "\\u" in text or text.count("[") + text.count("{") > MAX_DEPTH:
        try:
            _check_usable(value, where)
        except Unusable as error:
            line = f", line {_line_of_surrogate(text)}" if whole else ""
            raise Unusable(f"{where}{line}{str(error).removeprefix(where)}") from None
    return value


def is_json_lines(text: str) -> bool:
    """Return whether the text of a .json file is JSONL: its first line is one object, and more
    follows.
    """
    first, _, rest = text.lstrip().partition("\n")
    if not rest.strip() or not first.startswith("{"):
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _check_usable(value: Json, where: str) -> None:
    """Raise `Unusable` for a lone surrogate, which UTF-8 cannot encode, and for deep nesting."""
    level: list[Json] = [value]
    for depth in range(MAX_DEPTH + 1):
        for one in level:
            if isinstance(one, str) and SURROGATE_PATTERN.search(one):
                raise Unusable(
                    f"{where}: the text {ascii(one)[:80]} has half a character (a lone surrogate)"
                )
        inner = [one for one in level if isinstance(one, dict | list)]
        if inner and depth == MAX_DEPTH:
            raise Unusable(f"{where}: the value is nested deeper than {MAX_DEPTH} levels")
        level = [
            part
            for one in inner
            for part in ([*one, *one.values()] if isinstance(one, dict) else one)
            if isinstance(part, str | dict | list)
        ]


def _line_of_surrogate(text: str) -> int:
    """Return the line, from 1, of the first JSON string with a lone surrogate, else 1."""
    for found in TOKEN_PATTERN.finditer(text):
        if "\\u" in found.group() and SURROGATE_PATTERN.search(json.loads(found.group())):
            return text.count("\n", 0, found.start()) + 1
    return 1


def _find_repeated_key(text: str) -> tuple[str, int]:
    """Return the first repeated key in JSON text, and the line, from 1, of its repetition."""
    inside: list[set[str] | None] = []  # the keys of each enclosing object, None for a list
    is_key = False
    for found in STRUCTURE_PATTERN.finditer(text):
        mark = found.group()
        keys = inside[-1] if inside else None
        if mark in "}]":
            inside.pop()
        elif mark in "[{":
            inside.append(set() if mark == "{" else None)
        elif mark != "," and is_key and keys is not None:
            key = json.loads(mark)
            if key in keys:
                return key, text.count("\n", 0, found.start()) + 1
            keys.add(key)
        is_key = mark in ",{"
    raise AssertionError("no key stands twice")


def _find_number_line(text: str, number: str) -> int:
    """Return the line, from 1, of the first number that is written exactly so."""
    at = next(found.start() for found in TOKEN_PATTERN.finditer(text) if found.group() == number)
    return text.count("\n", 0, at) + 1


def _find_infinite_field(text: str) -> str:
    """Return the path of the first number that is not finite, such as `train[0].input`.

    The result is "" if the text has other faults as well.
    """
    try:
        left = [("", json.loads(text))]
    except (ValueError, RecursionError):
        return ""
    while left:
        name, one = left.pop()
        if isinstance(one, float) and not math.isfinite(one):
            return name.removeprefix(".")
        if isinstance(one, dict):
            left += reversed([(f"{name}.{key}", part) for key, part in one.items()])
        elif isinstance(one, list):
            left += reversed([(f"{name}[{i}]", part) for i, part in enumerate(one)])
    return ""


def find_line(text: str, keys: Sequence[str | int]) -> int:
    """Return the number of the line, from 1, on which the value at `keys` begins.

    If `text` has no value at `keys`, the result is the line of the innermost value that exists on
    the path to it.
    """
    return text.count("\n", 0, _start(text, keys)) + 1


def _start(text: str, keys: Sequence[str | int]) -> int:
    decoder = json.JSONDecoder()
    at = _after_blanks(text, 0)
    for key in keys:
        if text[at] not in "[{":
            return at
        inside, index = _after_blanks(text, at + 1), 0
        while text[inside] not in "]}":
            name: Json = index
            if text[at] == "{":
                name, inside = decoder.raw_decode(text, inside)
                inside = _after_blanks(text, _after_blanks(text, inside) + 1)
            if name == key:
                break
            _, inside = decoder.raw_decode(text, inside)
            inside = _after_blanks(text, inside)
            inside = _after_blanks(text, inside + 1) if text[inside] == "," else inside
            index += 1
        else:
            return at
        at = inside
    return at


def _after_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def parse_literal(text: str, where: str) -> Json:
    """Parse a Python literal as a JSON value. For example, the text "[3, 4]" gives the list `[3,
    4]`.

    Args:
        text: The literal.
        where: The location of the literal, with which error messages begin.

    Raises:
        Unusable: The value has a repeated key, a lone surrogate or deep nesting.
        DataError: The text is not a literal, or JSON cannot represent its value.
    """
    try:
        tree = parse_python(text.strip(), "eval")
        value = ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise DataError(f"{where}: must be a Python literal, not {shorten(text)}") from error
    for node in ast.walk(tree) if "{" in text else ():
        if isinstance(node, ast.Dict):
            names = [ast.literal_eval(key) for key in node.keys if key is not None]
            if len(set(names)) < len(names):
                raise Unusable(f"{where}: a key occurs twice in {shorten(text)}")
    usable = to_json(value, where)
    _check_usable(usable, where)
    return usable


def to_json(value: object, where: str) -> Json:
    """Return a Python value as JSON data; tuples become lists.

    Args:
        value: The value.
        where: The location of the value, with which error messages begin.

    Raises:
        NotFinite: A number is not finite.
        DataError: JSON cannot represent the value.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise NotFinite(f"{where}: {value!r} is not a finite number")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [to_json(item, where) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: to_json(item, where) for key, item in value.items()}
    raise DataError(f"{where}: JSON cannot represent the value {shorten(value)}")
