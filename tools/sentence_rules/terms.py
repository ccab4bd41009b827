"""What a sentence may look for in a text: words, stems, phrases, marks and kinds of word.

A text and a listed term are cut into tokens alike: words (letters, digits, `_`, with apostrophes
inside), numbers with points or commas inside, `...`, and every other mark alone. Upper and lower
case are one, and so are straight and curly quote marks. A term is found where its tokens stand side
by side, so `desk` is not found in `desktop`, nor `front desk` in `front, desk`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from ...records import UsageError

PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "…": "...", "´": "'"})
TOKEN = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:'\w+)*|\.\.\.|[^\w\s]")
STEM = re.compile(r"(\w+(?:'\w+)*\*)")

# Kinds of word, each by what of a text (case kept, marks plain) counts as one.
KINDS: dict[str, re.Pattern[str]] = {
    "number": re.compile(r"(?<![\w.,])\d+(?:[.,:]\d+)*(?!\w)"),
    "word in capitals": re.compile(r"(?<!\w)(?=\w*[^\W\d_]\w*[^\W\d_])[^\Wa-z_]+(?!\w)"),
    "link": re.compile(r"https?://\S+|(?<![\w.])www\.\S+"),
    "hashtag": re.compile(r"(?<![\w#])#\w+"),
    "user name": re.compile(r"(?<![\w@])@\w+"),
}


def plain(text: str) -> str:
    """The text with straight quote marks and `...`, case kept."""
    return text.translate(PLAIN)


def tokens(text: str) -> list[str]:
    """The tokens of a text in order, in lower case; at most one for each character."""
    found: list[str] = TOKEN.findall(text.translate(PLAIN).lower())
    return found


@dataclass(frozen=True)
class Term:
    """One entry of a list: its text (tokens apart by blanks; `luxur*` is a stem: any token that
    begins so) or, where `kind` is given, a kind of word of `KINDS` and no text.

    Raises UsageError where there is nothing to look for.
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
        """The tokens that have to stand side by side; one with `*` at its end is a stem."""
        found: list[str] = []
        for piece in STEM.split(self.text.translate(PLAIN).lower()):
            found += [piece] if STEM.fullmatch(piece) else tokens(piece)
        return tuple(found)


def term(text: str) -> Term:
    return Term(text)


def terms(*texts: str) -> tuple[Term, ...]:
    """A list of terms from their texts."""
    return tuple(Term(text) for text in texts)
