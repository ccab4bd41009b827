"""Rows of a data set, prepared once for the evaluation of many sentences.

Texts are split into tokens. The tokens are numbered in alphabetical order and indexed, so that all
occurrences of a word, or of all words with the same stem, are a slice of the index.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...records import Json, UsageError, is_finite_number
from .columns import find_text_columns, pair_labels
from .terms import KINDS, Term, straighten_quotes, tokenize

SENTENCE_END = re.compile(r"[.!?]+[\"')\]]*(?:\s+|$)")
WORD = re.compile(r"\w")

Places = NDArray[np.int64]
Counts = NDArray[np.int64]


def is_missing(value: Json) -> bool:
    """Return whether a value is missing: None, a text of only whitespace, or NaN."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


class TextIndex:
    """An index of the tokens of n texts.

    A missing text has no tokens. Values that are not texts are converted to text.
    """

    def __init__(self, values: Sequence[Json]) -> None:
        self.texts = [
            "" if is_missing(value) else straighten_quotes(str(value)) for value in values
        ]
        cut = [tokenize(text) for text in self.texts]
        self.sizes = np.fromiter(map(len, cut), np.int64, len(cut))
        flat = list(chain.from_iterable(cut))
        self.vocabulary = sorted(set(flat))
        number = {token: n for n, token in enumerate(self.vocabulary)}
        self.ids = np.fromiter(map(number.__getitem__, flat), np.int32, len(flat))
        self.row_of = np.repeat(np.arange(len(cut)), self.sizes)
        self.begins = np.cumsum(self.sizes) - self.sizes
        self.order = np.argsort(self.ids, kind="stable")
        self.bounds = np.searchsorted(self.ids[self.order], np.arange(len(self.vocabulary) + 1))
        self.kinds: dict[str, Counts] = {}

    def __len__(self) -> int:
        return len(self.texts)

    def token_range(self, pattern: str) -> tuple[int, int]:
        """Return the range of token numbers that a pattern matches, excluding the end.

        A pattern is a token, or a stem that ends in `*`.
        """
        if len(pattern) > 1 and pattern.endswith("*"):
            stem = pattern[:-1]
            first = bisect_left(self.vocabulary, stem)
            return first, bisect_left(self.vocabulary, stem + chr(0x10FFFF), first)
        first = bisect_left(self.vocabulary, pattern)
        there = first < len(self.vocabulary) and self.vocabulary[first] == pattern
        return first, first + there

    def find_positions(self, one: Term) -> Places:
        """Return the positions at which a term begins, among the tokens of all texts joined."""
        start, stop = self.token_range(one.patterns[0])
        found = self.order[self.bounds[start] : self.bounds[stop]]
        for after, pattern in enumerate(one.patterns[1:], 1):
            start, stop = self.token_range(pattern)
            found = found[found + after < self.ids.size]
            here = self.ids[found + after]
            found = found[
                (here >= start) & (here < stop) & (self.row_of[found + after] == self.row_of[found])
            ]
        return found

    def count_kind(self, kind: str) -> Counts:
        """Return the number of words of a kind (a key of `KINDS`) in each text, of shape (n,)."""
        if kind not in self.kinds:
            found = (len(KINDS[kind].findall(text)) for text in self.texts)
            self.kinds[kind] = np.fromiter(found, np.int64, len(self))
        return self.kinds[kind]

    def contains(self, one: Term) -> NDArray[np.bool_]:
        """Return whether each text contains a term, bool of shape (n,)."""
        if one.kind:
            return self.count_kind(one.kind) > 0
        there = np.zeros(len(self), np.bool_)
        there[self.row_of[self.find_positions(one)]] = True
        return there

    def count_occurrences(self, terms: Sequence[Term]) -> Counts:
        """Return how often any of the terms occurs in each text, of shape (n,).

        A position at which several terms begin counts once. Counts of terms that denote a kind of
        word are added separately.
        """
        total = np.zeros(len(self), np.int64)
        for one in terms:
            total += self.count_kind(one.kind) if one.kind else 0
        found = [self.find_positions(one) for one in terms if not one.kind]
        if len(found) > 1:
            found = [np.unique(np.concatenate(found))]
        return total + sum(np.bincount(self.row_of[f], minlength=len(self)) for f in found)

    def matches_edge(self, one: Term, last: bool) -> NDArray[np.bool_]:
        """Return whether each text begins with a term, bool of shape (n,).

        If `last` is True, the text must end with the term instead. Punctuation marks at the end of
        the text are then ignored, unless the term ends with a punctuation mark itself.
        """
        there = np.zeros(len(self), np.bool_)
        places = self.find_positions(one)
        rows = self.row_of[places]
        if not last:
            there[rows[places == self.begins[rows]]] = True
        else:
            mark = not WORD.match(one.patterns[-1])
            stop = self.begins + self.sizes if mark else self.last_word + 1
            there[rows[places + len(one.patterns) == stop[rows]]] = True
        return there

    @cached_property
    def is_word(self) -> NDArray[np.bool_]:
        """For each token of the vocabulary, whether it is a word."""
        return np.fromiter((bool(WORD.match(t)) for t in self.vocabulary), np.bool_)

    @cached_property
    def last_word(self) -> Places:
        """The position of the last word of each text, among the tokens of all texts joined.

        For a text without words, this is the position before its first token.
        """
        last = self.begins - 1
        places = np.flatnonzero(self.is_word[self.ids])
        np.maximum.at(last, self.row_of[places], places)
        return last

    @cached_property
    def words(self) -> Counts:
        """Number of words in each text, of shape (n,)."""
        return np.bincount(self.row_of[self.is_word[self.ids]], minlength=len(self))

    @cached_property
    def distinct_words(self) -> Counts:
        """Number of different words in each text, of shape (n,)."""
        ids, rows = self.ids[self.order], self.row_of[self.order]
        new = np.ones(ids.size, np.bool_)
        new[1:] = (ids[1:] != ids[:-1]) | (rows[1:] != rows[:-1])
        return np.bincount(rows[new & self.is_word[ids]], minlength=len(self))

    @cached_property
    def characters(self) -> Counts:
        """Number of characters in each text, of shape (n,), without surrounding whitespace."""
        return np.fromiter((len(text.strip()) for text in self.texts), np.int64, len(self))

    @cached_property
    def sentences(self) -> Counts:
        """Number of sentences in each text, of shape (n,)."""
        parts = (SENTENCE_END.split(text) for text in self.texts)
        return np.fromiter((sum(map(bool, map(WORD.search, p))) for p in parts), np.int64)


