"""Undecided truth values as circuits over unknown atoms, and their values in all completions.

A completion gives each unknown atom of a world a truth value. Most parts of a formula have the same
truth value in every completion. A `Circuit` holds only the other parts: its cells are the truth
values that depend on unknown atoms, in layers of cells that are computed alike. The evaluations of
a formula (`truth_bounds.py` and `joins.py`) build the circuit.

A *component* is a set of elements of one world whose undecided values depend on the same k unknown
atoms, which have 2^k completions. The truth value of a cell in all completions is stored as 2^k
bits, in 64-bit words. Components with the same number of words are evaluated together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .evaluation import Bools, Structures

MAX_UNKNOWN_BITS = 64  # unknown atoms of a world; each takes one bit of a word
# Unknown atoms of a component (2^18 completions). Larger components go to the solver.
MAX_COMPONENT_ATOMS = 18
# Words of all cells of a component; takes some hundredths of a second.
MAX_COMPONENT_WORDS = 1 << 23
MAX_TOTAL_WORDS = 1 << 27  # words of all components together; takes about a second
_WORDS_AT_ONCE = 1 << 21  # words of the cells that are evaluated together, 16 MB
# A circuit of no more words is evaluated as a whole, which is faster than finding the needed cells.
_FEW_WORDS = 1 << 15
Words = NDArray[np.uint64]
Places = NDArray[np.int64]
_NONE = np.uint64(0)
_ONES = ~np.uint64(0)
# A bit of pattern i is 1 in the completions that make atom i true. From the seventh atom on, entire
# words alternate.
_PATTERNS = [
    int("".join("1" if position >> i & 1 else "0" for position in reversed(range(64))), 2)
    for i in range(6)
]


class ComponentTooLarge(Exception):
    """Raised when the completions of a component need too much work. The message says how much."""


class ThreeValued(NamedTuple):
    """Truth values as three arrays: certainly true, certainly false, or dependent on unknown atoms.

    Attributes:
        true: Where a value is certainly true.
        false: Where a value is certainly false.
        depends_on: For each undecided value, a bit mask of the unknown atoms on which it depends; 0
            where a value is decided.
    """

    true: Bools
    false: Bools
    depends_on: Words


class Component(NamedTuple):
    """Elements of one world that depend on the same unknown atoms and must be decided together.

    Attributes:
        world: Index of the world.
        elements: Indices of the elements in the domain of the world.
        atoms: Numbers of the shared unknown atoms, in the order of `World.unknown_atoms`.
    """

    world: int
    elements: tuple[int, ...]
    atoms: tuple[int, ...]

    @property
    def words(self) -> int:
        """The number of 64-bit words that hold one bit for each completion of the unknown atoms."""
        return 1 << max(0, len(self.atoms) - 6)


@lru_cache(maxsize=2 + MAX_COMPONENT_ATOMS)
def completion_patterns(count: int, words: int) -> Words:
    """Return the truth values of `count` unknown atoms in all their completions.

    The result has the shape (count, words). Bit c of row i says whether atom i is true in
    completion c. It is shared between calls and read-only.
    """
    rows = np.zeros((count, words), np.uint64)
    for atom in range(count):
        if atom < 6:
            rows[atom] = _PATTERNS[atom]
        else:
            rows[atom] = np.where(np.arange(words) >> (atom - 6) & 1, _ONES, _NONE)
    rows.flags.writeable = False
    return rows


class Reference(NamedTuple):
    """Where undecided truth values are found in a circuit.

    Attributes:
        layer: Index of the layer.
        at: The cell of each value, int64; -1 where a value is decided.
        negated: Whether the values are the negations of the cells.
    """

    layer: int
    at: Places
    negated: bool = False

    def take(self, places: Places | Bools) -> Reference:
        """Return the reference of some of the values, in the order of `places`."""
        return self._replace(at=self.at[places])

    def negate(self) -> Reference:
        """Return the reference of the negated values."""
        return self._replace(negated=not self.negated)


class Layer(NamedTuple):
    """Cells of a circuit that are computed alike from cells of earlier layers.

    Attributes:
        kind: "atoms" for the unknown atoms themselves, "and" for conjunctions of one value of each
            operand, "xor" for exclusive disjunctions, "some" for disjunctions of any number of
            values of a single operand.
        worlds: Index of the world of each cell.
        depends_on: Bit mask of the unknown atoms on which each cell depends.
        operands: The operands. A decided operand does not change a conjunction or an exclusive
            disjunction.
        flips: For "xor", whether each cell is negated.
        starts: For "some", the position of the first value of each cell.
        counts: For "some", the number of values of each cell, at least 1.
    """

    kind: Literal["atoms", "and", "xor", "some"]
    worlds: Places
    depends_on: Words
    operands: tuple[Reference, ...] = ()
    flips: Bools | None = None
    starts: Places | None = None
    counts: Places | None = None


class Circuit:
    """The undecided parts of a formula in some worlds, as a circuit over the unknown atoms.

    Attributes:
        layers: The layers, each after those from which it is computed. The first one holds the
            unknown atoms of all worlds.
        first_atom: For each world, the cell of its first unknown atom.
    """

    def __init__(self, structures: Structures) -> None:
        counts = np.array(structures.unknown_counts, np.int64)
        self.first_atom: Places = np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)
        worlds = np.repeat(np.arange(len(counts)), counts)
        self.bits: Places = np.arange(len(worlds)) - self.first_atom[worlds]
        masks = np.uint64(1) << np.minimum(self.bits, MAX_UNKNOWN_BITS - 1).astype(np.uint64)
        self.layers = [Layer("atoms", worlds, masks)]

    def __len__(self) -> int:
        return sum(len(layer.worlds) for layer in self.layers)

    def depends_on(self, values: Reference | None, count: int) -> Words:
        """Return on which unknown atoms each of `count` values depends, as bit masks."""
        if values is None:
            return np.zeros(count, np.uint64)
        return np.where(values.at >= 0, self.layers[values.layer].depends_on[values.at], _NONE)

    def conjunction(self, operands: Sequence[Reference], worlds: Places) -> Reference:
        """Return the conjunctions of one value of each operand, which do not depend on decided ones.

        Args:
            operands: The operands, each with as many values as there are conjunctions.
            worlds: Index of the world of each conjunction.
        """
        if len(operands) == 1 and (operands[0].at >= 0).all():
            return operands[0]
        return self._add(Layer("and", worlds, self._union(operands, len(worlds)), tuple(operands)))

    def exclusive(
        self, one: Reference, other: Reference, flips: Bools, worlds: Places
    ) -> Reference:
        """Return where exactly one of two values is true, negated where `flips` says so."""
        union = self._union((one, other), len(worlds))
        return self._add(Layer("xor", worlds, union, (one, other), flips))

    def disjunctions(self, values: Reference, starts: Places, worlds: Places) -> Reference:
        """Return the disjunctions of consecutive values.

        Args:
            values: Undecided values.
            starts: Position of the first value of each disjunction, ascending.
            worlds: Index of the world of each disjunction.
        """
        masks = np.bitwise_or.reduceat(self.layers[values.layer].depends_on[values.at], starts)
        counts = np.append(starts[1:], len(values.at)) - starts
        return self._add(Layer("some", worlds, masks, (values,), None, starts, counts))

    def _union(self, operands: Sequence[Reference], count: int) -> Words:
        found = self.depends_on(operands[0], count)
        for operand in operands[1:]:
            found = found | self.depends_on(operand, count)
        return found

    def _add(self, layer: Layer) -> Reference:
        self.layers.append(layer)
        return Reference(len(self.layers) - 1, np.arange(len(layer.worlds)))

    def evaluate(self, index: ComponentIndex, roots: Reference | None, true: Bools) -> list[Words]:
        """Return the truth values of elements in all completions of their components.

        Args:
            index: Elements that are decided together. The atoms of their components include all on
                which they depend.
            roots: The value of each element of all worlds, flattened; None if all are decided.
            true: Whether each value is certainly true, of shape (worlds, elements).

        Returns:
            An array of 64-bit words for each component, of shape (elements, words). Components of
            the same number of words that follow each other share memory.

        Raises:
            ComponentTooLarge: The components need too much work.
        """
        places = index.worlds * true.shape[1] + index.elements
        known = np.where(true.reshape(-1)[places], _ONES, _NONE)
        widest = max((one.words for one in index.components), default=1)
        few = len(places) * widest <= _FEW_WORDS
        if few and (roots is None or len(self) * widest <= _FEW_WORDS):
            found = np.repeat(known[:, None], widest, axis=1)
            if roots is not None:
                at = roots.at[places]
                open_ = (at >= 0).nonzero()[0]
                rows = self._evaluate_all(index, roots.layer, widest)[at[open_]]
                found[open_] = ~rows if roots.negated else rows
            return [
                found[start : start + len(one.elements), : one.words]
                for start, one in zip(index.first.tolist(), index.components, strict=True)
            ]
        whole = {
            width: np.repeat(known[index.widths[index.owners] == width, None], width, axis=1)
            for width in np.unique(index.widths).tolist()
        }
        at = np.full(len(places), -1) if roots is None else roots.at[places]
        open_ = np.flatnonzero(at >= 0)
        if roots is not None and len(open_):
            task = _Completing(self, index, roots.layer, at[open_])
            for chosen, width in task.batches():
                values, local = task.words(chosen, width)
                mine = open_[chosen[index.owners[open_]]]
                row = values[local[at[mine]]]
                whole[width][index.rows[mine]] = ~row if roots.negated else row
        return [
            whole[width][start : start + count]
            for width, start, count in zip(
                index.widths.tolist(), index.rows[index.first].tolist(), index.counts.tolist(),
                strict=True,
            )
        ]  # fmt: skip

    def _evaluate_all(self, index: ComponentIndex, last: int, width: int) -> Words:
        """Return the values of all cells of a layer, which have no meaning outside of components.

        A component of fewer words has its values repeated.
        """
        values: list[Words] = []
        for layer in self.layers[: last + 1]:
            if layer.kind == "atoms":
                worlds = np.minimum(layer.worlds, len(index.rank_of) - 1)
                ranks = index.rank_of[worlds, self.bits]
                values.append(completion_patterns(MAX_COMPONENT_ATOMS, width)[ranks])
                continue
            whole = layer.kind == "and"
            combine = np.bitwise_and if whole else np.bitwise_xor
            found: Words | None = None
            for operand in layer.operands:
                part = values[operand.layer][operand.at]
                if operand.negated:
                    np.invert(part, out=part)
                if layer.starts is not None:
                    found = np.bitwise_or.reduceat(part, layer.starts, axis=0)
                    break
                part[operand.at < 0] = _ONES if whole else _NONE
                found = part if found is None else combine(found, part, out=found)
            assert found is not None
            if layer.flips is not None:
                found[layer.flips] = ~found[layer.flips]
            values.append(found)
        return values[last]


class ComponentIndex:
    """Components as arrays, which are made once for all formulas.

    Attributes:
        components: The components.
        counts: Number of elements of each component.
        first: Position of the first element of each component.
        worlds: World of each element.
        elements: Index of each element in its domain.
        rank_of: Position of each unknown atom among the atoms of its component, of shape (worlds,
            atoms).
    """

    def __init__(self, components: Sequence[Component]) -> None:
        self.components = tuple(components)
        counts = [len(one.elements) for one in components]
        worlds = np.array([one.world for one in components], np.int64)
        self.counts = np.array(counts, np.int64)
        self.first = np.cumsum(self.counts) - self.counts
        self.worlds = np.repeat(worlds, self.counts)
        self.elements = np.array([e for one in components for e in one.elements], np.int64)
        sizes = [len(one.atoms) for one in components]
        atoms = [atom for one in components for atom in one.atoms]
        self._atoms = np.repeat(worlds, sizes), np.array(atoms, np.int64)
        self.rank_of = np.zeros((1 + int(worlds.max(initial=0)), MAX_UNKNOWN_BITS), np.int64)
        self.rank_of[self._atoms] = [rank for size in sizes for rank in range(size)]

    @cached_property
    def widths(self) -> Places:
        """Number of words of each component."""
        return np.array([one.words for one in self.components], np.int64)

    @cached_property
    def owners(self) -> Places:
        """Component of each element."""
        return np.repeat(np.arange(len(self.components)), self.counts)

    @cached_property
    def rows(self) -> Places:
        """Position of each element among those of components with the same number of words."""
        found = np.zeros(len(self.owners), np.int64)
        for width in np.unique(self.widths):
            here = self.widths[self.owners] == width
            found[here] = np.arange(int(here.sum()))
        return found

    @cached_property
    def component_of(self) -> Places:
        """Component of each unknown atom, -1 without one, of shape (worlds, atoms)."""
        found = np.full(self.rank_of.shape, -1, np.int64)
        sizes = [len(one.atoms) for one in self.components]
        found[self._atoms] = np.repeat(np.arange(len(sizes)), sizes)
        return found


class _Completing:
    """The cells that some components need, and their values in all completions."""

    def __init__(self, circuit: Circuit, index: ComponentIndex, layer: int, at: Places) -> None:
        self.circuit, self.index = circuit, index
        self.layer = layer
        needed = self._needed(at)
        self.cells = {place: np.flatnonzero(cells) for place, cells in needed.items()}
        self.of = {place: self._components(place, cells) for place, cells in self.cells.items()}

    def _needed(self, at: Places) -> dict[int, Bools]:
        layers = self.circuit.layers
        needed = {self.layer: np.zeros(len(layers[self.layer].worlds), bool)}
        needed[self.layer][at] = True
        for place in range(self.layer, -1, -1):
            if place not in needed:
                continue
            layer, mine = layers[place], needed[place]
            if layer.kind == "some":
                assert layer.counts is not None
                mine = np.repeat(mine, layer.counts)
            for operand in layer.operands:
                wanted = operand.at[mine]
                theirs = needed.setdefault(
                    operand.layer, np.zeros(len(layers[operand.layer].worlds), bool)
                )
                theirs[wanted[wanted >= 0]] = True
        return dict(sorted(needed.items()))

    def _components(self, place: int, cells: Places) -> Places:
        """Return the component of each cell, which is that of any atom on which it depends."""
        layer = self.circuit.layers[place]
        masks = layer.depends_on[cells]
        lowest = np.frexp((masks & (~masks + np.uint64(1))).astype(np.float64))[1] - 1
        found: Places = self.index.component_of[layer.worlds[cells], lowest]
        return found

    def batches(self) -> list[tuple[Bools, int]]:
        """Return sets of components that are evaluated together, as masks, and their words."""
        count, words = len(self.index.components), self.index.widths
        cells = np.zeros(count, np.int64)
        for of in self.of.values():
            cells += np.bincount(of, minlength=count)
        work = cells * words
        worst = int(work.argmax())
        if work[worst] > MAX_COMPONENT_WORDS or work.sum() > MAX_TOTAL_WORDS:
            atoms = len(self.index.components[worst].atoms)
            raise ComponentTooLarge(f"{int(work[worst]):,} words for a component of {atoms} atoms")
        found = []
        for width in np.unique(words[cells > 0]).tolist():
            alike = np.flatnonzero((words == width) & (cells > 0))
            batch = np.cumsum(work[alike]) // _WORDS_AT_ONCE
            for number in np.unique(batch):
                chosen = np.zeros(count, bool)
                chosen[alike[batch == number]] = True
                found.append((chosen, int(width)))
        return found

    def words(self, chosen: Bools, width: int) -> tuple[Words, Places]:
        """Return the values of the cells of the last layer that belong to some components.

        Returns:
            Words of shape (cells, width), and the row of each cell of the layer.
        """
        values: dict[int, Words] = {}
        rows: dict[int, Places] = {}
        for place, cells in self.cells.items():
            mine = cells[chosen[self.of[place]]]
            layer = self.circuit.layers[place]
            rows[place] = np.zeros(len(layer.worlds), np.int64)
            rows[place][mine] = np.arange(len(mine))
            if len(mine):
                values[place] = self._of_layer(layer, mine, width, values, rows)
        return values[self.layer], rows[self.layer]

    def _of_layer(
        self,
        layer: Layer,
        cells: Places,
        width: int,
        values: dict[int, Words],
        rows: dict[int, Places],
    ) -> Words:
        if layer.kind == "atoms":
            patterns = completion_patterns(MAX_COMPONENT_ATOMS, width)
            ranks = self.index.rank_of[layer.worlds[cells], self.circuit.bits[cells]]
            picked: Words = patterns[ranks]
            return picked

        def of_operand(operand: Reference, at: Places) -> Words:
            found = values[operand.layer][rows[operand.layer][at]]
            return ~found if operand.negated else found

        if layer.kind == "some":
            assert layer.starts is not None and layer.counts is not None
            (operand,) = layer.operands
            counts = layer.counts[cells]
            starts = np.cumsum(counts) - counts
            edges = np.arange(int(counts.sum())) + np.repeat(layer.starts[cells] - starts, counts)
            found: Words = np.bitwise_or.reduceat(
                of_operand(operand, operand.at[edges]), starts, axis=0
            )
            return found
        whole = layer.kind == "and"
        combine = np.bitwise_and if whole else np.bitwise_xor
        value = np.full((len(cells), width), _ONES if whole else _NONE)
        for operand in layer.operands:
            at = operand.at[cells]
            there = np.flatnonzero(at >= 0)
            if len(there) == len(at):
                combine(value, of_operand(operand, at), out=value)
            elif len(there):
                value[there] = combine(value[there], of_operand(operand, at[there]))
        if layer.flips is not None:
            flipped = layer.flips[cells]
            value[flipped] = ~value[flipped]
        return value


def unpack_bits(words: Words) -> NDArray[np.bool_]:
    """Convert 64-bit words to bools, one for each completion.

    The last axis of the result is 64 times as long as the last axis of `words`.
    """
    bytes_ = np.ascontiguousarray(words.astype("<u8")).view(np.uint8)
    found: NDArray[np.bool_] = np.unpackbits(bytes_, axis=-1, bitorder="little").view(np.bool_)
    return found
