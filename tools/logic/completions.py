"""Truth in every completion of a few unknown atoms: a bit for each completion.

A *component* is a set of elements of one world whose undecided values share unknown atoms. Its k
atoms have 2^k completions; each truth value is a row of as many bits, in words of 64, and the
atoms themselves are the usual alternating patterns. Components of as many words are evaluated at
once. No atom outside a component bears on its elements, so those count as false here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .formula import is_variable
from .tables import Bools, Structures

# --- Three values: what is certain whatever the unknown atoms are, and what the rest depends on.
#
# Kleene's strong tables: a part may be undecided here though every completion agrees on it; it then
# counts as depending on its atoms, and `completions.py` settles it.

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


MOST_ATOMS = 18  # of a component: 2^18 completions; larger ones are for the solver
_ONES = ~np.uint64(0)
# Bit i of these is 1 in every completion that makes atom i true; from the seventh atom on, whole
# words alternate.
_PATTERNS = [
    int("".join("1" if position >> i & 1 else "0" for position in reversed(range(64))), 2)
    for i in range(6)
]


class Component(NamedTuple):
    """world: its place; elements: places in the domain; atoms: numbers of the world's unknown
    atoms."""

    world: int
    elements: tuple[int, ...]
    atoms: tuple[int, ...]

    @property
    def words(self) -> int:
        return 1 << max(0, len(self.atoms) - 6)


def patterns(count: int, words: int) -> Words:
    """(count, words): the row of each of `count` atoms over their completions."""
    rows = np.zeros((count, words), np.uint64)
    for atom in range(count):
        if atom < 6:
            rows[atom] = _PATTERNS[atom]
        else:
            rows[atom] = np.where(np.arange(words) >> (atom - 6) & 1, _ONES, _NONE)
    return rows


class Completions:
    """The algebra of components with one number of words. Values: (components, axes …, words);
    the axis of `element`, the variable of the rule, goes over a component's own elements."""

    def __init__(
        self, structures: Structures, components: Sequence[Component], element: str
    ) -> None:
        self.structures = structures
        self.element = element
        self.count = len(components)
        self.words = components[0].words
        self.worlds = np.array([one.world for one in components])
        most = max(len(one.elements) for one in components)
        # A component with fewer elements repeats its first.
        self.elements: NDArray[np.int64] = np.array(
            [(*one.elements, *one.elements[:1] * (most - len(one.elements))) for one in components]
        )
        self.rows = np.zeros(
            (self.count, 1 + max(structures.unknown_counts), self.words), np.uint64
        )
        for number, one in enumerate(components):
            self.rows[number, list(one.atoms)] = patterns(len(one.atoms), self.words)
        self.inside = structures.inside[self.worlds]
        self._atoms: dict[tuple[str, tuple[str, ...]], Words] = {}

    @property
    def cells(self) -> int:
        return self.count * self.words

    def atom(self, name: str, terms: Sequence[str]) -> Words:
        key = (name, tuple(terms))
        if key not in self._atoms:
            true = self._gathered(
                self.structures.pick("true", self.structures.true, name, terms, False), terms
            )
            bits = self._gathered(
                self.structures.pick("bit", self.structures.unknown, name, terms, -1), terms
            )
            component = np.arange(self.count).reshape((-1, *(1,) * (bits.ndim - 1)))
            rows = self.rows[component, bits]  # -1: the last row, of no atom
            self._atoms[key] = np.where(true[..., None], _ONES, rows)
        return self._atoms[key]

    def equal(self, terms: Sequence[str]) -> Words:
        same = self._gathered(self.structures.equality(terms), terms)
        return np.where(same, _ONES, _NONE)[..., None]

    def _gathered(self, table: NDArray[Any], terms: Sequence[str]) -> NDArray[Any]:
        """The rows of the components' worlds, and of their elements where the rule's variable is
        among the terms."""
        found: NDArray[Any] = table[self.worlds]
        variables = sorted({term for term in terms if is_variable(term)})
        if self.element not in variables:
            return found
        axis = 1 + variables.index(self.element)
        shape = [1] * found.ndim
        shape[0], shape[axis] = self.elements.shape
        return np.take_along_axis(found, self.elements.reshape(shape), axis=axis)

    def negation(self, value: Words) -> Words:
        return ~value

    def conjunction(self, one: Words, other: Words) -> Words:
        return one & other

    def disjunction(self, one: Words, other: Words) -> Words:
        return one | other

    def equivalence(self, one: Words, other: Words) -> Words:
        return ~(one ^ other)

    def every(self, value: Words, at: int) -> Words:
        found: Words = np.bitwise_and.reduce(
            np.where(self._along(value, at), value, _ONES), axis=1 + at
        )
        return found

    def some(self, value: Words, at: int) -> Words:
        found: Words = np.bitwise_or.reduce(
            np.where(self._along(value, at), value, _NONE), axis=1 + at
        )
        return found

    def spread(self, value: Words, index: tuple[slice | None, ...]) -> Words:
        found: Words = value[(slice(None), *index)]
        return found

    def _along(self, value: Words, at: int) -> NDArray[np.bool_]:
        shape = [1] * value.ndim
        shape[0], shape[1 + at] = self.inside.shape
        along: NDArray[np.bool_] = self.inside.reshape(shape)
        return along


def bits(words: Words) -> NDArray[np.bool_]:
    """(..., words) to (..., 64 * words), a completion each."""
    bytes_ = np.ascontiguousarray(words.astype("<u8")).view(np.uint8)
    found: NDArray[np.bool_] = np.unpackbits(bytes_, axis=-1, bitorder="little").view(np.bool_)
    return found
