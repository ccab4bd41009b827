"""JSON objects in what a model says: the whole answer, one within prose or fences, several drafts.

Never raises, and its work is bounded whatever the text: the decoder starts at `STARTS` braces.

JSON and Python literals from untrusted text, with errors that say where: what cannot be used (a
number that no float holds, half a character, deep nesting, a key that stands twice in an object) is
refused as well as what cannot be read.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...records import DataError, Json
from .messages import shorten

STARTS = 40  # braces where an object may begin; the last ones, as drafts come first
_DECODER = json.JSONDecoder(strict=False)  # line breaks within a string are plain enough


@dataclass(frozen=True)
class Found:
    """objects: those that hold at least one of the keys asked for, in their order. bare: the last
    of them is the whole answer. cut: an object begins in the text and does not end."""

    objects: tuple[Mapping[str, Json], ...]
    bare: bool
    cut: bool


def objects_in(text: str, keys: Collection[str]) -> Found:
    """The JSON objects of `text` that have one of `keys`; objects within objects are not looked
    for where the outer one parses."""
    starts = [at for at, character in enumerate(text) if character == "{"]
    found: list[Mapping[str, Json]] = []
    end, bare, cut = 0, False, False
    for start in starts[-STARTS:]:
        if start < end:
            continue
        try:
            value, after = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            cut = cut or not text[error.pos :].strip() or error.msg.startswith("Unterminated")
            continue
        except (ValueError, RecursionError):  # a number of too many digits; nesting without end
            continue
        if any(key in value for key in keys):
            found.append(value)
            bare = not text[:start].strip() and not text[after:].strip()
            end = after
    return Found(tuple(found), bare, cut and not found)


def object_schema(**properties: str) -> dict[str, Json]:
    """The JSON schema of an object of texts, each with its description, all required and no
    others: what endpoints take for structured output, the strict ones among them."""
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": about} for name, about in properties.items()
        },
        "required": list(properties),
        "additionalProperties": False,
    }


TOKENS = re.compile(
    r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?'
)  # of JSON: texts, numbers
MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]')  # of JSON: texts, what opens and parts objects
DEPTH = 200  # of lists and objects in each other
SURROGATE = re.compile("[\ud800-\udfff]")


class Unusable(DataError):
    """A value that reads well and cannot be used: nothing else is to be made of its text."""


class NotFinite(Unusable):
    """A number that no float holds, as 1e400."""


def parse_json(text: str, where: str) -> Json:
    """JSON from untrusted text; `where` (the file, and its line where `text` is one) starts the
    error. Raises `DataError`, of numbers that no float holds `NotFinite` with line and field."""
    whole = "\n" in text
    try:
        value = json.loads(
            text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_each_once
        )
    except json.JSONDecodeError as error:
        line = f", line {error.lineno}" if whole else ""
        reason = error.msg.removesuffix(" at")  # some end so
        raise DataError(f"{where}{line}: not JSON: {reason} at column {error.colno}") from error
    except _TooLarge as error:
        line = f", line {_line_of(text, str(error))}" if whole else ""
        field = f", {name}" if (name := _field_of(text)) else ""
        raise NotFinite(
            f"{where}{line}{field}: {shorten(str(error))} is larger than any float"
        ) from None
    except _Twice:
        key, at = _twice(text)
        line = f", line {at}" if whole else ""
        raise Unusable(f"{where}{line}: the key {shorten(ascii(key))} stands there twice") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON that can be used: {shorten(str(error))}") from error
    if "\\u" in text or text.count("[") + text.count("{") > DEPTH:
        try:
            _check_usable(value, where)
        except Unusable as error:
            line = f", line {_line_of_surrogate(text)}" if whole else ""
            raise Unusable(f"{where}{line}{str(error).removeprefix(where)}") from None
    return value


def _check_usable(value: Json, where: str) -> None:
    """Raises `Unusable` for half a character, which no UTF-8 holds, and for deep nesting."""
    level: list[Json] = [value]
    for depth in range(DEPTH + 1):
        for one in level:
            if isinstance(one, str) and SURROGATE.search(one):
                raise Unusable(f"{where}: half a character (a lone surrogate) in {ascii(one)[:80]}")
        inner = [one for one in level if isinstance(one, dict | list)]
        if inner and depth == DEPTH:
            raise Unusable(f"{where}: nested deeper than {DEPTH}")
        level = [
            part
            for one in inner
            for part in ([*one, *one.values()] if isinstance(one, dict) else one)
            if isinstance(part, str | dict | list)
        ]


def _line_of_surrogate(text: str) -> int:
    """The line, from 1, of the first text of JSON with half a character; else the first line."""
    for found in TOKENS.finditer(text):
        if "\\u" in found.group() and SURROGATE.search(json.loads(found.group())):
            return text.count("\n", 0, found.start()) + 1
    return 1


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON number")


class _TooLarge(ValueError):
    """The number as it stands in the text."""


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _TooLarge(text)
    return value


class _Twice(ValueError):
    """An object has a key that stands twice in it."""


def _each_once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _Twice
    return value


def _twice(text: str) -> tuple[str, int]:
    """The first key of JSON that stands in its object already, and the line, from 1, where it
    stands again."""
    inside: list[set[str] | None] = []  # the keys of each object around, None for a list
    is_key = False
    for found in MARKS.finditer(text):
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


def _line_of(text: str, number: str) -> int:
    """The line, from 1, of the first place where a number of JSON reads so."""
    at = next(found.start() for found in TOKENS.finditer(text) if found.group() == number)
    return text.count("\n", 0, at) + 1


def _field_of(text: str) -> str:
    """Where in the value the first number stands that is not finite: `train[0].input`; nothing
    where the text has other faults too."""
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


def line_at(text: str, keys: Sequence[str | int]) -> int:
    """The line, from 1, where in JSON `text` the value begins that the keys lead to; that of the
    innermost value that is there, where it lacks one."""
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


def literal(text: str, where: str) -> Json:
    """The JSON value that a Python literal in `text` stands for: `"[3, 4]"` gives `[3, 4]`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in the text warns, and is no concern of the user
            tree = ast.parse(text.strip(), mode="eval")
            value = ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise DataError(f"{where}: not a Python literal: {shorten(text)}") from error
    for node in ast.walk(tree) if "{" in text else ():
        if isinstance(node, ast.Dict):
            names = [ast.literal_eval(key) for key in node.keys if key is not None]
            if len(set(names)) < len(names):
                raise Unusable(f"{where}: a key stands twice in {shorten(text)}")
    usable = as_json(value, where)
    _check_usable(usable, where)
    return usable


def as_json(value: object, where: str) -> Json:
    """Tuples to lists; raises `DataError` for what JSON has no form for, `NotFinite` for 1e400."""
    if isinstance(value, float) and not math.isfinite(value):
        raise NotFinite(f"{where}: {value!r} is not a finite number")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [as_json(item, where) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: as_json(item, where) for key, item in value.items()}
    raise DataError(f"{where}: a value that JSON cannot hold: {shorten(value)}")
