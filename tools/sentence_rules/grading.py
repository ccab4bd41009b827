"""How strongly an exact rule speaks, where it compares amounts: not only that a text mentions more of
one list than of another, but how many more.

    graded(rule, rows)      # (n,) floats, or None of a rule that holds or does not

A rule is graded where its first clause is one comparison of amounts of texts, and whatever follows
says nothing else. Numbers in columns are not graded: a sentence names a bound because the label
changes there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .conditions import Compare, Condition, More, Not
from .prepared import Prepared
from .quantities import Count, Length, Listed, Measure, Quantity
from .rules import Prefer, Rule, When

Grades = NDArray[np.float64]
SIGNS = {"at least": 1.0, "more than": 1.0, "at most": -1.0, "less than": -1.0}


def graded(rule: Rule, rows: Prepared) -> Grades | None:
    """float64 (n,): the more, the more the rule speaks for the label of its first clause, and for the
    first text of a pair where it prefers one. None of a rule that has no degrees."""
    first = rule.clauses[0]
    if len(rule.clauses) > 2 or (len(rule.clauses) == 2 and not _turned(*rule.clauses)):
        return None
    if isinstance(first, When):
        return _of_condition(first.condition, rows, "")
    if len(rows.texts) != 2:
        return None
    one, two = (_of_preference(first, rows, text) for text in rows.texts)
    return None if one is None or two is None else one - two


def degree(measure: Measure, rows: Prepared, text: str = "") -> Grades:
    """The amount as degrees: the root of counts, shares and lengths, which have long tails; mentioned
    entries of a list as they are."""
    values = measure.values(rows, text)
    return values if isinstance(measure, Listed) else np.sqrt(values)


def _turned(first: When | Prefer, second: When | Prefer) -> bool:
    """Whether the second clause is the first one the other way round: more of A, more of B."""
    if not (isinstance(first, When) and isinstance(second, When)):
        return False
    one, two = first.condition, second.condition
    if not (isinstance(one, More) and isinstance(two, More)) or first.label == second.label:
        return False
    return (one.left, one.right) == (two.right, two.left)


def _of_preference(clause: Prefer, rows: Prepared, text: str) -> Grades | None:
    if isinstance(clause.by, Listed | Count | Length):
        values = degree(clause.by, rows, text)
        return -values if clause.fewer else values
    return _of_condition(clause.by, rows, text)


def _of_condition(condition: Condition, rows: Prepared, text: str) -> Grades | None:
    match condition:
        case Not(part):
            inner = _of_condition(part, rows, text)
            return None if inner is None else -inner
        case Compare(quantity, relation, _) if relation in SIGNS:
            values = _of_text(quantity, rows, text)
            return None if values is None else SIGNS[relation] * values
        case More(left, right):
            one, two = _of_text(left, rows, text), _of_text(right, rows, text)
            return None if one is None or two is None else one - two
    return None


def _of_text(quantity: Quantity, rows: Prepared, text: str) -> Grades | None:
    return degree(quantity, rows, text) if isinstance(quantity, Listed | Count | Length) else None
