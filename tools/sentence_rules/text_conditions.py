"""Functions that read a condition on a text, beginning with its verb.

Every reading function takes the position `at` in the sentence. It returns the parsed object and the
position after it, or None if the words at `at` do not match. `text` is the text column that the
condition is about, or "" for "the text".
"""

from __future__ import annotations

from . import vocabulary as words
from .conditions import Begins, Comparison, Condition, MoreThan, Not, mentions
from .cursor import Bound, Cursor, Parsed
from .quantities import Count, Length, Measure, MentionedEntries
from .subjects import read_text
from .term_lists import read_list, read_mark
from .terms import Term


def read_edge(cursor: Cursor, at: int, text: str) -> Parsed[Condition]:
    """Read "starts with" or "ends with" and a list of terms."""
    got = cursor.match_phrase(at, words.STARTS)
    terms = got and read_list(cursor, got[1])
    return got and terms and (Begins(terms[0], text, got[0]), terms[1])


def read_mention(cursor: Cursor, at: int, text: str) -> Parsed[Condition]:
    """Read "mentions", "contains" or "has" with a list of terms, a count or a comparison."""
    verb = cursor.word(at)
    if verb == "no":
        return read_mentioned(cursor, at, text)
    if verb not in words.MENTION_VERBS | words.HAS | words.WITHOUT:
        return None
    gerund = verb == "without" and cursor.word(at + 1) in words.MENTION_VERBS | words.HAS
    got = read_mentioned(cursor, at + 1 + gerund, text)
    return got and ((Not(got[0]) if verb in words.WITHOUT else got[0]), got[1])


def read_mentioned(cursor: Cursor, at: int, text: str) -> Parsed[Condition]:
    """Read what a text contains, after the verb: terms, a count of terms or a comparison."""
    neither = cursor.word(at) == "neither"
    no = neither or (cursor.word(at) == "no" and not cursor.match_phrase(at, words.BOUNDS))
    at += no
    if cursor.word(at) in ("more", "fewer", "less") and not no:
        got = read_amount_comparison(cursor, at, text)
        if got:
            return got
    several = cursor.match_phrase(at, words.ANY_OF)
    bound = None if no or several else cursor.read_bound(at)
    if bound and cursor.is_percentage(at, bound[1]):
        cursor.record_failure(at, f"a share of what? {cursor.quote_from(at)}")
        return None
    if bound:
        return read_bounded_amount(cursor, bound[1], bound[0], text)
    negative = ("not", "never", "doesn't", "don't", "didn't", *words.WITHOUT)
    denied_before = any(cursor.word(n) in negative for n in (at - 3, at - 2, at - 1))
    terms = read_list(
        cursor,
        several[1] if several else at,
        announced=several is not None,
        nor=no or denied_before,
    )
    if terms is None:
        return None
    every = several[0] == "all" if several else not no and is_joined_by_and(cursor, at, terms[1])
    times = None if several or no else cursor.read_times(terms[1])
    if times:
        return times[0].apply_to(Count(terms[0], text=text)), times[1]
    condition: Condition = mentions(terms[0], None if every else 1, text)
    denied = no or (several is not None and several[0] == "none")
    return (Not(condition) if denied else condition), terms[1]


def read_occurrence(cursor: Cursor, at: int) -> Parsed[Condition]:
    """Read that terms occur in a text.

    Examples are "the word "spa" appears in the text", and "there is no question mark".
    """
    if cursor.word(at) == "there":
        be = cursor.read_be(at + 1)
        if be is None:
            return None
        got = read_mentioned(cursor, be[1], "")
        return got and place_in_text(cursor, Not(got[0]) if be[0] else got[0], got[1])
    neither = cursor.word(at) == "neither"
    at += neither
    quoted = cursor.kind(cursor.skip_words(at, "the", *words.LIST_NOUNS)) == "quoted"
    terms = read_list(cursor, at, nor=neither) if quoted else None
    if terms is None:
        return None
    verb = cursor.match_phrase(terms[1], words.DENIES)
    be = None if verb else cursor.read_be(terms[1])
    after = verb[1] if verb else be[1] if be else terms[1]
    if cursor.word(after) not in (words.OCCURS_PASSIVE if be else words.OCCURS):
        return None
    every = is_joined_by_and(cursor, at, terms[1])
    condition: Condition = mentions(terms[0], None if every else 1)
    denied = verb is not None or (be is not None and be[0])
    if denied and neither:
        return None
    if denied or neither:
        condition = Not(condition)
    return place_in_text(cursor, condition, after + 1)


def place_in_text(cursor: Cursor, condition: Condition, at: int) -> Parsed[Condition]:
    """Read "in the text" after a condition on "the text"; other texts are not supported here."""
    if cursor.word(at) != "in":
        return condition, at
    text = read_text(cursor, at + 1)
    return (condition, text[1]) if text and not text[0] else None


def is_joined_by_and(cursor: Cursor, at: int, end: int) -> bool:
    """Return whether "and" or "both" occurs between the positions `at` and `end`."""
    return any(cursor.word(n) in ("and", "both") for n in range(at, end))


