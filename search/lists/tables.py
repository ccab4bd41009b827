"""Tables of values over all elements of a list: distinct rows, each with the term or test it stands for.

Numpy evaluates many rows at once. A node is built only for the rows that are used (`Recipes`), from
the operation and the operands of the row (`Sources`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .grammar import Node

Rows = NDArray[np.int64]
Places = NDArray[np.int64]
MAX_SAME_ROW = 12


class Table:
    """Distinct rows of values for all elements, cheapest first, with the term or test of each row.

    Args:
        rows: The values, shape (rows, elements).
        costs: The cost of each row, shape (rows,).
        recipes: The term or test of each row.
        others: Function from the index of a row to all recipes with equal values, cheapest first.
            None if only one recipe per row is known.
    """

    def __init__(
        self,
        rows: Rows,
        costs: NDArray[np.float64],
        recipes: list[Node] | Recipes,
        others: Callable[[int], list[Node]] | None = None,
    ) -> None:
        self.rows = rows
        self.costs = costs
        self.recipes = recipes
        self._others = others

    def same_row_recipes(self, k: int) -> list[Node]:
        """Return recipe `k` and costlier recipes with equal values on the example inputs, cheapest
        first.

        The recipes may differ on other inputs.
        """
        return [self.recipes[k]] if self._others is None else self._others(k)

    def __len__(self) -> int:
        return len(self.recipes)


def compute_row_keys(rows: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return a number for each row that is almost certainly another one for each other row."""
    if rows.dtype == bool:
        return _bit_keys(rows)
    return rows.astype(np.int64, copy=False) @ _weights(rows.shape[1])


def _bit_keys(rows: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return a number for each row of truth values, which mixes 64 of them at a time."""
    bits = np.packbits(rows.astype(bool, copy=False), axis=1)
    packed = np.zeros((len(rows), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
    packed[:, : bits.shape[1]] = bits
    keys = np.zeros(len(rows), dtype=np.uint64)
    for word in packed.view(np.uint64).T:
        keys = (keys ^ word) * _MIXER
        keys ^= keys >> _HALF
    return keys.view(np.int64)


_MIXER, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


@cache
def _weights(size: int) -> NDArray[np.int64]:
    return np.random.default_rng(5).integers(1, 2**62, size, dtype=np.int64)


def find_rows(rows: Rows, target: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices of the rows that equal `target`, which has at least one number."""
    likely = np.flatnonzero(rows[:, 0] == target[0])
    found: NDArray[np.int64] = likely[(rows[likely] == target).all(axis=1)]
    return found


def select_distinct(
    keys: NDArray[np.int64], costs: NDArray[np.float64], most: int
) -> NDArray[np.int64]:
    """Return the indices of the cheapest row of each key, cheapest first, at most `most`."""
    order = np.argsort(costs, kind="stable")
    _, first = np.unique(keys[order], return_index=True)
    return order[np.sort(first)][:most]


def list_same_rows(
    keys: NDArray[np.int64],
    costs: NDArray[np.float64],
    keep: NDArray[np.int64],
    recipe: Callable[[int], Node],
) -> Callable[[int], list[Node]]:
    """Return a function that lists the recipes with the values of a kept row, cheapest first.

    Args:
        keys: The key of each row (`compute_row_keys`).
        costs: The cost of each row.
        keep: The indices of the kept rows. The function takes an index in `keep`.
        recipe: Function that builds the recipe of a row.
    """

    def others(k: int) -> list[Node]:
        found = np.flatnonzero(keys == keys[keep[k]])
        found = found[np.argsort(costs[found], kind="stable")][:MAX_SAME_ROW]
        return [recipe(int(j)) for j in found]

    return others


class Recipes(Sequence[Node]):
    """A sequence of nodes that are built when they are accessed.

    Args:
        count: Number of nodes.
        made: Function that builds the node at an index.
    """

    def __init__(self, count: int, made: Callable[[int], Node]) -> None:
        self._nodes: list[Node | None] = [None] * count
        self._made = made

    def __getitem__(self, k: Any) -> Any:  # k may be a numpy integer
        node = self._nodes[k]
        if node is None:
            node = self._nodes[k] = self._made(int(k))
        return node

    def __len__(self) -> int:
        return len(self._nodes)


class Sources:
    """The operation and the two operands of each row of a table, stored in blocks of one
    operation.
    """

    def __init__(self) -> None:
        self._blocks: list[tuple[str, Sequence[Node], Sequence[Node], Places, Places]] = []
        self._ends: list[int] = []

    def add(
        self, op: str, left: Sequence[Node], right: Sequence[Node], a: Places, b: Places
    ) -> None:
        """Add a block of rows that apply one operation to pairs of operands.

        Args:
            op: Name of the operation.
            left: Nodes from which the first operands are taken.
            right: Nodes from which the second operands are taken.
            a: Index in `left` of each first operand, shape (rows,).
            b: Index in `right` of each second operand, shape (rows,).
        """
        self._blocks.append((op, left, right, a, b))
        self._ends.append((self._ends[-1] if self._ends else 0) + len(a))

    def __getitem__(self, k: int) -> tuple[str, Node, Node]:
        at = bisect_right(self._ends, k)
        op, left, right, a, b = self._blocks[at]
        k -= self._ends[at - 1] if at else 0
        return op, left[a[k]], right[b[k]]
