"""Read the tool calls in the output of a local model."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ...records import Json, ToolCall, ToolSpec
from ..endpoint.arguments import parse_json
from ..endpoint.replies import MAX_DEPTH

TOOL_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
NAME = re.compile(r'"name"\s*:\s*"([^"\\]+)"')


def write_tool_call(name: Json, arguments: str) -> str:
    """Return a tool call in the form that `extract_tool_calls` reads.

    Args:
        name: The name of the tool.
        arguments: The arguments as JSON text.
    """
    return f'<tool_call>{{"name": {json.dumps(name, ensure_ascii=False)}, "arguments": {arguments}}}</tool_call>'


def extract_tool_calls(text: str, tools: Sequence[ToolSpec]) -> tuple[str, tuple[ToolCall, ...]]:
    """Return (text without the tool calls, tool calls) for the output of a model.

    The arguments of a call that are not a JSON object stay text.

    Args:
        text: The output of the model.
        tools: The tools that the model was offered.
    """
    found = tuple(
        _call(n, match[1].strip(), tools) for n, match in enumerate(TOOL_CALL.finditer(text))
    )
    return (TOOL_CALL.sub("", text).strip(), found) if found else (text, ())


def _call(number: int, raw: str, tools: Sequence[ToolSpec]) -> ToolCall:
    named = NAME.search(raw)
    only = tools[0].name if len(tools) == 1 else ""
    name: str = named[1] if named else only
    try:
        told = parse_json(raw)
        arguments = told.get("arguments", told.get("parameters", {}))
        if isinstance(arguments, str):
            arguments = parse_json(arguments)
        name = str(told.get("name", name))
    except (ValueError, RecursionError, AttributeError):
        arguments = raw
    if not isinstance(arguments, dict) or _deeper(arguments, MAX_DEPTH):
        arguments = raw
    return ToolCall(f"call_{number}", name, arguments)


def _deeper(value: Json, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels == 0 or any(_deeper(one, levels - 1) for one in inner)
