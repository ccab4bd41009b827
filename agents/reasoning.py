"""Separate a model's reasoning, which it writes in <think> blocks, from its answer.

The running time is proportional to the length of the text. The text is not shortened first, because
a short answer may follow long reasoning. The code that parses answers rejects answers that are too
long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TAG = re.compile(r"<(/?)(think|thinking)>")
_NAMES = ("think", "thinking")
_OPENED = re.compile(r"<(?:think|thinking)>\s*\Z")


def find_open_block(text: str) -> str:
    """Return the opening tag that a text ends with, and the white space after it; "" without one.

    A tag elsewhere in the text opens nothing: it may be mentioned in instructions.
    """
    found = _OPENED.search(text)
    return found[0] if found else ""


def split_reasoning(text: str) -> tuple[str, str]:
    """Return (answer, reasoning) from a text that may contain <think> blocks.

    A block that is never closed extends to the end of the text, because the output was truncated. A
    closing tag without an opening tag ends reasoning that began in the prompt.
    """
    parts: list[str] = []
    closing = re.search(r"</(think|thinking)>", text)
    if closing is not None and f"<{closing[1]}>" not in text[: closing.start()]:
        parts.append(text[: closing.start()])
        text = text[closing.end() :]
    kept: list[str] = []
    at = 0
    for start, end in _find_blocks(text):
        kept.append(text[at:start])
        parts.append(text[start:end])
        at = end
    text = "".join([*kept, text[at:]])
    if (opening := re.search(r"<(think|thinking)>", text)) is not None:
        parts.append(text[opening.start() :])
        text = text[: opening.start()]
    if not parts:
        return text, ""
    thoughts = (_TAG.sub("", part).strip() for part in parts)
    return text.strip(), "\n\n".join(thought for thought in thoughts if thought)


def _find_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each block: a tag and the next closing tag of the same name."""
    last = {name: text.rfind(f"</{name}>") for name in _NAMES}
    name, start = "", 0  # the open block; no name between blocks
    for tag in _TAG.finditer(text):
        if not name and not tag[1] and tag.end() <= last[tag[2]]:
            name, start = tag[2], tag.start()
        elif tag[1] and tag[2] == name:
            yield start, tag.end()
            name = ""
