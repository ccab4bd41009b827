"""Parsing of lists of terms in a sentence: quoted texts, named marks, and unquoted words."""

from __future__ import annotations

import re

from . import vocabulary as words
from .cursor import Cursor, Parsed
from .subjects import read_subject
from .terms import Term, tokenize

INNER_STAR = re.compile(r"\*\w")  # "*ing" is not a stem.
LONGEST_ENTRY = 4  # words of an unquoted entry after a colon


def read_list(
    cursor: Cursor, at: int, announced: bool = False, nor: bool = False
) -> Parsed[tuple[Term, ...]]:
    """Read terms that are separated by commas, "and" or "or".

    Unquoted words count as terms after a colon, and after "the word", "the words" or "the phrase".
    They also count if "one of", "all of" or a similar phrase comes before a list of at least two
    terms. Other unquoted words describe a meaning instead of a word to look for, and are not read.

    Args:
        cursor: The sentence.
        at: Position at which the list begins.
        announced: Whether "one of", "all of" or a similar phrase came before.
        nor: Whether "nor" may stand between terms, where it means "or".
    """
    start = at
    if read_mark(cursor, at) is None:  # "words in capitals" begins with a noun of lists
        at = cursor.skip_words(at, *words.LIST_NOUNS)
    room, least = unquoted_limits(cursor, start, at, announced)
    at = cursor.skip_words(at, ":", "either", "both")
    found: list[Term] = []
    links: frozenset[str] = frozenset()
    joined = links  # the links between entries; a link without a following entry does not count
    bare = False
    end = at
    while got := read_entry(cursor, at, room if bare or not found else 0):
        found.append(got[0])
        joined = links
        bare = bare or is_bare(cursor, at, got[0])
        end = at = got[1]
        at = cursor.skip_words(at, ",")
        if cursor.word(at) in ("or", "and") or (nor and cursor.word(at) == "nor"):
            if bare and begins_condition(cursor, at + 1):
                break
            links |= {"or" if cursor.word(at) == "nor" else cursor.word(at)}
            at = skip_to_quoted(cursor, at + 1)
        elif at == end:
            break
    if not found or (bare and len(found) < least):
        cursor.record_failure(start, f"no list of words in quotes at {cursor.quote_from(start)}")
        return None
    if len(joined) > 1:
        cursor.record_failure(start, f"'and' and 'or' in one list: {cursor.quote_from(start)}")
        return None
    return tuple(dict.fromkeys(found)), end


def unquoted_limits(cursor: Cursor, start: int, at: int, announced: bool) -> tuple[int, int]:
    """Return two limits on the unquoted terms of a list.

    The first limit is the largest number of words in an unquoted term. The second limit is the
    smallest number of unquoted terms.
    """
    if cursor.word(at) == ":":
        return LONGEST_ENTRY, 1
    said = [cursor.word(n) for n in range(start, at)]
    if said:
        exact = said[-1] in words.LITERAL_NOUNS and (
            announced or said[0] in ("the", "these", "following")
        )
        return (words.LITERAL_NOUNS[said[-1]] if exact else 0), 1
    return (2 if announced else 0), 2


def is_bare(cursor: Cursor, at: int, one: Term) -> bool:
    """Return whether the term `one` at position `at` is an unquoted word."""
    return (
        cursor.kind(at) == "word"
        and not one.kind
        and one.text[-1] != "*"
        and read_mark(cursor, at) is None
    )


def skip_to_quoted(cursor: Cursor, at: int) -> int:
    """Return the position of a quoted text after words such as "the word", or `at`."""
    after = cursor.skip_words(at, *words.LIST_NOUNS)
    return after if cursor.kind(after) == "quoted" else at


def begins_condition(cursor: Cursor, at: int) -> bool:
    """Return whether a condition, instead of a term of a list, seems to begin at `at`."""
    word = cursor.word(at)
    return word in words.VERBS or word in ("(", "not", "no") or read_subject(cursor, at) is not None


def read_entry(cursor: Cursor, at: int, room: int) -> Parsed[Term]:
    """Read one term of a list. An unquoted term may have at most `room` words."""
    if cursor.kind(at) == "quoted":
        text = cursor.pieces[at].text
        if INNER_STAR.search(text):
            cursor.record_failure(at, f"a star stands at the end of a stem alone: {text[:40]!r}")
            return None
        return (Term(text), at + 1) if tokenize(text) else None
    if got := read_mark(cursor, at):
        return got
    if cursor.kind(at) == "word" and cursor.word(at).endswith("*"):
        return Term(cursor.word(at)), at + 1
    end = at
    while end < at + room and cursor.kind(end) == "word":
        word = cursor.word(end)
        if word in words.ENDS or word in words.VERBS or word in words.DETERMINERS:
            break
        if word in words.LINKING_WORDS or cursor.match_phrase(end, words.BOUNDS):
            break
        end += 1
    said = tuple(cursor.word(n) for n in range(at, end))
    if end == at or said in cursor.labels:  # In "…, deceptive" the label ends the list.
        return None
    return Term(" ".join(said)), end


def read_mark(cursor: Cursor, at: int) -> Parsed[Term]:
    """Read the name of a mark or of a kind of word, such as "exclamation marks" or "a number"."""
    start = at + (cursor.word(at) in ("a", "an", "any", "the"))
    got = cursor.match_phrase(start, words.MARKS)
    if got is None or cursor.word(got[1]) == "of":  # "a number of reasons" names no mark.
        return None
    return Term(*got[0]), got[1]
