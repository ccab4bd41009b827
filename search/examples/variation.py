"""Inputs like the shown ones, on which expressions that agree on the shown inputs may differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

MAX_VARIED = 3  # shown inputs that are varied


def vary(inputs: Sequence[Any]) -> list[Any]:
    """Return two variations of each of the first inputs: one longer, one with other lengths of words."""
    found = []
    for one in inputs[:MAX_VARIED]:
        found += [_mapped(one, _with_another_word), _mapped(one, _with_longer_words)]
    return found


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if type(value) is str:
        return change(value)
    if type(value) is int:
        return value + (1 if change is _with_another_word else 2)
    if type(value) is float:
        return value + 0.5
    if type(value) is list:
        return [_mapped(one, change) for one in value]
    if type(value) is dict:
        return {name: _mapped(one, change) for name, one in value.items()}
    return value


def _with_another_word(text: str) -> str:
    words = list(_words(text))
    if len(words) < 2:
        return text + text
    (begin, end), (after, _) = words[0], words[1]
    return text[:begin] + "Zq" + text[end:after] + text[begin:]


def _with_longer_words(text: str) -> str:
    return re.sub(r"[A-Za-z]+|\d+", lambda m: m.group() + m.group()[-1], text)


def _words(text: str) -> Iterator[tuple[int, int]]:
    return (m.span() for m in re.finditer(r"\w+", text))
