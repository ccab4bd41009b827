"""Evaluation of formulas with unknown atoms by tables of what is certainly and possibly true.

The value of a formula is two tables (`evaluation.py`): where it is true for all values of the
unknown atoms, and where it may be true. These are Kleene's strong tables: a part may be undecided
although every completion agrees on it. The circuit of the undecided parts (`completions.py`)
decides it. It is built from the undecided values of the whole formula downwards, so it holds only
the parts on which they depend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .completions import Circuit, Places, Reference, ThreeValued
from .evaluation import (
    Bools,
    Structures,
    TableTooLarge,
    TruthAlgebra,
    broadcast_to_elements,
    evaluate_nodes,
)
from .formula import QUANTIFIERS, Formula, Node

MAX_UNDECIDED = 1 << 22  # undecided values of all parts of a formula; takes some tenths of a second


class Bounds(NamedTuple):
    """Truth values between two tables.

    Attributes:
        true: Where a value is certainly true.
        possible: Where a value is not certainly false.
    """

    true: Bools
    possible: Bools


class BoundsAlgebra:
    """Operations on truth values of which only bounds are known."""

    def __init__(self, structures: Structures) -> None:
        self.structures = structures
        self._certain = TruthAlgebra(structures)

    @property
    def cells(self) -> int:
        """The number of worlds."""
        return len(self.structures)

    def atom(self, name: str, terms: Sequence[str]) -> Bounds:
        """Return for which elements of each world an atom is certainly and possibly true."""
        true = self._certain.atom(name, terms)
        if name not in self.structures.undecided:
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
        same = np.equal(one.true, other.true)
        if is_decided(one) and is_decided(other):
            return Bounds(same, same)
        open_ = (one.true != one.possible) | (other.true != other.possible)
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


class Evaluated(NamedTuple):
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

    @property
    def three_valued(self) -> ThreeValued:
        """The values, and the unknown atoms on which the undecided ones depend."""
        true, possible = self.bounds
        on = self.circuit.depends_on(self.roots, true.size).reshape(true.shape)
        return ThreeValued(true, ~possible, on)


def evaluate_bounds(formula: Formula, algebra: BoundsAlgebra) -> Evaluated:
    """Return the values of a rule for all elements, by tables of all its parts.

    Args:
        formula: The rule. It has at most one free variable.
        algebra: The operations, and the worlds in which the rule is evaluated.

    Raises:
        TableTooLarge: The tables are too large, or too many values are undecided.
    """
    structures = algebra.structures
    values = evaluate_nodes(formula, algebra)
    inside, size = structures.inside, structures.size
    true = broadcast_to_elements(values[-1].true, formula, size) & inside
    if is_decided(values[-1]):
        return Evaluated(Bounds(true, true), Circuit(structures), None)
    possible = broadcast_to_elements(values[-1].possible, formula, size) & inside
    grounding = _Grounding(formula, structures, values)
    return Evaluated(Bounds(true, possible), grounding.circuit, grounding.roots(true != possible))


class _Edges(NamedTuple):
    """For each undecided value of a quantifier, the undecided values of its part.

    Attributes:
        starts: Position of the first edge of each value.
        cells: The cells of the part, in its flattened table.
    """

    starts: Places
    cells: Places


class _Grounding:
    """Builds the circuit of a formula's undecided values from the bounds of all its parts."""

    def __init__(self, formula: Formula, structures: Structures, values: Sequence[Bounds]) -> None:
        self.formula, self.structures = formula, structures
        self.axes = [tuple(sorted(free)) for free in formula.free_at]
        self.true = [value.true for value in values]
        # None where everything is decided.
        self.open: list[Bools | None] = [
            None if is_decided(value) else (value.true != value.possible).reshape(-1)
            for value in values
        ]
        self.wanted: dict[int, Bools] = {}
        self.cells: dict[int, Places] = {}
        self.edges: dict[int, _Edges] = {}
        self.found: dict[int, Reference] = {}
        self.circuit = Circuit(structures)

    def roots(self, undecided: Bools) -> Reference | None:
        """Build the circuit, and return the cells of the rule's values, (worlds · elements,)."""
        formula = self.formula
        last = len(formula.nodes) - 1
        self.wanted[last] = (undecided if formula.free else undecided.any(axis=1)).reshape(-1)
        count = 0
        for place in range(last, -1, -1):
            if place in self.wanted:
                self.cells[place] = np.flatnonzero(self.wanted.pop(place))
                count += len(self.cells[place])
                if count > MAX_UNDECIDED:
                    raise TableTooLarge
                self._ask_parts(place, formula.nodes[place])
        if not count:
            return None
        for place in sorted(self.cells):
            if len(self.cells[place]):
                self.found[place] = self._cells(place, formula.nodes[place])
        root, cells = self.found[last], self.cells[last]
        at = np.full(undecided.size, -1, np.int64)
        if formula.free:
            at[cells] = root.at
        else:
            row = np.full(len(undecided), -1, np.int64)
            row[cells] = root.at
            at = np.where(undecided, row[:, None], -1).reshape(-1)
        return root._replace(at=at)

    def _want(self, part: int, cells: Places) -> None:
        open_ = self.open[part]
        assert open_ is not None
        self.wanted.setdefault(part, np.zeros(len(open_), bool))[cells] = True

    def _ask_parts(self, place: int, node: Node) -> None:
        """Note on which undecided values of its parts the wanted values of a node depend."""
        cells = self.cells[place]
        if node.kind in QUANTIFIERS and node.name in self.axes[node.parts[0]]:
            self.edges[place] = self._quantified(place, node)
            self._want(node.parts[0], self.edges[place].cells)
            return
        for part in node.parts:
            open_ = self.open[part]
            if open_ is not None:
                theirs = self._projected(cells, self.axes[place], self.axes[part])
                self._want(part, theirs[open_[theirs]])

    def _quantified(self, place: int, node: Node) -> _Edges:
        cells, size = self.cells[place], self.structures.size
        axes, open_ = self.axes[node.parts[0]], self.open[node.parts[0]]
        assert open_ is not None
        stride = size ** (len(axes) - 1 - axes.index(node.name))
        first = cells // stride * (stride * size) + cells % stride
        around = first[:, None] + stride * np.arange(size)
        there = open_[around]
        if not self.structures.full:
            there &= self.structures.inside[self._worlds(cells, self.axes[place])]
        counts = there.sum(axis=1)
        return _Edges(np.cumsum(counts) - counts, around[there])

    def _worlds(self, cells: Places, axes: Sequence[str]) -> Places:
        found: Places = cells // self.structures.size ** len(axes)
        return found

    def _projected(self, cells: Places, axes: Sequence[str], kept: Sequence[str]) -> Places:
        """Return the flat indices in a table of some of the variables, or of the same ones."""
        if len(axes) == len(kept):
            return cells
        size = self.structures.size
        found = self._worlds(cells, axes)
        for variable in kept:
            digit = cells // size ** (len(axes) - 1 - axes.index(variable)) % size
            found = found * size + digit
        return found

    def _cells(self, place: int, node: Node) -> Reference:
        """Return the circuit's cells of the wanted values of a node, whose parts have theirs."""
        cells, axes = self.cells[place], self.axes[place]
        circuit = self.circuit
        worlds = self._worlds(cells, axes)
        if node.kind == "atom":
            bits = self.structures.atom_table(
                "bit", self.structures.unknown, node.name, node.terms, -1
            )
            return Reference(0, circuit.first_atom[worlds] + bits.reshape(-1)[cells])
        if place in self.edges:
            edges = self.edges[place]
            every = node.kind == "forall"
            values = self._of_part(node.parts[0], edges.cells)
            values = values.negate() if every else values
            some = circuit.disjunctions(values, edges.starts, worlds)
            return some.negate() if every else some
        operands = [
            self._of_part(part, self._projected(cells, axes, self.axes[part]))
            for part in node.parts
            if part in self.found
        ]
        if node.kind == "not":
            return operands[0].negate()
        if node.kind in QUANTIFIERS:  # of a variable that does not occur
            return operands[0]
        if node.kind == "iff":
            return self._equivalence(node, operands, cells, axes, worlds)
        if node.kind == "and":
            return circuit.conjunction(operands, worlds)
        if node.kind == "implies" and node.parts[0] in self.found:
            operands[0] = operands[0].negate()
        return circuit.conjunction([one.negate() for one in operands], worlds).negate()

    def _equivalence(
        self,
        node: Node,
        operands: Sequence[Reference],
        cells: Places,
        axes: Sequence[str],
        worlds: Places,
    ) -> Reference:
        flips = np.ones(len(cells), bool)
        for part in node.parts:
            theirs = self._projected(cells, axes, self.axes[part])
            open_ = self.open[part]
            true = self.true[part].reshape(-1)[theirs]
            flips ^= true if open_ is None else true & ~open_[theirs]
        none = Reference(0, np.full(len(cells), -1, np.int64))
        one, other = (*operands, none)[:2]
        return self.circuit.exclusive(one, other, flips, worlds)

    def _of_part(self, part: int, cells: Places) -> Reference:
        """Return the circuit's cells of values of a part, -1 where they are decided."""
        known, found = self.cells[part], self.found[part]
        at = np.minimum(np.searchsorted(known, cells), len(known) - 1)
        return found._replace(at=np.where(known[at] == cells, found.at[at], -1))
