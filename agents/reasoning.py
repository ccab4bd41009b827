"""Separate a model's reasoning, which it writes in blocks such as <think>, from its answer.

The running time is proportional to the length of the text. The text is not shortened first, because
a short answer may follow long reasoning. The code that parses answers rejects answers that are too
long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

Marks: TypeAlias = tuple[tuple[str, str], ...]  # what begins and what ends a block of reasoning

# In this order: of two marks that end a text, the first is meant.
KNOWN_MARKS: Marks = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),  # Seed-OSS
    ("[THINK]", "[/THINK]"),  # Magistral
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A
    ("<|channel>thought", "<channel|>"),  # Gemma 4
)


def find_open_block(text: str, marks: Marks = KNOWN_MARKS) -> str:
    """Return the opening mark that a text ends with, and the white space after it; "" without one.

    A mark elsewhere in the text opens nothing: it may be mentioned in instructions.
    """
    written = text.rstrip()
    opening = next((one for one, _ in marks if written.endswith(one)), "")
    return text[len(written) - len(opening) :] if opening else ""


def split_reasoning(text: str, marks: Marks = KNOWN_MARKS) -> tuple[str, str]:
    """Return (answer, reasoning) from a text that may contain blocks of reasoning.

    A block that is never closed extends to the end of the text, because the output was truncated. A
    closing mark without an opening mark ends reasoning that began in the prompt.

    Args:
        text: The output of a model.
        marks: The opening and closing marks of blocks.
    """
    parts: list[str] = []
    closing = _pattern(tuple(end for _, end in marks)).search(text)
    if closing is not None:
        before = text[: closing.start()]
        if not any(opening in before for opening, end in marks if end == closing[0]):
            parts.append(before)
            text = text[closing.end() :]
    kept: list[str] = []
    at = 0
    for start, end in _find_blocks(text, marks):
        kept.append(text[at:start])
        parts.append(text[start:end])
        at = end
    text = "".join([*kept, text[at:]])
    if (opened := _pattern(tuple(one for one, _ in marks)).search(text)) is not None:
        parts.append(text[opened.start() :])
        text = text[: opened.start()]
    if not parts:
        return text, ""
    thoughts = (_pattern(_flat(marks)).sub("", part).strip() for part in parts)
    return text.strip(), "\n\n".join(thought for thought in thoughts if thought)


def _find_blocks(text: str, marks: Marks) -> Iterator[tuple[int, int]]:
    """Yield start and end of each block: an opening mark and the next closing mark that belongs to it."""
    closing = dict(marks)
    last = {end: text.rfind(end) for end in closing.values()}
    awaited, start = "", 0  # the closing mark of the open block; "" between blocks
    for found in _pattern(_flat(marks)).finditer(text):
        mark = found[0]
        if not awaited and mark in closing and found.end() <= last[closing[mark]]:
            awaited, start = closing[mark], found.start()
        elif awaited and mark == awaited:
            yield start, found.end()
            awaited = ""


def _flat(marks: Marks) -> tuple[str, ...]:
    return tuple(mark for pair in marks for mark in pair)


@lru_cache(64)
def _pattern(texts: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern that finds each of these texts, the longest where several begin."""
    return re.compile("|".join(map(re.escape, sorted(set(texts), key=len, reverse=True))))
