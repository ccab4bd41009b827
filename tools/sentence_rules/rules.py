"""Rules: hypotheses about labelled text that can be executed.

    rule = compile_sentence('If the text mentions "luxur*", the label is deceptive.', public)
    rule.codes(Prepared(rows, public))     # label indices, -1 where the sentence does not apply

`compile_sentence` is defined in sentence_rules/sentence_compiler.py. Rules may also be constructed
directly; `written()` returns the sentence that compiles to the same rule. The grammar is described
in docs/reference/exact-sentences.md. It does not cover meaning: a sentence about tone, topic or style compiles to
`NotExact`, and a model has to judge it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...records import UsageError
from .conditions import AllOf, AnyOf, Condition
from .prepared_rows import PreparedRows
from .quantities import Count, Length, Measure, MentionedEntries
from .wording import format_terms, quote

Codes = NDArray[np.int64]
NOT_APPLICABLE = -1


@dataclass(frozen=True)
class ConditionClause:
    """A clause that gives a label if its condition holds."""

    condition: Condition
    label: str

    def codes(self, rows: PreparedRows) -> Codes:
        """Return the label index of each row, (n,), -1 where the condition does not hold."""
        label = np.int64(rows.label_index(self.label))
        return np.where(self.condition.holds(rows), label, np.int64(NOT_APPLICABLE))

    def to_text(self) -> str:
        """Return the clause in words."""
        return f"if {self.condition.to_text()}, the label is {quote(self.label)}"


@dataclass(frozen=True)
class PreferenceClause:
    """A clause by which one of two texts wins.

    The text with more of a quantity wins (with `fewer`, the text with less), or the one that alone
    fulfils a condition. The clause does not apply if both texts are equal in this. Swapping the
    texts swaps the labels.

    Raises:
        UsageError: `fewer` is used with a condition, or the quantity names one of the texts.
    """

    by: Measure | Condition
    fewer: bool = False

    def __post_init__(self) -> None:
        measure = isinstance(self.by, MentionedEntries | Count | Length)
        if self.fewer and not measure:
            raise UsageError("fewer of a condition is nothing; deny it with Not")
        if isinstance(self.by, MentionedEntries | Count | Length) and self.by.text:
            raise UsageError(f"each of the two texts is measured, not {self.by.text!r} alone")

    def codes(self, rows: PreparedRows) -> Codes:
        """Return the label index of each row, (n,), -1 where neither text wins.

        Raises UsageError if the rows are not pairs of texts.
        """
        if len(rows.texts) != 2 or rows.sides is None:
            raise UsageError("the text that wins is one of a pair: these rows are none")
        first, second = (
            self.by.values(rows, text)
            if isinstance(self.by, MentionedEntries | Count | Length)
            else self.by.holds(rows, text).astype(np.float64)
            for text in rows.texts
        )
        if self.fewer:
            first, second = second, first
        codes = np.full(len(rows), NOT_APPLICABLE, np.int64)
        codes[first > second] = rows.sides[0]
        codes[second > first] = rows.sides[1]
        return codes

    def to_text(self) -> str:
        """Return the clause in words."""
        more = "fewer" if self.fewer else "more"
        match self.by:
            case Length(unit):
                return f"the text with {more} {unit} wins"
            case Count(terms, share):
                per = " per 100 words" if share else ""
                return f"the text with {more} occurrences of {format_terms(terms)}{per} wins"
            case MentionedEntries(terms):
                return f"the text that mentions {more} of {format_terms(terms)} wins"
        told = self.by.to_text()
        if isinstance(self.by, AllOf | AnyOf) or not told.startswith("the text "):
            return f"the text for which ({told}) wins"
        return f"the text that {told.removeprefix('the text ')} wins"


Clause: TypeAlias = ConditionClause | PreferenceClause


@dataclass(frozen=True)
class Rule:
    """A rule: a list of clauses, of which the first that applies gives the label.

    If no clause applies, the label is `otherwise`, if it is set. Raises UsageError without a
    clause.
    """

    clauses: tuple[Clause, ...]
    otherwise: str | None = None

    def __post_init__(self) -> None:
        if not self.clauses:
            raise UsageError("a rule needs a clause")

    def codes(self, rows: PreparedRows) -> Codes:
        """Return indices into `rows.labels`, int64 (n,), -1 where the rule does not apply.

        Raises UsageError for a label or column that the rows do not have.
        """
        rest = NOT_APPLICABLE if self.otherwise is None else rows.label_index(self.otherwise)
        codes = np.full(len(rows), NOT_APPLICABLE, np.int64)
        for clause in self.clauses:
            codes = np.where(codes == NOT_APPLICABLE, clause.codes(rows), codes)
        return np.where(codes == NOT_APPLICABLE, np.int64(rest), codes)

    def to_text(self) -> str:
        """Return the rule as a canonical sentence, which compiles to an equal rule."""
        parts = [clause.to_text() for clause in self.clauses]
        if self.otherwise is not None:
            parts.append(f"otherwise, the label is {quote(self.otherwise)}")
        text = "; ".join(parts)
        return f"{text[0].upper()}{text[1:]}."


@dataclass(frozen=True)
class NotExact:
    """The result for a sentence outside the grammar: the reason why the sentence is not an exact
    rule.
    """

    reason: str
