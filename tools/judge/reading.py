"""Conditions read from pieces: a descent over and, or, not and brackets, by hand.

Every method takes a place and gives what it read with the place after it, or None; nothing is read
twice but for a bounded number of words, so time grows with the length of the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from ...records import Json, UsageError
from . import phrases as words
from .columns import side
from .conditions import (
    AllOf,
    AnyOf,
    Begins,
    Between,
    Compare,
    Condition,
    Is,
    Missing,
    More,
    Not,
    mentions,
)
from .lexing import Piece
from .naming import Naming
from .phrases import Phrases, T
from .quantities import Count, Length, Listed, Number, Quantity, Unit
from .terms import Term, tokens

DEEPEST = 40  # brackets and denials
LONGEST_NAME = 8  # pieces of a column's name
LONGEST_ITEM = 4  # words of an unquoted entry of a list

Got: TypeAlias = "tuple[T, int] | None"


class Subject(NamedTuple):
    """What a condition is about: a text, a column, or the row as a whole ("the student")."""

    kind: Literal["text", "column", "row"]
    column: str = ""


class Bound(NamedTuple):
    """relation: of `Compare`, or "between"."""

    relation: str
    low: float
    high: float = 0.0

    def of(self, quantity: Quantity) -> Condition:
        if self.relation == "between":
            return Between(quantity, self.low, self.high)
        return Compare(quantity, self.relation, self.low)  # type: ignore[arg-type]


class Reader:
    """One sentence, its pieces, and the columns it may speak of. `reasons` says, by place, what
    was not understood."""

    def __init__(
        self,
        some: Sequence[Piece],
        public: Mapping[str, Json],
        texts: tuple[str, ...],
        naming: Naming,
    ) -> None:
        self.pieces = some
        self.naming = naming
        self.texts = texts
        self.pair = public.get("shape") == "pair" and len(texts) == 2
        self.reasons: dict[int, str] = {}
        self.seen: dict[
            tuple[int, Subject | None], tuple[Condition, int, Subject | None] | None
        ] = {}
        self.depth = 0

    # --- pieces ---------------------------------------------------------------

    def word(self, at: int) -> str:
        """The word, mark or "" at a place; quoted texts and names are none."""
        if at < len(self.pieces) and self.pieces[at].kind in ("word", "mark"):
            return self.pieces[at].text
        return ""

    def kind(self, at: int) -> str:
        return self.pieces[at].kind if at < len(self.pieces) else ""

    def starts(self, at: int, *these: str) -> int | None:
        """The place after these words, where they stand there."""
        if all(self.word(at + n) == one for n, one in enumerate(these)):
            return at + len(these)
        return None

    def one_of(self, at: int, table: Phrases[T]) -> tuple[T, int] | None:
        for way, value in table.items():
            if (after := self.starts(at, *way)) is not None:
                return value, after
        return None

    def skip(self, at: int, some: frozenset[str]) -> int:
        while self.word(at) in some:
            at += 1
        return at

    def fail(self, at: int, reason: str) -> None:
        self.reasons.setdefault(at, reason)

    # --- and, or, not ---------------------------------------------------------

    def condition(
        self, at: int, subject: Subject | None
    ) -> tuple[Condition, int, Subject | None] | None:
        """Disjunctions of conjunctions: "and" binds closer than "or"."""
        return self.joined(at, subject, "or")

    def joined(
        self, at: int, subject: Subject | None, by: str
    ) -> tuple[Condition, int, Subject | None] | None:
        parts: list[Condition] = []
        if by == "or":
            at = self.skip(at, frozenset({"either"}))
        else:
            at = self.skip(at, frozenset({"both"}))
        while True:
            got = self.joined(at, subject, "and") if by == "or" else self.unit(at, subject)
            if got is None:
                break
            part, end, subject = got
            parts.append(part)
            after = self.skip(end, frozenset({","}))
            if self.word(after) != by and not (by == "and" and self.word(after) == "but"):
                break
            at = after + 1
            while self.word(at) in (",", "also", "if", "when", "that", "then", "additionally"):
                at += 1
        if not parts:
            return None
        if by == "and" and len(parts) > 1:
            return AllOf(tuple(parts)), end, subject
        return (AnyOf(tuple(parts)) if len(parts) > 1 else parts[0]), end, subject

    def unit(
        self, at: int, subject: Subject | None
    ) -> tuple[Condition, int, Subject | None] | None:
        key = (at, subject)
        if key not in self.seen:
            self.seen[key] = None
            self.depth += 1
            if self.depth > DEEPEST:
                self.fail(at, f"conditions nested deeper than {DEEPEST}")
            else:
                self.seen[key] = self.fresh_unit(at, subject)
            self.depth -= 1
        return self.seen[key]

    def fresh_unit(
        self, at: int, subject: Subject | None
    ) -> tuple[Condition, int, Subject | None] | None:
        for denial in (("it", "is", "not", "the", "case", "that"), ("not",)):
            if (after := self.starts(at, *denial)) is not None:
                got = self.unit(after, subject)
                return got and (Not(got[0]), got[1], got[2])
        if self.word(at) == "(":
            got = self.condition(at + 1, subject)
            if got and self.word(got[1]) == ")":
                return got[0], got[1] + 1, got[2]
            return None
        return self.atom(at, subject)

    # --- one condition --------------------------------------------------------

    def atom(
        self, at: int, subject: Subject | None
    ) -> tuple[Condition, int, Subject | None] | None:
        counted = self.counted(at)
        if counted:
            return counted[0], counted[1], subject
        named = self.subject(at)
        if named:
            got = self.predicate(named[1], named[0])
            if got:
                return got[0], got[1], named[0]
        if subject is not None:
            got = self.predicate(at, subject)
            if got:
                return got[0], got[1], subject
        self.fail(at, f"no condition of the grammar begins at {self.near(at)}")
        return None

    def near(self, at: int) -> str:
        some = " ".join(piece.raw for piece in self.pieces[at : at + 6])
        return repr(some[:60]) if some else "the end"

    def subject(self, at: int) -> tuple[Subject, int] | None:
        """Words up to a verb that name a text, a column or the row."""
        if self.kind(at) == "name":
            column = self.naming.named(self.pieces[at].text)
            if column is None:
                self.fail(at, f"no column {self.pieces[at].text!r}")
                return None
            return self.about(column), at + 1
        end = at
        while end < at + LONGEST_NAME and self.kind(end) in ("word", "number") and (
            self.word(end) not in words.VERBS and self.word(end) not in words.ENDS
        ):  # fmt: skip
            end += 1
        if end == at or (self.word(end) not in words.VERBS and not self.one_of(end, words.BOUNDS)):
            return None
        said = [self.pieces[n].text for n in range(at, end)]
        bare = said[1:] if said[0] in words.DETERMINERS and len(said) > 1 else said
        bare = bare[1:] if len(bare) > 1 and bare[0].endswith(("'s", "s'")) else bare
        if len(bare) == 1 and bare[0] in words.TEXTS and len(self.texts) == 1:
            return Subject("text"), end
        if len(bare) == 1 and (column := self.naming.named(bare[0])):
            return self.about(column), end
        if self.pair and (number := side(" ".join(bare))) is not None and self.is_text(bare):
            return Subject("text", self.texts[number]), end
        if bare[-1] in words.TEXTS and len(bare) == 1 and self.texts:
            return Subject("text"), end
        if column := self.naming.column(bare):
            return self.about(column), end
        if bare == ["it"] and len(self.texts) == 1 and len(self.naming.columns) == 1:
            return Subject("text"), end
        if len(bare) <= 2 and bare[-1] in words.ENTITIES:
            return Subject("row"), end
        if len(bare) <= 2 and len(self.texts) == 1 and len(said) > len(bare):
            return Subject("text"), end
        return None

    def is_text(self, said: Sequence[str]) -> bool:
        """Whether the words are ordinals and a text's name alone: "first headline", "text 2"."""
        names = {word for text in self.texts for word in tokens(text.replace("_", " "))}
        return all(word in words.TEXTS or word in names or side(word) is not None for word in said)

    def about(self, column: str) -> Subject:
        return Subject("text" if self.naming.kind(column) == "text" else "column", column)

    def predicate(self, at: int, subject: Subject) -> Got[Condition]:
        """What is said of a subject, from its verb on."""
        if denied := self.one_of(at, words.DENIES):
            got = self.asserted(denied[1], subject)
            return got and (Not(got[0]), got[1])
        return self.asserted(at, subject)

    def asserted(self, at: int, subject: Subject) -> Got[Condition]:
        ways = []
        if subject.kind != "column" or self.word(at) not in words.IS:
            ways += [self.edge, self.speaking]
        if subject.kind != "row" or len(self.texts) == 1:
            ways += [self.length]
        ways += [self.field] if subject.column else [self.row]
        for way in ways:
            try:
                if got := way(at, subject):
                    return got
            except UsageError as error:
                self.fail(at, str(error))
        return None

    def edge(self, at: int, subject: Subject) -> Got[Condition]:
        if not (got := self.one_of(at, words.STARTS)):
            return None
        listed = self.listed(got[1], loose=False)
        return listed and (Begins(listed[0], subject.column, got[0]), listed[1])

    def speaking(self, at: int, subject: Subject) -> Got[Condition]:
        """mentions, contains, has …"""
        if self.word(at) not in words.SPEAKS | words.HAS:
            return None
        text = subject.column
        at += 1
        if self.word(at) == "more" and (got := self.two_sided(at + 1, text)):
            return got
        if several := self.one_of(at, words.ANY_OF):
            how = several[0]
            listed = self.listed(several[1], loose=True)
            if listed is None:
                return None
            condition: Condition = mentions(listed[0], None if how == "all" else 1, text)
            return (Not(condition) if how == "none" else condition), listed[1]
        if bound := self.bound(at):
            return self.bounded(bound[1], bound[0], text)
        no = self.word(at) in ("no", "neither")
        listed = self.listed(at + no, loose=False)
        if listed is None:
            return None
        joined_by_and = self.joined_by_and(at + no, listed[1])
        times = self.times(listed[1])
        if times and not no:
            return times[0].of(Count(listed[0], text=text)), times[1]
        condition = mentions(listed[0], None if joined_by_and else 1, text)
        return (Not(condition) if no else condition), listed[1]

    def joined_by_and(self, at: int, end: int) -> bool:
        return any(self.word(n) in ("and", "both") for n in range(at, end))

    def bounded(self, at: int, bound: Bound, text: str) -> Got[Condition]:
        """What follows "has at least 3"."""
        if mark := self.mark(at):
            return self.per(mark[1], bound, (mark[0],), text)
        if unit := self.one_of(at, words.UNITS):
            return bound.of(Length(self.unit_of(unit[0]), text)), unit[1]
        if got := self.one_of(at, words.OCCURRENCES):
            listed = self.listed(got[1], loose=True)
            return listed and self.per(listed[1], bound, listed[0], text)
        after = self.skip(at, frozenset({"different", "distinct"}))
        if self.word(after) == "of":
            listed = self.listed(after + 1, loose=True)
            return listed and (bound.of(Listed(listed[0], text)), listed[1])
        listed = self.listed(at, loose=False)
        return listed and self.per(listed[1], bound, listed[0], text)

    def unit_of(self, unit: str) -> Unit:
        return unit  # type: ignore[return-value]

    def per(self, at: int, bound: Bound, terms: tuple[Term, ...], text: str) -> Got[Condition]:
        share = self.share(at)
        return bound.of(Count(terms, share is not None, text)), share or at

    def share(self, at: int) -> int | None:
        if self.word(at) in ("per", "in", "for") and self.word(at + 1) in ("every", "each"):
            at += 1
        hundred = self.kind(at + 1) == "number" and self.pieces[at + 1].text == "100"
        if self.word(at) in ("per", "every", "each") and hundred and self.word(at + 2) == "words":
            return at + 3
        return None

    def two_sided(self, at: int, text: str) -> Got[Condition]:
        """What follows "mentions more": of A than of B; occurrences of A than of B."""
        counts = self.one_of(at, words.OCCURRENCES)
        start = counts[1] if counts else self.skip(at, frozenset({"words"}))
        if not counts and self.word(start) in ("of", "from"):
            start += 1
        elif not counts:
            left_mark = self.mark(at)
            if left_mark and self.word(left_mark[1]) == "than":
                right_mark = self.mark(left_mark[1] + 1)
                if right_mark:
                    share = self.share(right_mark[1])
                    left, right = (
                        Count((m,), share is not None, text) for m in (left_mark[0], right_mark[0])
                    )
                    return More(left, right), share or right_mark[1]
            return None
        left_list = self.listed(start, loose=True)
        if left_list is None or self.word(left_list[1]) != "than":
            return None
        after = left_list[1] + 1
        if got := self.one_of(after, words.OCCURRENCES):
            after = got[1]
        else:
            after = self.skip(after, frozenset({"words", "of", "from"}))
        right_list = self.listed(after, loose=True)
        if right_list is None:
            return None
        if not counts:
            return More(Listed(left_list[0], text), Listed(right_list[0], text)), right_list[1]
        share = self.share(right_list[1])
        one, other = (Count(side[0], share is not None, text) for side in (left_list, right_list))
        return More(one, other), share or right_list[1]

    def times(self, at: int) -> Got[Bound]:
        """ "at least 3 times", "twice", "more than once"."""
        once = {"once": 1.0, "twice": 2.0}
        if self.word(at) in once:
            return Bound("exactly", once[self.word(at)]), at + 1
        if (got := self.one_of(at, words.BOUNDS)) and self.word(got[1]) in once:
            return Bound(got[0], once[self.word(got[1])]), got[1] + 1
        bound = self.bound(at)
        return (bound[0], bound[1] + 1) if bound and self.word(bound[1]) == "times" else None

    def length(self, at: int, subject: Subject) -> Got[Condition]:
        """ "is longer than 20 words", "is at least 20 words long"."""
        if self.word(at) not in words.IS:
            return None
        no = self.word(at + 1) == "not"
        at += 1 + no
        bound: Got[Bound] = None
        if (got := self.one_of(at, words.LONGER)) and self.word(got[1]) == "than":
            number = self.number(got[1] + 1)
            if number:
                bound = Bound("more than" if got[0] else "less than", number[0]), number[1]
        else:
            bound = self.bound(at)
        if bound is None:
            return None
        unit = self.one_of(bound[1], words.UNITS)
        if unit is None:
            return None
        condition = bound[0].of(Length(self.unit_of(unit[0]), subject.column))
        return (Not(condition) if no else condition), self.skip(
            unit[1], frozenset({"long", "in", "length"})
        )

    # --- fields ---------------------------------------------------------------

    def field(self, at: int, subject: Subject) -> Got[Condition]:
        column = subject.column
        if self.word(at) in words.IS and self.word(at) != "=":
            at += 1
        elif not self.one_of(at, words.BOUNDS):
            return None
        if self.word(at) in ("not", "n't"):
            got = self.compared(at + 1, column)
            return got and (Not(got[0]), got[1])
        return self.compared(at, column)

    def compared(self, at: int, column: str) -> Got[Condition]:
        if self.word(at) in ("missing", "absent", "empty", "unknown", "blank"):
            return Missing(column), at + 1
        if self.word(at) in ("given", "known", "present"):
            return Not(Missing(column)), at + 1
        open_bound = self.one_of(at, words.BOUNDS)
        bound = self.bound(at)
        if bound and (bound[0].relation != "exactly" or open_bound):
            return bound[0].of(Number(column)), bound[1]
        if open_bound and open_bound[0] in ("more than", "less than"):
            other = self.noun(open_bound[1])
            if other:
                sides = Number(column), other[0]
                ordered = sides if open_bound[0] == "more than" else sides[::-1]
                return More(*ordered), other[1]
        several = self.one_of(at, words.ANY_OF)
        if several:
            at = several[1]
        elif self.word(at) in ("either", "in", "among"):
            at += 1
        values = self.values(self.skip(at, frozenset({":"})), column)
        if values is None or (several and several[0] == "all"):
            return None
        condition = Is(column, values[0])
        return (Not(condition) if several and several[0] == "none" else condition), values[1]

    def values(self, at: int, column: str) -> Got[tuple[Json, ...]]:
        """Values with commas and "or" between them."""
        found: list[Json] = []
        while got := self.value(at, column):
            found.append(got[0])
            end = at = got[1]
            comma = self.word(at) == ","
            at += comma
            if self.word(at) == "or":
                at += 1
            elif not comma:
                break
        return (tuple(found), end) if found else None

    def value(self, at: int, column: str) -> Got[Json]:
        if self.kind(at) == "quoted":
            return (self.pieces[at].text, at + 1) if self.pieces[at].text.strip() else None
        if self.kind(at) == "number":
            return self.numeral(at), at + 1
        for start in (at, at + (self.word(at) in ("a", "an", "the"))):
            for end in range(min(start + LONGEST_ITEM, len(self.pieces)), start, -1):
                if any(self.kind(n) not in ("word", "number") for n in range(start, end)):
                    continue
                text = " ".join(self.pieces[n].raw for n in range(start, end))
                if (value := self.naming.value(column, text)) is not None:
                    return value, end
        return None

    def row(self, at: int, subject: Subject) -> Got[Condition]:
        """ "they have more than 2 publications"."""
        if self.word(at) not in words.HAS:
            return None
        if bound := self.bound(at + 1):
            column = self.column_at(bound[1])
            return column and (bound[0].of(Number(column[0])), column[1])
        return None

    def column_at(self, at: int) -> Got[str]:
        """The longest run of words that names a column."""
        if self.kind(at) == "name":
            column = self.naming.named(self.pieces[at].text)
            return (column, at + 1) if column else None
        end = at
        while (
            end < at + LONGEST_NAME
            and self.kind(end) == "word"
            and self.word(end) not in words.ENDS
        ):
            end += 1
        for stop in range(end, at, -1):
            if column := self.naming.column([self.pieces[n].text for n in range(at, stop)]):
                return column, stop
        return None

    # --- quantities by name ---------------------------------------------------

    def counted(self, at: int) -> Got[Condition]:
        """ "the number of words in the text is at least 3"."""
        if self.starts(at, "the", "number", "of") is None:
            return None
        left = self.noun(at)
        if left is None or self.word(left[1]) not in words.IS:
            return None
        at = left[1] + 1
        no = self.word(at) == "not"
        at += no
        condition: Condition | None = None
        if bound := self.bound(at):
            condition, end = bound[0].of(left[0]), bound[1]
        elif (got := self.one_of(at, words.BOUNDS)) and got[0] in ("more than", "less than"):
            other = self.noun(got[1])
            if other:
                sides = left[0], other[0]
                condition, end = More(*(sides if got[0] == "more than" else sides[::-1])), other[1]
        if condition is None:
            return None
        return (Not(condition) if no else condition), end

    def noun(self, at: int) -> Got[Quantity]:
        after = self.starts(at, "the", "number", "of")
        if after is None:
            column = self.column_at(at + (self.word(at) in words.DETERMINERS))
            return column and (Number(column[0]), column[1])
        if mark := self.mark(after):
            quantity, end = Count((mark[0],)), mark[1]
            listed: Got[tuple[Term, ...]] = (quantity.terms, end)
        elif unit := self.one_of(after, words.UNITS):
            text = self.inside(unit[1])
            return text and (Length(self.unit_of(unit[0]), text[0]), text[1])
        elif (entries := self.starts(after, "entries", "of")) is not None:
            listed = self.listed(entries, loose=True)
            text = listed and self.inside(listed[1])
            return text and listed and (Listed(listed[0], text[0]), text[1])
        else:
            got = self.one_of(after, words.OCCURRENCES)
            listed = got and self.listed(got[1], loose=True)
        if listed is None:
            column = self.column_at(after)
            return column and (Number(column[0]), column[1])
        share = self.share(listed[1])
        text = self.inside(share or listed[1])
        return text and (Count(listed[0], share is not None, text[0]), text[1])

    def inside(self, at: int) -> Got[str]:
        """The text of "in the text"; the end where nothing is said is "the text at hand"."""
        if self.word(at) not in ("in", "of"):
            return "", at
        if self.kind(at + 1) == "name":
            column = self.naming.named(self.pieces[at + 1].text)
            return (column, at + 2) if column else None
        at += 1
        at += self.word(at) in words.DETERMINERS
        for end in (at + 3, at + 2, at + 1):
            said = [self.pieces[n].text for n in range(at, min(end, len(self.pieces)))]
            if len(said) == 1 and (column := self.naming.named(said[0])):
                return column, end
            if self.pair and (number := side(" ".join(said))) is not None and self.is_text(said):
                return self.texts[number], end
        return ("", at + 1) if self.word(at) in words.TEXTS else None

    # --- numbers and lists ----------------------------------------------------

    def number(self, at: int) -> Got[float]:
        if self.kind(at) == "number":
            return float(self.pieces[at].text), at + 1
        if (word := self.word(at)) in words.NUMBERS:
            return float(words.NUMBERS[word]), at + 1
        return None

    def numeral(self, at: int) -> float | int:
        value = float(self.pieces[at].text)
        return int(value) if value.is_integer() and abs(value) < 1e15 else value

    def bound(self, at: int) -> Got[Bound]:
        if (
            self.word(at) == "between"
            and (low := self.number(at + 1))
            and self.word(low[1]) == "and"
        ):
            high = self.number(low[1] + 1)
            return high and (Bound("between", low[0], high[0]), high[1])
        if got := self.one_of(at, words.BOUNDS):
            number = self.number(got[1])
            return number and (Bound(got[0], number[0]), number[1])
        number = self.number(at)
        if number is None or (self.word(number[1]) == "of" and self.word(at) == "one"):
            return None
        after = self.one_of(number[1], words.AFTER)
        if after:
            return Bound(after[0], number[0]), after[1]
        return Bound("exactly", number[0]), number[1]

    def mark(self, at: int) -> Got[Term]:
        """A mark or kind of word that is named: "exclamation marks", "a number"."""
        start = self.skip(at, frozenset({"a", "an", "any", "the"}))
        got = self.one_of(start, words.MARKS) if start <= at + 1 else None
        if got is None or self.word(got[1]) == "of":
            return None
        return Term(*got[0]), got[1]

    def listed(self, at: int, loose: bool) -> Got[tuple[Term, ...]]:
        """A list of terms with commas, "and" or "or" between them; unquoted words count as entries
        where a list was announced (`loose`): "one of …", "the words …"."""
        start = at
        at = self.skip(at, words.LISTED)
        loose = (loose and True) or (at > start and self.word(at) != "")
        at = self.skip(at, frozenset({":", "either", "both"}))
        found: list[Term] = []
        unquoted = 0
        end = at
        while got := self.entry(at, loose, bool(found) and not unquoted):
            entry, quoted, end = got
            unquoted += not quoted
            found.append(entry)
            after = self.skip(end, frozenset({","}))
            if self.word(after) in ("or", "and"):
                if unquoted and self.opens(after + 1):
                    break
                after += 1
                after = (
                    self.skip(after, frozenset({"the", "word", "phrase"}))
                    if self.kind(after) != "quoted"
                    and self.kind(self.skip(after, frozenset({"the", "word", "phrase"})))
                    == "quoted"
                    else after
                )
            elif after == end:
                break
            at = after
        if not found:
            self.fail(start, f"no list of quoted words at {self.near(start)}")
            return None
        return tuple(dict.fromkeys(found)), end

    def opens(self, at: int) -> bool:
        """Whether a condition seems to begin here, and no entry of a list."""
        return (
            self.word(at) in words.VERBS
            or self.word(at) in ("(", "not")
            or self.subject(at) is not None
        )

    def entry(self, at: int, loose: bool, quoted_only: bool) -> tuple[Term, bool, int] | None:
        if self.kind(at) == "quoted":
            text = self.pieces[at].text
            return (Term(text), True, at + 1) if tokens(text) else None
        if mark := self.mark(at):
            return mark[0], True, mark[1]
        if self.kind(at) == "word" and self.word(at).endswith("*"):
            return Term(self.word(at)), True, at + 1
        if not loose or quoted_only:
            return None
        end = at
        while end < at + LONGEST_ITEM and self.kind(end) == "word" and not (
            self.word(end) in words.ENDS or self.word(end) in words.VERBS
            or self.word(end) in words.DETERMINERS or self.one_of(end, words.BOUNDS)
        ):  # fmt: skip
            end += 1
        if end == at:
            return None
        return Term(" ".join(self.pieces[n].raw for n in range(at, end))), False, end
