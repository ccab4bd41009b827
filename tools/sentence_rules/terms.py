"""Terms that a sentence may look for in a text: words, stems, phrases, marks and kinds of words.

Texts and terms are split into tokens in the same way. A token is a word (letters, digits, `_`,
inner apostrophes), a number with inner points or commas, `...`, or any other single mark. Case and
the style of quote marks are ignored. In scripts that do not separate words by spaces (Chinese,
Japanese, Thai, Lao, Khmer, Burmese), each character is a token, together with its marks.

A text contains a term if the tokens of the term are adjacent in the text. Therefore `desk` is not
found in `desktop`, and `front desk` is not found in `front, desk`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ...records import UsageError

STRAIGHT_QUOTES = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "…": "...", "´": "'"}
)
# Characters of scripts without spaces between words, for a character class; Korean has spaces. The
# ranges have the marks of their scripts, which Python does not count as word characters.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3031-\u3035\u303b\u3041-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059"
    "\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d"
    "\u17b4-\u17d3\u17dd\u3099\u309a\uff9e\uff9f"
)
UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
# numbers, characters with their marks, words, and marks
TOKEN = re.compile(
    rf"\d+(?:[.,]\d+)+|[{UNSPACED}][{MARKS}]*|[^\W{UNSPACED}]+(?:'[^\W{UNSPACED}]+)*|\.\.\.|[^\w\s]"
)
# It is tried at the start of a word alone, or a long word without a star would take quadratic time.
STEM = re.compile(r"((?<!\w)(?<!\w')\w++(?:'\w++)*+\*)")

# The pattern of each kind of word, for texts with their case kept and quote marks straightened.
KINDS: dict[str, re.Pattern[str]] = {
    "number": re.compile(r"(?<![\w.,])\d+(?:[.,:]\d+)*(?!\w)"),
    "word in capitals": re.compile(rf"(?<!\w)(?=\w*[^\W\d_]\w*[^\W\d_])[^\Wa-z_{UNSPACED}]+(?!\w)"),
    "link": re.compile(r"https?://\S+|(?<![\w.])www\.\S+"),
    "hashtag": re.compile(r"(?<![\w#])#\w+"),
    "user name": re.compile(r"(?<![\w@])@\w+"),
}


def straighten_quotes(text: str) -> str:
    """Return the text with straight quote marks and `...`; upper and lower case are kept."""
    return text.translate(STRAIGHT_QUOTES)


def tokenize(text: str) -> list[str]:
    """Return the tokens of a text in order and in lower case."""
    found: list[str] = TOKEN.findall(text.translate(STRAIGHT_QUOTES).lower())
    return found


def join_tokens(tokens: Iterable[str]) -> str:
    """Return tokens as a text, with spaces except between characters of scripts without spaces."""
    found = ""
    for token in tokens:
        both = found and UNSPACED_CHARACTER.match(token) and UNSPACED_CHARACTER.match(found[-1])
        found += token if both or not found else f" {token}"
    return found


@dataclass(frozen=True)
class Term:
    """A term to look for in a text: words or marks, or a kind of word from `KINDS`.

    Raises UsageError if there is nothing to look for.

    Attributes:
        text: Tokens, as `join_tokens` joins them. `luxur*` is a stem, which matches any token that
            starts with `luxur`.
        kind: A kind of word; `text` is then empty.
    """

    text: str = ""
    kind: str = ""

    def __post_init__(self) -> None:
        if self.kind:
            if self.kind not in KINDS or self.text:
                raise UsageError(f"a term of kind {self.kind!r}: choose one of {', '.join(KINDS)}")
            return
        if not self.patterns:
            raise UsageError(f"a term needs a word or a mark to look for, not {self.text!r}")
        object.__setattr__(self, "text", join_tokens(self.patterns))

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """The tokens that must be adjacent in a text; a stem ends in `*`."""
        found: list[str] = []
        for piece in STEM.split(self.text.translate(STRAIGHT_QUOTES).lower()):
            if not STEM.fullmatch(piece):
                found += tokenize(piece)
            elif UNSPACED_CHARACTER.search(piece):  # the characters may be part of any word
                found += tokenize(piece[:-1])
            else:
                found.append(piece)
        return tuple(found)


def term(text: str) -> Term:
    """Return the search term for a word, phrase or mark."""
    return Term(text)


def terms(*texts: str) -> tuple[Term, ...]:
    """Return the search terms for several words, phrases or marks."""
    return tuple(Term(text) for text in texts)
