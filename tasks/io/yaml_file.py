"""Read the YAML files of settings and tasks, and record the line of each value for error messages.

Only the core of YAML is accepted: mappings with text keys, lists, texts, numbers, true, false and
null. `no`, `12:30`, `2024-01-01` and `007` are texts. The following are rejected, each with a
one-sentence message: anchors and aliases (a few lines of them can expand to gigabytes), tags
(`!!python/…`), duplicate keys, several documents in one file, numbers that are not finite, and
files of over 1 MB.

`yaml_records.py` reads published lists of records, which may be large and contain aliases.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from ...records import DataError, Json
from .json_text import SURROGATE_PATTERN
from .messages import shorten, suggest_nearest

MAX_BYTES = 1_000_000
MAX_DEPTH = 50  # most levels of nested lists and mappings
Key: TypeAlias = tuple[str | int, ...]  # the path to a value: ("problems", "p1", "hidden", 0)

_TAG = "tag:yaml.org,2002:"
_IMPLICIT = {  # types of unquoted scalars in YAML 1.2's core schema: (pattern, first characters)
    "null": (r"~|null|Null|NULL|", "~nN\0"),
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    "float": (
        r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+.0123456789",
    ),
}


@dataclass(frozen=True)
class YamlDocument:
    """The value of a YAML file, with the line of each key for error messages."""

    file: Path
    value: Json
    lines: dict[Key, int]

    def describe_location(self, key: Sequence[str | int]) -> str:
        """Return the location of a key as `FILE, line N, KEY`.

        If the key is missing, N is the line of the value that should contain the key.
        """
        at = tuple(key)
        while at and at not in self.lines:
            at = at[:-1]
        name = f", {format_key(key)}" if key else ""
        return f"{self.file}, line {self.lines.get(at, 1)}{name}"

    def error(self, key: Sequence[str | int], message: str) -> DataError:
        """Return an error of the form `FILE, line N, KEY: message`."""
        return DataError(f"{self.describe_location(key)}: {message}")

    def check_keys(self, key: Key, value: Json, valid: Iterable[str]) -> dict[str, Json]:
        """Return `value` after checking that it is a mapping and all its keys are in `valid`.

        Args:
            key: the location of `value` in the file, for error messages.
            value: the value to check.
            valid: the allowed keys.

        Raises:
            DataError: `value` is not a mapping, or has a key that is not allowed.
        """
        names = tuple(valid)
        if not isinstance(value, dict):
            raise self.error(
                key, f"must be a mapping with keys from {', '.join(names)}, not {shorten(value)}"
            )
        for name in value:
            if name not in names:
                raise self.error(
                    (*key, name), f"unknown key{suggest_nearest(name, names, len(names))}"
                )
        return value


def format_key(key: Sequence[str | int]) -> str:
    """Return the location of a value as text, for example `problems.p1.hidden[0]`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in key)
    return shorten("".join(parts).removeprefix("."), 200)


def read_yaml(file: Path, content: bytes, too_large: str = "") -> YamlDocument:
    """Parse the content of a YAML file.

    Args:
        file: The path of the file, for error messages.
        content: The content of the file.
        too_large: Advice to the user that the error about a file of over 1 MB adds.

    Raises:
        DataError: the content is not accepted; the message names file and line.
    """
    import yaml

    if len(content) > MAX_BYTES:
        hint = f": {too_large}" if too_large else ""
        raise DataError(f"{file}: the file is larger than {MAX_BYTES:,} bytes{hint}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{file}, line {line}: not UTF-8 text") from error
    try:
        loader = _loader()(text)
        try:
            node = loader.get_single_node()
        except (ValueError, OverflowError) as error:  # such as "\UFFFFFFFF", a code of no character
            line = loader.get_mark().line + 1
            raise DataError(f"{file}, line {line}: not YAML: {shorten(str(error))}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else mark.line + 1
        said = " ".join(str(part) for part in (error.context, error.problem) if part)
        not_yaml = "" if type(error) is yaml.MarkedYAMLError else "not YAML: "
        raise DataError(f"{file}, line {line}: {not_yaml}{said}") from None
    except yaml.YAMLError as error:  # a control character
        at = getattr(error, "position", 0)
        line = text.count("\n", 0, at) + 1
        raise DataError(
            f"{file}, line {line}: the file has a character that YAML does not allow"
        ) from None
    if node is None:
        raise DataError(f"{file}: the file is empty")
    lines: dict[Key, int] = {}
    return YamlDocument(file, _value(file, node, (), lines), lines)


@cache
def _loader() -> Any:
    """Return the YAML loader; it is built on first use, because importing yaml takes time."""
    import yaml

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers: ClassVar[dict[Any, Any]] = {}  # type: ignore[misc]
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
                name = f"{'*' if isinstance(event, yaml.AliasEvent) else '&'}{event.anchor}"
                raise _refused(
                    event, f"{name}: anchors and aliases are not supported; write the value out"
                )
            if event.tag not in (None, "!"):
                raise _refused(
                    event, f"the tag {shorten(event.tag, 60)} is not supported; leave it out"
                )
            if self.depth == MAX_DEPTH:
                raise _refused(event, f"the value is nested deeper than {MAX_DEPTH} levels")
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    def _refused(event: Any, said: str) -> Exception:
        return yaml.MarkedYAMLError(problem=said, problem_mark=event.start_mark)

    for name, (pattern, first) in _IMPLICIT.items():
        starts = ["" if letter == "\0" else letter for letter in first]
        Loader.add_implicit_resolver(_TAG + name, re.compile(f"(?:{pattern})$"), starts)
    return Loader


def _value(file: Path, node: Any, key: Key, lines: dict[Key, int]) -> Json:
    line = node.start_mark.line + 1
    lines.setdefault(key, line)

    def error(said: str, at: int = line, name: Key = key) -> DataError:
        return DataError(f"{file}, line {at}{', ' if name else ''}{format_key(name)}: {said}")

    if node.id == "sequence":
        return [_value(file, part, (*key, i), lines) for i, part in enumerate(node.value)]
    if node.id == "mapping":
        found: dict[str, Json] = {}
        for named, part in node.value:
            at = named.start_mark.line + 1
            if named.id != "scalar" or named.tag != f"{_TAG}str":
                shown = shorten(named.value) if named.id == "scalar" else f"a {named.id}"
                raise error(f"a key must be text, not {shown}; put it in quotes", at)
            if SURROGATE_PATTERN.search(named.value):
                raise error("a key has half a character (a lone surrogate)", at)
            inner = (*key, named.value)
            if named.value in found:
                raise error(f"occurs twice, first in line {lines[inner]}", at, inner)
            lines[inner] = at
            found[named.value] = _value(file, part, inner, lines)
        return found
    return _scalar(node.tag.removeprefix(_TAG), node.value, error)


def _scalar(kind: str, text: str, error: Any) -> Json:
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    if kind == "int":
        try:
            return int(text)
        except ValueError:  # beyond 4,300 digits
            raise error(f"an integer of {len(text):,} digits is too long") from None
    if kind == "float":
        number = float(text.replace(".", "") if "n" in text.lower() else text)
        if not math.isfinite(number):
            raise error(f"must be a finite number, not {shorten(text)}")
        return number
    if SURROGATE_PATTERN.search(text):
        raise error("the text has half a character (a lone surrogate)")
    return text
