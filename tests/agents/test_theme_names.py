"""The prompt that asks for names of themes, and what is read from an answer.

Internals: each form of an answer is read without a session.
"""

from __future__ import annotations

import pytest
from peirce.agents.prompts.theme_names import ask_for_names, parse_names


def test_the_prompt_has_a_line_for_each_theme() -> None:
    (message,) = ask_for_names([["server", "http request"], ["family"]])
    assert "\n1. server, http request\n2. family\n" in message["content"]


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("1. Server requests\n2. Family", ["Server requests", "Family"]),
        ('Here they are:\n**1.** "Server"\n2) family life.', ["Server", "family life"]),
        ("2. Family", ["", "Family"]),
        ("1. one two three four five\n2. -", ["", ""]),
        ("1. a\n1. b\n2. c\x07d", ["", ""]),
        ("<think>1. wrong</think>1. right", ["right", ""]),
        ("3. Family", ["", ""]),
        ("", ["", ""]),
        ("1. " + "x" * 61, ["", ""]),
    ],
)
def test_names_are_read_from_numbered_lines(answer: str, names: list[str]) -> None:
    assert parse_names(answer, 2) == names
