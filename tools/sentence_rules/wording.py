"""The wording of values, columns and lists in a canonical sentence, which can be read back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...records import Json
from .phrases import RESERVED
from .terms import Term

NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


def quoted(text: str, mark: str = '"') -> str:
    """Put a text in quote marks, with escapes."""
    return mark + text.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark


def written_number(value: float) -> str:
    """Return a number as text, whole numbers without a decimal point."""
    return (
        str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    )


def written_value(value: Json) -> str:
    """Return a value as true, false, a quoted text or a number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return quoted(value) if isinstance(value, str) else written_number(value)


def written_column(column: str) -> str:
    """Return a column's name, in backticks if it could be read as words of the sentence."""
    bare = NAME.fullmatch(column) and column not in RESERVED
    return column if bare else quoted(column, "`")


def written_text(column: str) -> str:
    """Return the name of a text column, or "the text" for ""."""
    return written_column(column) if column else "the text"


def written_list(terms: Sequence[Term]) -> str:
    """Return the terms of a list, quoted and separated by commas."""
    return ", ".join(f"a {one.kind}" if one.kind else quoted(one.text) for one in terms)
