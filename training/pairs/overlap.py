"""Compute on how much of the sample space S two or three hypotheses agree, with bit operations.

S is the set of inputs on which hypotheses are compared. For two hypotheses, a row of bits marks the
inputs on which they make the same prediction. The number of set bits is the size of their
agreement, and two rows combined give the agreement of three hypotheses. Sizes are integers, so that
equal sizes are exactly equal. If inputs have weights (GEAR's M1), the weights are converted to
integers in one of two units:

 - weights that are fractions with small denominators (0.1, 2.5, or 1/3 as a float) are converted to
   these exact fractions, in units of their common denominator, if |S| is then below 2**53 units;
 - all other weights are rounded to units of |S| / 2**40.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...tools.gear.novelty import input_sizes

Integers = NDArray[np.int64]
Bits = NDArray[np.uint64]

_DENOMINATOR = 1_000_000
_EXACT_UNITS = 2**53
_ROUNDED_UNITS = 2**40
_WORDS = 1 << 21  # words of bits counted at once: 16 MiB
_KEPT = 1 << 22  # the most words of bits of all cached rows: 32 MiB


def integer_sizes(weights: ArrayLike | None, inputs: int) -> Integers:
    """Return the sizes of the inputs as integers, of shape (inputs,).

    Args:
        weights: The weight of each input; None gives every input the size 1.
        inputs: The number of inputs.

    Raises:
        UsageError: The weights are invalid (see `tools.gear.novelty.input_sizes`).
    """
    if weights is None:
        return np.ones(inputs, np.int64)
    sizes = input_sizes(weights, inputs)
    different, place = np.unique(sizes, return_inverse=True)
    scaled = _as_fractions(different, np.bincount(place, minlength=len(different)))
    if scaled is None:
        # Divide by the largest first: the sum of very large sizes would overflow.
        rounded = different / different.max()
        total = math.fsum((sizes / different.max()).tolist())
        scaled = np.rint(rounded / total * _ROUNDED_UNITS).astype(np.int64)
    return scaled[place]


def _as_fractions(different: NDArray[np.float64], times: Integers) -> Integers | None:
    found = [Fraction(size).limit_denominator(_DENOMINATOR) for size in different.tolist()]
    if any(float(one) != size for one, size in zip(found, different.tolist(), strict=True)):
        return None
    unit = 1
    for one in found:
        unit = math.lcm(unit, one.denominator)
        if unit >= _EXACT_UNITS:
            return None
    whole = [int(one * unit) for one in found]
    common = math.gcd(*whole) or 1
    whole = [one // common for one in whole]
    if sum(one * int(n) for one, n in zip(whole, times, strict=True)) >= _EXACT_UNITS:
        return None
    return np.array(whole, np.int64)


class PredictionOverlap:
    """The number of predictions that any two or three of m hypotheses share.

    An undefined prediction is never shared.

    Args:
        codes: Codes of the predictions on n inputs, int64 of shape (m, n).
        defined: Whether each prediction is defined, bool of shape (m, n).
        sizes: The size of each input as an integer, of shape (n,), from `integer_sizes`.

    Attributes:
        space: The size of the sample space S, which is the sum of all input sizes.
        sizes: For each hypothesis, the size of the inputs with a defined prediction, of shape (m,).
    """

    def __init__(self, codes: ArrayLike, defined: ArrayLike, sizes: Integers) -> None:
        self._codes = np.asarray(codes, np.int64)
        known = np.asarray(defined, np.bool_)
        self._padded = np.zeros((len(known), -(-known.shape[1] // 64) * 64), np.bool_)
        self._padded[:, : known.shape[1]] = known
        self._known = _packed(self._padded)
        self._planes = [
            (bit, _packed(_padded_row(sizes >> bit & 1, self._padded.shape[1])))
            for bit in range(int(sizes.max(initial=0)).bit_length())
        ]
        self._plain = bool((sizes == 1).all())
        self.space = int(sizes.sum())
        self._shared: dict[int, Integers] = {}
        self._rows: dict[int, Bits] = {}  # results of `_same`, if all of them are small
        self.sizes = self._counted(self._known)  # (m,), sizes of the prediction sets

    def shared_sizes(self, member: int) -> Integers:
        """Return the size of the agreement of hypothesis `member` with each hypothesis, of shape
        (m,).

        The result is cached.
        """
        if member not in self._shared:
            self._shared[member] = self._counted(self._same(member))
        return self._shared[member]

    def triple_shared_sizes(self, member: int, others: Integers) -> Integers:
        """Return the sizes of the agreement of three hypotheses, of shape (k, m).

        Element [i, j] is the size of the set of inputs on which hypothesis j, hypothesis `member`
        and hypothesis `others[i]` make the same prediction.

        Args:
            member: The index of one hypothesis.
            others: The indices of k hypotheses.
        """
        same = self._same(member)
        self._shared[member] = self._counted(same)
        found = np.empty((len(others), len(same)), np.int64)
        step = max(1, _WORDS // max(1, same.size))
        for start in range(0, len(others), step):
            part = others[start : start + step]
            found[start : start + step] = self._counted(same[None, :, :] & same[part][:, None, :])
        return found

    def _same(self, member: int) -> Bits:
        """Return bits (m, words): where each hypothesis predicts the same as `member`."""
        if member in self._rows:
            return self._rows[member]
        # Agreement is symmetric, so results in earlier rows are reused.
        start = member if all(earlier in self._rows for earlier in range(member)) else 0
        padded = self._padded[start:]
        np.equal(self._codes[start:], self._codes[member], out=padded[:, : self._codes.shape[1]])
        same = np.empty_like(self._known)
        same[start:] = _packed(padded) & self._known[start:] & self._known[member]
        for earlier in range(start):
            same[earlier] = self._rows[earlier][member]
        if self._known.size * len(self._known) <= _KEPT:
            self._rows[member] = same
        return same

    def _counted(self, bits: Bits) -> Integers:
        if self._plain:
            plain: Integers = np.bitwise_count(bits).sum(axis=-1, dtype=np.int64)
            return plain
        total = np.zeros(bits.shape[:-1], np.int64)
        for bit, plane in self._planes:
            total += np.bitwise_count(bits & plane).sum(axis=-1, dtype=np.int64) << bit
        return total


def _packed(padded: NDArray[np.bool_]) -> Bits:
    return np.packbits(padded, axis=-1).view(np.uint64)


def _padded_row(row: Integers, width: int) -> NDArray[np.bool_]:
    padded = np.zeros(width, np.bool_)
    padded[: len(row)] = row
    return padded
