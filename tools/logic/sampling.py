"""Generation of random worlds as tables, thousands at once and the same on every machine.

NumPy guarantees that the raw output of a bit generator is the same in all versions, but not the
distributions built on this output. Therefore this module computes uniform numbers from the raw
output, and chooses atoms by sorting uniform numbers.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from .evaluation import Bools

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class RandomStream:
    """A source of uniform random numbers that is determined by the seed `text`.

    The source is NumPy's PCG64. Each number consists of the upper 53 of 64 bits.
    """

    def __init__(self, text: str) -> None:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
        self._bits = np.random.PCG64(seed)

    def uniform(self, *shape: int) -> Floats:
        """Return uniform random numbers in [0, 1), as an array of shape `shape`."""
        count = int(np.prod(shape, dtype=np.int64))
        words = self._bits.random_raw(count)
        found: Floats = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return found.reshape(shape)

    def integers(self, bound: int | Integers, *shape: int) -> Integers:
        """Return random integers from 0 to `bound` - 1, as an array of shape `shape`.

        `bound` may be an array that broadcasts to `shape`.
        """
        found: Integers = (self.uniform(*shape) * bound).astype(np.int64)
        return found

    def permutation(self, count: int) -> Integers:
        """Return the integers from 0 to `count` - 1 in random order."""
        found: Integers = np.argsort(self.uniform(count), kind="stable")
        return found


def element_mask(sizes: Integers, most: int | None = None) -> Bools:
    """Return which indices are elements of each world, as a bool array of shape (worlds, size).

    Args:
        sizes: Number of elements in each world, of shape (worlds,).
        most: The second dimension of the result; None for the largest number in `sizes`.
    """
    width = int(sizes.max()) if most is None else most
    found: Bools = np.arange(width)[None, :] < sizes[:, None]
    return found


def draw_atoms(stream: RandomStream, inside: Bools, counts: Integers, places: int) -> Bools:
    """Draw which atoms of a predicate are true in each world.

    In each world, all sets of `counts` atoms are equally likely.

    Args:
        stream: Source of random numbers.
        inside: Which indices are elements of each world, bool of shape (worlds, size).
        counts: Number of true atoms in each world, of shape (worlds,).
        places: Number of arguments of the predicate.

    Returns:
        A bool table. The first axis is the worlds; one axis of length `size` follows for each
        argument.
    """
    worlds, size = inside.shape
    possible = np.ones(worlds, bool)
    for place in range(places):
        possible = possible[..., None] & inside.reshape(worlds, *(1,) * place, size)
    keys = np.where(possible, stream.uniform(*possible.shape), 2.0).reshape(worlds, -1)
    last = np.clip(counts, 1, keys.shape[1]) - 1
    most = np.take_along_axis(np.sort(keys, axis=1), last[:, None], axis=1)
    chosen = (keys <= most) & (counts > 0)[:, None]
    for world in np.flatnonzero(chosen.sum(axis=1) > np.maximum(counts, 0)):  # equal keys
        chosen[world] = False
        chosen[world, np.argsort(keys[world], kind="stable")[: counts[world]]] = True
    found: Bools = chosen.reshape(possible.shape) & possible
    return found
