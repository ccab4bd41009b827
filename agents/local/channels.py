"""Divide the output of a model that writes into channels, as gpt-oss does, into its parts.

The output is a sequence of messages in the harmony format (https://cookbook.openai.com/articles/
openai-harmony): `<|channel|>NAME<|message|>TEXT<|end|>`, then `<|start|>assistant` and the next
message. The channel `final` holds the answer, and `analysis` the reasoning. A message to
`functions.NAME` is a tool call.
"""

from __future__ import annotations

import re

CHANNEL_MARKS = ("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|return|>",
                 "<|call|>")  # fmt: skip
FINAL = "final"
_MARK = re.compile("(" + "|".join(map(re.escape, CHANNEL_MARKS)) + ")")
_RECIPIENT = re.compile(r"to=functions\.([^\s<]+)")


def split_channels(text: str) -> tuple[str, str, list[tuple[str, str]]]:
    """Return (answer, reasoning, tool calls) from a text with the marks of channels.

    A tool call is a name and the text of its arguments. A text without marks is an answer. The text
    of a channel other than `final` counts as reasoning.
    """
    parts = _MARK.split(text)
    if len(parts) == 1:
        return text, "", []
    answer: list[str] = []
    reasoning: list[str] = []
    calls: list[tuple[str, str]] = []
    header, body = [parts[0]], False
    if parts[1] in ("<|end|>", "<|return|>"):  # an answer without a header
        answer.append(parts[0].strip())
    for mark, piece in zip(parts[1::2], parts[2::2], strict=True):
        if mark == "<|message|>":
            body = True
            named = _RECIPIENT.search(" ".join(header))
            if named is not None:
                calls.append((named[1], piece.strip()))
            else:
                is_answer = FINAL in " ".join(header).split()
                (answer if is_answer else reasoning).append(piece.strip())
        elif mark in ("<|channel|>", "<|constrain|>") and not body:
            header.append(piece)
        else:
            header, body = [piece], False
    thoughts = "\n\n".join(one for one in reasoning if one)
    return "\n\n".join(one for one in answer if one), thoughts, calls
