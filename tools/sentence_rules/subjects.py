"""The subjects of conditions: a text, a column, or the row itself ("the student")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from . import vocabulary as words
from .column_lookup import singular
from .columns import find_side
from .cursor import LONGEST_NAME, Cursor, Parsed
from .terms import tokenize


class Subject(NamedTuple):
    """The subject of a condition.

    Attributes:
        kind: "text", "column" or "row".
        column: Name of the column. For a text, "" means the text that "the text" refers to.
    """

    kind: Literal["text", "column", "row"]
    column: str = ""


TEXT = Subject("text")
ROW = Subject("row")


def column_subject(cursor: Cursor, column: str) -> Subject:
    """Return `column` as a subject: a text if it is a text column, otherwise a column."""
    return Subject("text" if cursor.naming.kind(column) == "text" else "column", column)


def read_subject(cursor: Cursor, at: int) -> Parsed[Subject]:
    """Read the words before a verb that denote a text, a column or the row."""
    if cursor.kind(at) == "name":
        column = cursor.read_column(at)
        return column and (column_subject(cursor, column[0]), column[1])
    end = at
    while end < at + LONGEST_NAME and cursor.kind(end) in ("word", "number"):
        if cursor.word(end) in words.VERBS or cursor.word(end) in words.ENDS:
            break
        end += 1
    if end == at or not (cursor.word(end) in words.VERBS or cursor.match_phrase(end, words.BOUNDS)):
        return None
    said = [cursor.pieces[n].text for n in range(at, end)]
    bare = said[1:] if said[0] in words.DETERMINERS and len(said) > 1 else said
    found = find_owned(cursor, bare[0], bare[1:]) if len(bare) > 1 else None
    found = found or find_named(cursor, bare)
    if found is None:
        cursor.record_failure(at, f"no text and no column is called {' '.join(bare)!r}")
    return found and (found, end)


def find_owned(cursor: Cursor, owner: str, bare: Sequence[str]) -> Subject | None:
    """Return the subject of a phrase such as "the student's math grade".

    Args:
        cursor: The sentence.
        owner: The word with the genitive ending, such as "student's". It must denote the row, or be
            a word from the description of the column.
        bare: The words after `owner`.
    """
    if not owner.endswith(("'s", "s'")):
        return None
    found, owner = find_named(cursor, bare), owner.removesuffix("s").removesuffix("'")
    told = cursor.naming.about[found.column][1] if found and found.column else ()
    return found if owner in words.ENTITIES | words.TEXTS or singular(owner) in told else None


def find_named(cursor: Cursor, bare: Sequence[str]) -> Subject | None:
    """Return the subject that words without an article denote, or None."""
    one = bare[0] if len(bare) == 1 else ""
    if one in words.TEXTS and len(cursor.texts) == 1:
        return TEXT
    if one and (column := cursor.naming.find_by_name(one)):
        return column_subject(cursor, column)
    if text := find_pair_text(cursor, bare):
        return Subject("text", text)
    if one in words.TEXTS and cursor.texts:
        return TEXT
    if column := cursor.naming.find_column(bare):
        return column_subject(cursor, column)
    alone = len(cursor.naming.columns) == len(cursor.texts) == 1
    if bare[-1] in words.ENTITIES and all(word in words.NEUTRAL for word in bare[:-1]):
        return TEXT if alone else ROW
    return None


def find_pair_text(cursor: Cursor, words_read: Sequence[str]) -> str | None:
    """Return the column of "the first headline" or "text 2" if each row is a pair of texts."""
    if not cursor.pair or not 1 <= len(words_read) <= 3:
        return None
    names = {word for text in cursor.texts for word in tokenize(text.replace("_", " "))}
    sides = {find_side(word) for word in words_read} - {None}
    if len(sides) != 1 or not all(
        word in words.TEXTS or word in names or find_side(word) is not None for word in words_read
    ):
        return None
    return cursor.texts[sides.pop() or 0]


def read_in_text(cursor: Cursor, at: int) -> Parsed[str]:
    """Read "in" and a text, such as "in the first text", and return the name of the text column.

    The column is "" for "the text", or if no such phrase is at this position.
    """
    if cursor.word(at) not in ("in", "of"):
        return "", at
    return read_text(cursor, at + 1)


def read_text(cursor: Cursor, at: int) -> Parsed[str]:
    """Read the name of a text, and return the name of its column; "" for "the text"."""
    if cursor.kind(at) == "name":
        return cursor.read_column(at)
    at = cursor.skip_determiner(at)
    for end in (at + 3, at + 2, at + 1):
        said = [piece.text for piece in cursor.pieces[at:end] if piece.kind in ("word", "number")]
        if len(said) < end - at:
            continue
        if (
            len(said) == 1
            and said[0] not in words.TEXTS
            and (column := cursor.naming.find_by_name(said[0]))
        ):
            return column, end
        if text := find_pair_text(cursor, said):
            return text, end
    return ("", at + 1) if cursor.word(at) in words.TEXTS else None
