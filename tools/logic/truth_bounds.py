"""Truth values in the presence of unknown atoms: what is certainly and what is possibly true.

The value of a formula is two tables (`evaluation.py`): where it is true for all values of the
unknown atoms, and where it may be true. These are Kleene's strong tables: a part may be undecided
although every completion agrees on it. The circuit of the undecided parts (`completions.py`)
decides it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .completions import Circuit, Reference, ThreeValued
from .evaluation import Bools, Structures, TruthAlgebra


class Bounds(NamedTuple):
    """Truth values between two tables.

    Attributes:
        true: Where a value is certainly true.
        possible: Where a value is not certainly false.
    """

    true: Bools
    possible: Bools


class BoundsAlgebra:
    """Operations on truth values of which only bounds are known.

    Negations and connectives also work on packed truth values (`packed_tables.py`).

    Attributes:
        structures: The worlds in which formulas are evaluated.
        closed: Whether unknown atoms count as false, so that all values are decided.
    """

    def __init__(self, structures: Structures, closed: bool = False) -> None:
        self.structures, self.closed = structures, closed
        self._certain = TruthAlgebra(structures)

    @property
    def cells(self) -> int:
        """The number of worlds."""
        return len(self.structures)

    def atom(self, name: str, terms: Sequence[str]) -> Bounds:
        """Return for which elements of each world an atom is certainly and possibly true."""
        true = self._certain.atom(name, terms)
        if self.closed or name not in self.structures.undecided:
            return Bounds(true, true)
        possible = self.structures.atom_table(
            "possible", self.structures.possible, name, terms, False
        )
        return Bounds(true, possible)

    def equal(self, terms: Sequence[str]) -> Bounds:
        """Return for which elements of each world two terms are equal, which is always decided."""
        same = self.structures.equality(terms)
        return Bounds(same, same)

    def negation(self, value: Bounds) -> Bounds:
        """Return the negation of `value`."""
        true = ~value.possible
        return Bounds(true, true if is_decided(value) else ~value.true)

    def conjunction(self, one: Bounds, other: Bounds) -> Bounds:
        """Return the conjunction of both values."""
        true = one.true & other.true
        decided = is_decided(one) and is_decided(other)
        return Bounds(true, true if decided else one.possible & other.possible)

    def disjunction(self, one: Bounds, other: Bounds) -> Bounds:
        """Return the disjunction of both values."""
        true = one.true | other.true
        decided = is_decided(one) and is_decided(other)
        return Bounds(true, true if decided else one.possible | other.possible)

    def equivalence(self, one: Bounds, other: Bounds) -> Bounds:
        """Return where both values are equal."""
        same = ~(one.true ^ other.true)
        if is_decided(one) and is_decided(other):
            return Bounds(same, same)
        open_ = (one.true ^ one.possible) | (other.true ^ other.possible)
        return Bounds(same & ~open_, same | open_)

    def for_all(self, value: Bounds, at: int) -> Bounds:
        """Return the conjunction over the elements of each world, removing variable axis `at`."""
        true = self._certain.for_all(value.true, at)
        decided = is_decided(value)
        return Bounds(true, true if decided else self._certain.for_all(value.possible, at))

    def exists(self, value: Bounds, at: int) -> Bounds:
        """Return the disjunction over the elements of each world, removing variable axis `at`."""
        true = self._certain.exists(value.true, at)
        decided = is_decided(value)
        return Bounds(true, true if decided else self._certain.exists(value.possible, at))

    def insert_axes(self, value: Bounds, index: tuple[slice | None, ...]) -> Bounds:
        """Insert axes of length 1 between the axes of the free variables.

        `index` has None for each new axis and a full slice for each existing axis.
        """
        at = (slice(None), *index)
        true = value.true[at]
        return Bounds(true, true if is_decided(value) else value.possible[at])


def is_decided(value: Bounds) -> bool:
    """Return whether both bounds are the same table, so that no value is undecided."""
    return value.true is value.possible


@dataclass(frozen=True)
class Evaluated:
    """The values of a rule for all elements, and the circuit of those that are undecided.

    Attributes:
        bounds: Bounds of the values, of shape (worlds, elements). Values outside of a domain are
            false.
        circuit: The undecided parts of the rule.
        roots: The cell of each value of `bounds`, flattened; None if all values are decided.
    """

    bounds: Bounds
    circuit: Circuit
    roots: Reference | None

    @cached_property
    def three_valued(self) -> ThreeValued:
        """The values, and the unknown atoms on which the undecided ones depend."""
        true, possible = self.bounds
        on = self.circuit.depends_on(self.roots, true.size).reshape(true.shape)
        return ThreeValued(true, ~possible, on)
