"""Reader and writer for YAML benchmark files that hold one list of records.

The reader processes the parser's events in a loop (`yaml.CSafeLoader` of libyaml, or
`yaml.SafeLoader` if PyYAML has no libyaml). It does not use the trees and constructors of PyYAML.
This halves the reading time. Deeply nested brackets raise an error instead of crashing the process,
and an alias counts as many values as it stands for. Values follow YAML 1.1, with three exceptions:
keys are always text, dates and numbers that are not finite become text, and a set (`!!set`) becomes
the sorted list of its members. Other tags, merge keys, several documents and repeated keys are
rejected. The reader also returns the line of each record.

The writer turns JSON values and sets into text that any YAML reader accepts. It does not use
PyYAML, whose output depends on whether libyaml is installed, so equal values always give equal
text. Mappings and lists of mappings are written as blocks. Lists of scalars are written on one
line, and text is quoted.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...records import DataError, Json, UsageError, canonical_json, digest_of_text
from ...records.private_files import make_folder
from .files import write_lines
from .json_text import MAX_DEPTH, SURROGATE_PATTERN
from .messages import shorten

# --- Records that take long to read are cached as JSON in the user's cache folder.
#
# The file name holds the hash of the text that was read. The first line holds the hash of the rest,
# so a damaged file counts as absent. A cache folder that cannot be read or written is no error:
# nothing is cached then.

MIN_CACHED_CHARACTERS = 200_000  # shorter texts are read fast enough
CACHE_VERSION = 1  # version of the cache file format and of the parsed values


def read_cached_records(text: str, read: Callable[[], list[Record]]) -> list[Record]:
    """Return the records of a YAML text: from the cache if it has them, else by calling `read`.

    Only texts of at least `MIN_CACHED_CHARACTERS` characters are cached. The cache is a folder on
    disk.

    Args:
        text: the YAML text, whose digest identifies the records in the cache.
        read: parses the text and returns the records.
    """
    folder = find_cache_folder() if len(text) >= MIN_CACHED_CHARACTERS else None
    if folder is None:
        return read()
    path = folder / f"records-{CACHE_VERSION}-{digest_of_text(text)}.json"
    before = _read_cache(path)
    if before is not None:
        return before
    records = read()
    _write_cache(records, path)
    return records


def find_cache_folder() -> Path | None:
    """Return the cache folder of Peirce, $XDG_CACHE_HOME/peirce or ~/.cache/peirce.

    The result is None if no home directory is known.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")
    if Path(named).is_absolute():
        return Path(named) / "peirce"
    try:
        return Path.home() / ".cache" / "peirce"
    except RuntimeError:
        return None


