"""Whole sentences: clauses in order, each a condition with a label or a text that wins, and what is
said otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from ...records import Json, UsageError
from .columns import text_columns
from .conditions import Condition, Not
from .lexing import MOST_CHARACTERS, pieces
from .naming import Naming
from .outcomes import Outcomes
from .phrases import LONGER, OCCURRENCES, UNITS, phrases, words
from .quantities import Count, Length, Listed, Number, Quantity
from .reading import Reader, Subject
from .rules import Clause, NotExact, Prefer, Rule, When

IF = words("if when whenever where")
ELSE = phrases({"otherwise": True, "else": True, "if not": True, "in all other cases": True})
MORE = phrases(
    {"more|the most|most|higher|greater": False, "fewer|less|the fewest|fewest|the least": True}
)


def read_sentence(sentence: str, public: Mapping[str, Json]) -> Rule | NotExact:
    if len(sentence) > MOST_CHARACTERS:
        return NotExact(f"a sentence of more than {MOST_CHARACTERS} characters")
    try:
        return Sentence(sentence, public).read()
    except UsageError as error:
        return NotExact(str(error))


class Sentence:
    def __init__(self, sentence: str, public: Mapping[str, Json]) -> None:
        self.pieces = pieces(sentence)
        self.texts = text_columns(public)
        self.outcomes = Outcomes(tuple(public["labels"]), public.get("shape") == "pair")
        self.reader = Reader(self.pieces, public, self.texts, Naming(public["columns"]))
        self.pair = self.reader.pair

    def read(self) -> Rule | NotExact:
        clauses: list[Clause] = []
        otherwise: str | None = None
        at = self.between(0)
        while at < len(self.pieces):
            other = self.reader.one_of(at, ELSE)
            if other:
                at = self.reader.skip(other[1], frozenset({","}))
            got = self.clause(at)
            if got:
                clauses.append(got[0])
                at = got[1]
            elif other and otherwise is None:
                end = self.stop(at)
                otherwise = self.outcomes.label(self.pieces[at:end])
                if otherwise is None:
                    return NotExact(f"no label in {self.reader.near(at)}")
                at = end
                if self.between(at) < len(self.pieces):
                    return NotExact(f"after 'otherwise' there is more: {self.reader.near(at)}")
            else:
                return self.refused(at)
            at = self.between(at)
        if not clauses:
            return self.refused(0)
        return self.checked(Rule(tuple(clauses), otherwise))

    def refused(self, at: int) -> NotExact:
        reasons = self.reader.reasons
        where = max(reasons, default=-1)
        return NotExact(
            reasons[where] if where >= 0 else f"no rule begins at {self.reader.near(at)}"
        )

    def checked(self, rule: Rule) -> Rule | NotExact:
        return rule

    def between(self, at: int) -> int:
        at = self.reader.skip(at, frozenset({";", ".", ",", "and", "but", "!"}))
        return at

    def stop(self, at: int) -> int:
        """Where an outcome ends."""
        while at < len(self.pieces):
            if self.reader.word(at) in (";", ".") or self.reader.word(at) in IF:
                return at
            if self.reader.one_of(at, ELSE):
                return at
            at += 1
        return at

    def clause(self, at: int) -> tuple[Clause, int] | None:
        if self.reader.word(at) in IF:
            return self.conditional(at)
        end = self.stop(at)
        if self.reader.word(end) in IF:
            return self.turned(at, end)
        if self.pair and (got := self.winner(at, end)):
            return got
        return self.described(at, end)

    def conditional(self, at: int) -> tuple[Clause, int] | None:
        """if CONDITION[,] [then] OUTCOME"""
        got = self.reader.condition(at + 1, None)
        if got is None:
            return None
        after = self.reader.skip(got[1], frozenset({",", "then"}))
        end = self.stop(after)
        label = self.outcomes.label(self.pieces[after:end])
        if label is None:
            self.reader.fail(got[1], f"no label in {self.reader.near(got[1])}")
            return None
        return When(got[0], label), end

    def turned(self, at: int, end: int) -> tuple[Clause, int] | None:
        """OUTCOME if CONDITION"""
        label = self.outcomes.label(self.pieces[at:end])
        if label is None:
            self.reader.fail(at, f"no label in {self.reader.near(at)}")
            return None
        got = self.reader.condition(end + 1, None)
        if got is None:
            return None
        return When(got[0], label), got[1]

    def winner(self, at: int, end: int) -> tuple[Clause, int] | None:
        """the text with more words wins"""
        reader = self.reader
        start = at + (reader.word(at) in ("the", "a"))
        by: Quantity | Condition | None = None
        fewer = False
        longer = reader.one_of(start, LONGER)
        if longer:
            after = reader.skip(
                longer[1], frozenset({"text", "one", "headline", "tweet", "argument"})
            )
            by, fewer = Length("words"), not longer[0]
        else:
            after = start + 1
            if reader.word(after) == "with" and (more := reader.one_of(after + 1, MORE)):
                got = self.amount(more[1])
                if got is None:
                    return None
                by, after, fewer = got[0], got[1], more[0]
            elif reader.starts(after, "for", "which") is not None:
                condition = reader.condition(after + 2, Subject("text"))
                if condition is None:
                    return None
                by, after = condition[0], condition[1]
            elif reader.word(after) in ("that", "which", "with"):
                verb = after if reader.word(after) == "with" else after + 1
                more = reader.one_of(verb + 1, MORE)
                got = more and self.amount(more[1], reader.word(verb + 2) == "of")
                longer = reader.one_of(verb + 1, LONGER)
                if more and got and reader.word(got[1]) != "than":
                    by, after, fewer = got[0], got[1], more[0]
                elif longer and reader.word(longer[1]) != "than":
                    by, after, fewer = Length("words"), longer[1], not longer[0]
                else:
                    condition = reader.condition(verb, Subject("text"))
                    if condition is None:
                        return None
                    by, after = condition[0], condition[1]
            else:
                return None
        wins = self.outcomes.wins(self.pieces[after:end])
        if wins is None:
            reader.fail(after, f"who wins? {reader.near(after)}")
            return None
        if not wins:
            if isinstance(by, Listed | Count | Length):
                fewer = not fewer
            elif not isinstance(by, Number):
                by = Not(by)
        return Prefer(by, fewer), end

    def amount(self, at: int, of: bool = False) -> tuple[Quantity, int] | None:
        """What there is more of: words; occurrences of A; of A."""
        reader = self.reader
        if of:
            listed = reader.listed(at + 1, loose=True)
            return listed and (Listed(listed[0]), listed[1])
        if mark := reader.mark(at):
            share = reader.share(mark[1])
            return Count((mark[0],), share is not None), share or mark[1]
        if unit := reader.one_of(at, UNITS):
            return Length(reader.unit_of(unit[0])), unit[1]
        got = reader.one_of(at, OCCURRENCES)
        listed = reader.listed(got[1] if got else at, loose=bool(got))
        if listed is None:
            return None
        share = reader.share(listed[1])
        return Count(listed[0], share is not None), share or listed[1]

    def described(self, at: int, end: int) -> tuple[Clause, int] | None:
        """texts that mention A are LABEL"""
        return None
