"""Maps, filters and counts of many lists that were computed, at once.

Between two steps of a chain stands a list that no goal tells. Those that the bank has come in
bundles: the elements of `SIZE` of them end to end in one vector, with the plainest terms and predicates
alone (elements.py, lean), so that a list costs about 1.5 ms rather than 40.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..budget import Budget
from .bank import Lists
from .element_cases import replaced
from .element_goals import FILTER, MAP, MAP_FILTER, by_distance, flat, holds
from .elements import Elements, Table
from .grammar import Node, X, node

SIZE = 12
COST = 60.0  # expansions a list
_COUNT, _SUM = 2.2, 2.6
_FEW = 3  # programs of one kind for one list
Bases = Sequence[tuple[Lists, Node]]


class Bundle:
    """Some lists of one value a shown input each, and their elements in one vector."""

    def __init__(self, bases: Bases, inputs: Lists, budget: Budget) -> None:
        self.bases, self.count = bases, len(inputs)
        lists = tuple(row for values, _ in bases for row in values)
        self.elements = Elements(X, lists, inputs * len(bases), budget, lean=True)
        self.charged(budget)

    def charged(self, budget: Budget) -> None:
        budget.charge(COST * len(self.bases))

    def found(self, goal: Lists) -> Iterator[Node]:
        """Maps and filters, or both, that make the goal of one of the lists."""
        lengths, target = np.array([len(out) for out in goal]), flat(goal)
        self.elements.terms(target)
        for k, (values, base) in enumerate(self.bases):
            if [len(v) for v in values] == lengths.tolist():
                yield from self._maps(k, base, target)
                yield from self._replaced(k, base, target)
                if all(sorted(v) == sorted(o) for v, o in zip(values, goal, strict=True)):
                    yield from by_distance(base, values, goal)
            elif holds(values, goal):
                yield from self._filters(k, base, lengths, target)
            if all(len(v) >= n for v, n in zip(values, lengths, strict=True)):
                yield from self._map_filters(k, base, lengths, target)

    def folded(self, goal: tuple[int, ...]) -> Iterator[Node]:
        """Counts and sums under a test that are the integers of the goal."""
        masks = self.elements.masks()
        rows = masks.rows.astype(np.float32)
        wanted = np.array(goal, dtype=np.float32)
        for k, (_, base) in enumerate(self.bases):
            part, rooms = self._part(k)
            segments = self.elements.segments[part, rooms]
            values = self.elements.flat[part].astype(np.float32)[:, None]
            for op, price, weights in (
                ("countif", _COUNT, segments),
                ("sumif", _SUM, segments * values),
            ):
                hits = np.flatnonzero((rows[:, part] @ weights == wanted).all(axis=1))
                for hit in hits[:_FEW].tolist():
                    test = masks.recipes[hit]
                    folded = Node(op, (base, test), price + base.cost + test.cost)
                    yield Node("single", (folded,), folded.cost + 0.8)
            yield from self._picked(k, base, goal)

    def _picked(self, k: int, base: Node, goal: tuple[int, ...]) -> Iterator[Node]:
        """The first, last, greatest or least of those that pass a test."""
        masks, (_, rooms) = self.elements.masks(), self._part(k)
        right = {op: np.ones(len(masks), dtype=bool) for op in ("head", "end", "max", "min")}
        for j, wanted in zip(range(rooms.start, rooms.stop), goal, strict=True):
            room = slice(self.elements.starts[j], self.elements.starts[j + 1])
            values = self.elements.flat[room]
            if wanted not in values:
                return
            held = masks.rows[:, room]
            right["head"] &= held.any(axis=1) & (values[held.argmax(axis=1)] == wanted)
            right["end"] &= held.any(axis=1)
            right["end"] &= values[len(values) - 1 - held[:, ::-1].argmax(axis=1)] == wanted
            there = held[:, values == wanted].any(axis=1)
            right["max"] &= there & ~held[:, values > wanted].any(axis=1)
            right["min"] &= there & ~held[:, values < wanted].any(axis=1)
        for op, fits in right.items():
            for hit in np.flatnonzero(fits)[:_FEW].tolist():
                test = masks.recipes[hit]
                integer = node(op, Node("filter", (base, test), FILTER + base.cost + test.cost))
                yield Node("single", (integer,), integer.cost + 0.8)

    def _part(self, k: int) -> tuple[slice, slice]:
        """Where the elements of list k lie, and its rows among all."""
        rooms = slice(k * self.count, (k + 1) * self.count)
        return slice(self.elements.starts[rooms.start], self.elements.starts[rooms.stop]), rooms

    def _maps(self, k: int, base: Node, target: NDArray[Any]) -> Iterator[Node]:
        terms, (part, _) = self.elements.terms(target), self._part(k)
        if not len(target):
            return
        near = np.flatnonzero(terms.rows[:, part.start] == target[0])
        hits = near[(terms.rows[near, part] == target).all(axis=1)]
        for hit in hits[:_FEW].tolist():
            if terms.recipes[hit].op != "v":
                cost = MAP + base.cost + terms.recipes[hit].cost
                yield Node("map", (base, terms.recipes[hit]), cost)

    def _replaced(self, k: int, base: Node, target: NDArray[Any]) -> Iterator[Node]:
        terms, masks, (part, _) = self.elements.terms(target), self.elements.masks(), self._part(k)
        here = (Table(t.rows[:, part], t.costs, t.recipes) for t in (terms, masks))
        yield from replaced(base, self.elements.flat[part], target, *here)

    def _fits(self, k: int, lengths: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Tests that leave as many as the goal has, and their rows on list k."""
        masks, (part, rooms) = self.elements.masks(), self._part(k)
        here = masks.rows[:, part]
        kept = here.astype(np.float32) @ self.elements.segments[part, rooms]
        hits = np.flatnonzero((kept == lengths).all(axis=1))
        return hits, here[hits]

    def _filters(
        self, k: int, base: Node, lengths: NDArray[Any], target: NDArray[Any]
    ) -> Iterator[Node]:
        masks, values = self.elements.masks(), self.elements.flat[self._part(k)[0]]
        found = 0
        for hit, row in zip(*self._fits(k, lengths), strict=True):
            if found < _FEW and np.array_equal(values[row], target):
                found += 1
                test = masks.recipes[int(hit)]
                yield Node("filter", (base, test), FILTER + base.cost + test.cost)

    def _map_filters(
        self, k: int, base: Node, lengths: NDArray[Any], target: NDArray[Any]
    ) -> Iterator[Node]:
        masks, terms = self.elements.masks(), self.elements.terms(target)
        part, _ = self._part(k)
        if not len(target):
            return
        hits, rows = self._fits(k, lengths)
        for hit, row in list(zip(hits, rows, strict=True))[:20]:
            if row.all():
                continue
            good = np.flatnonzero((terms.rows[:300, part][:, row] == target).all(axis=1))[:1]
            for t in good.tolist():
                test, term = masks.recipes[int(hit)], terms.recipes[t]
                if term.op != "v":
                    cost = MAP_FILTER + base.cost + test.cost + term.cost
                    yield Node("map_filter", (base, test, term), cost)


__all__ = ["SIZE", "Bundle"]
