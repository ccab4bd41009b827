"""Turn results of the public functions into answers of tools: JSON objects with a schema.

The schema of an answer is made from the result class, so the two cannot differ. Texts in an answer
come from models and data. Secrets in them are masked, and lone surrogates, which UTF-8 cannot
express, become escapes.
"""

from __future__ import annotations

import functools
import json
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, Literal, Union

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field, create_model

from ... import PeirceError, Result
from ...secrecy import REDACTED, find_secrets

MAX_ANSWER_CHARACTERS = 4_000_000
_ATTRIBUTE = re.compile(r"^ {4,}(\w+): ")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def make_answer(result: Result, notes: Sequence[str] = ()) -> CallToolResult:
    """Return the answer of a tool.

    Args:
        result: what the public function returned.
        notes: warnings, which follow as text and are no part of the object.

    Raises:
        PeirceError: the answer is too large to be sent.
    """
    content: Any = clean_json(result.to_dict())
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    if len(text) > MAX_ANSWER_CHARACTERS:
        raise PeirceError(
            f"the answer has {len(text):,} characters, over {MAX_ANSWER_CHARACTERS:,}: ask for one"
            " problem, or for fewer rows"
        )
    blocks: list[Any] = [TextContent(type="text", text=text)]
    blocks += [TextContent(type="text", text=f"warning: {clean_text(note)}") for note in notes]
    return CallToolResult(content=blocks, structured_content=content)


def make_refusal(sentence: str) -> CallToolResult:
    """Return the answer of a tool that failed, with one sentence."""
    text = clean_text(" ".join(sentence.split()))
    return CallToolResult(content=[TextContent(type="text", text=text[:4_000])], is_error=True)


def clean_json(value: Any) -> Any:
    """Return a JSON value in whose texts secrets are masked and lone surrogates escaped."""
    return _clean(value, [secret for _, secret in find_secrets()])


def clean_text(text: str) -> str:
    """Return a text in which secrets are masked and lone surrogates escaped."""
    cleaned: str = clean_json(text)
    return cleaned


def _clean(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, REDACTED)
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", value)
    if isinstance(value, Mapping):
        return {_clean(str(key), secrets): _clean(one, secrets) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(one, secrets) for one in value]
    return value


# --- Schemas.


@functools.cache
def make_schema(result: type[Result]) -> type[BaseModel]:
    """Return a pydantic model of a result class, by which answers are described and checked.

    A key that may be absent has a default. Keys that depend on the data are allowed where the class
    allows them.
    """
    hints = typing.get_type_hints(result)
    about = _describe_attributes(result)
    entries: dict[str, Any] = {}
    extra: Literal["allow", "forbid"] = "forbid"
    for one in fields(result):  # type: ignore[arg-type]
        if one.metadata.get("rest"):
            extra = "allow"
            continue
        if one.metadata.get("unprinted"):
            continue
        optional = one.metadata.get("optional") or one.default is not MISSING
        name = str(one.metadata.get("key", one.name))
        note = about.get(one.name)
        kind = _convert(hints[one.name])
        default = None if optional else ...
        entries[name] = (
            Union[kind, None] if optional else kind,  # noqa: UP007 - the kind is known at run time
            Field(default, description=note) if note else default,
        )
    return create_model(
        result.__name__, __config__=ConfigDict(extra=extra), __doc__=_first_line(result), **entries
    )


def _convert(kind: Any) -> Any:
    """Return the type of a field as pydantic checks its JSON."""
    outer, parts = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Result):
        return make_schema(kind)
    if outer in (Union, types.UnionType):
        return Union[tuple(_convert(part) for part in parts)]  # noqa: UP007
    if outer is Literal:
        return kind
    if isinstance(outer, type) and issubclass(outer, Mapping):
        return dict[str, _convert(parts[1])]  # type: ignore[misc]
    if isinstance(outer, type) and issubclass(outer, Sequence):
        return list[_convert(parts[0])]  # type: ignore[misc]
    return kind if kind in (str, int, float, bool, type(None)) else Any


def _describe_attributes(result: type[Result]) -> dict[str, str]:
    """Return the descriptions in the sections "Attributes" of a class and the classes above it."""
    found: dict[str, str] = {}
    for base in reversed(result.__mro__):
        _, _, section = (base.__dict__.get("__doc__") or "").partition("Attributes:\n")
        name = ""
        for line in section.splitlines():
            start = _ATTRIBUTE.match(line)
            if start and len(line) - len(line.lstrip()) == 8:
                name = start[1]
                found[name] = line[start.end() :].strip()
            elif name and line.strip():
                found[name] += f" {line.strip()}"
    return found


def _first_line(result: type[Result]) -> str:
    return " ".join((result.__doc__ or "").partition("\n\n")[0].split())
