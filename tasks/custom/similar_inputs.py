"""Draw inputs like those that were observed: texts of the same patterns, numbers of the same range,
lists of the same lengths, records with the same fields.

A text is a sequence of tokens: runs of letters of one case, capitalised words, runs of digits, and single
other characters. A drawn text has the tokens of an observed one. Each of its words and numbers is either
one that was observed or a new one of the same form, and sometimes a token is left out or occurs twice
with what stands before it. Texts that are all dates of one form are drawn as dates.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from ...records import Json
from ..io.dates import date_form

_OFFSET = re.compile(r"(Z|[+-]\d\d:?\d\d(:?\d\d)?)$")  # from UTC, at the end of a time
_TOKEN = re.compile(r"[A-Z][a-z]+|[a-z]+|[A-Z]+|[0-9]+|.", re.DOTALL)
_OBSERVED = 0.4  # of the tokens that vary, the share that is taken from observed texts
_CHANGED = 0.25  # of the texts, the share with a token more or less
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def draw_like(inputs: Sequence[Json], count: int, rng: random.Random) -> Iterator[Json]:
    """Yield `count` values like the observed ones; they may repeat.

    Args:
        inputs: the observed values, at least one.
        count: the number of values.
        rng: the source of randomness; only `random` is used, which Python keeps stable.
    """
    draw = _Similar(inputs)
    for _ in range(count):
        yield draw.value(rng)


class _Similar:
    """What was observed of values in one place, and values drawn like them."""

    def __init__(self, values: Sequence[Json]) -> None:
        self.values = values
        self.by_type: dict[type, list[Any]] = {}
        for value in values:
            self.by_type.setdefault(type(value), []).append(value)
        self.texts = _Texts(self.by_type[str]) if str in self.by_type else None
        self.fields: dict[str, _Similar] = {}
        for name in dict.fromkeys(key for row in self.by_type.get(dict, ()) for key in row):
            self.fields[name] = _Similar([row[name] for row in self.by_type[dict] if name in row])
        lists = self.by_type.get(list, ())
        self.places: list[_Similar] = []
        if (
            lists and len({len(row) for row in lists}) == 1
        ):  # arguments: each place has its own kind
            self.places = [_Similar(column) for column in zip(*lists, strict=True)]
        elements = [element for row in lists for element in row]
        self.elements = _Similar(elements) if elements and not self.places else None

    def value(self, rng: random.Random) -> Json:
        """Return a value like the observed ones."""
        like = _choose(self.values, rng)
        if type(like) is str and self.texts is not None:
            return self.texts.draw(rng)
        if type(like) is int:
            return _draw_integer(self.by_type[int], rng)
        if type(like) is float:
            return _draw_fraction(self.by_type[float], rng)
        if type(like) is bool:
            return rng.random() < 0.5
        if type(like) is dict:
            return {name: self.fields[name].value(rng) for name in like}
        if type(like) is list:
            if self.places:
                return [place.value(rng) for place in self.places]
            longest = max(map(len, self.by_type[list]))
            length = _below(longest + 2, rng)
            return [self.elements.value(rng) for _ in range(length)] if self.elements else []
        return like


class _Texts:
    """Observed texts, and texts drawn like them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.tokens = [_TOKEN.findall(text) for text in texts]
        self.words: dict[str, list[str]] = {}
        for token in (token for tokens in self.tokens for token in tokens):
            self.words.setdefault(_form(token), []).append(token)
        self.lengths = {
            form: (min(map(len, words)), max(map(len, words))) for form, words in self.words.items()
        }
        self.date_form = date_form(texts)
        self.texts = texts

    def draw(self, rng: random.Random) -> str:
        """Return a text like the observed ones."""
        if self.date_form is not None:
            days = [datetime.strptime(text, self.date_form) for text in self.texts]
            spread = max(max(days) - min(days), timedelta(days=400)).total_seconds()
            first = min(days).replace(tzinfo=None)
            seconds = int(rng.random() * 1.5 * spread - spread / 4)
            earliest, latest = datetime.min - first, datetime.max - first
            moved = min(max(timedelta(seconds=seconds), earliest), latest)
            form = self.date_form.removesuffix("%z")
            drawn = (first + moved).strftime(form)
            if form == self.date_form:
                return drawn
            offset = _OFFSET.search(_choose(self.texts, rng))
            return drawn + (offset.group() if offset else "")
        tokens = list(_choose(self.tokens, rng))
        if len(tokens) > 1 and rng.random() < _CHANGED:
            place = _below(len(tokens), rng)
            if rng.random() < 0.5:
                del tokens[place]
            else:
                tokens[place:place] = tokens[max(0, place - 1) : place + 1]
        return "".join(self._token(token, rng) for token in tokens)

    def _token(self, token: str, rng: random.Random) -> str:
        form = _form(token)
        if form == token:
            return token
        if rng.random() < _OBSERVED:
            return str(_choose(self.words[form], rng))
        low, high = self.lengths[form]
        if form == "0" and low == high:
            length = low
        else:
            length = max(1, low - 1 + _below(high - low + 3, rng))
        letters = "0123456789" if form == "0" else _LETTERS
        word = "".join(_choose(letters, rng) for _ in range(length))
        return {"A": word.upper(), "Aa": word.capitalize()}.get(form, word)


def _form(token: str) -> str:
    """Return what tokens of the same form share; other characters are their own form."""
    if token.isascii():
        if token.isdigit():
            return "0"
        if token.isalpha():
            if len(token) > 1 and token[0].isupper() and token[1].islower():
                return "Aa"
            return "a" if token.islower() else "A"
    return token


def _draw_integer(values: Sequence[int], rng: random.Random) -> int:
    low, high = min(values), max(values)
    reach = max((high - low) // 2, 5)
    least = max(low - reach, 0) if low >= 0 else low - reach
    return least + _below(high + reach - least + 1, rng)


def _draw_fraction(values: Sequence[float], rng: random.Random) -> float:
    low, high = min(values), max(values)
    reach = max((high - low) / 2, 1.0)
    least = max(low - reach, 0.0) if low >= 0 else low - reach
    decimals = max(len(repr(value).partition(".")[2]) for value in values)
    return round(least + rng.random() * (high + reach - least), min(decimals, 12))


def _below(limit: int, rng: random.Random) -> int:
    return int(rng.random() * (1 << 53)) * limit >> 53  # limit may be too large for a float


def _choose(values: Sequence[Any], rng: random.Random) -> Any:
    return values[_below(len(values), rng)]
