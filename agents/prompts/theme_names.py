"""The prompt that asks a model to name themes, and the parser of its answer.

A theme is a group of words that tell texts of one label from others. The prompt shows its strongest
words and nothing about the data set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...records import Message
from ...tasks.text.answers import strip_reasoning

MAX_WORDS = 4  # of a name
MAX_CHARACTERS = 60  # of a name
_FRAME = " \t\r\"'`*_“”‘’«»."
_LINE = re.compile(r"[ \t*#-]{0,8}(\d{1,4})[.):*]{1,3}[ \t]*(.*)")

_PROMPT = """\
Each line lists words and phrases that occur in the same kind of text. Name what the words of each line are about, in at most {words} words. Name the subject, and do not only repeat the first words. If the words of a line have nothing in common, write a dash.

{lists}

Answer with a numbered list alone, one name a line, in the same order:
1. first name"""


def ask_for_names(themes: Sequence[Sequence[str]]) -> list[Message]:
    """Return the messages that ask for a name of each theme.

    Args:
        themes: The strongest terms of each theme.
    """
    lists = "\n".join(f"{number}. {', '.join(terms)}" for number, terms in enumerate(themes, 1))
    return [{"role": "user", "content": _PROMPT.format(words=MAX_WORDS, lists=lists)}]


def parse_names(answer: str, count: int) -> list[str]:
    """Return the names of `count` themes from an answer, "" where it has none.

    A line without a number, a name of more than `MAX_WORDS` words or without a letter, and a number
    that occurs twice give no name. Nothing is raised, whatever the answer is.
    """
    found: dict[int, list[str]] = {}
    for line in strip_reasoning(answer).splitlines():
        if match := _LINE.match(line):
            found.setdefault(int(match[1]), []).append(match[2].strip(_FRAME))
    names = (found.get(number, []) for number in range(1, count + 1))
    return [each[0] if len(each) == 1 and _is_name(each[0]) else "" for each in names]


def _is_name(text: str) -> bool:
    return (
        len(text.split()) <= MAX_WORDS
        and len(text) <= MAX_CHARACTERS
        and text.isprintable()
        and any(one.isalpha() for one in text)
    )
