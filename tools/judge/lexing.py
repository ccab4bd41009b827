"""A sentence in pieces: words, quoted texts, names in backticks, numbers and marks."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Kind = Literal["word", "quoted", "name", "number", "mark"]
MOST_CHARACTERS = 200_000

# Quoted texts of other than straight double marks are bounded, so that a heap of unclosed ones costs
# no more than its length.
PIECE = re.compile(
    r"""
      "(?P<double>(?:[^"\\]|\\.)*)"
    | `(?P<name>(?:[^`\\]|\\.)*)`
    | “(?P<curly>[^”]{0,400})”
    | «(?P<angle>[^»]{0,400})»
    | (?<![\w'])'(?P<single>(?:[^'\\]|\\.|'(?=\w)){0,200})'(?!\w)
    | (?<!\w)‘(?P<curved>(?:[^’]|’(?=\w)){0,200})’(?!\w)
    | (?P<number>(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w))%?
    | (?P<word>(?<!\*)[^\W_](?:\w|['’\-](?=\w))*\*(?!\*)|[^\W_](?:\w|['’\-](?=\w))*)
    | (?P<mark>\\.|>=|<=|==|≥|≤|\.\.\.|[^\s*_])
    """,
    re.VERBOSE | re.DOTALL,
)


class Piece(NamedTuple):
    """kind; text: a word in lower case with straight apostrophes, a mark, or what was quoted; raw:
    as it is written."""

    kind: Kind
    text: str
    raw: str


def pieces(sentence: str) -> list[Piece]:
    found: list[Piece] = []
    for match in PIECE.finditer(sentence):
        group, text = match.lastgroup or "mark", match[match.lastgroup or 0]
        match group:
            case "word":
                found.append(Piece("word", text.lower().replace("’", "'"), text))
            case "number":
                found.append(Piece("number", text.replace(",", ""), match[0]))
            case "mark":
                found.append(Piece("mark", {"≥": ">=", "≤": "<=", "==": "="}.get(text, text), text))
            case "name":
                found.append(Piece("name", unescaped(text), text))
            case _:
                found.append(Piece("quoted", unescaped(text), text))
    return found


def unescaped(text: str) -> str:
    return re.sub(r"\\([\"'`\\])", r"\1", text)
