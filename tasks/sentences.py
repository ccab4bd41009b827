"""What errors and warnings of the loaders say: values cut short, near matches, what was left out."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable


class DataWarning(UserWarning):
    """What a loader left out and why, one sentence; given by `warnings.warn`."""


def warn(sentence: str) -> None:
    warnings.warn(sentence, DataWarning, stacklevel=3)


def shorten(value: object, limit: int = 80) -> str:
    """A value as an error message shows it."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def nearest(given: str, valid: Iterable[str], shown: int = 8) -> str:
    """`; did you mean …` with close matches, else the first valid choices: ends an error."""
    choices = list(valid)
    near = difflib.get_close_matches(given, choices, n=3, cutoff=0.6)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    if not choices:
        return ""
    more = f" … ({len(choices)} in all)" if len(choices) > shown else ""
    return f"; there are {', '.join(choices[:shown])}{more}"
