"""Programs of many rows that numpy evaluates at once: a node is made of a row when it is wanted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .grammar import Node

Places = NDArray[np.int64]


class Recipes(Sequence[Node]):
    """Nodes that are made when they are wanted."""

    def __init__(self, count: int, made: Callable[[int], Node]) -> None:
        self._nodes: list[Node | None] = [None] * count
        self._made = made

    def __getitem__(self, k: Any) -> Any:  # places come as numpy's integers too
        node = self._nodes[k]
        if node is None:
            node = self._nodes[k] = self._made(int(k))
        return node

    def __len__(self) -> int:
        return len(self._nodes)


class Sources:
    """Which operation of which two recipes each of many rows is, block after block."""

    def __init__(self) -> None:
        self._blocks: list[tuple[str, Sequence[Node], Sequence[Node], Places, Places]] = []
        self._ends: list[int] = []

    def add(
        self, op: str, left: Sequence[Node], right: Sequence[Node], a: Places, b: Places
    ) -> None:
        self._blocks.append((op, left, right, a, b))
        self._ends.append((self._ends[-1] if self._ends else 0) + len(a))

    def __getitem__(self, k: int) -> tuple[str, Node, Node]:
        at = bisect_right(self._ends, k)
        op, left, right, a, b = self._blocks[at]
        k -= self._ends[at - 1] if at else 0
        return op, left[a[k]], right[b[k]]
