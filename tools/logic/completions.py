"""Evaluation of formulas with unknown atoms: by three-valued logic, and in every completion.

A completion gives each unknown atom of a world a truth value. A *component* is a set of elements of
one world whose undecided values depend on the same k unknown atoms, which have 2^k completions. The
truth value of an element in all completions is stored as 2^k bits, in 64-bit words. Components with
the same number of words are evaluated together. An unknown atom that does not belong to a component
does not affect the elements of the component, so it counts as false there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .evaluation import Bools, Structures
from .formula import is_variable

# --- Three-valued truth: certain for all values of the unknown atoms, or dependent on some atoms.
#
# These are Kleene's strong tables. A part may be undecided here although every completion agrees on
# it. It then counts as depending on its atoms, and `CompletionAlgebra` below decides it.

MAX_UNKNOWN_BITS = 64  # unknown atoms of a world; each takes one bit of a word
Words = NDArray[np.uint64]
_NONE = np.uint64(0)


class ThreeValued(NamedTuple):
    """Truth values as three arrays: certainly true, certainly false, or dependent on unknown atoms.

    Attributes:
        true: Where a value is certainly true.
        false: Where a value is certainly false.
        depends_on: For each undecided value, a bit mask of the unknown atoms on which it depends; 0
            where a value is decided.
    """

    true: Bools
    false: Bools
    depends_on: Words


class KleeneAlgebra:
    """Operations on three-valued truth.

    A world may have at most `MAX_UNKNOWN_BITS` unknown atoms.
    """

    def __init__(self, structures: Structures) -> None:
        self.structures = structures
        self.on = {
            name: np.where(bits >= 0, np.uint64(1) << np.maximum(bits, 0).astype(np.uint64), _NONE)
            for name, bits in structures.unknown.items()
        }

    @property
    def cells(self) -> int:
        """The number of worlds."""
        return len(self.structures)

    def atom(self, name: str, terms: Sequence[str]) -> ThreeValued:
        """Return the value of an atom. The value of an unknown atom depends on this atom."""
        true = self.structures.atom_table("true", self.structures.true, name, terms, False)
        on = self.structures.atom_table("on", self.on, name, terms, 0)
        return ThreeValued(true, ~true & (on == _NONE), on)

    def equal(self, terms: Sequence[str]) -> ThreeValued:
        """Return the value of an equality of two terms, which is always decided."""
        same = self.structures.equality(terms)
        return ThreeValued(same, ~same, np.zeros(same.shape, np.uint64))

    def negation(self, value: ThreeValued) -> ThreeValued:
        """Return the three-valued negation of `value`."""
        return ThreeValued(value.false, value.true, value.depends_on)

    def conjunction(self, one: ThreeValued, other: ThreeValued) -> ThreeValued:
        """Return the three-valued conjunction of `one` and `other`."""
        true, false = one.true & other.true, one.false | other.false
        return ThreeValued(true, false, np.where(false, _NONE, one.depends_on | other.depends_on))

    def disjunction(self, one: ThreeValued, other: ThreeValued) -> ThreeValued:
        """Return the three-valued disjunction of `one` and `other`."""
        true, false = one.true | other.true, one.false & other.false
        return ThreeValued(true, false, np.where(true, _NONE, one.depends_on | other.depends_on))

    def equivalence(self, one: ThreeValued, other: ThreeValued) -> ThreeValued:
        """Return whether `one` and `other` are equal, in three-valued logic."""
        decided = (one.true | one.false) & (other.true | other.false)
        same = decided & (one.true == other.true)
        return ThreeValued(
            same, decided & ~same, np.where(decided, _NONE, one.depends_on | other.depends_on)
        )

    def for_all(self, value: ThreeValued, at: int) -> ThreeValued:
        """Return the conjunction over the elements of each world, removing variable axis `at`."""
        found = self.exists(self.negation(value), at)
        return self.negation(found)

    def exists(self, value: ThreeValued, at: int) -> ThreeValued:
        """Return the disjunction over the elements of each world, removing variable axis `at`."""
        axis = 1 + at
        shape = [1] * value.true.ndim
        shape[0], shape[axis] = self.structures.inside.shape
        inside = self.structures.inside.reshape(shape)
        true = np.logical_or.reduce(value.true & inside, axis=axis)
        false = np.logical_and.reduce(value.false | ~inside, axis=axis)
        on = np.bitwise_or.reduce(np.where(inside, value.depends_on, _NONE), axis=axis)
        return ThreeValued(true, false, np.where(true, _NONE, on))

    def insert_axes(self, value: ThreeValued, index: tuple[slice | None, ...]) -> ThreeValued:
        """Insert axes of length 1 between the axes of the free variables.

        `index` has None for each new axis and a full slice for each existing axis.
        """
        at = (slice(None), *index)
        return ThreeValued(value.true[at], value.false[at], value.depends_on[at])


MAX_COMPONENT_ATOMS = (
    18  # unknown atoms of a component (2^18 completions); larger ones go to the solver
)
_ONES = ~np.uint64(0)
# A bit of pattern i is 1 in the completions that make atom i true. From the seventh atom on, entire
# words alternate.
_PATTERNS = [
    int("".join("1" if position >> i & 1 else "0" for position in reversed(range(64))), 2)
    for i in range(6)
]


class Component(NamedTuple):
    """Elements of one world that depend on the same unknown atoms and must be decided together.

    Attributes:
        world: Index of the world.
        elements: Indices of the elements in the domain of the world.
        atoms: Numbers of the shared unknown atoms, in the order of `World.unknown_atoms`.
    """

    world: int
    elements: tuple[int, ...]
    atoms: tuple[int, ...]

    @property
    def words(self) -> int:
        """The number of 64-bit words that hold one bit for each completion of the unknown atoms."""
        return 1 << max(0, len(self.atoms) - 6)


def completion_patterns(count: int, words: int) -> Words:
    """Return the truth values of `count` unknown atoms in all their completions.

    The result has the shape (count, words). Bit c of row i says whether atom i is true in
    completion c.
    """
    rows = np.zeros((count, words), np.uint64)
    for atom in range(count):
        if atom < 6:
            rows[atom] = _PATTERNS[atom]
        else:
            rows[atom] = np.where(np.arange(words) >> (atom - 6) & 1, _ONES, _NONE)
    return rows


class CompletionAlgebra:
    """Operations on truth values in all completions, for components with the same number of words.

    A value has the shape (components, one axis for each free variable, words). The axis of
    `element`, the free variable of the rule, ranges over the elements of a component.
    """

    def __init__(
        self, structures: Structures, components: Sequence[Component], element: str
    ) -> None:
        self.structures = structures
        self.element = element
        self.count = len(components)
        self.words = components[0].words
        self.worlds = np.array([one.world for one in components])
        most = max(len(one.elements) for one in components)
        # A component with fewer elements is padded with its first.
        self.elements: NDArray[np.int64] = np.array(
            [(*one.elements, *one.elements[:1] * (most - len(one.elements))) for one in components]
        )
        self.rows = np.zeros(
            (self.count, 1 + max(structures.unknown_counts), self.words), np.uint64
        )
        for number, one in enumerate(components):
            self.rows[number, list(one.atoms)] = completion_patterns(len(one.atoms), self.words)
        self.inside = structures.inside[self.worlds]
        self._atoms: dict[tuple[str, tuple[str, ...]], Words] = {}

    @property
    def cells(self) -> int:
        """The number of 64-bit words in a value without free variables."""
        return self.count * self.words

    def atom(self, name: str, terms: Sequence[str]) -> Words:
        """Return in which completions an atom is true, as 64-bit words."""
        key = (name, tuple(terms))
        if key not in self._atoms:
            true = self._gathered(
                self.structures.atom_table("true", self.structures.true, name, terms, False), terms
            )
            bits = self._gathered(
                self.structures.atom_table("bit", self.structures.unknown, name, terms, -1), terms
            )
            component = np.arange(self.count).reshape((-1, *(1,) * (bits.ndim - 1)))
            rows = self.rows[component, bits]  # -1 selects the last row, which belongs to no atom.
            self._atoms[key] = np.where(true[..., None], _ONES, rows)
        return self._atoms[key]

    def equal(self, terms: Sequence[str]) -> Words:
        """Return in which completions two terms are equal, as 64-bit words."""
        same = self._gathered(self.structures.equality(terms), terms)
        return np.where(same, _ONES, _NONE)[..., None]

    def _gathered(self, table: NDArray[Any], terms: Sequence[str]) -> NDArray[Any]:
        """Select the components' worlds, and their elements if the rule's variable is a term."""
        found: NDArray[Any] = table[self.worlds]
        variables = sorted({term for term in terms if is_variable(term)})
        if self.element not in variables:
            return found
        axis = 1 + variables.index(self.element)
        shape = [1] * found.ndim
        shape[0], shape[axis] = self.elements.shape
        return np.take_along_axis(found, self.elements.reshape(shape), axis=axis)

    def negation(self, value: Words) -> Words:
        """Return the negation of `value` in every completion."""
        return ~value

    def conjunction(self, one: Words, other: Words) -> Words:
        """Return the conjunction of `one` and `other` in every completion."""
        return one & other

    def disjunction(self, one: Words, other: Words) -> Words:
        """Return the disjunction of `one` and `other` in every completion."""
        return one | other

    def equivalence(self, one: Words, other: Words) -> Words:
        """Return in which completions `one` and `other` are equal."""
        return ~(one ^ other)

    def for_all(self, value: Words, at: int) -> Words:
        """Return the conjunction over the elements of each world, removing variable axis `at`."""
        found: Words = np.bitwise_and.reduce(
            np.where(self._along(value, at), value, _ONES), axis=1 + at
        )
        return found

    def exists(self, value: Words, at: int) -> Words:
        """Return the disjunction over the elements of each world, removing variable axis `at`."""
        found: Words = np.bitwise_or.reduce(
            np.where(self._along(value, at), value, _NONE), axis=1 + at
        )
        return found

    def insert_axes(self, value: Words, index: tuple[slice | None, ...]) -> Words:
        """Insert axes of length 1 between the axes of the free variables.

        `index` has None for each new axis and a full slice for each existing axis.
        """
        found: Words = value[(slice(None), *index)]
        return found

    def _along(self, value: Words, at: int) -> NDArray[np.bool_]:
        shape = [1] * value.ndim
        shape[0], shape[1 + at] = self.inside.shape
        along: NDArray[np.bool_] = self.inside.reshape(shape)
        return along


def unpack_bits(words: Words) -> NDArray[np.bool_]:
    """Convert 64-bit words to bools, one for each completion.

    The last axis of the result is 64 times as long as the last axis of `words`.
    """
    bytes_ = np.ascontiguousarray(words.astype("<u8")).view(np.uint8)
    found: NDArray[np.bool_] = np.unpackbits(bytes_, axis=-1, bitorder="little").view(np.bool_)
    return found
