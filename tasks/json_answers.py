"""JSON objects in what a model says: the whole answer, one within prose or fences, several drafts.

Never raises, and its work is bounded whatever the text: the decoder starts at `STARTS` braces.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..records import Json

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
