"""Random worlds as tables, thousands at once, the same on any machine.

NumPy promises the raw words of a bit generator for good, though not what is made of them; so
uniform numbers are made here, and a choice of atoms is the order of as many of them.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from .tables import Bools

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


class Stream:
    """Uniform numbers that follow from a text. NumPy's PCG64 under it; a number is the upper 53 of
    64 bits."""

    def __init__(self, text: str) -> None:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
        self._bits = np.random.PCG64(seed)

    def uniform(self, *shape: int) -> Floats:
        """In [0, 1), of this shape."""
        count = int(np.prod(shape, dtype=np.int64))
        words = self._bits.random_raw(count)
        found: Floats = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return found.reshape(shape)

    def below(self, bound: int | Whole, *shape: int) -> Whole:
        """Whole numbers from 0 to bound - 1, of this shape (bound may be an array of it)."""
        found: Whole = (self.uniform(*shape) * bound).astype(np.int64)
        return found

    def shuffled(self, count: int) -> Whole:
        """The numbers below `count` in some order."""
        found: Whole = np.argsort(self.uniform(count), kind="stable")
        return found


def inside_of(sizes: Whole, most: int | None = None) -> Bools:
    """(worlds, size): which places of a table are elements, for domains of these sizes."""
    width = int(sizes.max()) if most is None else most
    found: Bools = np.arange(width)[None, :] < sizes[:, None]
    return found


def drawn(stream: Stream, inside: Bools, counts: Whole, places: int) -> Bools:
    """(worlds, size, ...), an axis for each of the `places` arguments of a predicate: in each world
    so many of its atoms are true, which ones uniformly among its elements."""
    worlds, size = inside.shape
    possible = np.ones(worlds, bool)
    for place in range(places):
        possible = possible[..., None] & inside.reshape(worlds, *(1,) * place, size)
    keys = np.where(possible, stream.uniform(*possible.shape), 2.0).reshape(worlds, -1)
    order = np.argsort(keys, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(order.shape[1])[None, :], axis=1)
    chosen = (rank < counts[:, None]).reshape(possible.shape)
    found: Bools = chosen & possible
    return found
