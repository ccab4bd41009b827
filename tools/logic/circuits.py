"""Formulas over worlds as Boolean circuits, after everything known has been folded.

This is the solver's algebra. A value is a table of gate numbers: 0 is false, 1 is true, and the
others are stored in `Gates`. Unknown atoms are inputs, identified by world and number. So are the
atoms of Ab, for which the axioms are grounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .evaluation import Structures
from .formula import ABNORMAL, is_variable

FALSE, TRUE = 0, 1
MAX_GATES = 2_000_000
Circuit = NDArray[np.int64]


class Gate(NamedTuple):
    """One gate of a Boolean circuit, which represents a truth value in a world.

    Attributes:
        kind: "input", "not", "and" or "iff"; "false" and "true" for the two constants.
        parts: Numbers of the gates that are the inputs of this gate. For the kind "input", the
            number of the world and the number of an atom in this world. The unknown atoms are
            numbered first; the Ab atoms of the elements follow.
    """

    kind: str
    parts: tuple[int, ...]


class CircuitTooLarge(Exception):
    """Raised when the circuit of a rule has more than `MAX_GATES` gates."""


class Gates:
    """The gates of a Boolean circuit, in which equal gates are stored once.

    A gate is simplified if an operand is constant, if it negates a negation, if both operands are
    equal, or, for "and", if one operand negates the other.
    """

    def __init__(self) -> None:
        self.gates = [Gate("false", ()), Gate("true", ())]
        self.numbers: dict[Gate, int] = {}

    def add(self, kind: str, *parts: int) -> int:
        """Add a gate unless an equal gate exists, and return its number.

        Raises:
            CircuitTooLarge: The circuit has `MAX_GATES` gates already.
        """
        gate = Gate(kind, parts)
        number = self.numbers.get(gate)
        if number is None:
            if len(self.gates) >= MAX_GATES:
                raise CircuitTooLarge
            number = self.numbers[gate] = len(self.gates)
            self.gates.append(gate)
        return number

    def negation(self, one: int) -> int:
        """Return the number of the gate that negates gate `one`."""
        if one <= TRUE:
            return 1 - one
        gate = self.gates[one]
        return gate.parts[0] if gate.kind == "not" else self.add("not", one)

    def conjunction(self, one: int, other: int) -> int:
        """Return the number of the gate for "`one` and `other`"."""
        if one == FALSE or other == FALSE or one == self.negation(other):
            return FALSE
        if one in (TRUE, other):
            return other
        if other == TRUE:
            return one
        return self.add("and", min(one, other), max(one, other))

    def equivalence(self, one: int, other: int) -> int:
        """Return the number of the gate that is true if `one` and `other` are equal."""
        if one <= TRUE or other <= TRUE:
            known, rest = min(one, other), max(one, other)
            if rest <= TRUE:
                return TRUE if known == rest else FALSE
            return rest if known == TRUE else self.negation(rest)
        return TRUE if one == other else self.add("iff", min(one, other), max(one, other))


class CircuitAlgebra:
    """Operations that evaluate formulas to gates of a Boolean circuit.

    Values are arrays of gate numbers, of shape (worlds, one axis for each free variable).
    """

    def __init__(self, structures: Structures, gates: Gates) -> None:
        self.structures = structures
        self.gates = gates
        self.tables = {name: self._table(name) for name in structures.signature}
        count, size = structures.inside.shape
        self.abnormal = np.zeros((count, size), np.int64)
        for world, unknown in enumerate(structures.unknown_counts):
            for element in np.flatnonzero(structures.inside[world]):
                self.abnormal[world, element] = gates.add("input", world, unknown + int(element))

    @property
    def cells(self) -> int:
        """The number of worlds."""
        return len(self.structures)

    def _table(self, name: str) -> Circuit:
        bits = self.structures.unknown[name]
        table = self.structures.true[name].astype(np.int64)
        for at in zip(*np.nonzero((bits >= 0) & (table == FALSE)), strict=True):
            table[at] = self.gates.add("input", int(at[0]), int(bits[at]))
        return table

    def atom(self, name: str, terms: Sequence[str]) -> Circuit:
        """Return the gates of an atom for all elements.

        Unknown atoms and Ab atoms are inputs of the circuit.
        """
        if name == ABNORMAL:
            found: Circuit = self.abnormal if is_variable(terms[0]) else self.abnormal[:, :0]
            return found
        found = self.structures.atom_table("gates", self.tables, name, terms, FALSE)
        return found

    def equal(self, terms: Sequence[str]) -> Circuit:
        """Return the gates of an equality of two terms, which are constants."""
        return self.structures.equality(terms).astype(np.int64)

    def negation(self, value: Circuit) -> Circuit:
        """Return the gates that negate the gates in `value`."""
        found = np.where(value <= TRUE, 1 - value, value)
        for at in zip(*np.nonzero(value > TRUE), strict=True):
            found[at] = self.gates.negation(int(value[at]))
        return found

    def conjunction(self, one: Circuit, other: Circuit) -> Circuit:
        """Return the gates for "`one` and `other`"."""
        one, other = np.broadcast_arrays(one, other)
        found = np.where(one == TRUE, other, one)
        found[(one == FALSE) | (other == FALSE)] = FALSE
        for at in zip(*np.nonzero((one > TRUE) & (other > TRUE)), strict=True):
            found[at] = self.gates.conjunction(int(one[at]), int(other[at]))
        return found

    def disjunction(self, one: Circuit, other: Circuit) -> Circuit:
        """Return the gates for "`one` or `other`"."""
        return self.negation(self.conjunction(self.negation(one), self.negation(other)))

    def equivalence(self, one: Circuit, other: Circuit) -> Circuit:
        """Return the gates that are true if `one` and `other` are equal."""
        one, other = np.broadcast_arrays(one, other)
        found = np.where(one == TRUE, other, one)
        for at in zip(*np.nonzero(one != TRUE), strict=True):
            found[at] = self.gates.equivalence(int(one[at]), int(other[at]))
        return found

    def for_all(self, value: Circuit, at: int) -> Circuit:
        """Return the conjunction over the elements of each world, removing variable axis `at`."""
        axis = 1 + at
        shape = [1] * value.ndim
        shape[0], shape[axis] = self.structures.inside.shape
        within = np.where(self.structures.inside.reshape(shape), value, TRUE)
        found: Circuit = np.take(within, 0, axis=axis)
        for place in range(1, within.shape[axis]):
            found = self.conjunction(found, np.take(within, place, axis=axis))
        return found

    def exists(self, value: Circuit, at: int) -> Circuit:
        """Return the disjunction over the elements of each world, removing variable axis `at`."""
        return self.negation(self.for_all(self.negation(value), at))

    def insert_axes(self, value: Circuit, index: tuple[slice | None, ...]) -> Circuit:
        """Insert axes of length 1 between the axes of the free variables.

        `index` has None for each new axis and a full slice for each existing axis.
        """
        found: Circuit = value[(slice(None), *index)]
        return found
