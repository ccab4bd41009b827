"""Values of pairs: from cells of CSV and back, and with one kind of number in each place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...records import DataError, Json, Observation
from ..io.json_text import SURROGATE_PATTERN, Unusable, parse_json, parse_literal

LARGEST_EXACT = 2**53  # whole numbers up to it are floats without loss
EMPTY_CELL = 'missing; write """""" (the JSON text "" in a quoted cell) for an empty text, or null'
_PADDED = re.compile(r"0\d+")
_WRITTEN_LITERALLY = ("[", "(", "{", '"', "'")
_OTHER_LITERAL = re.compile(r"None|True|False|TRUE|FALSE|-?(\.\d+|\d+\.)")
_AMBIGUOUS = ("", " ", "=", "+", "-", "@")  # first characters of text in a cell


def are_padded(cells: Iterable[str]) -> bool:
    """Return whether a column has a number with a leading zero, so that its digits are strings."""
    return any(_PADDED.fullmatch(cell.strip()) for cell in cells)


def parse_cell(text: str, where: str) -> Json:
    """Return a CSV cell as JSON if it is valid JSON, otherwise as a Python literal, otherwise as
    text.

    A cell such as 1,5 without brackets stays text, because it may be one number or two. So do other
    ways in which Python writes numbers, such as 1_000, 0x1F and +49.

    Raises:
        DataError: the value cannot be stored.
    """
    cell = text.strip()
    literal = cell.startswith(_WRITTEN_LITERALLY) or _OTHER_LITERAL.fullmatch(cell)
    bare = "," in cell and not literal
    for read in () if bare else (parse_json, parse_literal) if literal else (parse_json,):
        try:
            return read(text.capitalize() if cell in ("TRUE", "FALSE") else text, where)
        except Unusable:  # a value that cannot be stored; it must not pass as text
            raise
        except DataError:
            continue
    return text


def format_cell(value: Json) -> str:
    """Return a value as the text of a CSV cell, from which `parse_cell` returns the same value.

    Strings that `parse_cell` or a spreadsheet would read as another value are written as JSON.
    """
    if isinstance(value, str) and value.isprintable() and value[:1] not in _AMBIGUOUS:
        try:
            if parse_cell(value, "") == value:
                return value
        except DataError:
            pass
    text = json.dumps(value, ensure_ascii=False)
    return SURROGATE_PATTERN.sub(lambda half: json.dumps(half.group())[1:-1], text)


def unify_pairs(pairs: Sequence[Observation]) -> list[Observation]:
    """Return the pairs of a problem with one kind of number in each place of inputs and outputs.

    The fields of records are ordered by name, as sessions store them.
    """
    inputs = _unify_numbers([order_fields(pair.input) for pair in pairs])
    outputs = _unify_numbers([order_fields(pair.output) for pair in pairs])
    return [Observation(*both) for both in zip(inputs, outputs, strict=True)]


def order_fields(value: Json) -> Json:
    """Return a value with the fields of its records ordered by name."""
    if isinstance(value, dict):
        return {name: order_fields(value[name]) for name in sorted(value)}
    return [order_fields(part) for part in value] if isinstance(value, list) else value


def _unify_numbers(values: Sequence[Json]) -> list[Json]:
    """Return the values of one place, with whole numbers as fractions if others are fractions.

    The elements of lists of one length are places of their own, as are the fields of records.
    """
    unified = list(values)

    def unify(kind: type, split: Callable[[Any], Mapping[Any, Json]]) -> None:
        own = {k: split(value) for k, value in enumerate(values) if type(value) is kind}
        places: dict[Any, list[int]] = {}
        for k, parts in own.items():
            for name in parts:
                places.setdefault(name, []).append(k)
        changed: dict[int, dict[Any, Json]] = {k: dict(parts) for k, parts in own.items()}
        for name, rows in places.items():
            for k, part in zip(rows, _unify_numbers([own[k][name] for k in rows]), strict=True):
                changed[k][name] = part
        for k, parts in changed.items():
            unified[k] = list(parts.values()) if kind is list else parts

    lists = [value for value in values if type(value) is list]
    if len({len(value) for value in lists}) == 1:
        unify(list, lambda value: dict(enumerate(value)))
    elif lists:
        parts = iter(_unify_numbers([part for value in lists for part in value]))
        for k, value in enumerate(values):
            if type(value) is list:
                unified[k] = [next(parts) for _ in value]
    unify(dict, lambda value: value)
    if any(type(value) is float for value in values):
        for k, value in enumerate(values):
            if type(value) is int and abs(value) <= LARGEST_EXACT:
                unified[k] = float(value)
    return unified
