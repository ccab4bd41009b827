"""Reader for BibTeX files that returns the fields of each entry as plain text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...records import DataError
from .bad_records import BadRecords
from .json_text import SURROGATE_PATTERN

WITHOUT_END = 100  # entries of a file; each is searched to the end of the file
NON_ENTRY_TYPES = frozenset({"comment", "preamble", "string"})
ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328",
    "r": "\u030a",
}  # fmt: skip
TEX_LETTERS = {"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å",
           "AA": "Å", "l": "ł", "L": "Ł", "i": "i", "j": "j"}  # fmt: skip

_START = re.compile(r"@\s*(\w+)\s*([{(])")
_KEY = re.compile(r"\s*+([^,\s{}()]*+)\s*+,")  # possessive: linear time
_FIELD = re.compile(r"[\s,]*([\w:+-]+)\s*=\s*")
_BARE = re.compile(r"[^\s,#{}()\"]+")
_MARK = re.compile(r'[{}"]')
_ACCENT = re.compile(
    r"""\\(?:(['`^"~=.])\s*|([uvHckr])(?=[\s{])\s*)(?:\{\s*\\?([A-Za-z])\s*\}|\\?([A-Za-z]))"""
)
_LETTER = re.compile(r"\\(ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j)(?![A-Za-z])(?:\{\}|\s+)?")
_COMMAND = re.compile(r"\\(?:emph|textit|textbf|textsc|texttt|text|url)(?=\s*\{)")
_ESCAPED = re.compile(r"\\([&%$#_{}])")


@dataclass(frozen=True)
class Entry:
    """An entry of a BibTeX file.

    Attributes:
        key: The citation key; "" if the entry has none.
        line: The line, from 1, on which the entry begins.
        fields: The values by lower-case field name, as plain text without TeX braces and commands.
    """

    key: str
    line: int
    fields: dict[str, str]


def parse_entries(text: str, path: Path, bad: BadRecords) -> Iterator[Entry]:
    """Yield the entries of a BibTeX text in order.

    Abbreviations that `@string` defines are not expanded.

    Args:
        text: The text. Surrogate characters stand for bytes that are not UTF-8.
        path: The file, for error messages.
        bad: Collects the entries that are not UTF-8 or have no closing brace. After an entry
            without a closing brace, reading continues just behind the beginning of that entry.

    Raises:
        DataError: An entry cannot be read and unreadable entries are not left out, or more than
            `WITHOUT_END` entries have no closing brace.
    """
    place = line = endless = 0
    while found := _START.search(text, place):
        line += text.count("\n", place, found.start())
        at, place = line + 1, found.start()
        end = _find_entry_end(text, found.end())
        said = f"{path}, line {at}: an entry begins here and has no end"
        if end is None:
            endless += 1
            if endless > WITHOUT_END:
                raise DataError(f"{said}, and so have {WITHOUT_END} before it")
        with bad.record(f"line {at}", path):
            if end is None:
                raise DataError(said)
            if found[1].lower() not in NON_ENTRY_TYPES:
                if SURROGATE_PATTERN.search(text, found.end(), end):
                    raise DataError(f"{path}, line {at}: the entry is not UTF-8 text")
                yield _entry(text[found.end() : end], at)
        end = found.end() if end is None else end
        line += text.count("\n", place, end)
        place = end


def _find_entry_end(text: str, start: int) -> int | None:
    """Return where the entry whose body begins at `start` closes, or None."""
    closes = "}" if text[start - 1] == "{" else ")"
    depth = 0
    for found in re.compile(r"\\.|[{})]", re.DOTALL).finditer(text, start):
        sign = found[0]
        if sign == closes and depth == 0:
            return found.start()
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return None
    return None


def _entry(body: str, line: int) -> Entry:
    key = _KEY.match(body)
    place = key.end() if key else 0
    fields: dict[str, str] = {}
    while found := _FIELD.match(body, place):
        value, place = _value(body, found.end())
        fields.setdefault(found[1].lower(), strip_tex(value))
    return Entry(key[1] if key else "", line, fields)


def _value(body: str, place: int) -> tuple[str, int]:
    """Return the value at `place`, with parts joined by #, and the position after it."""
    parts = []
    while True:
        if body[place : place + 1] in ("{", '"'):
            end = _end_of_text(body, place)
            parts.append(body[place + 1 : end])
            place = min(end + 1, len(body))
        elif bare := _BARE.match(body, place):
            parts.append(bare[0])
            place = bare.end()
        joined = re.compile(r"\s*#\s*").match(body, place)
        if joined is None:
            return "".join(parts), place
        place = joined.end()


def _end_of_text(body: str, place: int) -> int:
    """Return the position of the closing delimiter, or the end of the body without one."""
    quotes = body[place] == '"'
    depth = 0
    for found in _MARK.finditer(body, place + 1):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            if not quotes and depth == 0:
                return found.start()
            depth -= 1
        elif quotes and depth == 0:
            return found.start()
    return len(body)


def strip_tex(value: str) -> str:
    """Convert TeX text to plain text.

    Accents, special letters and dashes become Unicode characters, braces are removed, and each run
    of white space becomes one blank.
    """
    value = _LETTER.sub(lambda found: TEX_LETTERS[found[1]], _ACCENT.sub(_accented, value))
    value = _ESCAPED.sub(r"\1", re.sub(r"(?<!\\)[{}]", "", _COMMAND.sub("", value)))
    value = value.replace("---", "—").replace("--", "–").replace("~", " ")
    return " ".join(value.split())


def _accented(found: re.Match[str]) -> str:
    accent = ACCENTS[found[1] or found[2]]
    return unicodedata.normalize("NFC", (found[3] or found[4]) + accent)
