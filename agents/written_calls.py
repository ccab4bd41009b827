"""Tool calls that a model wrote into the text of its answer.

A server whose parser of tool calls is missing, or set to another model, returns the calls as text.
These forms are read, if tools were offered:

    <tool_call>{"name": "execute", "arguments": {…}}</tool_call>       Qwen, Hermes
    {"name": "execute", "arguments": {…}}                              Llama, with or without a fence
    {"function": {"name": "execute", "arguments": {…}}}, {"tool_calls": […]}, [{…}]
    <function=execute>{…}</function>                                   Llama 3.1, Qwen Coder
    <function=execute><parameter=code>…</parameter></function>

An object counts only if it names a tool that was offered and holds arguments, so an answer in JSON is
never read as a call. What stands around the calls stays the text of the reply.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..records import Json, ToolCall, ToolSpec
from ..tasks.io.json_repair import repair_object
from ..tasks.io.json_text import find_objects
from .endpoint.arguments import parse_json
from .local.tool_calls import TOOL_CALL, extract_tool_calls

_KEYS = ("name", "function", "tool_calls")
_ARGUMENTS = ("arguments", "parameters")
_FUNCTION = re.compile(r"<function=([\w.-]+)>(.*?)</function>", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_EMPTY_WRAPPING = re.compile(
    r"</?tool_call>|<\|python_tag\|>|\[TOOL_CALLS\]|(?:```|~~~)[ \t]*\w*[ \t]*(?=\r?\n|\Z)|```"
)


def find_written_calls(text: str, tools: Sequence[ToolSpec]) -> tuple[str, tuple[ToolCall, ...]]:
    """Return (text without the tool calls, tool calls) for the text of a reply.

    The arguments of a call that are not a JSON object stay text.

    Args:
        text: The text of the reply.
        tools: The tools that the model was offered.
    """
    names = {tool.name for tool in tools}
    if not names or not any(name in text for name in names):
        return text, ()
    written = list(_FUNCTION.finditer(text))
    if written and all(one[1] in names for one in written):
        calls = tuple(
            ToolCall(f"call_{n}", one[1], _read_arguments(one[2])) for n, one in enumerate(written)
        )
        return _tidy(_FUNCTION.sub("", text)), calls
    if TOOL_CALL.search(text):
        rest, calls = extract_tool_calls(text, tools)
        return (rest, calls) if all(one.name in names for one in calls) else (text, ())
    return _find_objects(text, names)


def _find_objects(text: str, names: set[str]) -> tuple[str, tuple[ToolCall, ...]]:
    found = find_objects(text, _KEYS)
    objects: Sequence[Mapping[str, Json]] = found.objects
    if not objects and (repaired := repair_object(text, _KEYS)) is not None:
        objects = (repaired.value,)
    told = [call for one in objects for call in _calls(one)]
    if not told or not all(name in names for name, _ in told):
        return text, ()
    parts, at = [], 0
    for start, end in found.spans:
        parts.append(text[at:start])
        at = end
    rest = _tidy("".join([*parts, text[at:]])) if found.spans else ""
    return rest, tuple(
        ToolCall(f"call_{n}", name, arguments) for n, (name, arguments) in enumerate(told)
    )


def _calls(told: Json) -> list[tuple[str, Json]]:
    """Return (name, arguments) of each call in an object; nothing if it is not a call."""
    if not isinstance(told, Mapping):
        return []
    inner = told.get("tool_calls", ())
    if isinstance(inner, list) and inner:
        return [call for one in inner for call in _calls(one)]
    about = told.get("function", told)
    about = about if isinstance(about, Mapping) else {**told, "name": about}
    key = next((key for key in _ARGUMENTS if key in about), None)
    name = about.get("name")
    if key is None or not isinstance(name, str):
        return []
    arguments = about[key]
    if isinstance(arguments, str):
        arguments = _read_arguments(arguments)
    return [(name, dict(arguments) if isinstance(arguments, Mapping) else str(arguments))]


def _read_arguments(text: str) -> dict[str, Json] | str:
    parameters = _PARAMETER.findall(text)
    if parameters:
        return dict(parameters)
    try:
        told = parse_json(text)
    except (ValueError, RecursionError):
        return text
    return told if isinstance(told, dict) else text


def _tidy(rest: str) -> str:
    """Return the text around calls without what only wrapped them."""
    bare = _EMPTY_WRAPPING.sub("", rest).strip()
    return "" if not bare.strip("[], \t\r\n;") else bare
