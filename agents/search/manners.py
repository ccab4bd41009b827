"""How the embedded search speaks, by family: the tool that it tries a hypothesis with, and the form of
its answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Manner(NamedTuple):
    """tool, argument: their names, "" where no tool is called; answer: the text of an answer, from
    description and source; mends: whether hypotheses of others can be mended."""

    tool: str
    argument: str
    answer: Callable[[str, str], str]
    mends: bool = False


def answer_text(description: str, code: str) -> str:
    """The tuple of two strings, as Python text that `ast.literal_eval` reads."""
    return f"({json.dumps(description)}, {json.dumps(code)})"


def rule_text(description: str, formula: str) -> str:
    """One line that holds one JSON object."""
    return json.dumps({"formula": formula, "description": description}, ensure_ascii=False)


def list_text(description: str, sentences: str) -> str:
    """A numbered list, one sentence a line, as the engine wrote it."""
    return sentences


MANNERS: Mapping[str, Manner] = {
    "programs": Manner("execute", "code", answer_text),
    "logic": Manner("solve", "formula", rule_text, mends=True),
    "text": Manner("", "", list_text),
}
