"""Rules: hypotheses about labelled text that can be executed without a model.

    rule = compile_sentence('If the text mentions "luxur*", the label is deceptive.', public)
    rule.codes(PreparedRows(rows, public))     # label indices, -1 where the rule does not apply

`compile_sentence` is defined in sentence_rules/sentence_compiler.py. Rules may also be constructed
directly; `to_text()` returns a sentence that compiles to the same rule. The grammar is described in
docs/reference/exact-sentences.md and does not cover meaning. A sentence about tone, topic or style
compiles to `NotExact`, and a model has to judge it.
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
    """A clause that gives a label to the rows for which its condition holds."""

    condition: Condition
    label: str

    def codes(self, rows: PreparedRows) -> Codes:
        """Return the label index of each of n rows, of shape (n,); -1 where the condition fails."""
        label = np.int64(rows.label_index(self.label))
        return np.where(self.condition.holds(rows), label, np.int64(NOT_APPLICABLE))

    def to_text(self) -> str:
        """Return the clause in words."""
        return f"if {self.condition.to_text()}, the label is {quote(self.label)}"


@dataclass(frozen=True)
class PreferenceClause:
    """A clause that says which text of a pair wins.

    If `by` is a quantity, the text with more of it wins. With `fewer`, the text with less wins. If
    `by` is a condition, the text wins that fulfils the condition when the other text does not. The
    clause does not apply if both texts are equal in this respect. Swapping the texts swaps the
    labels.

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
        """Return the label index of each of n rows, of shape (n,); -1 where neither text wins.

        Raises:
            UsageError: The rows are not pairs of texts.
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
    """A list of clauses, of which the first clause that applies gives the label.

    If no clause applies, the label is `otherwise`. If `otherwise` is None, the rule does not apply.

    Raises:
        UsageError: There is no clause.
    """

    clauses: tuple[Clause, ...]
    otherwise: str | None = None

    def __post_init__(self) -> None:
        if not self.clauses:
            raise UsageError("a rule needs a clause")

    def codes(self, rows: PreparedRows) -> Codes:
        """Return the label index of each of n rows, int64 of shape (n,).

        The indices refer to `rows.labels`. The value is -1 where the rule does not apply.

        Raises:
            UsageError: The rule names a label or column that the rows do not have.
        """
        rest = NOT_APPLICABLE if self.otherwise is None else rows.label_index(self.otherwise)
        codes = np.full(len(rows), NOT_APPLICABLE, np.int64)
        for clause in self.clauses:
            codes = np.where(codes == NOT_APPLICABLE, clause.codes(rows), codes)
        return np.where(codes == NOT_APPLICABLE, np.int64(rest), codes)

    def to_text(self) -> str:
        """Return a canonical sentence that compiles to an equal rule."""
        parts = [clause.to_text() for clause in self.clauses]
        if self.otherwise is not None:
            parts.append(f"otherwise, the label is {quote(self.otherwise)}")
        text = "; ".join(parts)
        return f"{text[0].upper()}{text[1:]}."


@dataclass(frozen=True)
class NotExact:
    """The result of compiling a sentence that is not an exact rule, with the reason."""

    reason: str
