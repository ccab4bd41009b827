"""Tokens of a sentence, and functions that read small phrases at a position of the sentence.

The tokens, called pieces, are words, quoted texts, names in backticks, numbers and marks. Every
reading function takes the position `at`, an index into the pieces. It returns the parsed object and
the position after it, or None if the pieces at `at` do not match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from . import vocabulary as words
from .column_lookup import ColumnLookup
from .conditions import Between, Comparison, Condition
from .quantities import Quantity
from .vocabulary import Phrases, Relation, T

LONGEST_NAME = 8  # pieces in the name of a column

Parsed: TypeAlias = "tuple[T, int] | None"


class Bound(NamedTuple):
    """A bound on a quantity, such as "at least 2" or "between 2 and 5".

    Attributes:
        relation: "at least", "at most", "more than", "less than" or "exactly".
        low: The number of the bound.
        high: The upper end of a range that starts at `low`; None if the bound is not a range.
    """

    relation: Relation
    low: float
    high: float | None = None

    def apply_to(self, quantity: Quantity) -> Condition:
        """Return the condition that `quantity` meets this bound."""
        if self.high is not None:
            return Between(quantity, self.low, self.high)
        return Comparison(quantity, self.relation, self.low)


class Cursor:
    """A sentence split into pieces, with the columns and labels that it may refer to.

    Attributes:
        pieces: The pieces (tokens) of the sentence.
        naming: Finds columns and values by the words that refer to them.
        texts: Names of the text columns.
        pair: Whether each row is a pair of texts, of which one wins.
        labels: The labels, each split into its words.
        reasons: For each position at which parsing failed, the reason.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        naming: ColumnLookup,
        texts: tuple[str, ...],
        pair: bool,
        labels: frozenset[tuple[str, ...]],
    ) -> None:
        self.pieces = pieces
        self.naming = naming
        self.texts = texts
        self.pair = pair
        self.labels = labels
        self.reasons: dict[int, str] = {}

    def record_failure(self, at: int, reason: str) -> None:
        """Record why parsing failed at position `at`.

        If a reason is already recorded for this position, it is kept.
        """
        self.reasons.setdefault(at, reason)

    def quote_from(self, at: int) -> str:
        """Return the next pieces from position `at` on, quoted for an error message."""
        some = " ".join(piece.raw for piece in self.pieces[at : at + 6])
        return repr(some[:60]) if some else "the end"

    def word(self, at: int) -> str:
        """Return the word or mark at position `at`.

        The result is "" if another kind of piece is at this position, or if the sentence has ended.
        """
        if at < len(self.pieces) and self.pieces[at].kind in ("word", "mark"):
            return self.pieces[at].text
        return ""

    def kind(self, at: int) -> str:
        """Return the kind of the piece at position `at`, or "" if the sentence has ended."""
        return self.pieces[at].kind if at < len(self.pieces) else ""

    def match_words(self, at: int, *these: str) -> int | None:
        """Return the position after the words `these`, or None if other words are at `at`."""
        if all(self.word(at + n) == one for n, one in enumerate(these)):
            return at + len(these)
        return None

    def match_phrase(self, at: int, table: Phrases[T]) -> tuple[T, int] | None:
        """Return the value in `table` of the phrase at `at`, and the position after the phrase.

        The result is None if no phrase of `table` is at this position.
        """
        for way, value in table.get(self.word(at), ()):
            if (after := self.match_words(at, *way)) is not None:
                return value, after
        return None

    def skip_words(self, at: int, *skipped: str) -> int:
        """Return the first position from `at` on whose word is not in `skipped`."""
        while (word := self.word(at)) and word in skipped:
            at += 1
        return at

    def skip_determiner(self, at: int) -> int:
        """Return the position after a determiner at `at`, or `at` if there is no determiner."""
        return at + (self.word(at) in words.DETERMINERS)

    def read_number(self, at: int) -> Parsed[float]:
        """Read a number, written in digits or as a word."""
        if self.kind(at) == "number":
            return float(self.pieces[at].text), at + 1
        if (word := self.word(at)) in words.NUMBERS:
            return float(words.NUMBERS[word]), at + 1
        return None

    def read_bound(self, at: int) -> Parsed[Bound]:
        """Read a bound, such as "at least 3", "between 2 and 5" or "3 or more".

        A number alone means "exactly".
        """
        if self.word(at) == "from" and self.read_number(at + 1):
            got = self.read_bound(at + 1)
            return got if got and got[0].high is not None else None
        if self.word(at) == "between":
            low = self.read_number(at + 1)
            high = low and self.word(low[1]) == "and" and self.read_number(low[1] + 1)
            return (Bound("at least", low[0], high[0]), high[1]) if low and high else None
        relation = self.match_phrase(at, words.BOUNDS)
        if relation:
            number = self.read_number(relation[1])
            return number and (Bound(relation[0], number[0]), number[1])
        number = self.read_number(at)
        if number is None or (self.word(at) == "one" and self.word(number[1]) == "of"):
            return None
        if self.word(number[1]) == "+":  # "2+ publications"
            return Bound("at least", number[0]), number[1] + 1
        if self.word(number[1]) in ("-", "–", "to") and (high := self.read_number(number[1] + 1)):
            return Bound("at least", number[0], high[0]), high[1]
        after = self.match_phrase(number[1], words.AFTER)
        return (
            (Bound(after[0], number[0]), after[1])
            if after
            else (Bound("exactly", number[0]), number[1])
        )

    def read_be(self, at: int) -> Parsed[bool]:
        """Read a form of "be", and return whether it is negated ("is not", "aren't")."""
        if self.word(at) in words.IS_NOT:
            return True, at + 1
        if self.word(at) not in words.IS or self.word(at) == "=":
            return None
        denied = self.word(at + 1) in ("not", "never")
        return denied, at + 1 + denied

    def is_percentage(self, start: int, end: int) -> bool:
        """Return whether a number between the positions `start` and `end` is written with "%".

        "5%" of the words is not a count of 5.
        """
        return any(self.pieces[at].raw.endswith("%") for at in range(start, end))

    def read_times(self, at: int) -> Parsed[Bound]:
        """Read how many times something occurs: "at least 3 times", "twice", "more than once"."""
        relation = self.match_phrase(at, words.BOUNDS)
        word = self.word(relation[1] if relation else at)
        if word in words.TIMES:
            bound = Bound(relation[0] if relation else "exactly", words.TIMES[word])
            return bound, (relation[1] if relation else at) + 1
        got = self.read_bound(at)
        return (got[0], got[1] + 1) if got and self.word(got[1]) == "times" else None

    def skip_per_100_words(self, at: int) -> int | None:
        """Return the position after "per 100 words", or None if other words are at `at`."""
        at += self.word(at) in ("in", "for", "out") and self.word(at + 1) in ("every", "each", "of")
        hundred = self.kind(at + 1) == "number" and self.pieces[at + 1].text == "100"
        if self.word(at) in ("per", "every", "each") and hundred and self.word(at + 2) == "words":
            return at + 3
        return None

    def read_numeric_column(self, at: int) -> Parsed[str]:
        """Read the name of a column that holds numbers."""
        got = self.read_column(at)
        return got if got and self.check_numeric(at, got[0]) else None

    def check_numeric(self, at: int, column: str) -> bool:
        """Return whether `column` holds numbers. If it does not, record this reason for `at`."""
        if self.naming.is_numeric(column):
            return True
        self.record_failure(at, f"{column!r} holds no numbers that could be compared")
        return False

    def read_column(self, at: int) -> Parsed[str]:
        """Read a column: its name in backticks, or the longest run of words that denotes it."""
        if self.kind(at) == "name":
            column = self.naming.find_by_name(self.pieces[at].text)
            if column is None:
                self.record_failure(at, f"no column {self.pieces[at].text!r}")
            return (column, at + 1) if column else None
        for stop in self.name_ends(at):
            named = [self.pieces[n].text for n in range(at, stop)]
            if self.word(stop - 1) in words.NOT_LAST and not self.naming.is_name(named):
                continue
            if column := self.naming.find_column(named):
                return column, stop
        return None

    def read_verb_column(self, at: int) -> Parsed[str]:
        """Read a column by a verb in another form: "donate to the school"."""
        for stop in self.name_ends(at):
            if self.word(stop - 1) in words.NOT_LAST:
                continue
            column = self.naming.find_by_verb([self.pieces[n].text for n in range(at, stop)])
            if column:
                return column, stop
        return None

    def name_ends(self, at: int) -> Iterator[int]:
        """Yield the positions at which the name of a column that begins at `at` may end."""
        end = at
        while (
            end < at + LONGEST_NAME
            and self.kind(end) == "word"
            and self.word(end) not in words.ENDS
        ):
            end += 1
        yield from range(end, at, -1)


Kind = Literal["word", "quoted", "name", "number", "mark"]
MAX_CHARACTERS = 200_000

# Except for straight double quotes and backticks, quoted texts have a bounded length. Many unclosed
# quotes therefore cost no more than time linear in the length of the sentence.
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
    """A token of a sentence: a word, a number, a mark, a name in backticks or a quoted text.

    Attributes:
        kind: Kind of the token.
        text: The normalised token: a word in lower case with straight apostrophes, a number, a
            mark, or the text between the quote marks or backticks.
        raw: The token as it was written.
    """

    kind: Kind
    text: str
    raw: str


def split_pieces(sentence: str) -> list[Piece]:
    """Split a sentence into pieces, its tokens."""
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
                found.append(Piece("name", unescape(text), text))
            case _:
                found.append(Piece("quoted", unescape(text), text))
    return found


def unescape(text: str) -> str:
    """Return the text without the backslashes that escape quote marks and backslashes."""
    return re.sub(r"\\([\"'`\\])", r"\1", text)
