"""Evaluation of formulas by tables of bits, which are made only while a quantifier needs them.

Most cells of a formula's tables belong to connectives under a quantifier: in
`(forall z (or (R x z) (exists w (iff (S y w) (R z w)))))`, to the disjunction, which has a cell for
any three elements x, y and z, and to the equivalence. Large tables of connectives are not stored.
Where a quantifier is evaluated, they are computed for many elements of its variable at once, one
bit each, in blocks. All other nodes have stored tables (`evaluation.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, prod
from operator import getitem
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from .evaluation import (
    MAX_CELLS,
    MAX_FREE_VARIABLES,
    Bools,
    Structures,
    TableTooLarge,
    connect,
    evaluate_node,
)
from .formula import QUANTIFIERS, Formula
from .truth_bounds import Bounds, BoundsAlgebra, is_decided

Packed = NDArray[np.unsignedinteger[Any]]
Places = NDArray[np.int64]
FEW_CELLS = 1 << 16  # tables of no more cells are stored
MAX_WORDS = 1 << 27  # words of all tables that are not stored; takes some tenths of a second
_WORDS_AT_ONCE = 1 << 16  # words of a table that are computed together
_PACKED_AT_ONCE = 1 << 20  # bytes of truth values that are packed at once


def pack_elements(table: Bools) -> Packed:
    """Return truth values of elements as bits, so that an operation takes many elements at once.

    Args:
        table: Truth values, whose last axis runs over elements.

    Returns:
        Unsigned integers, whose last axis is shorter: it has one entry for up to 64 elements. Bits
        that stand for no element are 0.
    """
    size = table.shape[-1]
    width = word_bits(size) * word_count(size)
    rows = table.reshape(-1, size)
    if size == width:
        found = np.packbits(rows.reshape(-1), bitorder="little").reshape(len(rows), width // 8)
    else:
        found = np.empty((len(rows), width // 8), np.uint8)
        step = max(1, _PACKED_AT_ONCE // width)
        padded = np.zeros((min(step, len(rows)), width), bool)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            padded[: len(part), :size] = part
            bits = np.packbits(padded[: len(part)].reshape(-1), bitorder="little")
            found[start : start + step] = bits.reshape(len(part), -1)
    whole: Packed = found.view(f"u{word_bits(size) // 8}")
    return whole.reshape(*table.shape[:-1], whole.shape[-1])


def word_bits(size: int) -> int:
    """Return how many bits the words have that `pack_elements` makes of `size` elements."""
    return next((bits for bits in (8, 16, 32) if size <= bits), 64)


def word_count(size: int) -> int:
    """Return into how many words `pack_elements` packs `size` elements."""
    return -(-size // word_bits(size))


def any_packed(packed: Packed) -> Bools:
    """Return where some element has a true value; the last axis of `packed` is removed."""
    found: Bools = packed[..., 0] != 0
    for place in range(1, packed.shape[-1]):
        found |= packed[..., place] != 0
    return found


class TablePlan(NamedTuple):
    """How a formula is evaluated by tables.

    Attributes:
        stored: Whether each node has a stored table.
        cells: At most so many cells have all stored tables; infinite if there are too many
            variables.
        words: The words of all other tables; 0 if there are none.
    """

    stored: list[bool]
    cells: float
    words: int

    @property
    def too_large(self) -> bool:
        """Whether the tables exceed the limits."""
        return self.cells > MAX_CELLS or self.words > MAX_WORDS


def plan_tables(formula: Formula, structures: Structures) -> TablePlan:
    """Return which nodes of a formula have stored tables, and the size of all tables."""
    nodes, count, size = formula.nodes, len(structures), structures.size
    stored = [True] * len(nodes)
    most = max(map(len, formula.free_at))
    largest = count * size**most
    if largest <= min(FEW_CELLS, MAX_CELLS // len(nodes)) and most <= MAX_FREE_VARIABLES:
        return TablePlan(stored, largest * len(nodes), 0)
    # The variables of the quantifiers for which a table is needed; None if it must be stored.
    needed: list[set[str] | None] = [set() for _ in nodes]
    needed[-1] = None
    cells, words = 0.0, 0
    for place in range(len(nodes) - 1, -1, -1):
        node, free = nodes[place], formula.free_at[place]
        if len(free) > MAX_FREE_VARIABLES:
            cells = inf
        variables, own = needed[place], count * size ** len(free)
        stored[place] = (
            node.kind in ("atom", "equal", *QUANTIFIERS)
            or own <= FEW_CELLS
            or variables is None
            or not variables <= free
        )
        if stored[place]:
            cells += own
            variables = {node.name} if node.kind in QUANTIFIERS else None
        else:
            assert variables is not None
            words += own // size * word_count(size) * len(variables)
        for part in node.parts:
            known = needed[part]
            needed[part] = None if known is None or variables is None else known | variables
    return TablePlan(stored, cells, words)


class Region:
    """The connectives under a quantifier whose tables are not stored.

    Attributes:
        part: The node under the quantifier.
        variable: The variable of the quantifier.
        outer: The other variables, in alphabetical order.
    """

    def __init__(
        self, formula: Formula, place: int, values: Sequence[Bounds | None], algebra: BoundsAlgebra
    ) -> None:
        self.algebra, self.structures = algebra, algebra.structures
        self.formula = formula
        self.variable = formula.nodes[place].name
        (self.part,) = formula.nodes[place].parts
        self.outer = tuple(sorted(formula.free_at[place]))
        self.inside = pack_elements(self.structures.inside)
        padded = not self.structures.full or bool((~self.inside).any())
        self.outside = ~self.inside if padded else None
        self._nodes, self._leaves = set[int](), dict[int, Bounds]()
        self._axes: dict[int, tuple[str, ...]] = {}
        waiting = [self.part]
        while waiting:
            here = waiting.pop()
            value = values[here]
            if value is not None and here not in self._leaves:
                axes = tuple(sorted(formula.free_at[here]))
                self._leaves[here] = self._pack(value, axes)
                self._axes[here] = tuple(name for name in axes if name != self.variable)
            elif value is None and here not in self._nodes:
                self._nodes.add(here)
                waiting += formula.nodes[here].parts

    def _pack(self, value: Bounds, axes: tuple[str, ...]) -> Bounds:
        """Return the words of a stored table: (worlds, words, outer variables of the table…)."""
        return _each(value, self._words, axes)

    def _words(self, table: Bools, axes: tuple[str, ...]) -> Any:
        if self.variable in axes:
            packed = pack_elements(np.moveaxis(table, 1 + axes.index(self.variable), -1))
            return np.ascontiguousarray(np.moveaxis(packed, -1, 1))
        none = self.inside.dtype.type(0)
        return np.where(table, ~none, none)[:, None]

    def _evaluate(self, leaves: Mapping[int, Bounds]) -> Bounds:
        values = dict(leaves)
        for place in sorted(self._nodes):
            node = self.formula.nodes[place]
            values[place] = connect(node, [values[part] for part in node.parts], self.algebra)
        return values[self.part]

    def quantify(self, every: bool) -> Bounds:
        """Return the table of the quantifier, (worlds, outer variables…).

        Args:
            every: Whether the quantifier is universal.
        """
        shape = (len(self.structures), *(self.structures.size,) * len(self.outer))
        fitted = {}
        for place, leaf in self._leaves.items():
            around = [slice(None) if name in self._axes[place] else None for name in self.outer]
            fitted[place] = _each(leaf, getitem, (slice(None), slice(None), *around))
        decided = all(is_decided(leaf) for leaf in fitted.values())
        true = np.empty(shape, bool)
        possible = true if decided else np.empty(shape, bool)
        for worlds, *rows in self._blocks(shape):
            part = (worlds, slice(None), *rows)
            leaves = {place: _each(leaf, _cut, part) for place, leaf in fitted.items()}
            outside = None
            if self.outside is not None:
                outside = self.outside[(worlds, slice(None), *(None,) * len(self.outer))]
            found = _each(self._evaluate(leaves), _quantified, every, outside)
            true[(worlds, *rows)] = found.true
            if not decided:
                possible[(worlds, *rows)] = found.possible
        return Bounds(true, possible)

    def _blocks(self, shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
        words = self.inside.shape[1]
        if prod(shape) * words <= _WORDS_AT_ONCE:
            yield (slice(None),)
            return
        each = prod(shape[1:]) * words
        worlds = max(1, _WORDS_AT_ONCE // each)
        rows = max(1, _WORDS_AT_ONCE // (each // shape[1])) if len(shape) > 1 else 1
        for start in range(0, shape[0], worlds):
            if each <= _WORDS_AT_ONCE:
                yield (slice(start, start + worlds),)
                continue
            for first in range(0, shape[1], rows):
                yield slice(start, start + worlds), slice(first, first + rows)

    def find_open(self, cells: Places, project: Any) -> tuple[Places, Places]:
        """Return for which elements of the variable the part is undecided.

        Args:
            cells: Flat indices in the table of the quantifier.
            project: Called with some cells, the variables of their table and the variables of
                another; returns the flat indices in the other.

        Returns:
            The position in `cells` and the element, of each undecided value, ascending.
        """
        size = self.structures.size
        rows, elements = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        step = max(1, _PACKED_AT_ONCE // size)
        for start in range(0, len(cells), step):
            part = cells[start : start + step]
            leaves = {}
            for place, leaf in self._leaves.items():
                at = project(part, self.outer, self._axes[place])
                leaves[place] = _each(leaf, _rows, at)
            value = self._evaluate(leaves)
            if is_decided(value):
                continue
            worlds = project(part, self.outer, ())
            open_ = (value.true ^ value.possible) & self.inside[worlds]
            bits = np.unpackbits(
                np.ascontiguousarray(open_).view(np.uint8), axis=-1, bitorder="little"
            )
            row, element = bits.nonzero()
            rows.append(row + start)
            elements.append(element)
        return np.concatenate(rows), np.concatenate(elements)


def _each(value: Bounds, change: Callable[..., Any], *given: Any) -> Bounds:
    """Return bounds with both tables changed; the same table if all values are decided."""
    true = change(value.true, *given)
    return Bounds(true, true if is_decided(value) else change(value.possible, *given))


def _quantified(words: Packed, every: bool, outside: Packed | None) -> Bools:
    """Return where a value is true for every or for some element of the world.

    Args:
        words: The values, (worlds, words, …).
        every: Whether to ask for every element.
        outside: The bits that stand for no element of a world, None without any.
    """
    if outside is not None:
        words = words | outside if every else words & ~outside
    none = words.dtype.type(0)
    found: Bools = words[:, 0] == ~none if every else words[:, 0] != none
    for place in range(1, words.shape[1]):
        if every:
            found &= words[:, place] == ~none
        else:
            found |= words[:, place] != none
    return found


def _rows(table: Packed, at: Places) -> Packed:
    return np.moveaxis(table, 1, -1).reshape(-1, table.shape[1])[at]


def _cut(table: Any, block: tuple[slice, ...]) -> Any:
    """Return a block of a table, which may have one entry in place of all of an axis."""
    return table[
        tuple(
            one if length > 1 else slice(None)
            for one, length in zip(block, table.shape, strict=False)
        )
    ]


class PackedValues:
    """The values of a formula's nodes in some worlds.

    Attributes:
        stored: The bounds of each node, None where its table is not stored.
        regions: For each quantifier over such a node, its region.
    """

    def __init__(self, formula: Formula, algebra: BoundsAlgebra) -> None:
        """Evaluate a formula.

        Raises:
            TableTooLarge: The tables would be too large.
        """
        plan = plan_tables(formula, algebra.structures)
        if plan.too_large:
            raise TableTooLarge
        stored = plan.stored
        self.stored: list[Bounds | None] = []
        self.regions: dict[int, Region] = {}
        values = cast("list[Bounds]", self.stored)  # of parts that are stored
        axes = [tuple(sorted(free)) for free in formula.free_at]
        for place, node in enumerate(formula.nodes):
            if not stored[place]:
                self.stored.append(None)
            elif node.kind in QUANTIFIERS and not stored[node.parts[0]]:
                region = Region(formula, place, self.stored, algebra)
                self.regions[place] = region
                self.stored.append(region.quantify(node.kind == "forall"))
            else:
                self.stored.append(evaluate_node(node, axes[place], values, axes, algebra))
