"""Guards: atoms that say which elements matter for a quantified variable.

In `(exists y (and (R x y) (P y)))`, the atoms `(R x y)` and `(P y)` are guards of y. Only elements
for which all parts of the conjunction may hold matter, so any guard leaves out only elements that
change nothing. A disjunction guards a variable if each of its parts does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .completions import Places
from .evaluation import Bools, Structures
from .formula import QUANTIFIERS, Formula, Node, is_variable

_GUARD_DEPTH = 5  # connectives and quantifiers around a guard
_MAX_VISITS = 10_000  # nodes of a formula that are visited in search of guards, with repetition
_MAX_CACHED_FANS = 256
_ALL = Node("equal")  # stands for the guard that allows every element


class Part(NamedTuple):
    """A node of a formula, or its negation."""

    place: int
    positive: bool


class Fans(NamedTuple):
    """The elements that a guard allows for a variable, for each assignment of other variables.

    Attributes:
        bound: The other variables, in alphabetical order.
        counts: Number of allowed elements for each world and assignment, flattened.
        starts: Position of the first allowed element of each world and assignment.
        elements: The allowed elements.
    """

    bound: tuple[str, ...]
    counts: Places
    starts: Places
    elements: Places

    @property
    def mean(self) -> float:
        """The mean number of allowed elements."""
        return len(self.elements) / max(1, len(self.counts))


class GuardFans:
    """The fans of atoms and equalities in some worlds, which are computed once.

    Attributes:
        structures: The worlds.
        closed: Whether unknown atoms count as false.
    """

    def __init__(self, structures: Structures, closed: bool) -> None:
        self.structures, self.closed = structures, closed
        self._fans: dict[tuple[Node, str, tuple[str, ...]], Fans] = {}

    def find(self, node: Node, variable: str, bound: tuple[str, ...]) -> Fans:
        """Return the elements that an atom or equality allows for a variable.

        Args:
            node: The atom or equality. Variables that are not in `bound` may have any value.
            variable: A variable of the node.
            bound: Other variables of the node, in alphabetical order.
        """
        key = (node, variable, bound)
        if key not in self._fans:
            if len(self._fans) >= _MAX_CACHED_FANS:
                self._fans.clear()
            self._fans[key] = self._find_fans(node, variable, bound)
        return self._fans[key]

    def every_element(self) -> Fans:
        """Return the fans that allow every element of a world."""
        return self.find(_ALL, "", ())

    def _find_fans(self, node: Node, variable: str, bound: tuple[str, ...]) -> Fans:
        structures = self.structures
        if node is _ALL:
            table = structures.inside
        else:
            terms = sorted({term for term in node.terms if is_variable(term)})
            table = self.table(node)
            rest = tuple(1 + at for at, term in enumerate(terms) if term not in (*bound, variable))
            table = np.logical_or.reduce(table, axis=rest) if rest else table
            kept = [term for term in terms if term in bound or term == variable]
            table = np.moveaxis(table, 1 + kept.index(variable), -1)
            around = (len(table), *(1,) * len(bound), structures.size)
            table = table & structures.inside.reshape(around)
        *keys, elements = np.nonzero(table)
        shape = table.shape[:-1]
        flat = np.ravel_multi_index(tuple(keys), shape)
        counts = np.bincount(flat, minlength=int(np.prod(shape)))
        return Fans(bound, counts, np.cumsum(counts) - counts, elements)

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


class GuardFinder:
    """Finds guards in a formula.

    Args:
        formula: The formula.
        fans: The fans of its atoms.
    """

    def __init__(self, formula: Formula, fans: GuardFans) -> None:
        self.nodes, self.free, self.fans = formula.nodes, formula.free_at, fans
        self._visits = _MAX_VISITS

    def find(self, name: str, parts: Sequence[Part], bound: Collection[str]) -> Sequence[Fans]:
        """Return guards of a variable: one of them allows each element for which all parts may hold.

        Args:
            name: The variable.
            parts: Parts that have to hold together.
            bound: Variables whose elements are known. Others of a guard may have any value.
        """
        found = self._best(name, parts, frozenset(bound), _GUARD_DEPTH)
        return [self.fans.every_element()] if found is None else found

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
        self._visits -= 1
        if name not in self.free[part.place] or depth == 0 or self._visits < 0:
            return None
        if node.kind in ("atom", "equal"):
            if not part.positive:
                return None
            others = tuple(sorted(bound & self.free[part.place]))
            return [self.fans.find(node, name, others)]
        if node.kind in QUANTIFIERS:
            # What holds for every element holds for some.
            inner = Part(node.parts[0], part.positive)
            return self._guards_of(name, inner, bound - {node.name}, depth - 1)
        conjuncts = list(self.flatten(part, "and"))
        if len(conjuncts) > 1 or conjuncts[0] != part:
            return self._best(name, conjuncts, bound, depth - 1)
        disjuncts = list(self.flatten(part, "or"))
        if disjuncts == [part]:
            return None  # an equivalence
        some = [self._guards_of(name, one, bound, depth - 1) for one in disjuncts]
        if any(one is None for one in some):
            return None
        return [fans for one in some if one is not None for fans in one]

    def flatten(self, part: Part, kind: str) -> Iterator[Part]:
        """Yield the distinct parts of nested conjunctions ("and") or disjunctions ("or")."""
        whole = kind == "and"
        waiting, seen = [part], {part}
        while waiting:
            place, positive = one = waiting.pop()
            node = self.nodes[place]
            parts: list[Part]
            if node.kind == "not":
                parts = [Part(node.parts[0], not positive)]
            elif node.kind == ("and" if positive == whole else "or"):
                parts = [Part(inner, positive) for inner in node.parts]
            elif node.kind == "implies" and positive != whole:
                parts = [Part(node.parts[0], not positive), Part(node.parts[1], positive)]
            else:
                yield one
                continue
            fresh = [inner for inner in dict.fromkeys(parts) if inner not in seen]
            seen.update(fresh)
            waiting += reversed(fresh)
