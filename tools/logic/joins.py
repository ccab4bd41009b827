"""Evaluation of formulas by joins, in time that grows with the atoms instead of the tables.

A rule such as `(exists y (and (R x y) (exists z (and (S y z) (Q z)))))` is *guarded*: the atoms R
and S say which elements y and z matter. Its value is computed for rows, which assign an element to
each free variable. A quantifier extends each row by the elements that a guard allows, computes the
value of its part for the longer rows, and combines the values of the rows that came from the same
one. A variable without a guard is given every element. A universal quantifier is the negation of an
existential one.

The values are those of `truth_bounds.py`: bounds, and a circuit of the undecided parts. They are
the same, because guards leave out only rows for which the part is certainly false.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from .completions import Circuit, Places, Reference
from .evaluation import Bools, Structures, TableTooLarge
from .formula import QUANTIFIERS, Formula, Node
from .guards import Fans, GuardFans, GuardFinder, Part
from .truth_bounds import Bounds, Evaluated

MAX_NESTED = 60  # height of a formula, each level of which takes several frames of the interpreter
ROWS_PER_STEP = 64  # rows that take as long as the calls of one step
_MARKS_PER_ROW = 16  # distinct rows are found by marks up to so many places a row, else by sorting


class Rows:
    """Assignments of elements to variables in some worlds.

    Attributes:
        worlds: Index of the world of each row.
        columns: For each variable, the index of its element in each row.
        values: The values of nodes of the formula that are already known for these rows.
    """

    def __init__(self, worlds: Places, columns: dict[str, Places]) -> None:
        self.worlds, self.columns = worlds, columns
        self.values: dict[int, RowValues] = {}

    def __len__(self) -> int:
        return len(self.worlds)

    def take(self, places: Places | Bools) -> Rows:
        """Return some of the rows, in the order of `places`."""
        columns = {name: column[places] for name, column in self.columns.items()}
        return Rows(self.worlds[places], columns)


class RowValues(NamedTuple):
    """Truth values of a formula, one for each row.

    Attributes:
        true: Where a value is certainly true.
        possible: Where a value is not certainly false; the same array as `true` if all values are
            decided.
        at: The cells of the undecided values in the circuit; None if all values are decided.
    """

    true: Bools
    possible: Bools
    at: Reference | None = None

    def negate(self) -> RowValues:
        """Return the negated values."""
        if self.at is None:
            true = ~self.true
            return RowValues(true, true)
        return RowValues(~self.possible, ~self.true, self.at.negate())

    def take(self, places: Places | Bools) -> RowValues:
        """Return some of the values, in the order of `places`."""
        true = self.true[places]
        if self.at is None:
            return RowValues(true, true)
        return RowValues(true, self.possible[places], self.at.take(places))


class JoinEvaluator:
    """Evaluates formulas in some worlds by joins.

    Attributes:
        structures: The worlds.
        closed: Whether unknown atoms count as false.
    """

    def __init__(self, structures: Structures, closed: bool) -> None:
        self.structures, self.closed = structures, closed
        self.fans = GuardFans(structures, closed)

    def evaluate(self, formula: Formula, most_rows: int) -> Evaluated:
        """Return the values of a rule for all elements.

        Args:
            formula: The rule. It has at most one free variable.
            most_rows: The largest number of rows of all steps together.

        Raises:
            TableTooLarge: More rows are needed.
        """
        structures = self.structures
        inside = structures.inside
        task = _Evaluation(self, formula, most_rows)
        if formula.free:
            (variable,) = formula.free
            worlds, elements = np.nonzero(inside)
            value = task.value(len(formula.nodes) - 1, Rows(worlds, {variable: elements}))
        else:
            rows = Rows(np.arange(len(inside)), {})
            worlds, elements = np.nonzero(inside)
            value = task.value(len(formula.nodes) - 1, rows).take(worlds)
        true = np.zeros(inside.shape, bool)
        true[inside] = value.true
        if value.at is None:
            return Evaluated(Bounds(true, true), task.circuit, None)
        possible, at = np.zeros(inside.shape, bool), np.full(inside.shape, -1, np.int64)
        possible[inside], at[inside] = value.possible, value.at.at
        return Evaluated(Bounds(true, possible), task.circuit, value.at._replace(at=at.reshape(-1)))


class _Evaluation:
    """The evaluation of one formula."""

    def __init__(self, evaluator: JoinEvaluator, formula: Formula, most_rows: int) -> None:
        self.evaluator, self.structures = evaluator, evaluator.structures
        self.nodes, self.free = formula.nodes, formula.free_at
        self.left = most_rows
        self.circuit = Circuit(self.structures)
        self.guards = GuardFinder(formula, evaluator.fans)

    def _spend(self, rows: int) -> None:
        self.left -= rows + ROWS_PER_STEP
        if self.left < 0:
            raise TableTooLarge

    # --- values of nodes for given rows ------------------------------------------------------

    def value(self, place: int, rows: Rows) -> RowValues:
        """Return the values of a node, whose free variables are columns of the rows."""
        if place not in rows.values:
            self._spend(len(rows))
            rows.values[place] = self._value(self.nodes[place], place, rows)
        return rows.values[place]

    def _value(self, node: Node, place: int, rows: Rows) -> RowValues:
        if node.kind in ("atom", "equal"):
            return self._literal(node, place, rows)
        if node.kind in QUANTIFIERS:
            return self._quantified(node, place, rows)
        values = [self.value(part, rows) for part in node.parts]
        if node.kind == "not":
            return values[0].negate()
        if node.kind == "iff":
            return self._equivalence(values[0], values[1], rows)
        if node.kind == "and":
            return self._conjunction(values, rows)
        if node.kind == "or":
            return self._disjunction(values, rows)
        return self._disjunction([values[0].negate(), values[1]], rows)

    def _signed(self, part: Part, rows: Rows) -> RowValues:
        value = self.value(part.place, rows)
        return value if part.positive else value.negate()

    def _literal(self, node: Node, place: int, rows: Rows) -> RowValues:
        structures = self.structures
        columns = [rows.columns[variable] for variable in sorted(self.free[place])]
        if node.kind == "equal":
            if len(columns) == 2:
                true = columns[0] == columns[1]
            else:
                true = structures.equality(node.terms)[(rows.worlds, *columns)]
            return RowValues(true, true)
        at = (rows.worlds, *columns)
        true = structures.atom_table("true", structures.true, node.name, node.terms, False)[at]
        if self.evaluator.closed or node.name not in structures.undecided:
            return RowValues(true, true)
        bits = structures.atom_table("bit", structures.unknown, node.name, node.terms, -1)[at]
        there = bits >= 0
        if not there.any():
            return RowValues(true, true)
        cells = np.where(there, self.circuit.first_atom[rows.worlds] + bits, -1)
        return RowValues(true, true | there, Reference(0, cells))

    def _conjunction(self, values: Sequence[RowValues], rows: Rows) -> RowValues:
        true = reduce(np.logical_and, [value.true for value in values])
        operands = [value.at for value in values if value.at is not None]
        if not operands:
            return RowValues(true, true)
        possible = reduce(np.logical_and, [value.possible for value in values])
        return self._undecided(true, possible, operands, rows)

    def _disjunction(self, values: Sequence[RowValues], rows: Rows) -> RowValues:
        if len(values) == 1:
            return values[0]
        return self._conjunction([value.negate() for value in values], rows).negate()

    def _undecided(
        self, true: Bools, possible: Bools, operands: Sequence[Reference], rows: Rows
    ) -> RowValues:
        """Return a conjunction with the given bounds."""
        where = np.flatnonzero(true != possible)
        if not len(where):
            return RowValues(true, true)
        some = [operand.take(where) for operand in operands]
        some = [operand for operand in some if (operand.at >= 0).any()]
        found = self.circuit.conjunction(some, rows.worlds[where])
        return RowValues(true, possible, _spread(found, where, len(true)))

    def _equivalence(self, one: RowValues, other: RowValues, rows: Rows) -> RowValues:
        same = np.equal(one.true, other.true)
        if one.at is None and other.at is None:
            return RowValues(same, same)
        open_ = (one.true != one.possible) | (other.true != other.possible)
        where = np.flatnonzero(open_)
        if not len(where):
            return RowValues(same, same)
        none = Reference(0, np.full(len(where), -1, np.int64))
        parts = [none if part.at is None else part.at.take(where) for part in (one, other)]
        # An undecided part counts as false, as `exclusive` negates by its value.
        flips = np.equal(one.true[where], other.true[where])
        found = self.circuit.exclusive(parts[0], parts[1], flips, rows.worlds[where])
        return RowValues(same & ~open_, same | open_, _spread(found, where, len(rows)))

    # --- quantifiers -------------------------------------------------------------------------

    def _quantified(self, node: Node, place: int, rows: Rows) -> RowValues:
        (part,) = node.parts
        if node.name not in self.free[part]:
            return self.value(part, rows)  # No domain is empty.
        every = node.kind == "forall"
        distinct, copies = self._distinct(rows, self.free[place])
        found = self._holds_somewhere(frozenset(node.name), Part(part, not every), distinct)
        found = found.negate() if every else found
        return found if copies is None else found.take(copies)

    def _distinct(self, rows: Rows, wanted: Collection[str]) -> tuple[Rows, Places | None]:
        """Return the distinct rows of some variables, and the place of each row among them.

        The places are None if all rows are returned as they are.
        """
        if len(rows.columns) == len(wanted):
            return rows, None
        names, size = sorted(wanted), self.structures.size
        codes = rows.worlds
        for name in names:
            codes = codes * size + rows.columns[name]
        self._spend(len(rows))
        span = len(self.structures) * size ** len(names)
        if span <= _MARKS_PER_ROW * len(rows) + 4 * ROWS_PER_STEP:
            marks = np.zeros(span, bool)
            marks[codes] = True
            kept = np.flatnonzero(marks)
            places = np.empty(span, np.int64)
            places[kept] = np.arange(len(kept))
            copies = places[codes]
        else:
            kept, copies = np.unique(codes, return_inverse=True)
        columns: dict[str, Places] = {}
        for name in reversed(names):
            kept, columns[name] = np.divmod(kept, size)
        return Rows(kept, columns), copies

    def _holds_somewhere(self, variables: frozenset[str], part: Part, rows: Rows) -> RowValues:
        """Return whether a part holds for some elements in place of the variables."""
        some = [
            self._holds_conjunction(variables, one, rows) for one in self.guards.flatten(part, "or")
        ]
        return self._disjunction(some, rows)

    def _holds_conjunction(self, variables: frozenset[str], part: Part, rows: Rows) -> RowValues:
        """Do the same for a part that is not a disjunction."""
        free = self.free[part.place]
        variables &= free
        if not variables:
            return self._signed(part, rows)
        distinct, copies = self._distinct(rows, free - variables)
        node = self.nodes[part.place]
        if _is_existential(node, part.positive):
            inner = Part(node.parts[0], part.positive)
            found = self._holds_somewhere(variables | {node.name}, inner, distinct)
        else:
            found = self._join(variables, list(self.guards.flatten(part, "and")), distinct)
        return found if copies is None else found.take(copies)

    def _join(self, variables: frozenset[str], parts: Sequence[Part], rows: Rows) -> RowValues:
        """Return whether all parts hold for some elements in place of the variables."""
        count, worlds = len(rows), rows.worlds
        owners = np.arange(count)
        literals = [part for part in parts if self.nodes[part.place].kind in ("atom", "equal")]
        waiting, pending = list(literals), set(variables)
        while pending and len(rows):
            ready = [one for one in waiting if self.free[one.place] <= rows.columns.keys()]
            waiting = [one for one in waiting if one not in ready]
            for literal in ready:
                possible = self._signed(literal, rows).possible
                if not possible.all():
                    rows, owners = rows.take(possible), owners[possible]
            guards = {name: self.guards.find(name, parts, rows.columns) for name in sorted(pending)}
            name = min(guards, key=lambda name: sum(one.mean for one in guards[name]))
            pending.remove(name)
            copied, rows = self._extended(rows, name, guards[name])
            owners = owners[copied]
        others = sorted(
            (part for part in parts if part not in literals), key=lambda part: part.place
        )
        true, operands = np.ones(len(rows), bool), list[Reference]()
        possible = true
        for part in (*literals, *others) if len(rows) else ():
            value = self._signed(part, rows)
            true, possible = true & value.true, possible & value.possible
            operands += [] if value.at is None else [value.at]
            if not possible.all():
                rows, owners = rows.take(possible), owners[possible]
                operands = [operand.take(possible) for operand in operands]
                true, possible = true[possible], possible[possible]
        found = RowValues(true, true)
        if operands:
            found = self._undecided(true, possible, operands, rows)
        return self._gathered(found, owners, worlds)

    def _gathered(self, value: RowValues, owners: Places, worlds: Places) -> RowValues:
        """Return the disjunctions of the values, all possible, of the same owner.

        Args:
            value: The values.
            owners: The place of the disjunction to which each value belongs, ascending.
            worlds: Index of the world of each disjunction.
        """
        true = np.zeros(len(worlds), bool)
        true[owners[value.true]] = True
        if value.at is None:
            return RowValues(true, true)
        possible = np.zeros(len(worlds), bool)
        possible[owners] = True
        edges = np.flatnonzero(~value.true & ~true[owners])
        if not len(edges):
            return RowValues(true, true)
        open_ = owners[edges]
        starts = np.flatnonzero(np.diff(open_, prepend=-1))
        found = self.circuit.disjunctions(value.at.take(edges), starts, worlds[open_[starts]])
        return RowValues(true, possible, _spread(found, open_[starts], len(worlds)))

    def _extended(self, rows: Rows, name: str, guards: Sequence[Fans]) -> tuple[Places, Rows]:
        """Extend each row by each element that one of the guards allows for a variable.

        Returns:
            The row that each longer row extends, ascending, and the longer rows.
        """
        copied, elements = [], []
        size = self.structures.size
        for fans in guards:
            key = rows.worlds
            for other in fans.bound:
                key = key * size + rows.columns[other]
            counts = fans.counts[key]
            total = int(counts.sum())
            self._spend(total)
            copied.append(np.repeat(np.arange(len(rows)), counts))
            shift = np.repeat(fans.starts[key] - (np.cumsum(counts) - counts), counts)
            elements.append(fans.elements[np.arange(total) + shift])
        if len(guards) == 1:
            origin, element = copied[0], elements[0]
        else:
            codes = np.unique(np.concatenate(copied) * size + np.concatenate(elements))
            origin, element = np.divmod(codes, size)
        longer = rows.take(origin)
        longer.columns[name] = element
        return origin, longer


def _is_existential(node: Node, positive: bool) -> bool:
    return node.kind == ("exists" if positive else "forall")


def _spread(found: Reference, places: Places, count: int) -> Reference:
    """Return the reference of `count` values, of which those at `places` are undecided."""
    at = np.full(count, -1, np.int64)
    at[places] = found.at
    return found._replace(at=at)
