"""Write values in a short one-line notation, which saves tokens in prompts for small models.

    [3, 1, 2]                  [3 1 2]           a list of integers, separated by blanks
    [[0, 1], [2, 3]]           01/23             a grid: digits, with a slash between rows
    [[0, 1]]                   01/               a grid with one row ends with a slash
    ["red cube", "on"]         [red cube, on]    words without quotation marks
    {"a": [1]}                 {a: [1]}

Two values have the same notation only if they are equal and have the same types. All other values
are written as Python literals.
"""

from __future__ import annotations

import re

from ...records import Json

_WORDS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?: [A-Za-z0-9_]+)*", re.ASCII)
_NOT_WORDS = frozenset({"True", "False", "None", "nan", "inf"})  # Python notation of other values


def format_compact(value: Json) -> str:
    """Return the compact notation of a value. Strings other than simple words are quoted."""
    if isinstance(value, str):
        plain = _WORDS.fullmatch(value) and value not in _NOT_WORDS
        return value if plain else repr(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{format_compact(key)}: {format_compact(held)}' for key, held in value.items())}}}"
    if not isinstance(value, list):
        return repr(value)
    if _is_grid(value):
        rows = "/".join("".join(map(str, row)) for row in value)
        return rows if len(value) > 1 else f"{rows}/"
    if all(type(one) is int for one in value):
        return f"[{' '.join(map(str, value))}]"
    return f"[{', '.join(map(format_compact, value))}]"


def _is_grid(value: list[Json]) -> bool:
    """Return whether a list consists of rows of digits of equal, nonzero length."""
    if not value or not isinstance(value[0], list) or not value[0]:
        return False
    width = len(value[0])
    return all(
        isinstance(row, list)
        and len(row) == width
        and all(type(cell) is int and 0 <= cell <= 9 for cell in row)
        for row in value
    )


def join_lines(text: str) -> str:
    """Return `text` on one line, with one blank for each run of white space.

    A text on one line cannot be mistaken for another section of the prompt.
    """
    return " ".join(text.split())
