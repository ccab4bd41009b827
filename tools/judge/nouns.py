"""Quantities by name ("the number of words in the text") and what is said of them."""

from __future__ import annotations

from . import phrases as words
from .conditions import Condition, More, Not
from .cursor import Cursor, Got
from .lists import listed, mark
from .quantities import Count, Length, Listed, Number, Quantity
from .subjects import inside
from .terms import Term


def counted(cursor: Cursor, at: int) -> Got[Condition]:
    """ "the number of words in the text is at least 3"."""
    if cursor.starts(at, "the", "number", "of") is None:
        return None
    left = noun(cursor, at)
    if left is None or cursor.word(left[1]) not in words.IS:
        return None
    at = left[1] + 1
    no = cursor.word(at) == "not"
    got = against(cursor, at + no, left[0])
    return got and ((Not(got[0]) if no else got[0]), got[1])


def against(cursor: Cursor, at: int, quantity: Quantity) -> Got[Condition]:
    """A quantity against a number or another quantity."""
    bound = cursor.bound(at)
    if bound and cursor.percent(at, bound[1]) and not isinstance(quantity, Number):
        return None
    if bound:
        return bound[0].of(quantity), bound[1]
    relation = cursor.one_of(at, words.BOUNDS)
    if relation is None or relation[0] not in ("more than", "less than"):
        return None
    other = noun(cursor, relation[1])
    if other is None:
        return None
    more = relation[0] == "more than"
    return (More(quantity, other[0]) if more else More(other[0], quantity)), other[1]


def noun(cursor: Cursor, at: int) -> Got[Quantity]:
    after = cursor.starts(at, "the", "number", "of")
    if after is None:
        column = cursor.numbers(cursor.determiner(at))
        return column and (Number(column[0]), column[1])
    unit = cursor.one_of(after, words.UNITS)
    entries = cursor.starts(after, "entries", "of")
    occurrences = cursor.one_of(after, words.OCCURRENCES)
    terms: Got[tuple[Term, ...]] = None
    if named := mark(cursor, after):
        terms = (named[0],), named[1]
    elif unit:
        text = inside(cursor, unit[1])
        return text and (Length(unit[0], text[0]), text[1])
    elif entries is not None:
        terms = listed(cursor, entries, announced=True)
        text = terms and inside(cursor, terms[1])
        return text and terms and (Listed(terms[0], text[0]), text[1])
    elif occurrences:
        terms = listed(cursor, occurrences[1], announced=True)
    if terms is None:
        column = cursor.numbers(after)
        return column and (Number(column[0]), column[1])
    share = cursor.share(terms[1])
    text = inside(cursor, share or terms[1])
    return text and (Count(terms[0], share is not None, text[0]), text[1])
