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

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from .completions import Circuit, Places, Reference
from .evaluation import Bools, Structures, TableTooLarge
from .formula import QUANTIFIERS, Formula, Node
from .truth_bounds import Bounds, Evaluated

MAX_NESTED = 60  # height of a formula, each level of which takes several frames of the interpreter
ROWS_PER_STEP = 64  # rows that take as long as the calls of one step
_MARKS_PER_ROW = 16  # distinct rows are found by marks up to so many places a row, else by sorting
_GUARD_DEPTH = 5  # connectives and quantifiers around a guard
_ALL = Node("equal")  # stands for the guard that allows every element


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


class Part(NamedTuple):
    """A node of a formula, or its negation."""

    place: int
    positive: bool


class Fans(NamedTuple):
    """The elements that a guard allows for a variable, for each assignment of other variables.

    Attributes:
        given: The other variables, in alphabetical order.
        counts: Number of allowed elements for each world and assignment, flattened.
        starts: Position of the first allowed element of each world and assignment.
        elements: The allowed elements.
    """

    given: tuple[str, ...]
    counts: Places
    starts: Places
    elements: Places

    @property
    def mean(self) -> float:
        """The mean number of allowed elements."""
        return len(self.elements) / max(1, len(self.counts))


class JoinEvaluator:
    """Evaluates formulas in some worlds by joins.

    Attributes:
        structures: The worlds.
        closed: Whether unknown atoms count as false.
    """

    def __init__(self, structures: Structures, closed: bool) -> None:
        self.structures, self.closed = structures, closed
        self._fans: dict[tuple[Node, str, tuple[str, ...]], Fans] = {}

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
        return Evaluated(
            Bounds(true, possible), task.circuit, value.at._replace(at=at.reshape(-1))
        )

    def fans(self, node: Node, variable: str, given: tuple[str, ...]) -> Fans:
        """Return the elements that an atom or equality allows for a variable.

        Args:
            node: The atom or equality. Variables that are not in `given` may have any value.
            variable: A variable of the node.
            given: Other variables of the node, in alphabetical order.
        """
        key = (node, variable, given)
        if key not in self._fans:
            if len(self._fans) >= 256:
                self._fans.clear()
            self._fans[key] = self._find_fans(node, variable, given)
        return self._fans[key]

    def every_element(self) -> Fans:
        """Return the fans that allow every element of a world."""
        return self.fans(_ALL, "", ())

    def _find_fans(self, node: Node, variable: str, given: tuple[str, ...]) -> Fans:
        structures = self.structures
        if node is _ALL:
            table = structures.inside
        else:
            terms = sorted({term for term in node.terms if len(term) == 1 and term.islower()})
            table = self.table(node)
            rest = tuple(1 + at for at, term in enumerate(terms) if term not in (*given, variable))
            table = np.logical_or.reduce(table, axis=rest) if rest else table
            kept = [term for term in terms if term in given or term == variable]
            table = np.moveaxis(table, 1 + kept.index(variable), -1)
            around = (len(table), *(1,) * len(given), structures.size)
            table = table & structures.inside.reshape(around)
        *keys, elements = np.nonzero(table)
        shape = table.shape[:-1]
        flat = np.ravel_multi_index(tuple(keys), shape)
        counts = np.bincount(flat, minlength=int(np.prod(shape)))
        return Fans(given, counts, np.cumsum(counts) - counts, elements)

    def table(self, node: Node) -> Bools:
        """Return where an atom or an equality is possible, with one axis for each variable."""
        structures = self.structures
        if node.kind == "equal":
            return structures.equality(node.terms)
        if self.closed or node.name not in structures.undecided:
            kind, tables = "true", structures.true
        else:
            kind, tables = "possible", structures.possible
        found: Bools = structures.atom_table(kind, tables, node.name, node.terms, False)
        return found


