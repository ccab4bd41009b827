"""What errors and warnings of the loaders say: values cut short, near matches, what was left out."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable


class DataWarning(UserWarning):
    """What a loader left out and why, one sentence; given by `warnings.warn`."""


class BadValue(ValueError):
    """What is wrong with a value, and where in it: keys and indices from the outside in."""

    def __init__(self, keys: tuple[str | int, ...], said: str) -> None:
        super().__init__(said)
        self.keys = keys

    def within(self, *keys: str | int) -> BadValue:
        return BadValue((*keys, *self.keys), str(self))

    @property
    def field(self) -> str:
        """`train[0].input[2]`."""
        return "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in self.keys).removeprefix(
            "."
        )


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
