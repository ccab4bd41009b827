"""The columns that a rule reads, whether it measures length, and the rows whose label depends on a missing value.

A missing value fulfils no comparison (conditions.py). Therefore the rule "if A is at most 4, the
label is no; otherwise, yes" gives a row without A the label yes, and the equivalent rule "if A is
more than 4, the label is yes; otherwise, no" gives it the label no. `missing_value_marks` finds
such rows: it evaluates the conditions in three-valued logic, in which a comparison with a missing
value may hold or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields, is_dataclass

import numpy as np
from numpy.typing import NDArray

from .conditions import AllOf, AnyOf, Begins, Between, Comparison, Condition, IsOneOf, MoreThan, Not
from .prepared_rows import PreparedRows
from .quantities import ColumnNumber, Count, Length, MentionedEntries, Quantity
from .rules import NOT_APPLICABLE, ConditionClause, Rule

Marks = NDArray[np.bool_]
ConditionPart = Condition | Quantity


def rule_columns(rule: Rule, texts: tuple[str, ...]) -> set[str]:
    """Return the names of the columns that a rule reads.

    Args:
        rule: The rule.
        texts: The names of the text columns of the problem, as `find_text_columns` returns them.
    """
    found: set[str] = set()
    for clause in rule.clauses:
        if isinstance(clause, ConditionClause):
            found.update(_columns(clause.condition, "".join(texts[:1])))
        else:
            found.update(*(_columns(clause.by, text) for text in texts))
    return found


def rule_uses_length(rule: Rule) -> bool:
    """Return whether a rule compares the length of a text."""
    return any(map(_uses_length, rule.clauses))


def _uses_length(part: object) -> bool:
    if isinstance(part, tuple):
        return any(map(_uses_length, part))
    if isinstance(part, Length):
        return True
    return is_dataclass(part) and any(_uses_length(getattr(part, one.name)) for one in fields(part))


def missing_value_marks(rule: Rule, rows: PreparedRows, columns: Collection[str]) -> Marks:
    """Return for which of n rows the label depends on a missing value, bool of shape (n,).

    Args:
        rule: The rule.
        rows: The rows.
        columns: The columns whose missing values may stand for any value. In other columns, a
            missing value fulfils no comparison.
    """
    is_possible = np.zeros((len(rows.labels) + 1, len(rows)), np.bool_)  # last: does not apply
    is_open = np.ones(len(rows), np.bool_)
    for clause in rule.clauses:
        if isinstance(clause, ConditionClause):
            surely, perhaps = _bounds(clause.condition, rows, "", columns)
            is_possible[rows.label_index(clause.label)] |= is_open & perhaps
        else:
            codes = clause.codes(rows)
            is_unknown = _any_missing(rows, rule_columns(Rule((clause,)), rows.texts), columns)
            for code in rows.sides or ():
                is_possible[code] |= is_open & (is_unknown | (codes == code))
            surely = ~is_unknown & (codes != NOT_APPLICABLE)
        is_open &= ~surely
    is_possible[-1 if rule.otherwise is None else rows.label_index(rule.otherwise)] |= is_open
    found: Marks = is_possible.sum(axis=0) > 1
    return found


def _bounds(
    condition: Condition, rows: PreparedRows, text: str, columns: Collection[str]
) -> tuple[Marks, Marks]:
    """Return in which rows a condition holds surely, and in which it holds perhaps."""
    match condition:
        case Not(part):
            surely, perhaps = _bounds(part, rows, text, columns)
            return ~perhaps, ~surely
        case AllOf(parts) | AnyOf(parts):
            join = np.logical_and if isinstance(condition, AllOf) else np.logical_or
            both = [_bounds(part, rows, text, columns) for part in parts]
            return join.reduce([one for one, _ in both]), join.reduce([one for _, one in both])
        case Comparison() | Between() | MoreThan() | Begins() | IsOneOf():
            holds = condition.holds(rows, text)
            read = _columns(condition, text or "".join(rows.texts[:1]))
            is_unknown = _any_missing(rows, read, columns)
            return holds & ~is_unknown, holds | is_unknown
    holds = condition.holds(rows, text)
    return holds, holds


def _any_missing(rows: PreparedRows, read: Iterable[str], columns: Collection[str]) -> Marks:
    marks = np.zeros(len(rows), np.bool_)
    for name in sorted({*read} & {*columns}):
        marks |= rows.missing_mask(name)
    return marks


def _columns(part: ConditionPart, text: str) -> Iterator[str]:
    """Yield the columns that a condition or a quantity reads; `text` is the text it refers to."""
    match part:
        case Not(inner):
            yield from _columns(inner, text)
        case AllOf(parts) | AnyOf(parts):
            for one in parts:
                yield from _columns(one, text)
        case Comparison(quantity) | Between(quantity):
            yield from _columns(quantity, text)
        case MoreThan(left, right):
            yield from _columns(left, text)
            yield from _columns(right, text)
        case Begins() | MentionedEntries() | Count() | Length():
            yield part.text or text
        case ColumnNumber(column):
            yield column
        case _:
            yield part.column
