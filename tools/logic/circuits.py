"""Formulas over worlds as circuits: what is left of them when all that is known is folded.

The algebra of the solver's path. A value is a table of numbers of gates: 0 is false, 1 true, others
stand in `Gates`. Unknown atoms are inputs, named by world, predicate and places, as is Ab where the
axioms themselves are grounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .formula import ABNORMAL, is_variable
from .tables import Structures

FALSE, TRUE = 0, 1
MOST_GATES = 2_000_000
Circuit = NDArray[np.int64]


class Gate(NamedTuple):
    """kind: "input", "not", "and" or "iff"; parts: numbers of gates; of an input: the world and the
    number of its atom, the elements of its Ab following its unknown atoms."""

    kind: str
    parts: tuple[int, ...]


class TooLarge(Exception):
    """A circuit of more than `MOST_GATES` gates."""


class Gates:
    """Gates, equal ones once. `and` of opposites and of equals is folded, no more."""

    def __init__(self) -> None:
        self.gates = [Gate("false", ()), Gate("true", ())]
        self.numbers: dict[Gate, int] = {}

    def add(self, kind: str, *parts: int) -> int:
        gate = Gate(kind, parts)
        number = self.numbers.get(gate)
        if number is None:
            if len(self.gates) >= MOST_GATES:
                raise TooLarge
            number = self.numbers[gate] = len(self.gates)
            self.gates.append(gate)
        return number

    def negation(self, one: int) -> int:
        if one <= TRUE:
            return 1 - one
        gate = self.gates[one]
        return gate.parts[0] if gate.kind == "not" else self.add("not", one)

    def conjunction(self, one: int, other: int) -> int:
        if one == FALSE or other == FALSE or one == self.negation(other):
            return FALSE
        if one in (TRUE, other):
            return other
        if other == TRUE:
            return one
        return self.add("and", min(one, other), max(one, other))

    def equivalence(self, one: int, other: int) -> int:
        if one <= TRUE or other <= TRUE:
            known, rest = min(one, other), max(one, other)
            if rest <= TRUE:
                return TRUE if known == rest else FALSE
            return rest if known == TRUE else self.negation(rest)
        return TRUE if one == other else self.add("iff", min(one, other), max(one, other))


class Folding:
    """The algebra; values (worlds, an axis for each variable)."""

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
        return len(self.structures)

    def _table(self, name: str) -> Circuit:
        bits = self.structures.unknown[name]
        table = self.structures.true[name].astype(np.int64)
        for at in zip(*np.nonzero((bits >= 0) & (table == FALSE)), strict=True):
            table[at] = self.gates.add("input", int(at[0]), int(bits[at]))
        return table

    def atom(self, name: str, terms: Sequence[str]) -> Circuit:
        if name == ABNORMAL:
            found: Circuit = self.abnormal if is_variable(terms[0]) else self.abnormal[:, :0]
            return found
        found = self.structures.pick("gates", self.tables, name, terms, FALSE)
        return found

    def equal(self, terms: Sequence[str]) -> Circuit:
        return self.structures.equality(terms).astype(np.int64)

    def negation(self, value: Circuit) -> Circuit:
        found = np.where(value <= TRUE, 1 - value, value)
        for at in zip(*np.nonzero(value > TRUE), strict=True):
            found[at] = self.gates.negation(int(value[at]))
        return found

    def conjunction(self, one: Circuit, other: Circuit) -> Circuit:
        one, other = np.broadcast_arrays(one, other)
        found = np.where(one == TRUE, other, one)
        found[(one == FALSE) | (other == FALSE)] = FALSE
        for at in zip(*np.nonzero((one > TRUE) & (other > TRUE)), strict=True):
            found[at] = self.gates.conjunction(int(one[at]), int(other[at]))
        return found

    def disjunction(self, one: Circuit, other: Circuit) -> Circuit:
        return self.negation(self.conjunction(self.negation(one), self.negation(other)))

    def equivalence(self, one: Circuit, other: Circuit) -> Circuit:
        one, other = np.broadcast_arrays(one, other)
        found = np.where(one == TRUE, other, one)
        for at in zip(*np.nonzero(one != TRUE), strict=True):
            found[at] = self.gates.equivalence(int(one[at]), int(other[at]))
        return found

    def every(self, value: Circuit, at: int) -> Circuit:
        axis = 1 + at
        shape = [1] * value.ndim
        shape[0], shape[axis] = self.structures.inside.shape
        within = np.where(self.structures.inside.reshape(shape), value, TRUE)
        found: Circuit = np.take(within, 0, axis=axis)
        for place in range(1, within.shape[axis]):
            found = self.conjunction(found, np.take(within, place, axis=axis))
        return found

    def some(self, value: Circuit, at: int) -> Circuit:
        return self.negation(self.every(self.negation(value), at))

    def spread(self, value: Circuit, index: tuple[slice | None, ...]) -> Circuit:
        found: Circuit = value[(slice(None), *index)]
        return found
