"""Whether a quote stands in the text that it is said to be from, and a text in pieces of a bounded
length."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
QUOTE_MARKS = "\"'`´‘’‚‛“”„‟‹›«»′″"
HYPHENS = "-‐‑"  # hyphen-minus, hyphen, non-breaking hyphen; dashes are none
SOFT_HYPHEN = "\N{SOFT HYPHEN}"
HARD, PARTING = 1, 2
WORD_CHARACTERS = 40  # what is longer without a blank counts as several words

_PLAIN = str.maketrans(
    LIGATURES | dict.fromkeys(QUOTE_MARKS, '"') | dict.fromkeys(HYPHENS, "-") | {SOFT_HYPHEN: ""}
)
_PARTS = re.compile(r'(-+)(\s*)|"["\s]*|\s+')
_WORD = re.compile(rf"\S{{1,{WORD_CHARACTERS}}}")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\Z")


def quoted(quote: str, text: str) -> bool:
    """Whether `quote` stands in `text`, word for word. Forgiven are blanks (how many there are and
    whether there are any: texts of PDF lose and gain them), hyphens before blanks (a word parted at
    the end of a line), the form of quote marks, those around the quote, and ligatures; nothing
    else: no letter, no other sign, no case. A quote without a letter or digit is in no text."""
    sought = _letters(quote.strip().strip(QUOTE_MARKS + HYPHENS))
    if not any(sign.isalnum() for sign in sought.signs):
        return False
    whole = _letters(text)
    inner = sought.hyphens[1 : len(sought.signs)]
    start = whole.signs.find(sought.signs)
    while start >= 0:
        there = whole.hyphens[start + 1 : start + len(sought.signs)]
        if not np.any(inner + there == HARD):  # one has a hyphen, the other has none
            return True
        start = whole.signs.find(sought.signs, start + 1)
    return False


@dataclass(frozen=True)
class _Letters:
    """signs: n of a text, without blanks and hyphens. hyphens: uint8 (n + 1,), before each of them
    and after the last, 0 for none, `HARD`, or `PARTING` where it may part a word."""

    signs: str
    hyphens: NDArray[np.uint8]


def _letters(text: str) -> _Letters:
    plain = text.translate(_PLAIN)
    parts: list[str] = []
    hyphens: dict[int, int] = {}
    size = end = 0
    for found in _PARTS.finditer(plain):
        kept = plain[end : found.start()]
        end = found.end()
        parts.append(kept)
        size += len(kept)
        if found[1]:
            hyphens[size] = max(hyphens.get(size, 0), PARTING if found[2] else HARD)
        elif found[0].startswith('"'):
            parts.append('"')  # '' is one mark, as TeX writes it
            size += 1
    parts.append(plain[end:])
    signs = "".join(parts)
    states = np.zeros(len(signs) + 1, np.uint8)
    states[list(hyphens)] = list(hyphens.values())
    return _Letters(signs, states)


def pieces(text: str, words: int) -> list[str]:
    """`text` in pieces of at most `words` words, in order; nothing but blanks is lost. Each ends
    with the last paragraph that it can hold, where it can hold none with the last sentence, else
    with the last word. Raises ValueError where words < 1."""
    if words < 1:
        raise ValueError(f"pieces of {words} words: at least 1 is needed")
    spans = [found.span() for found in _WORD.finditer(text)]
    found = []
    first = 0
    while first < len(spans):
        after = _cut(text, spans, first, first + words)
        found.append(text[spans[first][0] : spans[after - 1][1]])
        first = after
    return found


def _cut(text: str, spans: list[tuple[int, int]], first: int, limit: int) -> int:
    """The word after the piece that begins with word `first` and ends before word `limit`."""
    if limit >= len(spans):
        return len(spans)
    sentence = word = 0
    for after in range(limit, first, -1):
        end, start = spans[after - 1][1], spans[after][0]
        if start > end and _PARAGRAPH_END.search(text, end, start):
            return after
        if start > end:
            word = word or after
            if not sentence and _SENTENCE_END.search(text, spans[after - 1][0], end):
                sentence = after
    return sentence or word or limit