class PreparedRows:
    """The n rows of a problem, prepared for the evaluation of any number of sentences.

    Each row maps names of columns to values. A column is prepared when it is first needed, and then
    kept.

    Args:
        rows: The rows.
        public: The public description of the problem, with its columns and labels.
    """

    def __init__(self, rows: Sequence[Mapping[str, Json]], public: Mapping[str, Json]) -> None:
        self.rows = rows
        self.labels: tuple[str, ...] = tuple(public["labels"])
        self.columns: Mapping[str, Json] = public["columns"]
        self.shape: str = public.get("shape", "fields")
        self.texts = find_text_columns(public)
        sides = pair_labels(self.labels) if self.shape == "pair" else None
        self.sides = None if sides is None else tuple(map(self.labels.index, sides))
        self.kept: dict[tuple[str, str], Any] = {}

    def label_index(self, label: str) -> int:
        """Return the index of a label in `labels`.

        Raises:
            UsageError: The problem has no such label.
        """
        if label not in self.labels:
            raise UsageError(f"no label {label!r}: choose one of {', '.join(self.labels)}")
        return self.labels.index(label)

    def __len__(self) -> int:
        return len(self.rows)

    def get_cached(self, kind: str, column: str, make: Callable[[list[Json]], Any]) -> Any:
        """Return a prepared column, calling `make` only if the result is not in the cache.

        Args:
            kind: Name of the preparation, which is part of the cache key.
            column: Name of the column.
            make: A function that prepares the list of the column's values in all rows.

        Raises:
            UsageError: The problem has no such column.
        """
        if (kind, column) not in self.kept:
            if column not in self.columns:
                raise UsageError(f"no column {column!r}: there are {', '.join(self.columns)}")
            self.kept[kind, column] = make([row.get(column) for row in self.rows])
        return self.kept[kind, column]

    def text(self, column: str) -> TextIndex:
        """Return the token index of a text column; "" stands for the only text column.

        Raises:
            UsageError: The problem has no such column, or `column` is "" and there is not exactly
                one text column.
        """
        if not column:
            if len(self.texts) != 1:
                raise UsageError(f"which text? There are {', '.join(self.texts) or 'none'}")
            column = self.texts[0]
        index: TextIndex = self.get_cached("text", column, TextIndex)
        return index

    def numbers(self, column: str) -> NDArray[np.float64]:
        """Return a column as float64 of shape (n,), with NaN where the value is not a number."""
        found: NDArray[np.float64] = self.get_cached("numbers", column, as_numbers)
        return found

    def values(self, column: str) -> list[str | float | None]:
        """Return the values of a column, each normalised by `normalise_value`."""
        found: list[str | float | None] = self.get_cached(
            "values", column, lambda values: [normalise_value(value) for value in values]
        )
        return found

    def missing_mask(self, column: str) -> NDArray[np.bool_]:
        """Return where the value of a column is missing, as bool of shape (n,)."""
        found: NDArray[np.bool_] = self.get_cached(
            "missing", column, lambda values: np.array([is_missing(v) for v in values], np.bool_)
        )
        return found


def as_number(value: Json) -> float:
    """Return a value as a float, or NaN if it is not a finite number.

    A text is converted to a number and may end in "%".
    """
    if isinstance(value, str):
        try:
            value = float(value.strip().removesuffix("%"))
        except ValueError:
            return math.nan
    return float(value) if is_finite_number(value) else math.nan


def as_numbers(values: Sequence[Json]) -> NDArray[np.float64]:
    """Return n values as float64 of shape (n,), with NaN where a value is not a finite number."""
    return np.array([as_number(value) for value in values], np.float64)


TRUTHS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def normalise_value(value: Json) -> str | float | None:
    """Return a value in a form in which equal values compare equal.

    Numbers are compared by value, truth values in any spelling become 1 and 0, and other texts are
    compared without regard to case and to extra whitespace.

    Returns:
        A float or a normalised text; None if the value is missing.
    """
    if is_missing(value):
        return None
    if isinstance(value, str):
        text = " ".join(value.lower().split())
        number = TRUTHS.get(text, as_number(text))
        return text if math.isnan(number) else number
    if is_finite_number(value):
        return float(value)
    return " ".join(str(value).lower().split())
