"""Fingerprints of integer lists, 64 bits each, computed for many lists at once.

The fingerprint of a list is the sum of (element + OFFSET) * BASE**index modulo 2**64. Two prefix
sums therefore give the fingerprint of a slice, and the fingerprints and lengths of two lists give
the fingerprint of their concatenation. The results of most operations can be compared without
building any list. Two lists with the same fingerprint are treated as equal. The values of a program
that is kept are computed again by the Python text of the program.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import mul

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

_WORD = 1 << 64
BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse; 5 modulo 8
OFFSET = 0x632BE59BD9B4E019  # distinguishes a list from the same list followed by zeros
LONGEST = 1024  # number of places that have a power; longer lists are too long anyway


def _table(numbers: Iterable[int]) -> Codes:
    return np.array([n % _WORD for n in numbers], dtype=np.uint64)


def _running(numbers: Codes) -> Codes:
    """Return the sums of the first 0, 1, 2, ... numbers."""
    return np.concatenate([_table([0]), np.cumsum(numbers)])


POWERS = _table(pow(BASE, k, _WORD) for k in range(LONGEST))
INVERSES = _table(pow(BASE, -k, _WORD) for k in range(LONGEST))
SUMS = _running(POWERS)  # sums of the first k powers
RAMPS = _running(np.arange(LONGEST, dtype=np.uint64) * POWERS)  # sums of place * power
PAIRS = _running(POWERS[::2])  # sums of the first k even powers
SHIFT = _table([OFFSET])
ONE = _table([1])


_POWERS: list[int] = POWERS.tolist()
_SUMS: list[int] = SUMS.tolist()


def power(places: IntArray) -> Codes:
    """Return `BASE` to the power of each integer in `places`, limited to the largest power in the
    table.
    """
    return POWERS[np.minimum(places, LONGEST - 1)]


def unsigned(numbers: IntArray) -> Codes:
    """Return signed integers as unsigned 64-bit integers with the same bits."""
    return numbers.astype(np.int64, copy=False).view(np.uint64)


def ramp(start: IntArray, count: IntArray, step: int) -> Codes:
    """Return fingerprints of lists of consecutive integers.

    Args:
        start: First integer of each list.
        count: Length of each list.
        step: 1 for ascending integers, or -1 for descending integers.
    """
    count = np.clip(count, 0, LONGEST)
    first = (unsigned(start) + SHIFT) * SUMS[count]
    return first + RAMPS[count] if step > 0 else first - RAMPS[count]


class Part:
    """Lists known only by their fingerprints and lengths, one list for each row of a block.

    Args:
        codes: Fingerprint of each list.
        lengths: Length of each list.
        fine: Whether each list is defined; stored as `defined`. None means that all are defined.
    """

    def __init__(self, codes: Codes, lengths: IntArray, fine: BoolArray | None = None) -> None:
        self.codes = codes
        self.lengths = lengths
        self.defined = fine  # rows in which the list is defined; None means all

    def __add__(self, other: Part) -> Part:
        codes = self.codes + power(self.lengths) * other.codes
        return Part(codes, self.lengths + other.lengths)


class Block:
    """Several lists as one array, with one list in each row.

    Args:
        values: The elements, shape (rows, width), with zeros after the end of each list.
        lengths: Length of each list, shape (rows,).
    """

    def __init__(self, values: IntArray, lengths: IntArray) -> None:
        self.values = values
        self.lengths = lengths
        self.rows, self.width = values.shape

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[int]]) -> Block:
        """Build a block with one row for each list in `lists`."""
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        widest = max(1, int(lengths.max(initial=0)))
        values = np.zeros((len(lists), widest), dtype=np.int64)
        there = np.arange(widest) < lengths[:, None]
        values[there] = np.fromiter(
            (v for some in lists for v in some), dtype=np.int64, count=int(lengths.sum())
        )
        return cls(values, lengths)

    @cached_property
    def places(self) -> IntArray:
        """Return the indices 0 to width - 1, shape (width,)."""
        return np.arange(self.width)

    @cached_property
    def present(self) -> BoolArray:
        """Return which entries of the array are elements of a list, shape (rows, width)."""
        return self.places < self.lengths[:, None]

    @cached_property
    def part(self) -> Part:
        """Return the fingerprints and lengths of the lists in this block."""
        codes = unsigned(self.values) @ POWERS[: self.width] + SHIFT * SUMS[self.lengths]
        return Part(codes, self.lengths)

    @cached_property
    def _prefixes(self) -> tuple[Codes, IntArray]:
        sums = np.zeros((self.rows, self.width + 1), dtype=np.uint64)
        np.cumsum(unsigned(self.values) * POWERS[: self.width], axis=1, out=sums[:, 1:])
        sums += SHIFT * SUMS[: self.width + 1]
        return sums.ravel(), np.arange(self.rows) * (self.width + 1)

    def clip_index(self, place: IntArray) -> IntArray:
        """Return the positions at which Python slices with the bounds `place` cut the lists.

        Args:
            place: Slice bounds, which may be negative or too large, shape (rows,) or (many, rows).
        """
        return np.clip(np.where(place < 0, place + self.lengths, place), 0, self.lengths)

    def slice(self, low: IntArray | int | None, high: IntArray | int | None) -> Part:
        """Return x[low:high] for each list x.

        Args:
            low: Start of the slice: an integer, or an array of shape (rows,) or (many, rows). None
                means the start of the list.
            high: End of the slice, in the same form. None means the end of the list.
        """
        first = self.clip_index(np.asarray(low)) if low is not None else np.zeros_like(self.lengths)
        last = self.clip_index(np.asarray(high)) if high is not None else self.lengths
        return self.slice_between(first, np.maximum(first, last))

    def slice_between(self, first: IntArray, last: IntArray) -> Part:
        """Return x[first:last] for each list x, where 0 <= first <= last <= length."""
        sums, start = self._prefixes
        return Part((sums[start + last] - sums[start + first]) * INVERSES[first], last - first)

    @cached_property
    def reversed_block(self) -> Block:
        """Return a block in which every list is reversed."""
        places = np.where(self.present, self.lengths[:, None] - 1 - self.places, 0)
        return self.take(places)

    def take(self, places: IntArray) -> Block:
        """Return a block whose lists have the elements at the indices `places`, shape (rows,
        width).

        The lists keep their lengths.
        """
        rows = np.arange(self.rows)[:, None] * self.width
        return Block(np.where(self.present, self.values.ravel()[rows + places], 0), self.lengths)

    @cached_property
    def sorted_block(self) -> Block:
        """Return a block in which every list is sorted in ascending order."""
        return self.sort_between(np.zeros_like(self.lengths), self.lengths)

    def sort_between(self, first: IntArray, last: IntArray) -> Block:
        """Return a block with the elements x[first:last] of each list x in ascending order.

        All other elements stay in place.

        Args:
            first: Start of the sorted slice of each list, shape (rows,).
            last: End of the sorted slice of each list, shape (rows,).
        """
        lowest, highest = -(1 << 62), 1 << 62
        low, high = self.places < first[:, None], self.places >= last[:, None]
        made = np.where(low, lowest + self.places, np.where(high, highest, self.values))
        made.sort(axis=1)
        return Block(np.where(low | high, self.values, made), self.lengths)

    def sort_by_key(self, key: IntArray) -> Part:
        """Return each list sorted by the keys of its elements. Elements with equal keys keep their
        order.

        Args:
            key: Key of each element, shape (rows, width).
        """
        keys = np.where(self.present, key * self.width + self.places, 1 << 62)
        keys.sort(axis=1)
        return self.take(np.where(self.present, keys % self.width, 0)).part

    @cached_property
    def greatest(self) -> IntArray:
        """Return the largest element of each row, or a very small number for an empty list."""
        return np.maximum.reduce(np.where(self.present, self.values, -(1 << 40)), axis=1)  # type: ignore[no-any-return]

    @cached_property
    def least(self) -> IntArray:
        """Return the smallest element of each row, or a very large number for an empty list."""
        return np.minimum.reduce(np.where(self.present, self.values, 1 << 40), axis=1)  # type: ignore[no-any-return]

    @cached_property
    def _alike(self) -> tuple[IntArray, BoolArray]:
        """Return how often each element occurs, and whether it is the first of its value."""
        if self.width <= 24:
            same = self.values[:, :, None] == self.values[:, None, :]
            same &= self.present[:, None, :]
            counts = np.add.reduce(same, axis=2, dtype=np.int64)
            earliest = same.argmax(axis=2)
            return counts, (earliest == self.places) & self.present
        keys = np.where(self.present, self.values, 1 << 62)
        order = np.argsort(keys, axis=1, kind="stable")
        keys = np.take_along_axis(keys, order, 1)
        new = np.ones(keys.shape, dtype=bool)
        new[:, 1:] = keys[:, 1:] != keys[:, :-1]
        flat = new.ravel()
        starts = np.flatnonzero(flat)
        sizes = np.diff(np.append(starts, len(flat)))
        spread = sizes[np.cumsum(flat) - 1].reshape(keys.shape)
        counts, first = np.empty_like(keys), np.empty_like(new)
        np.put_along_axis(counts, order, spread, 1)
        np.put_along_axis(first, order, new, 1)
        return counts, first & self.present

    @property
    def counts(self) -> IntArray:
        """Return how often each element occurs in its list, shape (rows, width)."""
        return self._alike[0]

    @property
    def firsts(self) -> BoolArray:
        """Return which elements are the first of their value in the list, shape (rows, width)."""
        return self._alike[1]

    def index_of(self, wanted: IntArray) -> tuple[IntArray, BoolArray]:
        """Return where an integer first occurs in each list.

        Args:
            wanted: The integer to find in each list, shape (rows,).

        Returns:
            The index of the first occurrence, and whether the list holds the integer, both of shape
            (rows,). The index is 0 if the list does not hold the integer.
        """
        same = (self.values == wanted[:, None]) & self.present
        return same.argmax(axis=1), same.any(axis=1)

    def compress(self, keep: BoolArray, values: IntArray | None = None) -> Part:
        """Return the lists with only the elements where `keep` is true.

        Args:
            keep: Which elements to keep, shape (rows, width).
            values: Values that replace the elements, shape (rows, width). None keeps the elements.
        """
        places = np.cumsum(keep, axis=1, dtype=np.int64)
        weights = _BEHIND[places] * keep
        lengths = places[:, -1]
        codes = _dots(unsigned(self.values if values is None else values), weights)
        return Part(codes + SHIFT * SUMS[lengths], lengths)

    def replace_each(self, codes: Codes, counts: IntArray) -> Part:
        """Return the lists with each element replaced by a list.

        Args:
            codes: Fingerprint of the list that replaces each element, shape (rows, width).
            counts: Length of the list that replaces each element, shape (rows, width).
        """
        ends = np.cumsum(np.where(self.present, counts, 0), axis=1)
        starts = np.clip(ends - counts, 0, LONGEST - 1)
        return Part(_dots(codes * self.present, POWERS[starts]), ends[:, -1])

    @cached_property
    def even_codes(self) -> Codes:
        """Return the fingerprints of the lists with their elements moved to even positions.

        Odd positions contribute nothing, not even `OFFSET`. The sum with the fingerprints of
        elements at odd positions is the fingerprint of two interleaved lists.
        """
        return self.encode_at_even(self.values)

    def encode_at_even(self, values: IntArray) -> Codes:
        """Return fingerprints of lists with `values` at even positions and nothing at odd
        positions.

        Args:
            values: The elements, shape (rows, width). The lists have the lengths of this block.
        """
        values = values if values is self.values else np.where(self.present, values, 0)
        weights = power(2 * self.places)
        return unsigned(values) @ weights + SHIFT * PAIRS[self.lengths]


_BEHIND = np.concatenate([POWERS[:1], POWERS[:-1]])  # power of the place before the k-th


def all_last_axis(truths: BoolArray) -> BoolArray:
    """Return whether all of `truths` along the last axis are true. The last axis is dropped."""
    return np.logical_and.reduce(truths, axis=-1)  # type: ignore[no-any-return]


def _dots(a: Codes, b: Codes) -> Codes:
    return np.einsum("ij,ij->i", a, b)  # type: ignore[no-any-return]


def fingerprint(values: Sequence[int]) -> int:
    """Return the fingerprint of the list `values`. A block gives the same fingerprint for
    the list.
    """
    if len(values) > LONGEST:
        return sum((v + OFFSET) * pow(BASE, k, _WORD) for k, v in enumerate(values)) % _WORD
    total: int = sum(map(mul, values, _POWERS))
    return (total + OFFSET * _SUMS[len(values)]) % _WORD


_WEIGHTS: list[int] = []


def combination_weights(count: int) -> list[int]:
    """Return `count` odd weights that combine the fingerprints for the example inputs into one
    number.
    """
    while len(_WEIGHTS) < count:
        k = len(_WEIGHTS) + 1
        _WEIGHTS.append((math.isqrt(k * 8 + 5 << 122) | 1) % _WORD)
    return _WEIGHTS[:count]


def value_code(lists: Sequence[Sequence[int]]) -> int:
    """Return a number that identifies a value, where a value is one list per example input."""
    total: int = sum(map(mul, map(fingerprint, lists), combination_weights(len(lists))))
    return total % _WORD
