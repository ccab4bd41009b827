"""Lanes: elements of many complete worlds, over which rules are evaluated in parallel.

A *lane* is an element of one of the worlds. A complete world has no unknown atoms. A prompt world
(a world that the problem shows) with unknown atoms is represented by several completions, each of
which makes every unknown atom true or false. Further random worlds resemble the prompt worlds, and
distinguish rules that agree on the prompt worlds. All worlds come from the problem alone, never
from its holdouts (the hidden worlds on which rules are tested).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tools.logic.evaluation import (
    MAX_CELLS,
    Bools,
    Structures,
    TruthAlgebra,
    broadcast_to_elements,
    evaluate,
)
from ...tools.logic.fast_path import PreparedWorlds
from ...tools.logic.packed_tables import Packed
from ...tools.logic.sampling import Integers, RandomStream, draw_atoms, element_mask

Floats = NDArray[np.float32]
EQUALITY = "="
# Completions drawn per world in the partial regime; those that break least are kept.
COMPLETIONS_DRAWN = 64
# Maximum number of elements of a drawn world that break the theory, if a prompt world has no more.
MOST_BROKEN = 3
DRAWN = 1_000  # number of worlds drawn at once
MOST_ATOMS = 1 << 22  # limit on a predicate's atoms in all worlds drawn at once
# Share of the unknown atoms that a completion makes true.
DENSITY = {"partial": 0.25, "skeptical": 0.5}


def any_of(table: Bools, axis: int = -1) -> Bools:
    """Return the logical OR of `table` along `axis`."""
    found: Bools = np.logical_or.reduce(table, axis=axis)
    return found


def all_of(table: Bools, axis: int = -1) -> Bools:
    """Return the logical AND of `table` along `axis`."""
    found: Bools = np.logical_and.reduce(table, axis=axis)
    return found


def count_packed(packed: Packed) -> NDArray[np.int16]:
    """Return how many elements have a true value; the last axis of `packed` is removed."""
    counts = np.bitwise_count(packed)  # a sum over an axis of one entry would be slow
    found: NDArray[np.int16] = counts[..., 0].astype(np.int16)
    for place in range(1, counts.shape[-1]):
        found += counts[..., place]
    return found


class Literal(NamedTuple):
    """An atom about two elements x and y, or the negation of such an atom.

    Args:
        predicate: Name of a predicate with two arguments, or "=" for equality.
        swapped: Whether the arguments are (y, x) rather than (x, y).
        positive: False for the negation.
    """

    predicate: str
    swapped: bool = False
    positive: bool = True


class Guard(NamedTuple):
    """A condition on pairs of elements that says which elements are neighbours.

    Args:
        literals: The literals that must all hold. Without literals, all pairs satisfy the guard.
    """

    literals: tuple[Literal, ...] = ()

    @property
    def size(self) -> int:
        """Return the number of syntax nodes of this guard, or 0 if the guard has no literals."""
        own = sum(3 + (not literal.positive) for literal in self.literals)
        return own + max(0, len(self.literals) - 1)


class Lanes:
    """Worlds without unknown atoms, as arrays of truth values.

    Args:
        inside: Whether each index is an element of the world, shape (worlds, size). Here `size` is
            the number of elements of the largest world.
        true: Truth table of each predicate, with one axis per argument: shape (worlds, size) or
            (worlds, size, size).
    """

    def __init__(self, inside: Bools, true: Mapping[str, Bools]) -> None:
        self.inside, self.true = inside, true
        self.worlds, self.size = inside.shape
        self._pairs: Bools = inside[:, :, None] & inside[:, None, :]
        self._related: dict[Guard, Floats] = {}

    def relation_table(self, guard: Guard) -> Floats:
        """Return 1 for each pair (x, y) of elements that satisfies `guard`, and 0 for all other
        pairs.

        The result has the shape (worlds, size, size).
        """
        if guard not in self._related:
            table = self._pairs
            for literal in guard.literals:
                here = self._literal(literal)
                table = table & (here if literal.positive else ~here)
            # Products with rows of properties are twice as fast if y comes before x in memory.
            by_neighbour = np.ascontiguousarray(table.swapaxes(1, 2)).astype(np.float32)
            self._related[guard] = by_neighbour.swapaxes(1, 2)
        return self._related[guard]

    def release(self) -> None:
        """Free the memory of the cached tables of `relation_table`."""
        self._related.clear()

    def _literal(self, literal: Literal) -> Bools:
        if literal.predicate == EQUALITY:
            return np.broadcast_to(np.eye(self.size, dtype=bool), self._pairs.shape)
        table = self.true[literal.predicate]
        return table.swapaxes(1, 2) if literal.swapped else table

    def atom_table(self, predicate: str) -> Bools:
        """Return which elements x satisfy an atom about x alone, shape (worlds, size).

        The atom is P(x), or R(x, x) for a predicate with two arguments.
        """
        table = self.true[predicate]
        own: Bools = table if table.ndim == 2 else np.diagonal(table, axis1=1, axis2=2)
        return own & self.inside

    def find_violations(self, prepared: PreparedWorlds) -> Bools:
        """Return which elements violate the theory unless they are marked as abnormal.

        The result is a bool array of shape (worlds, size).
        """
        formula = prepared.violation
        cells = sum(self.size ** len(free) for free in formula.free_at)
        step = max(1, MAX_CELLS // cells)
        found = []
        for start in range(0, max(1, self.worlds), step):
            part = self.select(np.arange(start, min(start + step, self.worlds)))
            structures = Structures.from_tables(part.inside, part.true)
            value = evaluate(formula, TruthAlgebra(structures), max(cells, MAX_CELLS))
            found.append(broadcast_to_elements(value, formula, self.size) & part.inside)
        return np.concatenate(found)

    def concatenate(self, other: Lanes) -> Lanes:
        """Return these worlds followed by the worlds of `other`. Both must have the same `size`."""
        true = {
            name: np.concatenate([table, other.true[name]]) for name, table in self.true.items()
        }
        return Lanes(np.concatenate([self.inside, other.inside]), true)

    def select(self, chosen: NDArray[np.int64] | Bools) -> Lanes:
        """Return the worlds that `chosen` selects, by index or by a mask over the worlds."""
        return Lanes(self.inside[chosen], {name: t[chosen] for name, t in self.true.items()})


class Completions(NamedTuple):
    """Completions of prompt worlds: copies of the worlds in which every unknown atom is decided.

    Args:
        lanes: The completions.
        world_of_lane: Index of the prompt world of each completion, ascending, shape
            (completions,).
    """

    lanes: Lanes
    world_of_lane: Integers


def complete_worlds(prepared: PreparedWorlds, most: int, stream: RandomStream) -> Completions:
    """Return at most `most` completions of each prompt world.

    A completion decides whether each unknown atom is true. In the first completion of a world, all
    unknown atoms are false. The regime of the problem determines the other completions. In the full
    regime, no atom is unknown, and each world has one completion. In the partial regime, a rule is
    valid if it repairs a single completion; the other completions are the drawn completions in
    which the fewest elements violate the theory. In the skeptical regime, the other completions
    are: all unknown atoms true, all unknown atoms of one predicate true, and random choices.

    Args:
        prepared: The theory and the prompt worlds of the problem.
        most: Maximum number of completions of each world.
        stream: Source of random numbers.
    """
    structures = prepared.structures
    count = len(structures)
    if prepared.regime == "full":
        return Completions(Lanes(structures.inside, structures.true), np.arange(count))
    unknown = {name: structures.unknown[name] >= 0 for name in structures.true}
    open_ = [name for name, table in unknown.items() if table.any()]
    number = COMPLETIONS_DRAWN if prepared.regime == "partial" else most
    made: dict[str, list[Bools]] = {name: [] for name in unknown}
    for place in range(number):
        for name, table in unknown.items():
            if place == 0:
                chosen = np.zeros_like(table)
            elif place == 1:
                chosen = table
            elif place - 2 < len(open_):
                chosen = table & (name == open_[place - 2])
            else:
                chosen = table & (stream.uniform(*table.shape) < DENSITY[prepared.regime])
            made[name].append(structures.true[name] | chosen)
    inside = np.concatenate([structures.inside] * number)
    lanes = Lanes(inside, {name: np.concatenate(tables) for name, tables in made.items()})
    of = np.tile(np.arange(count), number)
    if prepared.regime == "partial":
        broken = lanes.find_violations(prepared).sum(axis=1)
        kept = [_fewest(np.flatnonzero(of == world), broken, most) for world in range(count)]
        order = np.concatenate(kept)
    else:
        order = np.argsort(of, kind="stable")
    return Completions(lanes.select(order), of[order])


def _fewest(places: Integers, broken: Integers, most: int) -> Integers:
    """Return the first of some worlds and those with the fewest broken elements."""
    order = places[np.argsort(broken[places], kind="stable")]
    return np.concatenate([places[:1], order[order != places[0]][: most - 1]])


def draw_similar(prepared: PreparedWorlds, count: int, stream: RandomStream) -> Lanes:
    """Return `count` random complete worlds with the sizes and densities of the prompt worlds.

    Each drawn world takes its size from a random prompt world. Each predicate holds for the same
    share of atoms as in a random prompt world, where unknown atoms count by the density of the
    known atoms.

    A relation that is probably irreflexive (no element is related to itself) is not drawn atom by
    atom. It is copied from a prompt world, with the elements in random order. Such a relation is
    often a tree, an order or symmetric. With atoms drawn uniformly, rules would seem to hold
    because of loops and cycles that never occur in the prompt worlds.
    """
    structures = prepared.structures
    elements = structures.inside.sum(axis=1)
    pattern = stream.integers(len(elements), count)
    sizes = elements[pattern]
    inside = element_mask(sizes, structures.size)
    true = {}
    for name, table in structures.true.items():
        places = table.ndim - 1
        axes = tuple(range(1, table.ndim))
        atoms = elements**places
        open_atoms = structures.unknown[name] >= 0
        sure, open_ = table.sum(axis=axes), open_atoms.sum(axis=axes)
        share = sure / np.maximum(atoms - open_, 1)
        if places == 2 and is_irreflexive(table | open_atoms, elements):
            chosen = stream.uniform(count, *table.shape[1:]) < share[pattern, None, None]
            complete = table[pattern] | (open_atoms[pattern] & chosen)
            true[name] = _shuffle_elements(complete, inside, stream)
            continue
        density = (sure + open_ * share) / atoms
        model = stream.integers(len(elements), count)
        wanted = (density[model] * sizes**places + stream.uniform(count)).astype(np.int64)
        true[name] = draw_atoms(stream, inside, wanted, places)
    return Lanes(inside, true)


def is_irreflexive(table: Bools, elements: Integers) -> bool:
    """Return whether a relation is probably irreflexive, that is, without loops by design.

    A loop relates an element to itself. The result is True if no world has a loop, although the
    same number of uniformly drawn atoms would have a loop with a probability above 0.5.

    Args:
        table: The relation in each world, shape (worlds, size, size).
        elements: The number of elements of each world, shape (worlds,).
    """
    if np.diagonal(table, axis1=1, axis2=2).any():
        return False
    without = 1.0  # probability that uniform atoms have no loop
    for size, atoms in zip(elements.tolist(), table.sum(axis=(1, 2)).tolist(), strict=True):
        without *= comb(size * size - size, atoms) / comb(size * size, atoms)
    return without < 0.5


def _shuffle_elements(table: Bools, inside: Bools, stream: RandomStream) -> Bools:
    """Return a relation with the elements of each world in random order, (worlds, size, size)."""
    keys = np.where(inside, stream.uniform(*inside.shape), 2.0)
    order = np.argsort(keys, axis=1, kind="stable")
    world = np.arange(len(table))[:, None, None]
    found: Bools = table[world, order[:, :, None], order[:, None, :]]
    return found


def batch_size(prepared: PreparedWorlds, count: int) -> int:
    """Return how many worlds to draw at once: `count`, or as many as fit the memory limit."""
    tables = prepared.structures.true.values()
    atoms = max((table[0].size for table in tables), default=1)
    return max(1, min(count, MOST_ATOMS // atoms))


def max_violations(prepared: PreparedWorlds) -> int:
    """Return the maximum number of elements that may violate the theory in a drawn world."""
    return max(MOST_BROKEN, *prepared.bounds)


def draw_broken(prepared: PreparedWorlds, count: int, stream: RandomStream) -> Lanes:
    """Return at most `count` drawn worlds in which a few elements violate the theory.

    A few means at least one and at most `max_violations` elements, as in the prompt worlds. If too few
    drawn worlds have this property, worlds without the property are returned too.
    """
    lanes = draw_similar(prepared, batch_size(prepared, max(count, DRAWN)), stream)
    broken = lanes.find_violations(prepared).sum(axis=1)
    kept = np.flatnonzero((broken >= 1) & (broken <= max_violations(prepared)))
    return lanes.select((kept if len(kept) >= count else np.arange(lanes.worlds))[:count])


def draw_hidden(prepared: PreparedWorlds, lanes: Lanes, stream: RandomStream) -> dict[str, Bools]:
    """Return, for each predicate, which atoms of the drawn worlds in `lanes` are unknown.

    For each drawn world, the share of unknown atoms is the share in a random prompt world.
    """
    structures = prepared.structures
    atoms = structures.inside.sum(axis=1)
    found = {}
    for name, table in lanes.true.items():
        axes = tuple(range(1, table.ndim))
        share = (structures.unknown[name] >= 0).sum(axis=axes) / atoms ** (table.ndim - 1)
        of_world = share[stream.integers(len(share), lanes.worlds)]
        shape = (lanes.worlds, *(1,) * (table.ndim - 1))
        found[name] = stream.uniform(*table.shape) < of_world.reshape(shape)
    return found
