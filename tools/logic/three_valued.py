"""Three values: what is certain whatever the unknown atoms are, and what the rest depends on.

Kleene's strong tables: a part may be undecided here though every completion agrees on it; it then
counts as depending on its atoms, and `completions.py` settles it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .tables import Bools, Structures

MOST_BITS = 64  # unknown atoms of a world: a word has a bit for each
Words = NDArray[np.uint64]
_NONE = np.uint64(0)


class Three(NamedTuple):
    """true, false: certain. on: a bit for each unknown atom that an undecided value depends on, 0
    where decided."""

    true: Bools
    false: Bools
    on: Words


class Kleene:
    """The algebra. Worlds have at most `MOST_BITS` unknown atoms."""

    def __init__(self, structures: Structures) -> None:
        self.structures = structures
        self.on = {
            name: np.where(bits >= 0, np.uint64(1) << np.maximum(bits, 0).astype(np.uint64), _NONE)
            for name, bits in structures.unknown.items()
        }

    @property
    def cells(self) -> int:
        return len(self.structures)

    def atom(self, name: str, terms: Sequence[str]) -> Three:
        true = self.structures.pick("true", self.structures.true, name, terms, False)
        on = self.structures.pick("on", self.on, name, terms, 0)
        return Three(true, ~true & (on == _NONE), on)

    def equal(self, terms: Sequence[str]) -> Three:
        same = self.structures.equality(terms)
        return Three(same, ~same, np.zeros(same.shape, np.uint64))

    def negation(self, value: Three) -> Three:
        return Three(value.false, value.true, value.on)

    def conjunction(self, one: Three, other: Three) -> Three:
        true, false = one.true & other.true, one.false | other.false
        return Three(true, false, np.where(false, _NONE, one.on | other.on))

    def disjunction(self, one: Three, other: Three) -> Three:
        true, false = one.true | other.true, one.false & other.false
        return Three(true, false, np.where(true, _NONE, one.on | other.on))

    def equivalence(self, one: Three, other: Three) -> Three:
        decided = (one.true | one.false) & (other.true | other.false)
        same = decided & (one.true == other.true)
        return Three(same, decided & ~same, np.where(decided, _NONE, one.on | other.on))

    def every(self, value: Three, at: int) -> Three:
        found = self.some(self.negation(value), at)
        return self.negation(found)

    def some(self, value: Three, at: int) -> Three:
        axis = 1 + at
        shape = [1] * value.true.ndim
        shape[0], shape[axis] = self.structures.inside.shape
        inside = self.structures.inside.reshape(shape)
        true = np.logical_or.reduce(value.true & inside, axis=axis)
        false = np.logical_and.reduce(value.false | ~inside, axis=axis)
        on = np.bitwise_or.reduce(np.where(inside, value.on, _NONE), axis=axis)
        return Three(true, false, np.where(true, _NONE, on))

    def spread(self, value: Three, index: tuple[slice | None, ...]) -> Three:
        at = (slice(None), *index)
        return Three(value.true[at], value.false[at], value.on[at])
