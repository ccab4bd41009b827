"""The wording of values, columns and lists in a canonical sentence, which can be parsed again.

`shorten_lists` shortens long lists for a reader; such a sentence cannot be parsed again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...records import Json
from .terms import KINDS, Term, tokenize
from .vocabulary import RESERVED

NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
MOST_TERMS = 12  # of a list that a reader sees
NAME_WORDS = 3  # words of a theme's name
# Of two quotes without an end, only the first is tried: a backslash takes the mark after it along.
_ENTRY = rf'"(?:[^"\\]|\\.)*+"|a (?:{"|".join(KINDS)})\b'
_LIST = re.compile(
    rf"(?:{_ENTRY})(?:(?:, (?:or |and )?| or | and )(?:{_ENTRY}))*+|`(?:[^`\\]|\\.)*+`|\\.",
    re.DOTALL,
)
_TERM = re.compile(_ENTRY, re.DOTALL)
_ABOUT_TERMS = re.compile(r"\b(?:mentions?|entries|occurrences|than|starts?|ends?)\b[^\"`]*\Z")
# Words that do not tell one theme from another.
_COMMON_WORDS = frozenset(
    re.findall(
        r"\S+",
        "a about above after again against all also am an and another any are aren't as at be because been"
        " before being below between both but by can can't cannot could couldn't did didn't do does doesn't"
        " doing don't down during each few for from further had has have having he her here hers him his"
        " how i i'm i've if in into is isn't it it's its itself just may me might more most must my no nor"
        " not now of off on once only or other our ours out over own same shall she should so some such"
        " than that that's the their theirs them then there these they this those through to too under"
        " until up upon us very was wasn't we were weren't what when where which while who whom whose why"
        " will with won't would wouldn't you your yours",
    )
)


def quote(text: str, mark: str = '"') -> str:
    """Return a text in quote marks, with backslashes before inner quote marks."""
    return mark + text.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark


def format_number(value: float) -> str:
    """Return a number as text; a whole number has no decimal point."""
    return (
        str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    )


def format_value(value: Json) -> str:
    """Return a value as it is written in a sentence: true, false, a quoted text or a number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return quote(value) if isinstance(value, str) else format_number(value)


def format_column(column: str) -> str:
    """Return a column's name, in backticks if it could be mistaken for words of the sentence."""
    bare = NAME.fullmatch(column) and column not in RESERVED
    return column if bare else quote(column, "`")


def format_text(column: str) -> str:
    """Return the name of a text column, or "the text" if `column` is ""."""
    return format_column(column) if column else "the text"


def format_terms(terms: Sequence[Term]) -> str:
    """Return the terms of a list, each in quotes, separated by commas."""
    return ", ".join(f"a {one.kind}" if one.kind else quote(one.text) for one in terms)


def shorten_lists(sentence: str, most: int = MOST_TERMS, name: str = "") -> str:
    """Return a sentence as a person reads it: of a long list, the first terms and the number of others.

    A shortened list of terms to look for in a text is called a theme and has a name. The result is
    no exact rule.

    Args:
        sentence: The sentence.
        most: Maximum number of terms that are shown of a list.
        name: The name of the first shortened list of terms; "" for its strongest words
            (`name_theme`).
    """
    parts: list[str] = []
    end = 0
    for found in _find_lists(sentence, most):
        shown = f"{sentence[found.start : found.cut]}, … and {len(found.terms) - most:,} more"
        if found.is_theme:
            called = name or name_theme(found.terms)
            shown = f"the theme {quote(called)} ({shown})" if called else shown
            name = ""
        parts += [sentence[end : found.start], shown]
        end = found.end
    return "".join([*parts, sentence[end:]])


def strongest_terms(sentence: str, most: int = MOST_TERMS) -> tuple[str, ...]:
    """Return the first `most` terms of the first long list of terms to look for, or ()."""
    themes = (found.terms[:most] for found in _find_lists(sentence, most) if found.is_theme)
    return next(themes, ())


class _LongList(NamedTuple):
    """A list in a sentence: its bounds, the end of the last term to show, and its terms."""

    start: int
    cut: int
    end: int
    is_theme: bool
    terms: tuple[str, ...]


def _find_lists(sentence: str, most: int) -> Iterator[_LongList]:
    """Yield the lists of more than `most` quoted terms."""
    end = 0
    for found in _LIST.finditer(sentence):
        terms = list(_TERM.finditer(found[0])) if found[0][0] in '"a' else []
        if len(terms) <= most:
            continue
        start, before = found.start(), sentence[end : found.start()][-200:]
        end = found.end()
        yield _LongList(
            start, start + terms[most - 1].end(), end, bool(_ABOUT_TERMS.search(before)),
            tuple(_unquote(one[0]) for one in terms),
        )  # fmt: skip


def _unquote(entry: str) -> str:
    """Return the text of a quoted term, or a kind of word as it is written, such as "a number"."""
    return re.sub(r"\\(.)", r"\1", entry[1:-1]) if entry[0] == '"' else entry


def name_theme(terms: Sequence[str], words: int = NAME_WORDS) -> str:
    """Return a name for a list of terms: its first terms that say most, such as "server, request".

    Terms without a word of two letters, terms that begin or end with a common word, and terms that
    repeat a word are left out. Stems lose their star.

    Args:
        terms: The terms, the strongest first.
        words: Maximum number of terms of the name.
    """
    found: list[str] = []
    used: set[str] = set()
    for term in terms:
        tokens = tokenize(term.replace("*", ""))
        if not tokens or {tokens[0], tokens[-1]} & _COMMON_WORDS or not used.isdisjoint(tokens):
            continue
        if not all(len(one) > 1 and one[0].isalpha() for one in tokens):
            continue
        found.append(" ".join(tokens))
        used.update(tokens)
        if len(found) == words:
            break
    return ", ".join(found)
