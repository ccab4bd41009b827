"""A recursive-descent parser for conditions with "and", "or", "not" and brackets.

"and" binds more tightly than "or". Each position of a sentence is parsed only once for each
subject, so the time is proportional to the length of the sentence.

Every reading function takes the position `at` in the sentence. It returns the parsed object and the
position after it, or None if the words at `at` do not match.
"""

from __future__ import annotations

from typing import TypeAlias

from ...records import UsageError
from . import text_conditions
from . import vocabulary as words
from .column_conditions import (
    read_column_comparison,
    read_column_condition,
    read_quantity_condition,
    read_row_condition,
)
from .conditions import AllOf, AnyOf, Condition, Not
from .cursor import Cursor, Parsed
from .subjects import ROW, TEXT, Subject, read_subject

MAX_DEPTH = 40  # levels of nested brackets and negations

# A condition, the place after it, and the subject that "it" refers to from there on.
ReadCondition: TypeAlias = "tuple[Condition, int, Subject | None] | None"


class ConditionReader:
    """A parser of the conditions in one sentence, which can start at any position."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.seen: dict[tuple[int, Subject | None], ReadCondition] = {}
        self.depth = 0
        self.denied: set[int] = set()  # the places at which a predicate with "does not" ends
        self.denied_nouns: set[int] = set()  # the places at which "has no …" or "is not …" ends

    def read_condition(self, at: int, about: Subject | None = None) -> ReadCondition:
        """Read a condition from position `at` on.

        Args:
            at: Position of the first word.
            about: The subject that applies if the condition does not name one; None if there is
                none.

        Returns:
            The condition, the position after it and its last subject. None if no condition begins
            at `at`.
        """
        return self.read_joined(at, about, "or")

    def read_joined(self, at: int, about: Subject | None, by: str) -> ReadCondition:
        """Read conditions that are joined by the word `by`, which is "or" or "and".

        The arguments `at` and `about` and the result are those of `read_condition`.
        """
        parts: list[Condition] = []
        end = at
        denies = False  # whether the next part follows "nor"
        at = self.cursor.skip_words(at, "either", "both")
        while True:
            got = self.read_joined(at, about, "and") if by == "or" else self.read_part(at, about)
            if got is None:
                break
            parts.append(Not(got[0]) if denies else got[0])
            if denies:
                self.denied.add(got[1])
            end, about = got[1], got[2]
            after = self.cursor.skip_words(end, ",")
            link = self.cursor.word(after)
            if by == "and" and link == "without":
                at = after
                continue
            if link != by and not (by == "and" and link in ("but", "nor")):
                break
            if link != "but" and self.could_be_denied(end, after):
                self.cursor.record_failure(
                    end, f"is that denied too? {self.cursor.quote_from(after)}"
                )
                return None
            denies = link == "nor"
            if denies and end not in self.denied | self.denied_nouns:
                break
            at = self.cursor.skip_words(
                after + 1, ",", "also", "if", "when", "that", "additionally", "either"
            )
        if not parts:
            return None
        if len(parts) == 1:
            return parts[0], end, about
        return (AllOf(tuple(parts)) if by == "and" else AnyOf(tuple(parts))), end, about

    def could_be_denied(self, end: int, link: int) -> bool:
        """Return whether what follows a negated condition may be negated, too.

        Args:
            end: Position at which the previous condition ends.
            link: Position of the word "and" or "or" that follows.
        """
        word = self.cursor.word(link + 1)
        if self.cursor.word(link) == "nor":
            return False
        if self.cursor.match_phrase(link + 1, words.DENIES):
            return False
        if end in self.denied and word in words.BARE_VERBS:
            return True
        if end not in self.denied_nouns:
            return False
        begins = words.HAS | words.IS | words.IS_NOT | words.PRONOUNS | words.WITHOUT
        if word in begins or word in ("no", "not", "neither", "(", "if", "when", "that", "also"):
            return False
        if self.cursor.read_bound(link + 1):
            return False
        if self.cursor.word(link) == "and" and word in ("a", "an", "the"):
            return False
        return read_subject(self.cursor, link + 1) is None

    def read_part(self, at: int, about: Subject | None) -> ReadCondition:
        """Read one operand of "and", using a cache.

        The arguments and the result are those of `read_condition`.
        """
        key = (at, about)
        if key not in self.seen:
            self.seen[key] = None
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self.cursor.record_failure(at, f"conditions nested more than {MAX_DEPTH} deep")
            else:
                self.seen[key] = self.parse_part(at, about)
            self.depth -= 1
        return self.seen[key]

    def parse_part(self, at: int, about: Subject | None) -> ReadCondition:
        """Read one operand of "and": a negated condition, a condition in brackets, or a simple one.

        The arguments and the result are those of `read_condition`.
        """
        for denial in (("it", "is", "not", "the", "case", "that"), ("not",)):
            after = self.cursor.match_words(at, *denial)
            got = None if after is None else self.read_part(after, about)
            if got:
                return Not(got[0]), got[1], got[2]
        if self.cursor.word(at) == "not" and about is not None and about.kind == "text":
            # 'mentions "A" but not "B"'
            absent = text_conditions.read_mentioned(self.cursor, at + 1, about.column)
            return absent and (Not(absent[0]), absent[1], about)
        if self.cursor.word(at) == "(":
            got = self.read_condition(at + 1, about)
            closed = got is not None and self.cursor.word(got[1]) == ")"
            return (got[0], got[1] + 1, got[2]) if got and closed else None
        return self.read_atom(at, about)

    def read_atom(self, at: int, about: Subject | None) -> ReadCondition:
        """Read a condition without "and", "or" and "not", or return None if there is none.

        If the condition is invalid, the reason is recorded. The arguments and the result are those
        of `read_condition`.
        """
        try:
            return self.parse_atom(at, about)
        except UsageError as error:
            self.cursor.record_failure(at, str(error))
            return None

    def parse_atom(self, at: int, about: Subject | None) -> ReadCondition:
        """Read a condition without "and", "or" and "not".

        The arguments and the result are those of `read_condition`.

        Raises:
            UsageError: The condition is invalid.
        """
        number = read_quantity_condition(self.cursor, at)
        if number:
            return number[0], number[1], about
        if self.cursor.texts and (occurs := text_conditions.read_occurrence(self.cursor, at)):
            return occurs[0], occurs[1], about or TEXT
        for who, after in self.find_subjects(at, about):
            got = self.read_predicate(after, who)
            if got:
                return got[0], got[1], who
        if several := self.read_columns_predicate(at):
            return several[0], several[1], about
        self.cursor.record_failure(
            at, f"no condition of the grammar begins at {self.cursor.quote_from(at)}"
        )
        return None

    def find_subjects(self, at: int, about: Subject | None) -> list[tuple[Subject, int]]:
        """Return the possible subjects of a condition, each with the position of its verb.

        `about` is the subject of the previous condition, to which a pronoun may refer.
        """
        found: list[tuple[Subject, int]] = []
        if named := read_subject(self.cursor, at):
            found.append(named)
        noun = self.cursor.skip_determiner(at)
        if self.cursor.word(noun) in words.ENTITIES:  # "they applied …"
            found.append((ROW, noun + 1))
        if about is not None:
            found += [(about, noun + (self.cursor.word(noun) in words.PRONOUNS)), (about, at)]
        return found

    def read_columns_predicate(self, at: int) -> Parsed[Condition]:
        """Read one predicate about several columns, such as "math and science are both A"."""
        cursor = self.cursor
        neither = cursor.word(at) == "neither"
        at = cursor.skip_words(at, "both", "either", "neither")
        columns: list[str] = []
        links: set[str] = set()
        while True:
            at = cursor.skip_determiner(at)
            stop = at
            while cursor.kind(stop) in ("word", "name") and cursor.word(stop) not in (
                words.VERBS | words.ENDS | {"nor"}
            ):
                stop += 1
            said = [piece.text for piece in cursor.pieces[at:stop]]
            column = cursor.naming.find_column(said) if said else None
            if column is None:
                return None
            columns.append(column)
            at = stop + (cursor.word(stop) == ",")
            if cursor.word(at) in ("and", "or", "nor"):
                links.add(cursor.word(at))
                at += 1
            elif at == stop:
                break
        be = cursor.read_be(at)
        joined = {"nor"} if neither else {"and"} if "and" in links else {"or"}
        if len(set(columns)) < 2 or links != joined or be is None or be[0]:
            return None
        start = cursor.skip_words(be[1], "both", "all", "each")
        got = [read_column_comparison(cursor, start, column) for column in columns]
        parts = tuple(one[0] for one in got if one)
        if len(parts) < len(columns) or len({one[1] for one in got if one}) != 1 or got[0] is None:
            return None
        condition = AllOf(parts) if "and" in links else AnyOf(parts)
        return (Not(condition) if neither else condition), got[0][1]

    def read_predicate(self, at: int, who: Subject) -> Parsed[Condition]:
        """Read a predicate about the subject `who`, beginning with its verb."""
        denied = self.cursor.match_phrase(at, words.DENIES)
        got = self.read_affirmative(denied[1] if denied else at, who)
        if got and denied and self.cursor.word(at) in words.DO:
            self.denied.add(got[1])
        negative = words.WITHOUT | words.IS_NOT | {"no", "not", "never", "neither"}
        if (
            got
            and who.kind == "row"
            and (denied or any(self.cursor.word(n) in negative for n in range(at, got[1])))
        ):
            self.denied_nouns.add(got[1])
        return got and ((Not(got[0]) if denied else got[0]), got[1])

    def read_affirmative(self, at: int, who: Subject) -> Parsed[Condition]:
        """Read a predicate about the subject `who` that is not negated."""
        text = who.column
        if who.kind == "column" and (found := read_column_condition(self.cursor, at, text)):
            return found
        if who.kind == "row":
            if got := read_row_condition(self.cursor, at):
                return got
            if len(self.cursor.texts) != 1:
                return None
        got = text_conditions.read_edge(self.cursor, at, text) or text_conditions.read_mention(
            self.cursor, at, text
        )
        got = got or text_conditions.read_length(self.cursor, at, text)
        return got or (read_column_condition(self.cursor, at, text) if text else None)
