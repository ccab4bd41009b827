"""The circuit of a formula's undecided values, built from tables of the bounds of its parts.

It is built from the undecided values of the whole formula downwards, so it holds only the parts on
which they depend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .completions import Circuit, Places, Reference
from .evaluation import Bools, TableTooLarge, broadcast_to_elements, connect
from .formula import QUANTIFIERS, Formula, Node
from .packed_tables import PackedValues
from .truth_bounds import Bounds, BoundsAlgebra, Evaluated, is_decided

MAX_UNDECIDED = 1 << 22  # undecided values of all parts of a formula; takes some tenths of a second
_MARKED = 1 << 20  # cells of a table of which some are noted by marks, in larger ones by sorting


def evaluate_bounds(formula: Formula, algebra: BoundsAlgebra) -> Evaluated:
    """Return the values of a rule for all elements, by tables of all its parts.

    Args:
        formula: The rule. It has at most one free variable.
        algebra: The operations, and the worlds in which the rule is evaluated.

    Raises:
        TableTooLarge: The tables are too large, or too many values are undecided.
    """
    structures = algebra.structures
    values = PackedValues(formula, algebra)
    inside, size = structures.inside, structures.size
    value = values.stored[-1]
    assert value is not None
    true = broadcast_to_elements(value.true, formula, size) & inside
    if is_decided(value):
        return Evaluated(Bounds(true, true), Circuit(structures), None)
    possible = broadcast_to_elements(value.possible, formula, size) & inside
    grounding = _Grounding(formula, algebra, values)
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
    """Builds the circuit of a formula's undecided values from the bounds of its parts."""

    def __init__(self, formula: Formula, algebra: BoundsAlgebra, values: PackedValues) -> None:
        self.formula, self.algebra, self.structures = formula, algebra, algebra.structures
        self.axes = [tuple(sorted(free)) for free in formula.free_at]
        self.regions = values.regions
        self.tables = [None if one is None else _flat(one) for one in values.stored]
        self.wanted: dict[int, list[Places]] = {}
        self.cells: dict[int, Places] = {}
        self.edges: dict[int, _Edges] = {}
        self.found: dict[int, Reference] = {}
        self.circuit = Circuit(self.structures)

    def roots(self, undecided: Bools) -> Reference | None:
        """Build the circuit, and return the cells of the rule's values, (worlds · elements,)."""
        formula = self.formula
        last = len(formula.nodes) - 1
        wanted = undecided if formula.free else undecided.any(axis=1)
        self.wanted[last] = [wanted.reshape(-1).nonzero()[0]]
        count = 0
        for place in range(last, -1, -1):
            if place in self.wanted:
                self.cells[place] = self._distinct(place, self.wanted.pop(place))
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

    def _distinct(self, place: int, wanted: Sequence[Places]) -> Places:
        """Return distinct cells of a node's table, ascending."""
        if len(wanted) == 1 and place == len(self.axes) - 1:
            return wanted[0]
        span = len(self.structures) * self.structures.size ** len(self.axes[place])
        if span > _MARKED:
            return np.unique(np.concatenate(wanted))
        marks = np.zeros(span, bool)
        for cells in wanted:
            marks[cells] = True
        return marks.nonzero()[0]

    def _ask_parts(self, place: int, node: Node) -> None:
        """Note on which undecided values of its parts the wanted values of a node depend."""
        cells = self.cells[place]
        if node.kind in QUANTIFIERS and node.name in self.axes[node.parts[0]]:
            self.edges[place] = self._quantified(place, node)
            self.wanted.setdefault(node.parts[0], []).append(self.edges[place].cells)
            return
        for part in node.parts:
            table = self.tables[part]
            if table is not None and is_decided(table):
                continue
            theirs = self._projected(cells, self.axes[place], self.axes[part])
            value = self._at(part, theirs)
            if not is_decided(value):
                open_ = value.true != value.possible
                self.wanted.setdefault(part, []).append(theirs[open_])

    def _at(self, place: int, cells: Places) -> Bounds:
        """Return the bounds of some values of a node."""
        table = self.tables[place]
        if table is not None:
            true = table.true[cells]
            return Bounds(true, true if is_decided(table) else table.possible[cells])
        axes, node = self.axes[place], self.formula.nodes[place]
        operands = [
            self._at(part, self._projected(cells, axes, self.axes[part])) for part in node.parts
        ]
        return connect(node, operands, self.algebra)

    def _quantified(self, place: int, node: Node) -> _Edges:
        cells, size = self.cells[place], self.structures.size
        axes = self.axes[node.parts[0]]
        stride = size ** (len(axes) - 1 - axes.index(node.name))
        first = cells // stride * (stride * size) + cells % stride
        if place in self.regions:
            rows, elements = self.regions[place].find_open(cells, self._projected)
            counts = np.bincount(rows, minlength=len(cells))
            return _Edges(np.cumsum(counts) - counts, first[rows] + stride * elements)
        around = first[:, None] + stride * np.arange(size)
        value = self._at(node.parts[0], around)
        there = value.true != value.possible
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
            # An undecided part counts as false, as `exclusive` negates by its value.
            flips ^= self._at(part, self._projected(cells, axes, self.axes[part])).true
        none = Reference(0, np.full(len(cells), -1, np.int64))
        one, other = (*operands, none)[:2]
        return self.circuit.exclusive(one, other, flips, worlds)

    def _of_part(self, part: int, cells: Places) -> Reference:
        """Return the circuit's cells of values of a part, -1 where they are decided."""
        known, found = self.cells[part], self.found[part]
        at = np.minimum(np.searchsorted(known, cells), len(known) - 1)
        return found._replace(at=np.where(known[at] == cells, found.at[at], -1))


def _flat(value: Bounds) -> Bounds:
    true = value.true.reshape(-1)
    return Bounds(true, true if is_decided(value) else value.possible.reshape(-1))
