"""Hints in prompts: remarks of a person about a problem, after everything else.

A prompt shows hints last, so that an endpoint can still take the beginning of the prompt from its
cache. They are listed as remarks of a researcher, which may be wrong, and never as observations.
Every line of a hint is indented, so that no line of it can pass for a heading of the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Message

HEADING = (
    "A researcher who reads these hypotheses made the remarks below. They are no observations and may be"
    " wrong: use what helps. A hypothesis is still judged by the observations alone, and the form of"
    " the answer stays as stated above."
)
COMPACT_LINE = "hint: "  # before a hint in the template `compact`


def add_hints(
    messages: Sequence[Message], hints: Sequence[str], compact: bool = False
) -> list[Message]:
    """Return a prompt that shows hints at its end.

    If the model called tools in this prompt, the hints stand before its calls, so that the prompts of
    one answer begin alike.

    Args:
        messages: The prompt without hints.
        hints: The texts of the hints, oldest first.
        compact: Whether the prompt has the template `compact`. Then each hint is one line.
    """
    found = [dict(message) for message in messages]
    if not hints:
        return list(messages)
    block = _compact(hints) if compact else _listed(hints)
    asked = _last_request(found)
    if asked is None:
        found.append({"role": "user", "content": block})
    else:
        gap = "\n" if compact else "\n\n"
        found[asked]["content"] = f"{found[asked]['content']}{gap}{block}"
    return list[Message](found)


def _last_request(messages: Sequence[Message]) -> int | None:
    """Return the index of the last user turn before the first tool call; None if there is none."""
    last = None
    for index, message in enumerate(messages):
        if message.get("tool_calls") or message.get("role") == "tool":
            break
        if message.get("role") == "user" and isinstance(message.get("content"), str):
            last = index
    return last


def _listed(hints: Sequence[str]) -> str:
    lines = [
        f"{number}. " + "\n   ".join(text.splitlines())
        for number, text in enumerate(hints, start=1)
    ]
    return "\n".join([HEADING, *lines])


def _compact(hints: Sequence[str]) -> str:
    return "\n".join(COMPACT_LINE + " ".join(text.split()) for text in hints)