def _read_cache(path: Path) -> list[Record] | None:
    try:
        name, _, rest = path.read_text("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    if name != digest_of_text(rest):
        return None
    return [Record(line, value) for line, value in json.loads(rest)]


def _write_cache(records: list[Record], path: Path) -> None:
    rest = canonical_json(records) + "\n"
    try:
        make_folder(path.parent)
        write_lines(path, (digest_of_text(rest), rest.removesuffix("\n")))
    except (OSError, UsageError):  # the folder is not writable, or the name is a link
        return


MAX_VALUES = 10_000_000  # an alias counts as all the values that it stands for
TEXT_CHARACTERS = 1_000  # a longer text counts as several values
MAX_NUMBER_CHARACTERS = 300  # characters; a longer number is read as text
_TAG = "tag:yaml.org,2002:"
_SCALARS = ("null", "bool", "int", "float", "str")


class Record(NamedTuple):
    """An item of a YAML list, with the line (from 1) on which the item begins."""

    line: int
    value: Json


class _Refused(Exception):
    """A value that cannot be used, with the line of its event."""

    def __init__(self, event: Any, said: str) -> None:
        super().__init__(said)
        self.line = event.start_mark.line + 1


def read_records(text: str, path: Path) -> list[Record]:
    """Return the records of a YAML text that consists of one list.

    Args:
        text: the YAML text.
        path: the file, for error messages.

    Raises:
        DataError: The text is not a YAML list or contains a rejected value; the error names file
            and line.
    """
    import yaml

    reader = _Reader(yaml)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            reader.take(event)
    except _Refused as error:
        raise DataError(f"{path}, line {error.line}: {error}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else mark.line + 1
        said = " ".join(str(part) for part in (error.context, error.problem) if part)
        raise DataError(f"{path}, line {line}: not YAML: {shorten(said)}") from None
    except yaml.YAMLError as error:  # for instance a control character
        before = text.encode()[: getattr(error, "position", 0)]
        line = before.count(b"\n") + 1
        raise DataError(
            f"{path}, line {line}: the file has a character that YAML does not allow"
        ) from None
    if not isinstance(reader.root, list):
        raise DataError(
            f"{path}, line 1: must be a YAML list of records, not {shorten(reader.root)}"
        )
    return [Record(*both) for both in zip(reader.lines, reader.root, strict=True)]


@dataclass
class _Open:
    """A list, mapping or set that is being read.

    Attributes:
        kind: The kind of collection.
        anchor: The anchor that names it, if any.
        before: Number of values that were read before it began.
        items: The items of a list so far.
        pairs: The entries of a mapping or set so far.
        key: The key of a mapping whose value comes next.
    """

    kind: Literal["list", "mapping", "set"]
    anchor: str | None
    before: int
    items: list[Json] = field(default_factory=list)
    pairs: dict[str, Json] = field(default_factory=dict)
    key: str | None = None


class _Reader:
    def __init__(self, yaml: Any) -> None:
        self.yaml = yaml
        self.resolver = yaml.resolver.Resolver()
        self.constructor = yaml.constructor.SafeConstructor()
        self.root: Json = None
        self.lines: list[int] = []  # the line of each item of the root list
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Json, int]] = {}  # anchor -> its value and number of values
        self.values = 0
        self.documents = 0
        self.known: dict[tuple[str | None, bool, str], Json] = {}  # scalars are often repeated

    def take(self, event: Any) -> None:
        yaml = self.yaml
        if isinstance(event, yaml.ScalarEvent):
            value = event.value if self._at_key else self._scalar(event)
            size = 1 + len(event.value) // TEXT_CHARACTERS
            self._put(
                event, self._register_anchor(event.anchor, self._text(event, value, size), size)
            )
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(event)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise _Refused(event, f"the alias *{event.anchor} has no complete value before it")
            value, size = self.anchors[event.anchor]
            self._count(event, size)
            self._put(event, value)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise _Refused(event, "the file has a second document, but must be one list")

    @property
    def _at_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].kind != "list" and self.stack[-1].key is None

    def _open(self, event: Any) -> None:
        kind: Literal["list", "mapping", "set"] = "list"
        if isinstance(event, self.yaml.MappingStartEvent):
            kind = "set" if event.tag == f"{_TAG}set" else "mapping"
        usual = {"list": f"{_TAG}seq", "mapping": f"{_TAG}map", "set": event.tag}[kind]
        if event.tag not in (None, "!", usual):
            raise self._tag(event)
        if len(self.stack) == MAX_DEPTH:
            raise _Refused(event, f"the value is nested deeper than {MAX_DEPTH} levels")
        if self._at_key:
            raise _Refused(event, "a key must be text")
        self._note(event)
        self.stack.append(_Open(kind, event.anchor, self.values))
        self._count(event, 1)

    def _close(self, event: Any) -> None:
        done = self.stack.pop()
        value: Json = done.items if done.kind == "list" else done.pairs
        if done.kind == "set":
            value = sorted(done.pairs)
        self._put(event, self._register_anchor(done.anchor, value, self.values - done.before))

    def _register_anchor(self, anchor: str | None, value: Json, size: int) -> Json:
        if anchor is not None:
            self.anchors[anchor] = value, size
        return value

    def _put(self, event: Any, value: Json) -> None:
        if not self.stack:
            self.root = value
            return
        top = self.stack[-1]
        if top.kind == "list":
            if len(self.stack) == 1 and len(self.lines) == len(top.items):
                self._note(event)
            top.items.append(value)
        elif top.key is not None:
            top.pairs[top.key] = value
            top.key = None
        elif not isinstance(value, str) or value == "<<":
            raise _Refused(event, f"a key must be text, not {shorten(value)}")
        elif value in top.pairs:
            raise _Refused(event, f"the key {shorten(ascii(value))} occurs twice")
        else:
            top.key = value

    def _note(self, event: Any) -> None:
        """Note the line of an item of the root list."""
        if len(self.stack) == 1 and self.stack[0].kind == "list":
            self.lines.append(event.start_mark.line + 1)

    def _count(self, event: Any, size: int) -> None:
        self.values += size
        if self.values > MAX_VALUES:
            raise _Refused(
                event, f"the file has more than {MAX_VALUES:,} values, counting those of aliases"
            )

    def _scalar(self, event: Any) -> Json:
        key = event.tag, event.implicit[0], event.value
        if key not in self.known:
            self.known[key] = self._convert_scalar(event)
        return self.known[key]

    def _text(self, event: Any, value: Json, size: int) -> Json:
        self._count(event, size)
        if isinstance(value, str) and not value.isascii() and SURROGATE_PATTERN.search(value):
            raise _Refused(event, "the text has half a character (a lone surrogate)")
        return value

    def _convert_scalar(self, event: Any) -> Json:
        tag = event.tag
        if tag in (None, "!"):
            plain = event.implicit[0] and len(event.value) <= MAX_NUMBER_CHARACTERS
            tag = self.resolver.resolve(self.yaml.ScalarNode, event.value, (plain, not plain))
            kind = tag.removeprefix(_TAG)
            kind = kind if kind in _SCALARS else "str"
        else:
            kind = tag.removeprefix(_TAG)
            if not tag.startswith(_TAG) or kind not in _SCALARS:
                raise self._tag(event)
        if kind in ("null", "str"):
            return None if kind == "null" else event.value
        if len(event.value) > MAX_NUMBER_CHARACTERS:
            raise _Refused(event, f"must be a value of type {kind}, not {shorten(event.value)}")
        node = self.yaml.ScalarNode(_TAG + kind, event.value)
        try:
            value: Json = getattr(self.constructor, f"construct_yaml_{kind}")(node)
        except (ValueError, KeyError, IndexError):
            raise _Refused(
                event, f"must be a value of type {kind}, not {shorten(event.value)}"
            ) from None
        if kind == "float" and not math.isfinite(value):
            return event.value  # text, so that only a field that has to be a number is unreadable
        return value

    def _tag(self, event: Any) -> _Refused:
        return _Refused(event, f"the tag {shorten(event.tag, 60)} is not taken")


