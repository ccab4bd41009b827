"""Lists of terms as a sentence writes them: quoted, named marks, and announced words."""

from __future__ import annotations

from . import phrases as words
from .cursor import Cursor, Got
from .subjects import subject
from .terms import Term, tokens

LONGEST_ITEM = 4  # words of an unquoted entry


def listed(cursor: Cursor, at: int, announced: bool = False) -> Got[tuple[Term, ...]]:
    """Terms with commas, "and" or "or" between them. Unquoted words are entries only where the list
    was announced ("one of", "the words"): else what is mentioned is a meaning, not a word."""
    start = at
    at = cursor.skip(at, *words.LISTED)
    announced = announced or any(cursor.word(n) in words.LITERAL for n in range(start, at))
    at = cursor.skip(at, ":", "either", "both")
    found: list[Term] = []
    bare = False
    end = at
    while got := entry(cursor, at, announced and (bare or not found)):
        found.append(got[0])
        bare = bare or (cursor.kind(at) == "word" and got[0].kind == "" and "*" not in got[0].text)
        end = at = got[1]
        at = cursor.skip(at, ",")
        if cursor.word(at) in ("or", "and"):
            if bare and opens(cursor, at + 1):
                break
            at = quoted_after(cursor, at + 1)
        elif at == end:
            break
    if not found:
        cursor.fail(start, f"no list of words in quotes at {cursor.near(start)}")
        return None
    return tuple(dict.fromkeys(found)), end


def quoted_after(cursor: Cursor, at: int) -> int:
    """The place of a quoted text after "the word", else the place itself."""
    after = cursor.skip(at, *words.LISTED)
    return after if cursor.kind(after) == "quoted" else at


def opens(cursor: Cursor, at: int) -> bool:
    """Whether a condition seems to begin here, and no entry of a list."""
    word = cursor.word(at)
    return word in words.VERBS or word in ("(", "not", "no") or subject(cursor, at) is not None


def entry(cursor: Cursor, at: int, bare: bool) -> Got[Term]:
    if cursor.kind(at) == "quoted":
        text = cursor.pieces[at].text
        return (Term(text), at + 1) if tokens(text) else None
    if got := mark(cursor, at):
        return got
    if cursor.kind(at) == "word" and cursor.word(at).endswith("*"):
        return Term(cursor.word(at)), at + 1
    end = at
    while bare and end < at + LONGEST_ITEM and cursor.kind(end) == "word":
        word = cursor.word(end)
        if word in words.ENDS or word in words.VERBS or word in words.DETERMINERS:
            break
        if cursor.one_of(end, words.BOUNDS):
            break
        end += 1
    if end == at:
        return None
    return Term(" ".join(cursor.pieces[n].raw for n in range(at, end))), end


def mark(cursor: Cursor, at: int) -> Got[Term]:
    """A mark or kind of word by its name: "exclamation marks", "a number"."""
    start = at + (cursor.word(at) in ("a", "an", "any", "the"))
    got = cursor.one_of(start, words.MARKS)
    if got is None or cursor.word(got[1]) == "of":  # "a number of reasons" is none
        return None
    return Term(*got[0]), got[1]
