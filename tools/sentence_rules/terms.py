"""Terms that a sentence may look for in a text: words, stems, phrases, marks and kinds of words.

Texts and terms are split into tokens in the same way. A token is a word (letters, digits, `_`,
inner apostrophes), a number with inner points or commas, `...`, or any other single mark. Case and
the style of quote marks are ignored. A text contains a term if the tokens of the term are adjacent
in the text. Therefore `desk` is not found in `desktop`, and `front desk` is not found in `front,
desk`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from ...records import UsageError

STRAIGHT_QUOTES = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "…": "...", "´": "'"}
)
TOKEN = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:'\w+)*|\.\.\.|[^\w\s]")
# It is tried at the start of a word alone, or a long word without a star would take quadratic time.
STEM = re.compile(r"((?<!\w)(?<!\w')\w++(?:'\w++)*+\*)")

# The pattern of each kind of word, for texts with their case kept and quote marks straightened.
KINDS: dict[str, re.Pattern[str]] = {
    "number": re.compile(r"(?<![\w.,])\d+(?:[.,:]\d+)*(?!\w)"),
    "word in capitals": re.compile(r"(?<!\w)(?=\w*[^\W\d_]\w*[^\W\d_])[^\Wa-z_]+(?!\w)"),
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


@dataclass(frozen=True)
class Term:
    """A term to look for in a text: words or marks, or a kind of word from `KINDS`.

    Raises UsageError if there is nothing to look for.

    Attributes:
        text: Tokens separated by spaces. `luxur*` is a stem, which matches any token that starts
            with `luxur`.
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
        object.__setattr__(self, "text", " ".join(self.patterns))

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """The tokens that must be adjacent in a text; a stem ends in `*`."""
        found: list[str] = []
        for piece in STEM.split(self.text.translate(STRAIGHT_QUOTES).lower()):
            found += [piece] if STEM.fullmatch(piece) else tokenize(piece)
        return tuple(found)


def term(text: str) -> Term:
    """Return the search term for a word, phrase or mark."""
    return Term(text)


def terms(*texts: str) -> tuple[Term, ...]:
    """Return the search terms for several words, phrases or marks."""
    return tuple(Term(text) for text in texts)
