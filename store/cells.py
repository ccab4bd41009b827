"""What stands in a cell of the store, and how it comes back.

JSON stands as text (Python's dialect: NaN and Infinity are kept). Text stands as it is. DuckDB
takes UTF-8 alone, and what a model says may hold lone surrogates; such a text stands as `MARK`
followed by its ASCII JSON form, so that it comes back exactly.
"""

from __future__ import annotations

import json

from ..records import Json, canonical_json

MARK = "\ufdd0"  # a noncharacter: no honest text begins with it, and one that does is escaped too


def is_utf8(text: str) -> bool:
    """Whether it has no lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def text_cell(text: str) -> str:
    if is_utf8(text) and not text.startswith(MARK):
        return text
    return MARK + json.dumps(text)


def text_of(cell: str) -> str:
    if not cell.startswith(MARK):
        return cell
    return str(json.loads(cell[len(MARK) :]))


def json_cell(value: Json) -> str:
    return canonical_cell(canonical_json(value))


def canonical_cell(text: str) -> str:
    """As `json_cell`, of what is canonical JSON already."""
    if is_utf8(text):
        return text
    return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))


def json_of(cell: str) -> Json:
    return json.loads(cell)