class _Evaluation:
    """The evaluation of one formula."""

    def __init__(self, evaluator: JoinEvaluator, formula: Formula, most_rows: int) -> None:
        self.evaluator, self.structures = evaluator, evaluator.structures
        self.nodes, self.free = formula.nodes, formula.free_at
        self.left = most_rows
        self.circuit = Circuit(self.structures)

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
            return self._equivalence(*values, rows)
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
        found = self.circuit.exclusive(*parts, flips, rows.worlds[where])
        return RowValues(same & ~open_, same | open_, _spread(found, where, len(rows)))

    # --- quantifiers -------------------------------------------------------------------------

    def _quantified(self, node: Node, place: int, rows: Rows) -> RowValues:
        (part,) = node.parts
        if node.name not in self.free[part]:
            return self.value(part, rows)  # No domain is empty.
        every = node.kind == "forall"
        distinct, copies = self._distinct(rows, self.free[place])
        found = self._some(frozenset(node.name), Part(part, not every), distinct)
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

    def _some(self, variables: frozenset[str], part: Part, rows: Rows) -> RowValues:
        """Return whether a part holds for some elements in place of the variables."""
        some = [self._some_of(variables, one, rows) for one in self._flat(part, "or")]
        return self._disjunction(some, rows)

    def _some_of(self, variables: frozenset[str], part: Part, rows: Rows) -> RowValues:
        """Do the same for a part that is not a disjunction."""
        free = self.free[part.place]
        variables &= free
        if not variables:
            return self._signed(part, rows)
        distinct, copies = self._distinct(rows, free - variables)
        node = self.nodes[part.place]
        if _is_existential(node, part.positive):
            inner = Part(node.parts[0], part.positive)
            found = self._some(variables | {node.name}, inner, distinct)
        else:
            found = self._join(variables, list(self._flat(part, "and")), distinct)
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
            guards = {name: self._guards(name, parts, rows.columns) for name in sorted(pending)}
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
            for given in fans.given:
                key = key * size + rows.columns[given]
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

    # --- guards ------------------------------------------------------------------------------

    def _guards(
        self, name: str, parts: Sequence[Part], bound: Collection[str]
    ) -> Sequence[Fans]:
        """Return guards of which one allows each element for which all parts may hold."""
        found = self._best(name, parts, frozenset(bound), _GUARD_DEPTH)
        return [self.evaluator.every_element()] if found is None else found

    def _best(
        self, name: str, parts: Sequence[Part], bound: frozenset[str], depth: int
    ) -> Sequence[Fans] | None:
        some = [self._guards_of(name, part, bound, depth) for part in parts]
        known = [one for one in some if one is not None]
        return min(known, key=lambda one: sum(fans.mean for fans in one), default=None)

    def _guards_of(
        self, name: str, part: Part, bound: frozenset[str], depth: int
    ) -> Sequence[Fans] | None:
        node = self.nodes[part.place]
        if name not in self.free[part.place] or depth == 0:
            return None
        if node.kind in ("atom", "equal"):
            if not part.positive:
                return None
            given = tuple(sorted(bound & self.free[part.place]))
            return [self.evaluator.fans(node, name, given)]
        if node.kind in QUANTIFIERS:
            # What holds for every element holds for some.
            inner = Part(node.parts[0], part.positive)
            return self._guards_of(name, inner, bound - {node.name}, depth - 1)
        conjuncts = list(self._flat(part, "and"))
        if len(conjuncts) > 1 or conjuncts[0] != part:
            return self._best(name, conjuncts, bound, depth - 1)
        disjuncts = list(self._flat(part, "or"))
        if disjuncts == [part]:
            return None  # an equivalence
        some = [self._guards_of(name, one, bound, depth - 1) for one in disjuncts]
        if any(one is None for one in some):
            return None
        return [fans for one in some if one is not None for fans in one]

    def _flat(self, part: Part, kind: str) -> Iterator[Part]:
        """Yield the distinct parts of nested conjunctions ("and") or disjunctions ("or")."""
        whole = kind == "and"
        waiting, seen = [part], {part}
        while waiting:
            place, positive = one = waiting.pop()
            node = self.nodes[place]
            if node.kind == "not":
                parts = [Part(node.parts[0], not positive)]
            elif node.kind == ("and" if positive == whole else "or") and node.kind != "implies":
                parts = [Part(inner, positive) for inner in node.parts]
            elif node.kind == "implies" and positive != whole:
                parts = [Part(node.parts[0], not positive), Part(node.parts[1], positive)]
            else:
                yield one
                continue
            fresh = [inner for inner in dict.fromkeys(parts) if inner not in seen]
            seen.update(fresh)
            waiting += reversed(fresh)


def _is_existential(node: Node, positive: bool) -> bool:
    return node.kind == ("exists" if positive else "forall")


def _spread(found: Reference, places: Places, count: int) -> Reference:
    """Return the reference of `count` values, of which those at `places` are undecided."""
    at = np.full(count, -1, np.int64)
    at[places] = found.at
    return found._replace(at=at)
