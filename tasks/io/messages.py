"""Helpers for the error messages and warnings of loaders."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeAlias

from ...records import PeirceError

Keys: TypeAlias = tuple[str | int, ...]


class DataWarning(UserWarning):
    """A warning that states in one sentence what a loader left out, and why."""


class BadValue(ValueError):
    """An error in a JSON value, with the location of the error inside the value.

    Args:
        keys: The keys and indices that lead to the invalid part, from the outside in.
        message: A description of the error.
    """

    def __init__(self, keys: Keys, message: str) -> None:
        super().__init__(message)
        self.keys = keys

    def within(self, *keys: str | int) -> BadValue:
        """Return this error for an enclosing value, in which `keys` lead to the value of this
        error.
        """
        return BadValue((*keys, *self.keys), str(self))

    @property
    def field(self) -> str:
        """The location of the error as text, such as `train[0].input[2]`."""
        return "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in self.keys).removeprefix(
            "."
        )


_NAMED: ContextVar[tuple[Path, str] | None] = ContextVar("named_file", default=None)


def warn(sentence: str) -> None:
    """Issue a `DataWarning` with the text `sentence`.

    The warning is attributed to the caller of the function that calls `warn`.
    """
    warnings.warn(_name_file(sentence), DataWarning, stacklevel=3)


@contextmanager
def name_file(path: Path, name: str) -> Iterator[None]:
    """Replace the path of a temporary file by `name` in the errors and warnings of a `with` block.

    The file has one table row per line, so the word "line" is also replaced by "row". For example,
    "/tmp/x/table.jsonl, line 3" becomes "table of 60 rows and 3 columns, row 3".
    """
    token = _NAMED.set((path, name))
    try:
        yield
    except PeirceError as error:
        error.args = tuple(_name_file(str(one)) for one in error.args)
        raise
    finally:
        _NAMED.reset(token)


def _name_file(sentence: str) -> str:
    named = _NAMED.get()
    if named is None or str(named[0]) not in sentence:
        return sentence
    return re.sub(r"\bline (?=\d)", "row ", sentence.replace(str(named[0]), named[1]))


def shorten(value: object, limit: int = 80) -> str:
    """Return a value as text for an error message, cut to at most `limit` characters."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def suggest_nearest(value: str, valid: Iterable[str], shown: int = 8) -> str:
    """Return the end of an error message, which suggests valid choices instead of `value`.

    The text is "; did you mean …?" if some valid choices are similar to `value`. Otherwise it lists
    the first `shown` valid choices. It is "" if `valid` is empty.
    """
    choices = list(valid)
    near = difflib.get_close_matches(value, choices, n=3, cutoff=0.6)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    if not choices:
        return ""
    more = f" … ({len(choices)} in all)" if len(choices) > shown else ""
    return f"; valid choices are {', '.join(choices[:shown])}{more}"