def read_bounded_amount(cursor: Cursor, at: int, bound: Bound, text: str) -> Parsed[Condition]:
    """Read the amount to which `bound` applies, such as the words after "has at least 3"."""
    terms: Parsed[tuple[Term, ...]]
    named = read_mark(cursor, at)
    unit = cursor.match_phrase(at, words.UNITS)
    occurrences = cursor.match_phrase(at, words.OCCURRENCES)
    of = cursor.skip_words(at, "different", "distinct")
    if named:
        terms = (named[0],), named[1]
    elif unit and cursor.word(unit[1]) not in ("of", "from"):
        return bound.apply_to(Length(unit[0], text)), cursor.skip_words(
            unit[1], "long", "in", "length"
        )
    elif occurrences:
        terms = read_list(cursor, occurrences[1], announced=True)
    elif cursor.word(of) in ("of", "from"):
        terms = read_list(cursor, of + 1, announced=True)
        return terms and (bound.apply_to(MentionedEntries(terms[0], text)), terms[1])
    elif unit:
        terms = read_list(cursor, unit[1] + 1, announced=True)
        return terms and (bound.apply_to(MentionedEntries(terms[0], text)), terms[1])
    else:
        terms = read_list(cursor, at)
    if terms is None:
        return None
    share = cursor.skip_per_100_words(terms[1])
    return bound.apply_to(Count(terms[0], share is not None, text)), share or terms[1]


def read_amount_comparison(cursor: Cursor, at: int, text: str) -> Parsed[Condition]:
    """Read a comparison of two amounts.

    Examples are "more of A than of B", "fewer exclamation marks than question marks" and "more
    words than the second text".
    """
    fewer = cursor.word(at) != "more"
    left = read_amount(cursor, at + 1, text)
    if left is None or cursor.word(left[1]) != "than":
        return None
    after = left[1] + 1
    right: Parsed[Measure]
    other = read_text(cursor, cursor.skip_words(after, "in"))
    if other:
        right = with_text(left[0], other[0]), other[1]
    else:
        right = read_amount(cursor, after, text, like=left[0])
    if right is None:
        return None
    one, two = left[0], right[0]
    if isinstance(one, Count) and isinstance(two, Count) and one.share != two.share:
        one = Count(one.terms, True, one.text)  # "per 100 words" stands once, at the end.
    return (MoreThan(two, one) if fewer else MoreThan(one, two)), right[1]


def with_text(quantity: Measure, text: str) -> Measure:
    """Return a copy of the quantity that is measured in the text column `text`."""
    match quantity:
        case MentionedEntries(terms):
            return MentionedEntries(terms, text)
        case Count(terms, share):
            return Count(terms, share, text)
        case Length(unit):
            return Length(unit, text)


def read_amount(
    cursor: Cursor, at: int, text: str = "", like: Measure | None = None
) -> Parsed[Measure]:
    """Read an amount to compare, such as "words", "of A", "occurrences of A" or "question marks".

    Args:
        cursor: The sentence.
        at: Position at which the amount begins.
        text: The text column, or "" for "the text".
        like: The amount to compare with. If it is given, a list of terms is counted in the same
            way.
    """
    named = read_mark(cursor, at)
    unit = cursor.match_phrase(at, words.UNITS)
    occurrences = cursor.match_phrase(at, words.OCCURRENCES)
    terms: Parsed[tuple[Term, ...]]
    if named:
        terms = (named[0],), named[1]
    elif (
        unit
        and cursor.word(unit[1]) not in ("of", "from", ":")
        and cursor.kind(unit[1]) != "quoted"
    ):
        return Length(unit[0], text), unit[1]
    elif occurrences:
        terms = read_list(cursor, occurrences[1], announced=True)
    else:
        at = unit[1] if unit else at
        of = at + (cursor.word(at) in ("of", "from"))
        terms = read_list(cursor, of, announced=of > at or unit is not None)
        if isinstance(like, MentionedEntries) or (like is None and (of > at or unit)):
            return terms and (MentionedEntries(terms[0], text), terms[1])
    if terms is None:
        return None
    share = cursor.skip_per_100_words(terms[1])
    return Count(terms[0], share is not None, text), share or terms[1]


def read_length(cursor: Cursor, at: int, text: str) -> Parsed[Condition]:
    """Read a condition such as "is longer than 20 words" or "is at least 20 words long"."""
    be = cursor.read_be(at)
    if be is None:
        return None
    got = read_length_bound(cursor, be[1], text)
    if got is None and cursor.word(be[1]) in ("empty", "blank"):
        got = Comparison(Length("characters", text), "exactly", 0), be[1] + 1
    return got and ((Not(got[0]) if be[0] else got[0]), got[1])


def read_length_bound(cursor: Cursor, at: int, text: str) -> Parsed[Condition]:
    """Read a bound on the length, such as "longer than 20 words" or "at least 20 words long"."""
    longer = cursor.match_phrase(at, words.LONGER)
    if longer and cursor.word(longer[1]) == "than":
        other = read_text(cursor, longer[1] + 1)
        if other:
            sides = Length("words", text), Length("words", other[0])
            return MoreThan(*(sides if longer[0] else sides[::-1])), other[1]
        number = cursor.read_number(longer[1] + 1)
        bound = number and (Bound("more than" if longer[0] else "less than", number[0]), number[1])
    else:
        bound = None if longer else cursor.read_bound(at)
    if not bound or cursor.is_percentage(at, bound[1]):
        return None
    unit = cursor.match_phrase(bound[1], words.UNITS)
    if not unit:
        return None
    return bound[0].apply_to(Length(unit[0], text)), cursor.skip_words(
        unit[1], "long", "in", "length"
    )
