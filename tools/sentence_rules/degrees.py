"""Degrees of exact rules: not only which label a rule gives, but how strongly it favours the label.

    rule_degrees(rule, rows)      # float64 of shape (n,), or None for a rule without degrees

A rule has degrees if its first clause is a single comparison of amounts in texts, and if a second
clause, if there is one, only states the opposite. A rule that compares numbers in columns has no
degrees, because the sentence names the number at which the label changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .conditions import Comparison, Condition, MoreThan, Not
from .prepared_rows import PreparedRows
from .quantities import Count, Length, Measure, MentionedEntries, Quantity
from .rules import ConditionClause, PreferenceClause, Rule

Grades = NDArray[np.float64]
SIGNS = {"at least": 1.0, "more than": 1.0, "at most": -1.0, "less than": -1.0}


def rule_degrees(rule: Rule, rows: PreparedRows) -> Grades | None:
    """Return how strongly a rule favours a label in each of n rows, float64 of shape (n,).

    Larger values favour the label of the first clause. If the rule prefers one text of a pair,
    larger values favour the first text. The result is None for a rule without degrees.
    """
    first = rule.clauses[0]
    if len(rule.clauses) > 2 or (len(rule.clauses) == 2 and not _turned(*rule.clauses)):
        return None
    if isinstance(first, ConditionClause):
        return _of_condition(first.condition, rows, "")
    if len(rows.texts) != 2:
        return None
    one, two = (_of_preference(first, rows, text) for text in rows.texts)
    return None if one is None or two is None else one - two


def amount_degrees(measure: Measure, rows: PreparedRows, text: str = "") -> Grades:
    """Return an amount in each of n texts, scaled so that differences are comparable.

    The square root is taken of counts, shares and lengths, because they have long-tailed
    distributions. The number of mentioned terms is not changed.

    Args:
        measure: The amount to measure.
        rows: The rows.
        text: The text column; "" for the only text column.

    Returns:
        A float64 array of shape (n,).
    """
    values = measure.values(rows, text)
    return values if isinstance(measure, MentionedEntries) else np.sqrt(values)


def _turned(
    first: ConditionClause | PreferenceClause, second: ConditionClause | PreferenceClause
) -> bool:
    """Return whether the second clause is the reverse of the first: more of A, more of B."""
    if not (isinstance(first, ConditionClause) and isinstance(second, ConditionClause)):
        return False
    one, two = first.condition, second.condition
    if not (isinstance(one, MoreThan) and isinstance(two, MoreThan)) or first.label == second.label:
        return False
    return (one.left, one.right) == (two.right, two.left)


def _of_preference(clause: PreferenceClause, rows: PreparedRows, text: str) -> Grades | None:
    if isinstance(clause.by, MentionedEntries | Count | Length):
        values = amount_degrees(clause.by, rows, text)
        return -values if clause.fewer else values
    return _of_condition(clause.by, rows, text)


def _of_condition(condition: Condition, rows: PreparedRows, text: str) -> Grades | None:
    match condition:
        case Not(part):
            inner = _of_condition(part, rows, text)
            return None if inner is None else -inner
        case Comparison(quantity, relation, _) if relation in SIGNS:
            values = _of_text(quantity, rows, text)
            return None if values is None else SIGNS[relation] * values
        case MoreThan(left, right):
            one, two = _of_text(left, rows, text), _of_text(right, rows, text)
            return None if one is None or two is None else one - two
    return None


def _of_text(quantity: Quantity, rows: PreparedRows, text: str) -> Grades | None:
    return (
        amount_degrees(quantity, rows, text)
        if isinstance(quantity, MentionedEntries | Count | Length)
        else None
    )