class SetMembers(tuple[str, ...]):
    """The members of a set, which `format_yaml` writes as `!!set` in this order."""


def format_yaml(records: Sequence[Mapping[str, Json]]) -> str:
    """Return a list of records as YAML text. Keys that are not simple words are quoted."""
    return "".join(line + "\n" for line in _items(records, ""))


def _items(values: Sequence[Json], indent: str) -> Iterator[str]:
    for value in values:
        lines = list(_block(value, indent + "  "))
        yield f"{indent}- {lines[0].lstrip()}"
        yield from lines[1:]


def _block(value: Json, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            name = key if _plain(key) else json.dumps(key)
            if _in_one_line(inner):
                yield f"{indent}{name}: {_flow(inner)}"
            elif isinstance(inner, Mapping):
                yield f"{indent}{name}:"
                yield from _block(inner, indent + "  ")
            else:
                yield f"{indent}{name}:"
                yield from _items(inner, indent)
    else:
        yield indent + _flow(value)


def _in_one_line(value: Json) -> bool:
    if isinstance(value, SetMembers) or not isinstance(value, (Mapping, list, tuple)):
        return True
    return not value or (
        not isinstance(value, Mapping)
        and not any(isinstance(one, (Mapping, list, tuple)) for one in value)
    )


def _flow(value: Json) -> str:
    if isinstance(value, SetMembers):
        return "!!set {" + ", ".join(f"{json.dumps(one)}: null" for one in value) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(one) for one in value) + "]"
    return json.dumps(value, allow_nan=False)


def _plain(key: str) -> bool:
    """Return whether every YAML reader reads an unquoted key as this text."""
    words = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
    return key.isidentifier() and key.isascii() and key.lower() not in words
