"""Draw distinct random integers, for many draws at once, reproducibly from a key.

A draw depends only on the key of the call and on the draw's own name and count. It does not depend
on the other draws of the call, on their order, or on the version of numpy (whose generators may
change). Memory grows with the number of integers drawn, not with the counts. The exception is a
draw that takes at least half of its count.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

_STEP = np.uint64(0x9E3779B97F4A7C15)  # splitmix64: Steele, Lea and Flood (OOPSLA 2014)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def hash_key(*parts: object) -> int:
    """Return a 64-bit key computed from texts and numbers by SHA-256.

    Args:
        parts: The texts and numbers. Their types and their order matter.
    """
    text = "\0".join(f"{type(one).__name__} {one}" for one in parts)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")


def draw(
    counts: Integers, max_size: int | None, key: int, names: Integers
) -> tuple[Integers, Integers]:
    """Draw distinct integers below each of k counts. All subsets of equal size are equally likely.

    Args:
        counts: The counts, of shape (k,). Draw i takes integers from 0 to counts[i] - 1.
        max_size: The maximum number of integers per draw; None takes all integers below the count.
        key: The key of the call (`hash_key`).
        names: An integer that names each draw, of shape (k,). A draw depends only on its name, its
            count and `key`.

    Returns:
        Two arrays of equal length, sorted: the index of the draw in `counts`, and the drawn
            integer.
    """
    size = (
        counts
        if max_size is None
        else np.minimum(counts, min(max_size, int(counts.max(initial=0))))
    )
    # If a draw takes more than half, draw the numbers to leave out: few draws are then repeated.
    left = counts - size
    whole = left < size
    rows, numbers = _every(np.where(whole, counts, 0))
    drawn_rows, drawn = _distinct(counts, np.where(whole, left, size), key, names)
    if max_size is None:
        return rows, numbers
    stride = _stride(counts)
    marked = drawn_rows * stride + drawn
    out = marked[whole[drawn_rows]]
    kept = np.setdiff1d(rows * stride + numbers, out, assume_unique=True)
    both = np.sort(np.concatenate([kept, marked[~whole[drawn_rows]]]))
    return both // stride, both % stride


def _every(counts: Integers) -> tuple[Integers, Integers]:
    """Return all numbers below each count, as `draw` returns them."""
    rows = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    starts = np.cumsum(counts) - counts
    return rows, np.arange(len(rows), dtype=np.int64) - starts[rows]


def _distinct(
    counts: Integers, wanted: Integers, key: int, names: Integers
) -> tuple[Integers, Integers]:
    """Return the first `wanted` distinct values of an infinite stream below each count."""
    stride = _stride(counts)
    streams = _mixed(np.uint64(key) ^ _mixed(names.astype(np.uint64) * _STEP))
    taken = np.zeros(0, np.int64)
    used = np.zeros(len(counts), np.int64)
    missing = wanted
    while missing.any():
        rows, serial = _every(missing)
        serial = (serial + used[rows] + 1).astype(np.uint64)
        # The remainder of 64 bits favours no number by more than count / 2**64.
        below = _mixed(streams[rows] + serial * _STEP) % counts[rows].astype(np.uint64)
        taken = sorted_unique(np.concatenate([taken, rows * stride + below.astype(np.int64)]))
        used = used + missing
        missing = wanted - np.bincount(taken // stride, minlength=len(counts))
    return taken // stride, taken % stride


def sorted_unique(numbers: Integers) -> Integers:
    """Return the distinct values of `numbers`, sorted.

    This function is about ten times as fast as `np.unique`, which first puts integers into a hash
    table.
    """
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    once: Integers = ordered[first]
    return once


def _stride(counts: Integers) -> int:
    stride = max(1, int(counts.max(initial=0)))
    if stride * max(1, len(counts)) >= 2**63:
        raise ValueError(f"{len(counts)} draws below {stride} do not fit 63 bits")
    return stride


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))


# --- combinations by their position -------------------------------------------------------


def combinations(ranks: Integers, size: int, items: int) -> Integers:
    """Return the combinations at the positions `ranks` in lexicographic order.

    Args:
        ranks: Positions in the lexicographic order of all combinations, of shape (k,).
        size: The number of items in a combination: 0, 1 or 2.
        items: The number of items to choose from. The items are 0 to items - 1.

    Returns:
        An array of shape (k, size), in which each row is one combination in ascending order.

    Raises:
        ValueError: `size` is not 0, 1 or 2.
    """
    if size == 0:
        return np.zeros((len(ranks), 0), np.int64)
    if size == 1:
        return ranks[:, None]
    if size != 2:
        raise ValueError(f"combinations of 0, 1 or 2, not of {size}")
    starts = np.arange(items, dtype=np.int64)
    starts = (
        starts * (2 * items - starts - 1) // 2
    )  # positions where the pairs with first item 0, 1, ... start
    first = np.searchsorted(starts[: max(0, items - 1)], ranks, side="right") - 1
    return np.stack([first, first + 1 + ranks - starts[first]], axis=1)
