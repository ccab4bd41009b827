"""Conditions with and, or, not and brackets, read by descent; "and" binds closer than "or".

What stands at one place about one subject is read once, so time grows with the length of a sentence.
"""

from __future__ import annotations

from typing import TypeAlias

from ...records import UsageError
from . import fields, texts
from . import phrases as words
from .conditions import AllOf, AnyOf, Condition, Not
from .cursor import Cursor, Got
from .fields import counted
from .subjects import ROW, Subject, subject

DEEPEST = 40  # brackets and denials within each other

Read: TypeAlias = "tuple[Condition, int, Subject | None] | None"  # and whom "it" means from there


class Reader:
    """Reads conditions at any place of one sentence."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.seen: dict[tuple[int, Subject | None], Read] = {}
        self.depth = 0
        self.denied: set[int] = set()  # where a predicate with "does not" ends

    def condition(self, at: int, about: Subject | None = None) -> Read:
        """about: whom a predicate without a subject is about."""
        return self.joined(at, about, "or")

    def joined(self, at: int, about: Subject | None, by: str) -> Read:
        parts: list[Condition] = []
        end = at
        at = self.cursor.skip(at, "either", "both")
        while True:
            got = self.joined(at, about, "and") if by == "or" else self.unit(at, about)
            if got is None:
                break
            parts.append(got[0])
            end, about = got[1], got[2]
            after = self.cursor.skip(end, ",")
            link = self.cursor.word(after)
            if link != by and not (by == "and" and link == "but"):
                break
            if link != "but" and end in self.denied and self.cursor.word(after + 1) in words.BARE:
                self.cursor.fail(end, f"is that denied too? {self.cursor.near(after)}")
                return None
            at = self.cursor.skip(
                after + 1, ",", "also", "if", "when", "that", "additionally", "either"
            )
        if not parts:
            return None
        if len(parts) == 1:
            return parts[0], end, about
        return (AllOf(tuple(parts)) if by == "and" else AnyOf(tuple(parts))), end, about

    def unit(self, at: int, about: Subject | None) -> Read:
        key = (at, about)
        if key not in self.seen:
            self.seen[key] = None
            self.depth += 1
            if self.depth > DEEPEST:
                self.cursor.fail(at, f"conditions nested more than {DEEPEST} deep")
            else:
                self.seen[key] = self.fresh_unit(at, about)
            self.depth -= 1
        return self.seen[key]

    def fresh_unit(self, at: int, about: Subject | None) -> Read:
        for denial in (("it", "is", "not", "the", "case", "that"), ("not",)):
            after = self.cursor.starts(at, *denial)
            if after is not None:
                got = self.unit(after, about)
                return got and (Not(got[0]), got[1], got[2])
        if self.cursor.word(at) == "(":
            got = self.condition(at + 1, about)
            closed = got is not None and self.cursor.word(got[1]) == ")"
            return (got[0], got[1] + 1, got[2]) if got and closed else None
        return self.atom(at, about)

    def atom(self, at: int, about: Subject | None) -> Read:
        try:
            return self.single(at, about)
        except UsageError as error:
            self.cursor.fail(at, str(error))
            return None

    def single(self, at: int, about: Subject | None) -> Read:
        number = counted(self.cursor, at)
        if number:
            return number[0], number[1], about
        for who, after in self.subjects(at, about):
            got = self.predicate(after, who)
            if got:
                return got[0], got[1], who
        self.cursor.fail(at, f"no condition of the grammar begins at {self.cursor.near(at)}")
        return None

    def subjects(self, at: int, about: Subject | None) -> list[tuple[Subject, int]]:
        """Whom the condition may be about, with the place of its verb."""
        found: list[tuple[Subject, int]] = []
        if named := subject(self.cursor, at):
            found.append(named)
        noun = self.cursor.determiner(at)
        if self.cursor.word(noun) in words.ENTITIES:  # they applied …
            found.append((ROW, noun + 1))
        if about is not None:
            found += [(about, noun + (self.cursor.word(noun) in words.PRONOUNS)), (about, at)]
        return found

    def predicate(self, at: int, who: Subject) -> Got[Condition]:
        """What is said of a subject, from its verb on."""
        denied = self.cursor.one_of(at, words.DENIES)
        got = self.asserted(denied[1] if denied else at, who)
        if got and denied:
            self.denied.add(got[1])
        return got and ((Not(got[0]) if denied else got[0]), got[1])

    def asserted(self, at: int, who: Subject) -> Got[Condition]:
        text = who.column
        if who.kind == "row":
            if got := fields.row(self.cursor, at):
                return got
            if len(self.cursor.texts) != 1:
                return None
        got = texts.edge(self.cursor, at, text) or texts.speaking(self.cursor, at, text)
        got = got or texts.length(self.cursor, at, text)
        return got or (fields.field(self.cursor, at, text) if text else None)
