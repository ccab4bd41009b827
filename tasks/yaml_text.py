"""YAML as text: JSON values, and sets, as `yaml_records.py` and any other reader of YAML take them.

Written here and not by PyYAML, whose output depends on whether libyaml is there: one value, one
text. Mappings and lists of these are blocks; lists of texts and numbers stand in one line, texts in
quotes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from ..records import Json


class Members(tuple[str, ...]):
    """The members of a set (`!!set`), in order."""


def yaml_text(records: Sequence[Mapping[str, Json]]) -> str:
    """A list of records. Keys are plain words, or they stand in quotes."""
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
    if isinstance(value, Members) or not isinstance(value, (Mapping, list, tuple)):
        return True
    return not value or (
        not isinstance(value, Mapping)
        and not any(isinstance(one, (Mapping, list, tuple)) for one in value)
    )


def _flow(value: Json) -> str:
    if isinstance(value, Members):
        return "!!set {" + ", ".join(f"{json.dumps(one)}: null" for one in value) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(one) for one in value) + "]"
    return json.dumps(value, allow_nan=False)


def _plain(key: str) -> bool:
    """A word that no reader of YAML takes for anything else."""
    words = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
    return key.isidentifier() and key.isascii() and key.lower() not in words
