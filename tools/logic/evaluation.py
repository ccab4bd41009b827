"""Evaluation of formulas over many worlds at once, with NumPy arrays.

The value of a formula is a table with one axis for the worlds and one axis for each free variable,
in the order of the variables' names. The same traversal of a formula works with several algebras,
which define what a truth value is: `TruthAlgebra` in this module, and the algebras for unknown
atoms in `completions.py`. All worlds are padded to the size of the largest domain. Quantifiers
ignore the padding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .formula import QUANTIFIERS, Formula, Node, is_variable
from .worlds import World

Bools = NDArray[np.bool_]
V = TypeVar("V")
MAX_FREE_VARIABLES = 6  # free variables of a node; its table has an axis for each
MAX_CELLS = 1 << 24  # cells of all tables of a formula; takes some tenths of a second
MAX_CACHED_TABLES = 256  # cached tables of atoms for one set of worlds


class TableTooLarge(Exception):
    """Raised when the tables of a formula would be too large.

    This happens if a node has more than `MAX_FREE_VARIABLES` free variables, or if all tables of
    the formula have too many elements together.
    """


class Algebra(Protocol[V]):
    """The operations by which formulas are evaluated to arrays of values of type V.

    The first axis of an array belongs to the algebra (such as the worlds). One axis for each free
    variable follows, and the algebra may append further axes. `at` is the position of a variable
    among the free variables.

    Attributes:
        structures: The worlds in which formulas are evaluated.
    """

    structures: Structures

    @property
    def cells(self) -> int:
        """The number of elements in the value of a formula without free variables."""
        ...

    def atom(self, name: str, terms: Sequence[str]) -> V:
        """Return the value of an atom: predicate `name` with the arguments `terms`."""
        ...

    def equal(self, terms: Sequence[str]) -> V:
        """Return the value of an equality of two terms."""
        ...

    def negation(self, value: V) -> V:
        """Return the negation of `value`."""
        ...

    def conjunction(self, one: V, other: V) -> V:
        """Return the conjunction of `one` and `other`."""
        ...

    def disjunction(self, one: V, other: V) -> V:
        """Return the disjunction of `one` and `other`."""
        ...

    def equivalence(self, one: V, other: V) -> V:
        """Return the value that is true where `one` and `other` are equal."""
        ...

    def for_all(self, value: V, at: int) -> V:
        """Return the conjunction over the elements of each world, removing variable axis `at`."""
        ...

    def exists(self, value: V, at: int) -> V:
        """Return the disjunction over the elements of each world, removing variable axis `at`."""
        ...

    def insert_axes(self, value: V, index: tuple[slice | None, ...]) -> V:
        """Insert axes of length 1 between the axes of the free variables.

        `index` has None for each new axis and a full slice for each existing axis.
        """
        ...


def evaluate(formula: Formula, algebra: Algebra[V], most_cells: int = MAX_CELLS) -> V:
    """Return the value of a formula under an algebra.

    Args:
        formula: The formula.
        algebra: The operations, and the worlds in which the formula is evaluated.
        most_cells: The largest number of elements that all tables of the formula may have together.

    Raises:
        TableTooLarge: The tables would be too large.
    """
    return evaluate_nodes(formula, algebra, most_cells)[-1]


def evaluate_nodes(formula: Formula, algebra: Algebra[V], most_cells: int = MAX_CELLS) -> list[V]:
    """Return the value of each node of a formula under an algebra, in the order of the nodes.

    Args:
        formula: The formula.
        algebra: The operations, and the worlds in which the formula is evaluated.
        most_cells: The largest number of elements that all tables of the formula may have together.

    Raises:
        TableTooLarge: The tables would be too large.
    """
    side = algebra.structures.size
    if sum(side ** len(free) for free in formula.free_at) * algebra.cells > most_cells:
        raise TableTooLarge
    values: list[V] = []
    axes: list[tuple[str, ...]] = []
    for node, free in zip(formula.nodes, formula.free_at, strict=True):
        if len(free) > MAX_FREE_VARIABLES:
            raise TableTooLarge
        here = tuple(sorted(free))
        axes.append(here)
        values.append(evaluate_node(node, here, values, axes, algebra))
    return values


def evaluate_node(
    node: Node,
    here: tuple[str, ...],
    values: Sequence[V],
    axes: Sequence[tuple[str, ...]],
    algebra: Algebra[V],
) -> V:
    """Return the value of a node under an algebra.

    Args:
        node: The node.
        here: Its free variables, in alphabetical order.
        values: The values of earlier nodes of the formula.
        axes: The free variables of these, each in alphabetical order.
        algebra: The operations, and the worlds in which the formula is evaluated.
    """
    if node.kind == "atom":
        return algebra.atom(node.name, node.terms)
    if node.kind == "equal":
        return algebra.equal(node.terms)
    if node.kind in QUANTIFIERS:
        part = node.parts[0]
        if node.name not in axes[part]:
            return values[part]  # No domain is empty.
        reduce = algebra.for_all if node.kind == "forall" else algebra.exists
        return reduce(values[part], axes[part].index(node.name))
    operands = [
        values[part] if axes[part] == here else _fitted(values[part], axes[part], here, algebra)
        for part in node.parts
    ]
    return connect(node, operands, algebra)


def connect(node: Node, operands: Sequence[V], algebra: Algebra[V]) -> V:
    """Return the value of a negation or of a binary connective, from the values of its operands."""
    if node.kind == "not":
        return algebra.negation(operands[0])
    one, other = operands
    if node.kind == "and":
        return algebra.conjunction(one, other)
    if node.kind == "or":
        return algebra.disjunction(one, other)
    if node.kind == "implies":
        return algebra.disjunction(algebra.negation(one), other)
    return algebra.equivalence(one, other)


def _fitted(value: V, have: tuple[str, ...], want: tuple[str, ...], algebra: Algebra[V]) -> V:
    return algebra.insert_axes(
        value, tuple(slice(None) if variable in have else None for variable in want)
    )


class Structures:
    """Several worlds as stacked tables of truth values.

    Attributes:
        worlds: The worlds; empty if the tables were built by `from_tables`.
        signature: Number of arguments of each predicate.
        size: Number of elements in the largest domain. Smaller worlds are padded to this size.
        inside: Which indices are elements of each world, bool of shape (worlds, size).
        true: For each predicate, a bool table of its true atoms. The first axis is the worlds; one
            axis of length `size` follows for each argument.
        unknown: For each predicate, a table of the same shape. It holds the number of each unknown
            atom in the order of `World.unknown_atoms`, and -1 for known atoms.
        unknown_counts: Number of unknown atoms in each world.
        full: Whether all worlds have the same number of elements.
    """

    def __init__(self, worlds: Sequence[World], signature: dict[str, int]) -> None:
        self.worlds = tuple(worlds)
        self.signature = dict(signature)
        count = len(self.worlds)
        self.size = max((len(world.names) for world in self.worlds), default=1)
        sizes = np.array([len(world.names) for world in self.worlds], np.int64)
        self.inside: Bools = np.arange(self.size)[None, :] < sizes[:, None]
        self.true: dict[str, Bools] = {}
        self.unknown: dict[str, NDArray[np.int16]] = {}
        for name, places in signature.items():
            shape = (count, *(self.size,) * places)
            self.true[name] = np.zeros(shape, bool)
            self.unknown[name] = np.full(shape, -1, np.int16)
            for number, world in enumerate(self.worlds):
                for at in world.true.get(name, ()):
                    self.true[name][(number, *at)] = True
        self.unknown_counts = []
        for number, world in enumerate(self.worlds):
            atoms = world.unknown_atoms
            self.unknown_counts.append(len(atoms))
            for bit, (name, at) in enumerate(atoms):
                self.unknown[name][(number, *at)] = bit
        self.full = bool(self.inside.all())
        self._picked: dict[Any, Any] = {}

    @classmethod
    def from_tables(cls, inside: Bools, true: Mapping[str, Bools]) -> Structures:
        """Return worlds without unknown atoms, built from tables of truth values.

        Args:
            inside: Which indices are elements of each world, bool of shape (worlds, size).
            true: For each predicate, a bool table of its true atoms. The first axis is the worlds;
                one axis of length `size` follows for each argument. The table is False outside the
                domain.

        Returns:
            Structures whose elements have no names.
        """
        found = cls.__new__(cls)
        count, found.size = inside.shape
        found.worlds = ()
        found.signature = {name: table.ndim - 1 for name, table in true.items()}
        found.inside, found.true = inside, dict(true)
        found.unknown = {name: np.full(table.shape, -1, np.int16) for name, table in true.items()}
        found.unknown_counts = [0] * count
        found.full = bool(inside.all())
        found._picked = {}
        return found

    def __len__(self) -> int:
        return len(self.inside)

    @cached_property
    def undecided(self) -> frozenset[str]:
        """The predicates of which some world has unknown atoms."""
        return frozenset(name for name, table in self.unknown.items() if (table >= 0).any())

    @cached_property
    def possible(self) -> dict[str, Bools]:
        """For each predicate, a table of its true and its unknown atoms, in the form of `true`."""
        return {name: table | (self.unknown[name] >= 0) for name, table in self.true.items()}

    def atom_table(
        self, kind: str, tables: Any, name: str, terms: Sequence[str], absent: Any
    ) -> Any:
        """Return the values of an atom in all worlds.

        The first axis is the worlds; one axis for each variable follows. Tables are cached, because
        the same atoms occur in many formulas.

        Args:
            kind: Name of the kind of table, which is used as a key of the cache.
            tables: A table for each predicate, such as `true` or `unknown`.
            name: The predicate.
            terms: The arguments of the atom: variables or names of objects.
            absent: The value where an object is not in the domain of a world, or where the number
                of terms differs from the number of arguments of the predicate.
        """
        key = (kind, name, tuple(terms))
        if key not in self._picked:
            if len(self._picked) >= MAX_CACHED_TABLES:
                self._picked.clear()
            self._picked[key] = self._pick(tables[name], name, terms, absent)
        return self._picked[key]

    def _pick(self, table: Any, name: str, terms: Sequence[str], absent: Any) -> Any:
        variables = sorted({term for term in terms if is_variable(term)})
        count, size = len(self), self.size
        if len(terms) != self.signature[name]:
            none = np.array(absent, table.dtype)
            return np.broadcast_to(none, (count, *(size,) * len(variables)))
        if len(variables) == len(terms):  # different variables: the table in another order
            order = (0, *(1 + terms.index(name) for name in variables))
            return np.ascontiguousarray(table.transpose(order))
        grid = np.ogrid[(slice(count), *(slice(size),) * len(variables))]
        index: list[Any] = [grid[0]]
        missing = np.zeros([1] * (1 + len(variables)), bool)
        for term in terms:
            if is_variable(term):
                index.append(grid[1 + variables.index(term)])
            else:
                there = self.find_object(term).reshape((count, *(1,) * len(variables)))
                missing = missing | (there < 0)
                index.append(np.maximum(there, 0))
        shape = (count, *(size,) * len(variables))
        found = np.broadcast_to(table[tuple(index)], shape)
        return np.where(missing, np.array(absent, table.dtype), found)

    def find_object(self, name: str) -> NDArray[np.int64]:
        """Return the index of the object `name` in the domain of each world, of shape (worlds,).

        The index is -1 where the world does not have this object.
        """
        return np.array(
            [world.names.index(name) if name in world.names else -1 for world in self.worlds],
            np.int64,
        )

    def equality(self, terms: Sequence[str]) -> Bools:
        """Return the values of an equality of two terms, with one axis for each variable.

        Two objects are equal if they have the same name.
        """
        one, other = terms
        variables = sorted({term for term in terms if is_variable(term)})
        count, size = len(self), self.size
        if len(variables) == 2:
            return np.broadcast_to(np.eye(size, dtype=bool), (count, size, size))
        if not variables:
            return np.full(count, one == other, bool)
        if one == other:
            return np.ones((count, size), bool)
        named = other if is_variable(one) else one
        same: Bools = np.arange(size)[None, :] == self.find_object(named)[:, None]
        return same


class TruthAlgebra:
    """Operations on ordinary truth values, for which unknown atoms count as false."""

    def __init__(self, structures: Structures) -> None:
        self.structures = structures

    @property
    def cells(self) -> int:
        """The number of worlds."""
        return len(self.structures)

    def atom(self, name: str, terms: Sequence[str]) -> Bools:
        """Return for which elements of each world an atom is true."""
        found: Bools = self.structures.atom_table("true", self.structures.true, name, terms, False)
        return found

    def equal(self, terms: Sequence[str]) -> Bools:
        """Return for which elements of each world two terms are equal."""
        return self.structures.equality(terms)

    def negation(self, value: Bools) -> Bools:
        """Return where `value` is false."""
        return ~value

    def conjunction(self, one: Bools, other: Bools) -> Bools:
        """Return where both values are true."""
        return one & other

    def disjunction(self, one: Bools, other: Bools) -> Bools:
        """Return where at least one of the two values is true."""
        return one | other

    def equivalence(self, one: Bools, other: Bools) -> Bools:
        """Return where both values are equal."""
        return np.equal(one, other)

    def for_all(self, value: Bools, at: int) -> Bools:
        """Return where `value` is true for every element of the world.

        The axis of variable `at` is removed.
        """
        if not self.structures.full:
            value = value | ~self._along(value, at)
        found: Bools = np.logical_and.reduce(value, axis=1 + at)
        return found

    def exists(self, value: Bools, at: int) -> Bools:
        """Return where `value` is true for some element of the world.

        The axis of variable `at` is removed.
        """
        if not self.structures.full:
            value = value & self._along(value, at)
        found: Bools = np.logical_or.reduce(value, axis=1 + at)
        return found

    def insert_axes(self, value: Bools, index: tuple[slice | None, ...]) -> Bools:
        """Insert axes of length 1 between the axes of the free variables.

        `index` has None for each new axis and a full slice for each existing axis.
        """
        return value[(slice(None), *index)]

    def _along(self, value: Bools, at: int) -> Bools:
        shape = [1] * value.ndim
        shape[0], shape[1 + at] = self.structures.inside.shape
        return self.structures.inside.reshape(shape)


def broadcast_to_elements(value: Any, formula: Formula, size: int) -> Any:
    """Return the values of a rule as an array of shape (worlds, elements, …).

    If the rule has no free variable, its one value in each world is repeated for all elements.

    Args:
        value: The value of `formula`, as returned by `evaluate`.
        formula: The rule.
        size: Number of elements in the largest domain.
    """
    if formula.free:
        return value
    return np.repeat(value[:, None], size, axis=1)
