"""How the compact template writes values: few tokens for small models, in one line.

    [3, 1, 2]                  [3 1 2]           numbers of a list are parted by blanks alone
    [[0, 1], [2, 3]]           01/23             a grid: digits, rows parted by a slash
    [[0, 1]]                   01/               which ends with one where it has one row
    ["red cube", "on"]         [red cube, on]    words need no quote marks
    {"a": [1]}                 {a: [1]}

Two values are written alike only where they are equal and of the same types; what is none of the
above stands as Python writes it.
"""

from __future__ import annotations

import re

from ...records import Json

_WORDS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?: [A-Za-z0-9_]+)*", re.ASCII)
_NOT_WORDS = frozenset({"True", "False", "None", "nan", "inf"})  # Python writes values so


def compact(value: Json) -> str:
    """The value in one line; a text that is not of plain words is quoted as Python quotes it."""
    if isinstance(value, str):
        plain = _WORDS.fullmatch(value) and value not in _NOT_WORDS
        return value if plain else repr(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{compact(key)}: {compact(held)}' for key, held in value.items())}}}"
    if not isinstance(value, list):
        return repr(value)
    if _is_grid(value):
        rows = "/".join("".join(map(str, row)) for row in value)
        return rows if len(value) > 1 else f"{rows}/"
    if all(type(one) is int for one in value):
        return f"[{' '.join(map(str, value))}]"
    return f"[{', '.join(map(compact, value))}]"


def _is_grid(value: list[Json]) -> bool:
    """Rows of one length, of digits."""
    if not value or not isinstance(value[0], list) or not value[0]:
        return False
    width = len(value[0])
    return all(
        isinstance(row, list)
        and len(row) == width
        and all(type(cell) is int and 0 <= cell <= 9 for cell in row)
        for row in value
    )


def one_line(text: str) -> str:
    """Blanks and line breaks of any number as one blank: in a prompt nothing of such a text looks like
    another part of it."""
    return " ".join(text.split())
