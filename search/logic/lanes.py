"""What rules are evaluated over: many worlds without unknown atoms, side by side.

A *lane* is an element of one of them. Prompt worlds with unknown atoms stand here in several
completions each; beside them stand worlds that are drawn afresh, as the prompt worlds are, by
which rules are told apart that the prompt worlds do not tell apart. All is drawn from the problem
alone, never from holdouts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tools.logic.judging import Prepared
from ...tools.logic.sampling import Stream, Whole, drawn, inside_of
from ...tools.logic.tables import MOST_CELLS, Bools, Structures, Truth, about_elements, evaluate

Floats = NDArray[np.float32]
EQUALITY = "="
COMPLETIONS_DRAWN = 64  # of a world of the partial regime, of which those that break least are kept
MOST_BROKEN = 3  # elements of a drawn world that break the theory
DRAWN = 1_000  # worlds at once
MOST_ATOMS = 1 << 22  # of a predicate, in all worlds that are drawn at once
DENSITY = {"partial": 0.25, "skeptical": 0.5}  # of the unknown atoms that a completion makes true


def any_of(table: Bools, axis: int = -1) -> Bools:
    found: Bools = np.logical_or.reduce(table, axis=axis)
    return found


def all_of(table: Bools, axis: int = -1) -> Bools:
    found: Bools = np.logical_and.reduce(table, axis=axis)
    return found


class Literal(NamedTuple):
    """Of two elements, here x and y: predicate (or `=`), whether it stands as (y, x), whether it is
    affirmed."""

    predicate: str
    swapped: bool = False
    positive: bool = True


class Guard(NamedTuple):
    """A conjunction of literals; of none, all pairs of elements."""

    literals: tuple[Literal, ...] = ()

    @property
    def size(self) -> int:
        """AST size; 0 of none."""
        own = sum(3 + (not literal.positive) for literal in self.literals)
        return own + max(0, len(self.literals) - 1)


class Lanes:
    """Worlds as tables. inside: (worlds, size). true: by predicate, an axis for each argument."""

    def __init__(self, inside: Bools, true: Mapping[str, Bools]) -> None:
        self.inside, self.true = inside, true
        self.worlds, self.size = inside.shape
        self._pairs: Bools = inside[:, :, None] & inside[:, None, :]
        self._related: dict[Guard, Floats] = {}

    def related(self, guard: Guard) -> Floats:
        """(worlds, size, size): 1 where x and y satisfy the guard."""
        if guard not in self._related:
            table = self._pairs
            for literal in guard.literals:
                here = self._literal(literal)
                table = table & (here if literal.positive else ~here)
            self._related[guard] = table.astype(np.float32)
        return self._related[guard]

    def release(self) -> None:
        """Forgets the tables of guards."""
        self._related.clear()

    def _literal(self, literal: Literal) -> Bools:
        if literal.predicate == EQUALITY:
            return np.broadcast_to(np.eye(self.size, dtype=bool), self._pairs.shape)
        table = self.true[literal.predicate]
        return table.swapaxes(1, 2) if literal.swapped else table

    def atom(self, predicate: str) -> Bools:
        """(worlds, size): P x, or R x x."""
        table = self.true[predicate]
        own: Bools = table if table.ndim == 2 else np.diagonal(table, axis1=1, axis2=2)
        return own & self.inside

    def violated(self, prepared: Prepared) -> Bools:
        """(worlds, size): the elements that break the theory unless they are abnormal."""
        formula = prepared.violation
        cells = sum(self.size ** len(free) for free in formula.free_at)
        step = max(1, MOST_CELLS // cells)
        found = []
        for start in range(0, max(1, self.worlds), step):
            part = self.some(np.arange(start, min(start + step, self.worlds)))
            structures = Structures.from_tables(part.inside, part.true)
            value = evaluate(formula, Truth(structures), max(cells, MOST_CELLS))
            found.append(about_elements(value, formula, self.size) & part.inside)
        return np.concatenate(found)

    def and_also(self, other: Lanes) -> Lanes:
        """Both, one after the other; their tables are of one size."""
        true = {
            name: np.concatenate([table, other.true[name]]) for name, table in self.true.items()
        }
        return Lanes(np.concatenate([self.inside, other.inside]), true)

    def some(self, chosen: NDArray[np.int64] | Bools) -> Lanes:
        return Lanes(self.inside[chosen], {name: t[chosen] for name, t in self.true.items()})


class Completed(NamedTuple):
    """lanes: completions of prompt worlds; of: (worlds,) the place of the prompt world, ascending."""

    lanes: Lanes
    of: Whole


def completed(prepared: Prepared, most: int, stream: Stream) -> Completed:
    """At most so many completions of each prompt world, the one without any unknown atom first. In
    the partial regime, where one that is repaired is enough, those in which fewest elements break
    the theory; in the skeptical one all true, one predicate true, and others by chance."""
    structures = prepared.structures
    count = len(structures)
    if prepared.regime == "full":
        return Completed(Lanes(structures.inside, structures.true), np.arange(count))
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
        broken = lanes.violated(prepared).sum(axis=1)
        kept = [_fewest(np.flatnonzero(of == world), broken, most) for world in range(count)]
        order = np.concatenate(kept)
    else:
        order = np.argsort(of, kind="stable")
    return Completed(lanes.some(order), of[order])


def _fewest(places: Whole, broken: Whole, most: int) -> Whole:
    """The first of them, and those with the fewest broken elements."""
    order = places[np.argsort(broken[places], kind="stable")]
    return np.concatenate([places[:1], order[order != places[0]][: most - 1]])


def drawn_like(prepared: Prepared, count: int, stream: Stream) -> Lanes:
    """Complete worlds with the sizes and densities of the prompt worlds: each predicate holds of as
    many atoms, in proportion, as in a prompt world drawn for it, its unknown atoms counted by the
    density among the known."""
    structures = prepared.structures
    elements = structures.inside.sum(axis=1)
    sizes = elements[stream.below(len(elements), count)]
    inside = inside_of(sizes, structures.size)
    true = {}
    for name, table in structures.true.items():
        places = table.ndim - 1
        axes = tuple(range(1, table.ndim))
        atoms = elements**places
        sure, open_ = table.sum(axis=axes), (structures.unknown[name] >= 0).sum(axis=axes)
        density = (sure + open_ * sure / np.maximum(atoms - open_, 1)) / atoms
        model = stream.below(len(elements), count)
        wanted = (density[model] * sizes**places + stream.uniform(count)).astype(np.int64)
        true[name] = drawn(stream, inside, wanted, places)
    return Lanes(inside, true)


def at_once(prepared: Prepared, count: int) -> int:
    """So many worlds, or as many as there is room for: those that are drawn together."""
    tables = prepared.structures.true.values()
    atoms = max((table[0].size for table in tables), default=1)
    return max(1, min(count, MOST_ATOMS // atoms))


def broken_alike(prepared: Prepared, count: int, stream: Stream) -> Lanes:
    """Of such worlds those in which some elements break the theory, and at most `MOST_BROKEN` do, as
    in the worlds of problems; any, where those are rare. So many at most."""
    lanes = drawn_like(prepared, at_once(prepared, max(count, DRAWN)), stream)
    broken = lanes.violated(prepared).sum(axis=1)
    kept = np.flatnonzero((broken >= 1) & (broken <= MOST_BROKEN))
    return lanes.some((kept if len(kept) >= count else np.arange(lanes.worlds))[:count])


def hidden_like(prepared: Prepared, lanes: Lanes, stream: Stream) -> dict[str, Bools]:
    """By predicate, which atoms of drawn worlds are not known, as many in proportion as in a prompt
    world drawn for each."""
    structures = prepared.structures
    atoms = structures.inside.sum(axis=1)
    found = {}
    for name, table in lanes.true.items():
        axes = tuple(range(1, table.ndim))
        share = (structures.unknown[name] >= 0).sum(axis=axes) / atoms ** (table.ndim - 1)
        of_world = share[stream.below(len(share), lanes.worlds)]
        shape = (lanes.worlds, *(1,) * (table.ndim - 1))
        found[name] = stream.uniform(*table.shape) < of_world.reshape(shape)
    return found
