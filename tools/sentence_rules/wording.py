"""The wording of values, columns and lists in a canonical sentence, which can be parsed again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...records import Json
from .terms import Term
from .vocabulary import RESERVED

NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


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
